"""``python -m bench.harness.in_process COUNT``: gets of one ConfigMap, without a socket.

The program uses the in-process transport of tests, without a client above it. It compares the
status and the body of each response with the first one. It prints the rate and the CPU of one
request as JSON.
"""

import asyncio
import json
import sys
import time
from random import Random

from bench.harness.task import CONFIG_MAPS
from steersman.clock import SystemClock
from steersman.observe import ignore
from steersman.wire import Request, Transport
from steersman_cluster.apiserver import (
    ApiServer,
    InProcessTransport,
    NoWebhookTransport,
    RevisionLog,
)

BODY = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "one"},
    "data": {f"key-{number}": "x" * 90 for number in range(10)},
}

LIMIT_BYTES = 10_000


async def measured(count: int) -> dict[str, float]:
    """The rate of sequential gets, and the CPU of one, for client and server together."""
    server = ApiServer(
        log=RevisionLog(),
        tokens={},
        clock=SystemClock(),
        rng=Random(0),
        observe=ignore,
        outbound=NoWebhookTransport(),
    )
    return await timed(InProcessTransport(server), count)


async def timed(transport: Transport, count: int) -> dict[str, float]:
    """The same for any transport; raise ``AssertionError`` at an unexpected response."""
    created = Request(method="POST", path=CONFIG_MAPS, body=json.dumps(BODY).encode())
    async with transport.open(created) as response:
        assert response.status == 201
    get = Request(method="GET", path=f"{CONFIG_MAPS}/one")
    async with transport.open(get) as response:
        expected = await response.read(limit_bytes=LIMIT_BYTES)
    if (found := json.loads(expected).get("data")) != BODY["data"]:
        raise AssertionError(f"GET {get.path}: status {response.status}, data {found!r}")
    cpu_before_seconds = time.process_time()
    started_at = time.perf_counter()
    for _ in range(count):
        async with transport.open(get) as response:
            body = await response.read(limit_bytes=LIMIT_BYTES)
            # The cost of these two comparisons is negligible.
            if response.status != 200 or body != expected:
                raise AssertionError(f"GET {get.path}: status {response.status}: {body!r}")
    wall_seconds = time.perf_counter() - started_at
    cpu_seconds = time.process_time() - cpu_before_seconds
    return {"rate": count / wall_seconds, "server_cpu": cpu_seconds / count}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(int(sys.argv[1])))))
