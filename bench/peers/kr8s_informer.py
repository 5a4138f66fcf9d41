"""``python -m bench.peers.kr8s_informer COUNT``: every AppService in a dictionary.

The library has no informer, and its lists have no resourceVersion. Therefore the program only
watches, and the watch starts with all existing objects. There is no sync signal, so the program
gets the number of objects.
"""

import asyncio
import sys
import warnings

import kr8s.asyncio
from kr8s.asyncio.objects import APIObject, new_class

from bench.harness.task import GROUP, KIND, NAMESPACE, PLURAL, VERSION
from bench.peers.informer_output import print_cache, print_synced, stdin_closed, summary_fields

AppService = new_class(KIND, f"{GROUP}/{VERSION}", namespaced=True, plural=PLURAL)


async def keep(apps: dict[tuple[str, str], APIObject], count: int) -> None:
    is_whole = False
    async for event, app in kr8s.asyncio.watch(AppService, namespace=NAMESPACE):
        if event == "DELETED":
            apps.pop((app.namespace, app.name), None)
        else:
            apps[app.namespace, app.name] = app
        if not is_whole and len(apps) == count:
            is_whole = True
            print_synced(len(apps))


async def follow(count: int) -> None:
    apps: dict[tuple[str, str], APIObject] = {}
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(keep(apps, count))
        await stdin_closed()
        print_cache(summary_fields(app.raw) for app in apps.values())
        watch.cancel()


if __name__ == "__main__":
    # kr8s warns about newer server versions.
    warnings.filterwarnings("ignore", "Kubernetes version")
    asyncio.run(follow(int(sys.argv[1])))
