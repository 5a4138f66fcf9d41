"""Sandboxes: a temporary directory and a process group that are removed together."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

WATCHDOG = Path(__file__).with_name("watchdog.py")


class Sandbox:
    """A temporary directory, and a process group for the processes that use the directory."""

    def __init__(self, directory: Path, *, process_group: int) -> None:
        self.directory = directory
        self._process_group = process_group
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(
        self, arguments: Sequence[str | Path], *, log: Path, environ: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a process in the process group, and append its output to the file ``log``.

        Its environment variables are only those in ``environ``.
        """
        with log.open("ab") as output:
            process = subprocess.Popen(
                arguments,
                cwd=self.directory,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A new process group: Ctrl-C reaches this process only, which then stops things in
                # order.
                process_group=self._process_group,
            )
        self._processes.append(process)
        return process

    def kill(self) -> None:
        """Kill every process in the process group, and wait until the started ones have ended."""
        os.killpg(self._process_group, signal.SIGKILL)
        for process in self._processes:
            process.wait()


@contextmanager
def open_sandbox(*, prefix: str, inside: Path | None = None) -> Iterator[Sandbox]:
    """Open a sandbox; remove it when the block or this process ends, even by SIGKILL.

    The name of the temporary directory begins with ``prefix``. It is created in the directory
    ``inside``, if given.
    """
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=inside))
    watchdog = [sys.executable, "-I", "-S", str(WATCHDOG), str(directory)]
    try:
        with subprocess.Popen(watchdog, stdin=subprocess.PIPE, process_group=0) as leader:
            sandbox = Sandbox(directory, process_group=leader.pid)
            try:
                yield sandbox
            finally:
                sandbox.kill()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def tail(log: Path, *, lines: int = 20, limit_bytes: int = 8192) -> str:
    """Return the last lines of the file ``log``, or ``""`` if the file does not exist.

    At most ``lines`` lines and ``limit_bytes`` bytes are returned.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - limit_bytes))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
