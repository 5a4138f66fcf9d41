"""Credential plugins for tests: real programs that a test writes."""

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
    """A plugin whose program is the Python code ``source``."""
    command = directory / "plugin"
    # Isolated and without site packages: Python starts in a third of the time.
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


def exec_credential(*, api_version: str = V1, **status: Any) -> str:
    """The output of a plugin."""
    return json.dumps({"apiVersion": api_version, "kind": "ExecCredential", "status": status})


def printing(text: str) -> str:
    """The source of a plugin that prints ``text``."""
    return f"print({text!r})"


def counting(directory: Path, **status: Any) -> str:
    """The source of a plugin whose token is an ``x`` for each time it was started.

    The arguments are added to the status that it prints.
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


# Connects to the socket and hangs. Its child keeps the socket and the output open as well.
HANGING = """
    import os, signal, socket, sys
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    os.fork()
    signal.pause()
    """

# Its child leaves the process group, keeps only the output open, and ends after seconds.
ESCAPING = """
    import os, signal, socket, sys
    if os.fork() == 0:
        os.setsid()
        signal.alarm(3)
        signal.pause()
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    signal.pause()
    """


class PluginSocket:
    """A socket that shows when a hanging plugin has started and has ended."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.ended = asyncio.Event()

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.started.set()
        await reader.read()
        self.ended.set()
        writer.close()


@asynccontextmanager
async def listen_at(path: Path) -> AsyncIterator[PluginSocket]:
    """A socket that a plugin can connect to while the block runs."""
    plugin_socket = PluginSocket()
    async with await asyncio.start_unix_server(plugin_socket.receive, path):
        yield plugin_socket


def runs(directory: Path) -> int:
    """The number of times a counting plugin was started."""
    path = directory / "runs"
    return len(path.read_text()) if path.exists() else 0
