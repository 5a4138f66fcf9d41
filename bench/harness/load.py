"""``python -m bench.harness.load TASK KUBECONFIG COUNT``: load from a separate process.

The requests are encoded in advance, so that the load costs little compared with the server. The
program prints ``wall``, in seconds, and ``rate``, per second, as one line of JSON.
"""

import asyncio
import base64
import json
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import yaml

from bench.harness.task import APPS, CONFIG_MAP, CONFIG_MAPS, DEPLOYMENTS, PAGE_SIZE

CONNECTIONS = 16

# Longer than any task takes.
TIMEOUT_SECONDS = 1800.0

# A ConfigMap with this in it is 1 kB of JSON.
PADDING = "steady as she goes. " * 45


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The address of a server and a token, from the first entries of a kubeconfig."""

    host: str
    port: int
    tls: ssl.SSLContext
    token: str

    @classmethod
    def of(cls, kubeconfig: Path) -> "Destination":
        """Read a kubeconfig."""
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        url = urlsplit(cluster["server"])
        ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
        assert url.hostname is not None
        assert url.port is not None
        return cls(
            host=url.hostname,
            port=url.port,
            tls=ssl.create_default_context(cadata=ca),
            token=config["users"][0]["user"]["token"],
        )

    def request(
        self, method: str, path: str, body: object = None, *, sends: str = "application/json"
    ) -> bytes:
        """The bytes of a request; a body of type bytes is JSON already."""
        if body is None:
            content = b""
        else:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return (
            f"{method} {path} HTTP/1.1\r\n"
            f"Host: {self.host}:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\n"
            "Accept: application/json\r\n"
            f"Content-Type: {sends}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        ).encode() + content


class Connection:
    """A keep-alive connection, for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, request: bytes) -> bytes:
        """Send a request, and return the body of the response, whose status must be 2xx."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lowered = head.lower()
        if b"\r\ntransfer-encoding: chunked" in lowered:
            body = b"".join([chunk async for chunk in self._chunks()])
        else:
            _, _, rest = lowered.partition(b"\r\ncontent-length:")
            body = await self._reader.readexactly(int(rest.partition(b"\r\n")[0]))
        if not head.startswith(b"HTTP/1.1 2"):
            raise AssertionError(f"{request[:80]!r}: {head[:16]!r} {body[:400]!r}")
        return body

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readline(), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readline()
        await self._reader.readline()


@asynccontextmanager
async def connection(to: Destination) -> AsyncIterator[Connection]:
    """A connection after its TLS handshake."""
    reader, writer = await asyncio.open_connection(
        to.host, to.port, ssl=to.tls, limit=2**20, server_hostname=to.host
    )
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


async def in_parallel(to: Destination, requests: Iterable[bytes]) -> float:
    """Send all requests over all connections, and return the seconds until the last response."""

    async def work(mine: Connection) -> None:
        for request in waiting:
            await mine.send(request)

    waiting: Iterator[bytes] = iter(requests)
    async with asyncio.timeout(TIMEOUT_SECONDS), AsyncExitStack() as stack:
        ours = [await stack.enter_async_context(connection(to)) for _ in range(CONNECTIONS)]
        started_at = time.perf_counter()
        async with asyncio.TaskGroup() as workers:
            for each in ours:
                workers.create_task(work(each))
        return time.perf_counter() - started_at


async def create_config_maps(to: Destination, count: int) -> float:
    """Create ConfigMaps of 1 kB."""
    data = {"padding": PADDING}
    bodies = ({"metadata": named(number), "data": data} for number in range(count))
    return await in_parallel(to, [to.request("POST", CONFIG_MAPS, body) for body in bodies])


async def create_deployments(to: Destination, count: int) -> float:
    """Create Deployments of a realistic size."""
    bodies = ({"metadata": named(n), "spec": deployment_spec(n)} for n in range(count))
    return await in_parallel(to, [to.request("POST", DEPLOYMENTS, body) for body in bodies])


async def clear(to: Destination, _: int) -> float:
    """Delete the objects of this program."""
    started_at = time.perf_counter()
    async with connection(to) as mine:
        for collection in (CONFIG_MAPS, DEPLOYMENTS):
            await mine.send(to.request("DELETE", f"{collection}?labelSelector=load"))
    return time.perf_counter() - started_at


async def get(to: Destination, count: int) -> float:
    """Get one small ConfigMap repeatedly."""
    return await in_parallel(to, [to.request("GET", f"{CONFIG_MAPS}/{CONFIG_MAP}")] * count)


async def list_whole(to: Destination, count: int) -> float:
    """List all AppServices in one response."""
    async with connection(to) as mine:
        started_at = time.perf_counter()
        body = await mine.send(to.request("GET", APPS))
        seconds = time.perf_counter() - started_at
    expect(len(json.loads(body)["items"]), count)
    return seconds


async def list_in_pages(to: Destination, count: int) -> float:
    """List all AppServices in pages of the clients' default size."""
    seconds, seen, token = 0.0, 0, ""
    async with connection(to) as mine:
        while True:
            path = f"{APPS}?limit={PAGE_SIZE}&continue={quote(token)}"
            started_at = time.perf_counter()
            body = await mine.send(to.request("GET", path))
            seconds += time.perf_counter() - started_at
            page = json.loads(body)
            seen += len(page["items"])
            token = page["metadata"].get("continue", "")
            if not token:
                expect(seen, count)
                return seconds


def expect(seen: int, count: int) -> None:
    """Check the number of listed objects."""
    if seen != count:
        raise AssertionError(f"expected {count} objects, listed {seen}")


def named(number: int) -> dict[str, object]:
    """Metadata with a name, and the label that ``clear`` selects."""
    return {"name": f"load-{number}", "labels": {"load": "yes"}}


def deployment_spec(number: int) -> dict[str, object]:
    """Two containers with ports, variables and resources."""
    labels = {"app.kubernetes.io/name": f"web-{number}", "team": f"team-{number % 40}"}
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}}
    containers = [
        {
            "name": name,
            "image": f"registry.example.com/shop/{name}:1.{number % 25}.0",
            "ports": [{"name": "http", "containerPort": 8000}],
            "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "PORT", "value": "8000"}],
            "resources": resources,
        }
        for name in ("web", "proxy")
    ]
    return {
        "replicas": number % 3 + 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }


TASKS: dict[str, Callable[[Destination, int], Awaitable[float]]] = {
    "clear": clear,
    "create-configmaps": create_config_maps,
    "create-deployments": create_deployments,
    "get": get,
    "list-whole": list_whole,
    "list-in-pages": list_in_pages,
}


async def main() -> None:
    """Run the command line."""
    task, kubeconfig, count = sys.argv[1:]
    seconds = await TASKS[task](Destination.of(Path(kubeconfig)), int(count))
    print(json.dumps({"wall": seconds, "rate": int(count) / seconds}))


if __name__ == "__main__":
    asyncio.run(main())
