"""The data directory of the kube-apiserver launcher, which the etcd launcher provides.

The kube-apiserver launcher requests the path of this directory from the etcd launcher. This is the
only request between the two, and the path is local, so both must run on the same machine.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from steersman.clock import Clock
from steersman_cluster.errors import ClusterError

DATA_PATH: Final = "/steersman/data-directory"

# About as long as a real server waits for its etcd.
PATIENCE_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.05
RESPONSE_SECONDS: Final = 2.0


async def find_data_directory(
    servers: Sequence[str], *, prefix: str, ended: asyncio.Event, clock: Clock
) -> Path | None:
    """Return the directory for objects under the etcd key prefix ``prefix``.

    Wait until the etcd launcher at ``servers[0]`` responds. Return ``None`` if ``ended`` is set
    before that. Raise ``ClusterError`` if the launcher does not respond for ``PATIENCE_SECONDS``,
    or is a real etcd.
    """
    url, started_at = servers[0], clock.monotonic()
    response: tuple[int, bytes] | None = None
    while response is None:
        if ended.is_set():
            return None
        try:
            async with clock.timeout(RESPONSE_SECONDS):
                response = await _get(url, DATA_PATH)
        except OSError as error:
            if clock.monotonic() - started_at > PATIENCE_SECONDS:
                raise ClusterError(
                    problem=f"etcd does not respond at {url}: {error}",
                    what_now="Start the etcd beside this kube-apiserver first.",
                ) from error
            await clock.sleep(POLL_SECONDS)
    status, body = response
    if status != 200:
        raise ClusterError(
            problem=f"the etcd at {url} is a real etcd, which the embedded API server cannot use",
            what_now="Start the etcd beside this kube-apiserver instead.",
        )
    return Path(body.decode()) / "objects" / quote(prefix.strip("/") or "registry", safe="")


async def _get(url: str, path: str) -> tuple[int, bytes]:
    at = urlsplit(url)
    if at.scheme in ("unix", "unixs"):
        reader, writer = await asyncio.open_unix_connection(at.netloc + at.path)
    else:
        reader, writer = await asyncio.open_connection(at.hostname, at.port or 2379)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: etcd\r\n\r\n".encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
    words = head.split(b" ", 2)
    if len(words) < 2 or not words[1].isdigit():
        raise ConnectionError("the response is not HTTP")
    return int(words[1]), body
