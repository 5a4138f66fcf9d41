"""Child processes: start, deadlines and cleanup.

A child that exceeds its deadline is killed, and ``ProcessTimeout`` names it and the expected
action. If this process is killed, a watchdog kills all its children.
"""

import atexit
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from threading import Event, Lock, Timer
from typing import IO, TypeAlias

from steersman_cluster.testing.control_plane.programs import cache_directory
from steersman_cluster.testing.control_plane.sandbox import WATCHDOG

ROOT = Path(__file__).parents[2]

# The default deadline, longer than any successful child takes,
TIMEOUT_SECONDS = 900.0
# and the deadline for the exit after a signal.
EXIT_SECONDS = 30.0

# Prefixes of variables that change the speed or the size of a program: of Go's runtime, client-go,
# Python and the allocator of libc. For example, with PYTHONDONTWRITEBYTECODE each turn would
# compile all modules.
TUNING = ("GO", "KUBE_FEATURE_", "PYTHON", "MALLOC_", "GLIBC_TUNABLES")
# The exception: the path of modules.
KEPT = "PYTHONPATH"

Stream: TypeAlias = int | IO[bytes]


class ProcessTimeout(AssertionError):
    """A child process exceeded its deadline, and was killed."""

    def __init__(self, *, command: str, what: str, seconds: float) -> None:
        self.command = command
        self.what = what
        self.seconds = seconds
        super().__init__(f"{command} was killed: it did not {what} within {seconds:g} s")


def child_environ(**variables: str) -> Mapping[str, str]:
    """The environment of a child: this process's, without tuning, with ``variables``."""
    # Not beside the sources, which stay unchanged.
    bytecode = str(cache_directory(os.environ) / "bytecode")
    return {**without_tuning(os.environ), "PYTHONPYCACHEPREFIX": bytecode, **variables}


def without_tuning(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment without variables that change the speed or size of programs."""
    return {
        name: value
        for name, value in environ.items()
        if name == KEPT or not name.startswith(TUNING)
    }


@contextmanager
def child(
    command: Sequence[str],
    *,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream | None = None,
    stderr: Stream | None = None,
    environ: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a child, and kill it at the end of the block if it still runs."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=child_environ() if environ is None else environ,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        process_group=child_group(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def deadline(process: subprocess.Popen[bytes], what: str, *, seconds: float) -> Iterator[None]:
    """Kill the process if the block takes longer than ``seconds``, and raise ``ProcessTimeout``.

    A block that reads from the process or waits for it continues, because the process has ended.
    """
    if process.returncode is not None:
        yield
        return
    is_late = Event()
    # When the timer fires, the pid could belong to another process.
    handle = os.pidfd_open(process.pid)

    def kill() -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            is_late.set()

    timer = Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if is_late.is_set():
            raise ProcessTimeout(command=_name_of(process), what=what, seconds=seconds) from error
        raise
    finally:
        timer.cancel()
        timer.join()
        os.close(handle)
    if is_late.is_set():
        raise ProcessTimeout(command=_name_of(process), what=what, seconds=seconds)


def output_of(
    command: Sequence[str],
    *,
    stdout: Stream = subprocess.PIPE,
    within_seconds: float = TIMEOUT_SECONDS,
) -> bytes:
    """Run a command, and return its output; raise ``CalledProcessError`` if it fails."""
    with child(command, stdout=stdout) as process:
        with deadline(process, "exit", seconds=within_seconds):
            output, _ = process.communicate()
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
    return output or b""


def cpu_at_exit(
    process: subprocess.Popen[bytes], *, within_seconds: float = TIMEOUT_SECONDS
) -> float:
    """Wait for the exit, and return the CPU seconds; raise ``CalledProcessError`` on failure."""
    with deadline(process, "exit", seconds=within_seconds):
        # wait4 returns the usage of this child; getrusage would return the sum of all children.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return usage.ru_utime + usage.ru_stime


def wait_for_exit(
    process: subprocess.Popen[bytes], *, within_seconds: float = EXIT_SECONDS
) -> None:
    """Wait for the exit of a process that received a signal."""
    with deadline(process, "exit after a signal", seconds=within_seconds):
        process.wait()


def _name_of(process: subprocess.Popen[bytes]) -> str:
    arguments = process.args
    if isinstance(arguments, list | tuple):
        return shlex.join(map(str, arguments))
    return str(arguments)


def child_group() -> int:
    """The process group of all children; the first call starts the watchdog."""
    with _LOCK:
        return _watchdog().pid


@cache
def _watchdog() -> subprocess.Popen[bytes]:
    """The leader of the group, which kills the group when its standard input is closed."""
    directory = mkdtemp(prefix="steersman-bench-")
    command = [sys.executable, "-I", "-S", str(WATCHDOG), directory]
    watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)
    atexit.register(_stop_watchdog, watchdog)
    return watchdog


def _stop_watchdog(watchdog: subprocess.Popen[bytes]) -> None:
    assert watchdog.stdin is not None
    watchdog.stdin.close()
    watchdog.wait()


# Turns can run in parallel threads, which share one watchdog.
_LOCK = Lock()
