"""``python -m bench.peers.kopf_informer COUNT [--index]``: every AppService, kept by kopf.

In a dictionary, filled by a handler of events; or in an index, which is what kopf has for this, but
whose first filling takes time by the square of what is there. Nothing tells when all have come, so
it is told how many there are. On uvloop, which ``kopf run`` takes by itself.
"""

import asyncio
import sys
from typing import Any

# kopf loads whichever of these it finds, and needs neither.
sys.modules.update(dict.fromkeys(["kubernetes", "kubernetes_asyncio"]))  # type: ignore[arg-type]

import kopf  # noqa: E402
import uvloop  # noqa: E402

from bench.harness.task import GROUP, PLURAL, VERSION  # noqa: E402
from bench.peers.informing import say, unwanted  # noqa: E402

COUNT = int(sys.argv[1])


class Seen:
    """How often the handler was called."""

    def __init__(self) -> None:
        self.times = 0

    def once_more(self) -> None:
        self.times += 1
        if self.times == COUNT:
            say(self.times)


seen = Seen()


@kopf.on.startup()
async def start(memo: kopf.Memo, **_: Any) -> None:
    memo.apps = {}


if "--index" in sys.argv:

    @kopf.index(GROUP, VERSION, PLURAL)
    async def apps(namespace: str, name: str, body: kopf.Body, **_: Any) -> Any:
        seen.once_more()
        return {(namespace, name): body}

else:

    @kopf.on.event(GROUP, VERSION, PLURAL)
    async def keep(
        type: str | None, namespace: str, name: str, body: kopf.Body, memo: kopf.Memo, **_: Any
    ) -> None:
        if type == "DELETED":
            memo.apps.pop((namespace, name), None)
        else:
            memo.apps[namespace, name] = body
            seen.once_more()


async def follow() -> None:
    stop = asyncio.Event()
    memo = kopf.Memo()
    async with asyncio.TaskGroup() as group:
        group.create_task(
            kopf.operator(clusterwide=True, standalone=True, stop_flag=stop, memo=memo)
        )
        await unwanted()
        stop.set()


if __name__ == "__main__":
    uvloop.run(follow())
