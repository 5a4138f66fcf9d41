"""``python -m bench.informing KUBECONFIG``: every AppService in an informer, with a handler.

Prints how many there are as one line of JSON once all of them have been handed to the handler, and
stays until its standard input is closed: what ``peers/controller_runtime`` does with that library.
"""

import asyncio
import json
import sys
from pathlib import Path

from bench.contenders.steersman_client import AppService, connected
from steersman.cache import Informer, on
from steersman.observe import ignore


async def follow(kubeconfig: Path) -> None:
    """Follow until nobody listens."""
    seen = 0

    def count(_: AppService) -> None:
        nonlocal seen
        seen += 1

    async with connected(kubeconfig) as client:
        informer = Informer(client, AppService, observe=ignore)
        registration = informer.add_handler(on(added=count))
        async with informer.running():
            await registration.synced()
            print(json.dumps({"objects": seen}), flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(follow(Path(sys.argv[1])))
