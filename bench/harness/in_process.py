"""``python -m bench.harness.in_process COUNT``: gets of one ConfigMap, client and server in one.

Through the transport that tests use, and no further: what a client makes of the answer is measured
elsewhere. Every answer is looked at: its status, and its body, byte by byte, which is the one that
the first get had with the ConfigMap in it. Prints the rate, and the CPU of each, as JSON.
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
    """How many gets a second, one after another, and what each takes of both."""
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
    """The same of any transport; ``AssertionError`` if an answer is not the right one."""
    created = Request(method="POST", path=CONFIG_MAPS, body=json.dumps(BODY).encode())
    async with transport.open(created) as response:
        assert response.status == 201
    get = Request(method="GET", path=f"{CONFIG_MAPS}/one")
    async with transport.open(get) as response:
        expected = await response.read(limit_bytes=LIMIT_BYTES)
    if (found := json.loads(expected).get("data")) != BODY["data"]:
        raise AssertionError(f"GET {get.path} was answered {response.status} with {found!r}")
    cpu_before_seconds = time.process_time()
    started_at = time.perf_counter()
    for _ in range(count):
        async with transport.open(get) as response:
            body = await response.read(limit_bytes=LIMIT_BYTES)
            # Two comparisons, which take next to nothing beside a get.
            if response.status != 200 or body != expected:
                raise AssertionError(f"GET {get.path} was answered {response.status}: {body!r}")
    wall_seconds = time.perf_counter() - started_at
    cpu_seconds = time.process_time() - cpu_before_seconds
    return {"rate": count / wall_seconds, "server_cpu": cpu_seconds / count}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(int(sys.argv[1])))))
