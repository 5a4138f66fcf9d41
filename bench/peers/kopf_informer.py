"""``python -m bench.peers.kopf_informer COUNT [--index]``: every AppService, kept by kopf.

In a dictionary, filled by a handler of events; or in an index, which is what kopf has for this, but
whose first filling takes time by the square of what is there. Nothing tells when all have come, so
it gets their number. On uvloop, which ``kopf run`` takes by itself.
"""

import asyncio
import sys
from collections.abc import Sized
from itertools import chain
from typing import Any

# kopf loads whichever of these it finds, and needs neither.
sys.modules.update(dict.fromkeys(["kubernetes", "kubernetes_asyncio"]))  # type: ignore[arg-type]

import kopf  # noqa: E402
import uvloop  # noqa: E402

from bench.harness.task import GROUP, PLURAL, VERSION  # noqa: E402
from bench.peers.informing import in_short, print_held, print_synced, stdin_closed  # noqa: E402

COUNT = int(sys.argv[1])
HAS_INDEX = "--index" in sys.argv


class Whole:
    """Says once that all have come."""

    def __init__(self) -> None:
        self.is_said = False

    def look(self, apps: Sized) -> None:
        if not self.is_said and len(apps) == COUNT:
            self.is_said = True
            print_synced(len(apps))


whole = Whole()


@kopf.on.startup()
async def start(memo: kopf.Memo, **indexes: Any) -> None:
    memo.apps = indexes["apps"] if HAS_INDEX else {}


if HAS_INDEX:

    @kopf.index(GROUP, VERSION, PLURAL)
    async def apps(namespace: str, name: str, body: kopf.Body, memo: kopf.Memo, **_: Any) -> Any:
        # What it returns is put into the index before anything else has its turn.
        asyncio.get_running_loop().call_soon(whole.look, memo.apps)
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
            whole.look(memo.apps)


async def follow() -> None:
    stop = asyncio.Event()
    memo = kopf.Memo()
    async with asyncio.TaskGroup() as group:
        group.create_task(
            kopf.operator(clusterwide=True, standalone=True, stop_flag=stop, memo=memo)
        )
        await stdin_closed()
        # An index has all the values of a key.
        bodies = chain.from_iterable(memo.apps.values()) if HAS_INDEX else memo.apps.values()
        print_held(map(in_short, bodies))
        stop.set()


if __name__ == "__main__":
    uvloop.run(follow())
