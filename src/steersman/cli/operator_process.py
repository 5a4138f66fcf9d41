"""An operator in a process of its own: its reports, its words, and its end."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from steersman.cache import in_background
from steersman.cli.reports import Report, from_line
from steersman.clock import Clock

# A little more than the operator gives itself.
END_SECONDS: Final = 4.0

# For one line of what an operator writes, or reports.
LONGEST_LINE: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCommand:
    """What to start: a target, in a directory, against the cluster of a kubeconfig."""

    target: str
    directory: Path
    kubeconfig: Path
    log_level: str

    def arguments(self, reports: int) -> list[str]:
        """All that a process needs to be it."""
        return [
            sys.executable,
            "-u",  # what it prints is shown when it does
            "-P",  # an operator.py there is not the module of that name, which Python needs
            "-B",  # what is saved twice in a second would be taken for compiled already
            "-m",
            "steersman.cli.child",
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
    reported: Callable[[Report], None],
    said: Callable[[str], None],
    clock: Clock,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The operator while the block runs, and then no more: asked to stop first, then killed."""
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *command.arguments(writing),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=(writing,),
            cwd=command.directory,
            limit=LONGEST_LINE,
            # A Ctrl-C is for us, and we pass it on in our own way.
            start_new_session=True,
        )
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            reports = await _reader(pipe)
            async with in_background() as start:
                start(_each(reports, lambda line: reported(from_line(line))), name="reports")
                words = process.stdout
                if words is not None:
                    start(_each(words, lambda line: said(_text(line))), name="words")
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
    # With all that it may have started: they are in its group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _reader(pipe: object) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return reader


async def _each(lines: asyncio.StreamReader, take: Callable[[bytes], None]) -> None:
    while line := await lines.readline():
        take(line)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip()
