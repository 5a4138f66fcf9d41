"""A program that has the flags of ``etcd``, and reports its health and data directory.

It stores nothing itself: the kube-apiserver launcher writes to the data directory.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

from steersman_cluster.commands.launchers import BadFlag, ParsedFlags, parsed
from steersman_cluster.commands.launchers.data_directory import DATA_PATH
from steersman_cluster.commands.launchers.etcd_flags import ETCD_FLAGS, HONORED
from steersman_cluster.commands.launchers.starter import following_starter
from steersman_cluster.commands.signals import on_end_signals

NAME = "etcd"
VERSION = "3.6.8"


def main(arguments: Sequence[str], *, environ: Mapping[str, str]) -> int:
    """Serve until a signal arrives, and return the exit status of the program."""
    try:
        # Go's own flags take one dash as well.
        doubled = [f"-{each}" if _is_single(each) else each for each in arguments]
        given = parsed(
            doubled,
            ETCD_FLAGS,
            shorthands={},
            program=NAME,
            unknown="flag provided but not defined: -",
        )
        if given.yes("help") or given.yes("h"):
            sys.stdout.write(_help())
        elif given.yes("version"):
            sys.stdout.write(f"etcd Version: {VERSION}\n")
        else:
            asyncio.run(_serve(given, _data_directory(given), environ=environ))
    except BadFlag as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return 1
    return 0


def _is_single(argument: str) -> bool:
    return argument.startswith("-") and not argument.startswith("--") and argument != "-"


def _data_directory(given: ParsedFlags) -> Path:
    data = Path(given.one("data-dir") or f"{given.one('name', 'default')}.etcd").absolute()
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return data


async def _serve(given: ParsedFlags, data: Path, *, environ: Mapping[str, str]) -> None:
    ended = asyncio.Event()
    on_end_signals(ended.set)
    responses = EtcdResponses(data)
    urls = (*given.listed("listen-client-urls"), *given.listed("listen-client-http-urls"))
    if idle := [f"--{name}" for name in given if name not in HONORED]:
        sys.stderr.write(f"{NAME}: accepted, but ignored: {' '.join(idle)}\n")
        sys.stderr.flush()
    async with AsyncExitStack() as open_:
        for url in urls or ("http://localhost:2379",):
            server = await _listening(responses, url)
            open_.callback(server.close)
        with following_starter(ended, environ=environ):
            await ended.wait()


async def _listening(responses: "EtcdResponses", url: str) -> asyncio.Server:
    at = urlsplit(url)
    if at.scheme == "unix":
        # A socket of an earlier process is replaced.
        return await asyncio.start_unix_server(responses.handle_client, at.netloc + at.path)
    if at.scheme != "http":
        raise BadFlag(f"{url}: this etcd listens at http:// and unix:// only")
    return await asyncio.start_server(responses.handle_client, at.hostname, at.port or 2379)


class EtcdResponses:
    """The responses of the etcd launcher by URL path: its health, version and data directory."""

    def __init__(self, data: Path) -> None:
        version = {"etcdserver": VERSION, "etcdcluster": "3.6.0", "storage": "3.6.0"}
        self._bodies = {
            "/health": b'{"health":"true","reason":""}',
            "/livez": b"ok\n",
            "/readyz": b"ok\n",
            "/version": json.dumps(version, separators=(",", ":")).encode(),
            DATA_PATH: str(data).encode(),
        }

    async def handle_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Respond to one HTTP request, and close the connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].partition(b"?")[0].decode(errors="replace")
            writer.write(self._reply(path))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, OSError):
            return  # not an HTTP request, or the client has disconnected
        finally:
            writer.close()

    def _reply(self, path: str) -> bytes:
        body = self._bodies.get(path)
        status, body = (b"200 OK", body) if body is not None else (b"404 Not Found", b"not found\n")
        length = str(len(body)).encode()
        head = b"HTTP/1.1 %s\r\nContent-Length: %s\r\nConnection: close\r\n\r\n"
        return head % (status, length) + body

    def __repr__(self) -> str:
        return f"<EtcdResponses at {' '.join(self._bodies)}>"


def _help() -> str:
    flags = (f"  --{name}" for name in ETCD_FLAGS)
    return "\n".join((f"Usage:\n\n  {NAME} [flags]\n\nFlags:\n", *flags)) + "\n"


if __name__ == "__main__":
    import os

    sys.exit(main(sys.argv[1:], environ=os.environ))
