"""``python -m bench.peers.steersman_informer [--uvloop]``: every AppService in an informer.

The program prints the number of objects when its handler has received all of them, runs until its
standard input is closed, and prints a summary of its cache, as ``peers/controller_runtime`` does.
"""

import asyncio
import os
import sys
from pathlib import Path

from bench.peers.clients.steersman_client import AppService, connected
from bench.peers.informer_output import print_cache, print_synced, stdin_closed
from steersman.cache import Informer, handler_funcs
from steersman.observe import ignore


async def follow() -> None:
    """Run the informer until standard input is closed."""
    seen = 0

    def count(_: AppService) -> None:
        nonlocal seen
        seen += 1

    async with connected(Path(os.environ["KUBECONFIG"])) as client:
        informer = Informer(client, AppService, observe=ignore)
        registration = informer.add_handler(handler_funcs(added=count))
        async with informer.running():
            await registration.synced()
            print_synced(seen)
            await stdin_closed()
            print_cache(
                (app.namespace, app.name, app.spec.image, app.spec.size)
                for app in informer.lister.list()
            )


if __name__ == "__main__":
    if "--uvloop" in sys.argv:
        import uvloop

        uvloop.run(follow())
    else:
        asyncio.run(follow())
