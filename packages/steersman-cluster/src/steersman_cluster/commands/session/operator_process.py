"""Runs the operator in a separate process, and receives its reports and its output."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from steersman.cache import background_tasks
from steersman.clock import Clock
from steersman_cluster.commands.session.reports import Report, from_line

# A little longer than the operator's own grace period.
END_SECONDS: Final = 4.0

# For one line of the operator's output or reports, in bytes.
MAX_LINE_LENGTH: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCommand:
    """The command line for a process that runs the operator ``target``.

    The process loads the target from ``directory``, and connects to the cluster in ``kubeconfig``.
    """

    target: str
    directory: Path
    kubeconfig: Path
    log_level: str

    def arguments(self, reports: int) -> list[str]:
        """Return the command line; ``reports`` is the file descriptor for the process's reports."""
        return [
            sys.executable,
            "-u",  # so that its output is not buffered
            "-P",  # so that an operator.py in the directory does not hide Python's own module
            "-B",  # or a file saved twice in a second would run as first compiled
            "-m",
            "steersman_cluster.commands.session.child",
            self.target,
            str(self.directory),
            str(self.kubeconfig.absolute()),
            str(reports),
            self.log_level,
        ]


@asynccontextmanager
async def operator_process(
    command: OperatorCommand,
    *,
    on_report: Callable[[Report], None],
    on_output: Callable[[str], None],
    clock: Clock,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the operator while the block runs.

    At the end of the block, the process is terminated, and killed if it does not end in time.
    ``on_report`` is called with each report of the process, and ``on_output`` with each line of its
    output.
    """
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *command.arguments(writing),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=(writing,),
            cwd=command.directory,
            limit=MAX_LINE_LENGTH,
            # Ctrl-C reaches this process only, which then terminates the operator.
            start_new_session=True,
        )
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            reports = await _reader(pipe)
            async with background_tasks() as start:
                start(_each(reports, lambda line: on_report(from_line(line))), name="reports")
                output = process.stdout
                if output is not None:
                    start(_each(output, lambda line: on_output(_text(line))), name="output")
                yield process
        finally:
            await _end(process, clock=clock)


async def _end(process: asyncio.subprocess.Process, *, clock: Clock) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with clock.timeout(END_SECONDS):
                await process.wait()
        except TimeoutError:
            pass
    # The signal reaches the whole process group, with all processes that the operator started.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _reader(pipe: object) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=MAX_LINE_LENGTH)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return reader


async def _each(lines: asyncio.StreamReader, take: Callable[[bytes], None]) -> None:
    while line := await lines.readline():
        take(line)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip()
