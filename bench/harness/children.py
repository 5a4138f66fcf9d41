"""Processes beside this one: started in one way, waited for with patience, gone when this one is.

Who does not come to an end in time is killed, and ``Hung`` says who it was and what it should have
done. Should this process itself be killed, a watchdog ends all that it has started.
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

# Longer than anything takes that is not waited for in vain,
PATIENCE_SECONDS = 900.0
# and longer than any process needs to end after a signal.
PARTING_SECONDS = 30.0

# What begins like this changes how fast a program is, or how large: it speaks to Go's runtime, to
# client-go, to Python or to the allocator of libc. Who has Python write no bytecode, for one, would
# have each turn compile everything, as no program does that is in use.
TUNING = ("GO", "KUBE_FEATURE_", "PYTHON", "MALLOC_", "GLIBC_TUNABLES")
# Where modules are is no such thing.
KEPT = "PYTHONPATH"

Stream: TypeAlias = int | IO[bytes]


class Hung(AssertionError):
    """A process has not done in time what it was waited for."""

    def __init__(self, *, command: str, what: str, seconds: float) -> None:
        self.command = command
        self.what = what
        self.seconds = seconds
        super().__init__(f"{command} was killed: it had {seconds:g} s to {what}")


def child_environ(**variables: str) -> Mapping[str, str]:
    """What a process finds in its environment: ours, untuned, and ``variables``."""
    # Bytecode needs no place among the sources.
    bytecode = str(cache_directory(os.environ) / "bytecode")
    return {**untuned(os.environ), "PYTHONPYCACHEPREFIX": bytecode, **variables}


def untuned(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The same, but for what changes how fast a program is, or how large."""
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
    """Start one; if it is still there when the block ends, it is killed."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=child_environ() if environ is None else environ,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        process_group=guarded_group(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def at_most(process: subprocess.Popen[bytes], what: str, *, seconds: float) -> Iterator[None]:
    """Give a process so long for what the block waits for; then it is killed, and ``Hung``.

    Readers and waiters continue at that moment, because the process has ended.
    """
    if process.returncode is not None:
        yield
        return
    is_late = Event()
    # The pid could belong to another process by then.
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
            raise Hung(command=_name_of(process), what=what, seconds=seconds) from error
        raise
    finally:
        timer.cancel()
        timer.join()
        os.close(handle)
    if is_late.is_set():
        raise Hung(command=_name_of(process), what=what, seconds=seconds)


def output_of(
    command: Sequence[str],
    *,
    stdout: Stream = subprocess.PIPE,
    within_seconds: float = PATIENCE_SECONDS,
) -> bytes:
    """What it prints from its start to its end; ``CalledProcessError`` if it failed."""
    with child(command, stdout=stdout) as process:
        with at_most(process, "come to its end", seconds=within_seconds):
            output, _ = process.communicate()
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
    return output or b""


def cpu_when_ended(
    process: subprocess.Popen[bytes], *, within_seconds: float = PATIENCE_SECONDS
) -> float:
    """The CPU seconds of all its life, once it has ended; ``CalledProcessError`` if it failed."""
    with at_most(process, "come to its end", seconds=within_seconds):
        # The usage of this child alone; getrusage would add up all there ever were.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return usage.ru_utime + usage.ru_stime


def part(process: subprocess.Popen[bytes], *, within_seconds: float = PARTING_SECONDS) -> None:
    """Wait for the end of a process that was asked to end."""
    with at_most(process, "part", seconds=within_seconds):
        process.wait()


def _name_of(process: subprocess.Popen[bytes]) -> str:
    arguments = process.args
    if isinstance(arguments, list | tuple):
        return shlex.join(map(str, arguments))
    return str(arguments)


def guarded_group() -> int:
    """The process group of all children; the first to ask waits until there is one."""
    with _LOCK:
        return _watchdog().pid


@cache
def _watchdog() -> subprocess.Popen[bytes]:
    """Leads the process group of all children, and ends it when its other end is closed."""
    directory = mkdtemp(prefix="steersman-bench-")
    command = [sys.executable, "-I", "-S", str(WATCHDOG), directory]
    watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)
    atexit.register(_dismiss, watchdog)
    return watchdog


def _dismiss(watchdog: subprocess.Popen[bytes]) -> None:
    assert watchdog.stdin is not None
    watchdog.stdin.close()
    watchdog.wait()


# Turns may be taken side by side, and there is one watchdog for all.
_LOCK = Lock()
