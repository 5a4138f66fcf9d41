"""Tests of the manifests, the README and the demo."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

from steersman_cluster.demos import Demo, DemoContext
from steersman_cluster.simulation import SimulatedCluster, simulate

from app_controller.appservice import AppService, controller

PROJECT = Path(__file__).parents[1]


def test_the_generated_files_are_up_to_date() -> None:
    command = [sys.executable, "-m", "steersman", "generate", "--check"]

    checked = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stderr


def test_the_readme_shows_code_of_the_operator() -> None:
    shown = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
    code = (PROJECT / "src/app_controller/appservice.py").read_text()

    assert shown
    assert [block for block in shown if block not in code] == []


def test_the_demo_runs_all_of_its_steps() -> None:
    demo: Demo = runpy.run_path(str(PROJECT / "demo.py"))["demo"]
    printed: list[str] = []

    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(AppService)
        await cluster.run_operator(controller)
        await demo.steps(
            DemoContext(
                cluster.client,
                directory=PROJECT,
                say=printed.append,
                note=printed.append,
                pause_seconds=0,
            )
        )

    simulate(steps)

    assert len(printed) == 9
