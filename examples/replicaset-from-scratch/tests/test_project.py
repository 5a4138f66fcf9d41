"""Tests of the manifests, the README and the demo."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

from steersman_cluster.demos import Demo, DemoContext
from steersman_cluster.simulation import SimulatedCluster, simulate

from replicaset.replicaset import PodSet, controller

PROJECT = Path(__file__).parents[1]


def test_the_generated_files_are_up_to_date() -> None:
    command = [sys.executable, "-m", "steersman", "generate", "--check"]

    checked = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stderr


def test_the_readme_shows_code_of_the_operator() -> None:
    shown = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
    code = (PROJECT / "src/replicaset/replicaset.py").read_text()

    assert shown
    assert [block for block in shown if block not in code] == []


def test_a_replica_set_takes_fifty_lines_beside_its_finalizer() -> None:
    functions = [
        each
        for each in ast.parse((PROJECT / "src/replicaset/replicaset.py").read_text()).body
        if isinstance(each, ast.AsyncFunctionDef | ast.FunctionDef) and each.name != "finalize"
    ]
    # ast.unparse drops comments and joins folded lines. Each function begins with its docstring.
    lines = [len(ast.unparse(each).splitlines()) - 1 for each in functions]

    assert sum(lines) <= 50


def test_the_demo_runs_all_of_its_steps() -> None:
    demo: Demo = runpy.run_path(str(PROJECT / "demo.py"))["demo"]
    printed: list[str] = []

    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.install(PodSet)
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

    assert len(printed) == 11
