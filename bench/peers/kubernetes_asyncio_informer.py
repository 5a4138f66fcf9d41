"""``python -m bench.peers.kubernetes_asyncio_informer``: every AppService in a dictionary.

The library has no informer: as in its examples, the program lists, and watches from the version of
the list.
"""

import asyncio
from typing import Any

from kubernetes_asyncio import client, config, watch

from bench.harness.task import GROUP, NAMESPACE, PLURAL, VERSION
from bench.peers.informer_output import print_cache, print_synced, stdin_closed, summary_fields

APPS = (GROUP, VERSION, NAMESPACE, PLURAL)


class Cache:
    def __init__(self) -> None:
        self.seen = 0
        self.apps: dict[tuple[str, str], Any] = {}

    def put(self, app: Any) -> None:
        self.apps[app["metadata"]["namespace"], app["metadata"]["name"]] = app
        self.seen += 1

    def remove(self, app: Any) -> None:
        self.apps.pop((app["metadata"]["namespace"], app["metadata"]["name"]), None)


async def fill(api: client.CustomObjectsApi, cache: Cache) -> str:
    """List all objects, and return the resource version of the list."""
    apps: Any = await api.list_namespaced_custom_object(*APPS)
    for app in apps["items"]:
        cache.put(app)
    return apps["metadata"]["resourceVersion"]


async def keep(api: client.CustomObjectsApi, cache: Cache, version: str) -> None:
    async with watch.Watch() as events:
        async for event in events.stream(
            api.list_namespaced_custom_object, *APPS, resource_version=version
        ):
            if event["type"] == "DELETED":
                cache.remove(event["object"])
            else:
                cache.put(event["object"])


async def follow() -> None:
    await config.load_kube_config()
    cache = Cache()
    async with client.ApiClient() as connection, asyncio.TaskGroup() as group:
        api = client.CustomObjectsApi(connection)
        version = await fill(api, cache)
        watching = group.create_task(keep(api, cache, version))
        print_synced(cache.seen)
        await stdin_closed()
        print_cache(map(summary_fields, cache.apps.values()))
        watching.cancel()


if __name__ == "__main__":
    asyncio.run(follow())
