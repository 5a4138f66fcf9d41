"""Credential plugins for tests: real programs, written where the test wants them."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

from steersman.client.access.cluster_config import ExecPlugin

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


def plugin(
    directory: Path,
    source: str,
    *,
    args: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    api_version: str = V1,
    timeout_seconds: float = 60.0,
    terminal: bool = False,
) -> ExecPlugin:
    """A program made of ``source``, which is Python."""
    command = directory / "plugin"
    # Isolated and without site packages: it starts in a third of the time.
    command.write_text(f"#!{sys.executable} -IS\n{dedent(source)}")
    command.chmod(0o700)
    return ExecPlugin(
        command=command,
        args=args,
        environment=environment or {},
        api_version=api_version,
        timeout_seconds=timeout_seconds,
        terminal=terminal,
    )


def answer(*, api_version: str = V1, **status: Any) -> str:
    """What a plugin prints."""
    return json.dumps({"apiVersion": api_version, "kind": "ExecCredential", "status": status})


def printing(text: str) -> str:
    """A plugin's source that prints ``text``."""
    return f"print({text!r})"


def counting(directory: Path, **status: Any) -> str:
    """A plugin's source whose token is an ``x`` for each time it was started.

    What is given is in the status that it prints as well.
    """
    return f"""
        import json
        with open({str(directory / "runs")!r}, "a+") as runs:
            runs.write("x")
            runs.flush()
            runs.seek(0)
            status = {{"token": runs.read(), **{status!r}}}
        print(json.dumps({{"apiVersion": {V1!r}, "kind": "ExecCredential", "status": status}}))
        """


# Tells the socket that it is there, and nothing else. Its child keeps the socket
# and the output open as well.
HANGING = """
    import os, signal, socket, sys
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    os.fork()
    signal.pause()
    """

# Its child has left the group, and keeps only the output open; after seconds it ends itself.
ESCAPING = """
    import os, signal, socket, sys
    if os.fork() == 0:
        os.setsid()
        signal.alarm(3)
        signal.pause()
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    signal.pause()
    """


class PluginLine:
    """A line to a plugin that hangs: one receives when it has begun, and when it is closed."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.began.set()
        await reader.read()
        self.ended.set()
        writer.close()


@asynccontextmanager
async def line_at(path: Path) -> AsyncIterator[PluginLine]:
    """A line that a plugin can call while the block runs."""
    line = PluginLine()
    async with await asyncio.start_unix_server(line.receive, path):
        yield line


def runs(directory: Path) -> int:
    """How often a counting plugin was started."""
    path = directory / "runs"
    return len(path.read_text()) if path.exists() else 0
