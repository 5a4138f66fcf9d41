"""Child processes have deadlines, and end with the run."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from bench.harness.child_processes import (
    ProcessTimeout,
    child,
    child_environ,
    cpu_at_exit,
    deadline,
    output_of,
    wait_for_exit,
    without_tuning,
)
from tests.processes import is_running

FOR_LONG = [sys.executable, "-c", "import time; time.sleep(600)"]

# A program that starts a child and prints its pid.
RUN = """
from bench.harness.child_processes import child
with child(["sleep", "600"]) as process:
    print(process.pid, flush=True)
    input()
"""


def test_output_returns_everything_that_a_program_prints() -> None:
    assert output_of([sys.executable, "-c", "print(1)"]) == b"1\n"


def test_a_program_that_fails_is_an_error() -> None:
    with pytest.raises(subprocess.CalledProcessError, match="status 3"):
        output_of([sys.executable, "-c", "import sys; sys.exit(3)"])


def test_a_program_that_hangs_is_killed_and_named() -> None:
    with pytest.raises(ProcessTimeout, match=r"sleep\(600\).* did not exit within 0.1 s"):
        output_of(FOR_LONG, within_seconds=0.1)


def test_reading_from_a_silent_program_times_out() -> None:
    with child(FOR_LONG, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with (
            pytest.raises(ProcessTimeout, match="say hello"),
            deadline(process, "say hello", seconds=0.1),
        ):
            process.stdout.readline()


def test_a_program_that_finishes_in_time_is_not_affected() -> None:
    with child([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with deadline(process, "say 1", seconds=20):
            assert process.stdout.readline() == b"1\n"
        assert cpu_at_exit(process) > 0
        wait_for_exit(process)


def test_a_program_that_does_not_exit_is_killed() -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); "
    command = [sys.executable, "-uc", stubborn + "time.sleep(600)"]
    with child(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        with pytest.raises(ProcessTimeout, match="exit after a signal"):
            wait_for_exit(process, within_seconds=0.1)


def test_a_running_program_is_killed_when_its_block_ends() -> None:
    with child(FOR_LONG) as process:
        pass

    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "name",
    ["GOGC", "GODEBUG", "KUBE_FEATURE_WatchListClient", "PYTHONOPTIMIZE", "MALLOC_ARENA_MAX"],
)
def test_tuning_variables_are_not_inherited(name: str) -> None:
    assert without_tuning({name: "1", "HOME": "/", "PYTHONPATH": "src"}) == {
        "HOME": "/",
        "PYTHONPATH": "src",
    }


def test_explicit_variables_are_passed() -> None:
    assert child_environ(GOGC="50")["GOGC"] == "50"


def test_child_processes_end_when_the_run_is_killed() -> None:
    with child(
        [sys.executable, "-c", RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        environ=child_environ(PYTHONPATH=os.pathsep.join(sys.path)),
    ) as run:
        assert run.stdout is not None
        grandchild = int(run.stdout.readline())
        assert is_running(grandchild)
        run.kill()
        run.wait()

    while is_running(grandchild):
        sleep(0.01)  # until the test times out


def sleep(seconds: float) -> None:
    threading.Event().wait(seconds)
