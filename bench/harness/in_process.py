"""``python -m bench.harness.in_process COUNT``: gets of one ConfigMap, client and server in one.

Through the transport that tests use, and no further: what a client makes of the answer is measured
elsewhere. Prints the rate, and the CPU of each, as JSON.
"""

import asyncio
import json
import sys
import time
from random import Random

from steersman.apiserver import ApiServer, InProcessTransport, NoWayOut, RevisionLog
from steersman.clock import SystemClock
from steersman.observe import ignore
from steersman.wire import Request

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
BODY = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "one"},
    "data": {f"key-{number}": "x" * 90 for number in range(10)},
}


async def measured(count: int) -> dict[str, float]:
    """How many gets a second, one after another, and what each takes of both."""
    server = ApiServer(
        log=RevisionLog(),
        tokens={},
        clock=SystemClock(),
        rng=Random(0),
        observe=ignore,
        outbound=NoWayOut(),
    )
    transport = InProcessTransport(server)
    created = Request(method="POST", path=CONFIG_MAPS, body=json.dumps(BODY).encode())
    async with transport.open(created) as response:
        assert response.status == 201
    get = Request(method="GET", path=f"{CONFIG_MAPS}/one")
    cpu_before_seconds = time.process_time()
    started_at = time.perf_counter()
    for _ in range(count):
        async with transport.open(get) as response:
            await response.read(limit_bytes=10_000)
    wall_seconds = time.perf_counter() - started_at
    cpu_seconds = time.process_time() - cpu_before_seconds
    return {"rate": count / wall_seconds, "server_cpu": cpu_seconds / count}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(int(sys.argv[1])))))
