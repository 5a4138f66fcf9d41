"""``python -m bench.peers.kopf_informer COUNT [--index]``: an informer with kopf.

An event handler stores every AppService in a dictionary. With ``--index``, an index of kopf stores
them, which takes quadratic time at the start. kopf has no sync signal, so the program gets the
number of objects. It uses uvloop, as ``kopf run`` does.
"""

import asyncio
import sys
from collections.abc import Sized
from itertools import chain
from typing import Any

# kopf imports these if they are installed, but does not need them.
sys.modules.update(dict.fromkeys(["kubernetes", "kubernetes_asyncio"]))  # type: ignore[arg-type]

import kopf  # noqa: E402
import uvloop  # noqa: E402

from bench.harness.task import GROUP, PLURAL, VERSION  # noqa: E402
from bench.peers.informer_output import print_cache, print_synced, stdin_closed, summary_fields  # noqa: E402

COUNT = int(sys.argv[1])
HAS_INDEX = "--index" in sys.argv


class SyncReport:
    """Prints once that all objects have arrived."""

    def __init__(self) -> None:
        self.is_printed = False

    def check(self, apps: Sized) -> None:
        if not self.is_printed and len(apps) == COUNT:
            self.is_printed = True
            print_synced(len(apps))


report = SyncReport()


@kopf.on.startup()
async def start(memo: kopf.Memo, **indexes: Any) -> None:
    memo.apps = indexes["apps"] if HAS_INDEX else {}


if HAS_INDEX:

    @kopf.index(GROUP, VERSION, PLURAL)
    async def apps(namespace: str, name: str, body: kopf.Body, memo: kopf.Memo, **_: Any) -> Any:
        # kopf adds the returned value to the index before the event loop calls this.
        asyncio.get_running_loop().call_soon(report.check, memo.apps)
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
            report.check(memo.apps)


async def follow() -> None:
    stop = asyncio.Event()
    memo = kopf.Memo()
    async with asyncio.TaskGroup() as group:
        group.create_task(
            kopf.operator(clusterwide=True, standalone=True, stop_flag=stop, memo=memo)
        )
        await stdin_closed()
        # An index maps each key to a collection of values.
        bodies = chain.from_iterable(memo.apps.values()) if HAS_INDEX else memo.apps.values()
        print_cache(map(summary_fields, bodies))
        stop.set()


if __name__ == "__main__":
    uvloop.run(follow())
