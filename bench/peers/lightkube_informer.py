"""``python -m bench.peers.lightkube_informer``: every AppService in a dictionary.

The library has no informer: the program lists, and watches from the version of the list. It uses
classes for the custom resource, which decode their fields lazily.
"""

import asyncio

from lightkube import AsyncClient

from bench.harness.task import NAMESPACE
from bench.peers.clients.lightkube_typed import AppService
from bench.peers.informer_output import print_cache, print_synced, stdin_closed


class Cache:
    def __init__(self) -> None:
        self.seen = 0
        self.apps: dict[tuple[str, str], AppService] = {}

    def put(self, app: AppService) -> None:
        self.apps[app.metadata.namespace, app.metadata.name] = app
        self.seen += 1

    def remove(self, app: AppService) -> None:
        self.apps.pop((app.metadata.namespace, app.metadata.name), None)


async def keep(client: AsyncClient, cache: Cache, version: str) -> None:
    events = client.watch(AppService, namespace=NAMESPACE, resource_version=version)
    async for event, app in events:
        if event == "DELETED":
            cache.remove(app)
        else:
            cache.put(app)


async def follow() -> None:
    client = AsyncClient()
    cache = Cache()
    async with asyncio.TaskGroup() as group:
        apps = client.list(AppService, namespace=NAMESPACE)
        async for app in apps:
            cache.put(app)
        watching = group.create_task(keep(client, cache, apps.resourceVersion))
        print_synced(cache.seen)
        await stdin_closed()
        print_cache(
            (app.metadata.namespace, app.metadata.name, app.spec.image, app.spec.size)
            for app in cache.apps.values()
        )
        watching.cancel()
    await client.close()


if __name__ == "__main__":
    asyncio.run(follow())
