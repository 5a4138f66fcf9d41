"""A stand-in for a kubelet that serves only logs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from steersman.client import Client, MergePatch
from steersman.kinds import core_v1, meta_v1
from tests.certificates import Authority
from tests.raw_server import Received, raw_server, server_tls

# Returns the chunks of a log for the path and query of a request.
LogHandler: TypeAlias = Callable[[str, dict[str, str]], AsyncIterator[bytes]]


@asynccontextmanager
async def kubelet(client: Client, serve_log: LogHandler) -> AsyncIterator[str]:
    """Serve the logs of a new Node during the block, which gets the name of the Node."""

    async def response(request: Received, writer: asyncio.StreamWriter) -> None:
        url = urlsplit(request.line.split(" ")[1])
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        async for chunk in serve_log(url.path, dict(parse_qsl(url.query))):
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    tls = server_tls(Authority().server("127.0.0.1"))
    async with raw_server(response, tls=tls) as server:
        node = await client.create(core_v1.Node(metadata=meta_v1.ObjectMeta(generate_name="node-")))
        status = core_v1.NodeStatus(
            addresses=(core_v1.NodeAddress(type="InternalIP", address="127.0.0.1"),),
            daemon_endpoints=core_v1.NodeDaemonEndpoints(
                kubelet_endpoint=core_v1.DaemonEndpoint(port=server.port)
            ),
        )
        await client.status(core_v1.Node, node.name).patch(MergePatch({"status": status}))
        yield node.name
        await client.delete(core_v1.Node, node.name)
