"""Tests of the README and the program."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from steersman.clock import SystemClock
from steersman_cluster.testing import running_embedded_control_plane

PROJECT = Path(__file__).parents[1]


def test_the_readme_shows_code_of_the_program() -> None:
    shown = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
    code = (PROJECT / "src/podwatch/podwatch.py").read_text()

    assert shown
    assert [block for block in shown if block not in code] == []


def test_the_program_prints_to_a_pipe_until_sigint() -> None:
    with running_embedded_control_plane(clock=SystemClock()) as cluster:
        command = [sys.executable, "-m", "podwatch", "--kubeconfig", str(cluster.kubeconfig)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == "Pod default/mypod does not exist anymore\n"

            running.send_signal(signal.SIGINT)

            assert running.wait(timeout=60.0) == 130


def test_the_master_flag_needs_no_kubeconfig(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podwatch", "-master", "nowhere"]
    environ = {**os.environ, "HOME": str(tmp_path), "KUBECONFIG": ""}

    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert ended.stderr.startswith("error: -master: ")


def test_a_missing_kubeconfig_is_an_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podwatch", "--kubeconfig", str(tmp_path / "none")]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ")
    assert "none" in ended.stderr
