"""``python -m bench.changing KUBECONFIG COUNT RATE SECONDS``: change AppServices at a steady rate.

A process of its own, which does nothing else. Prints one line for each change: name, the
generation that it made, and when it was sent and answered, in seconds on the monotonic clock.
"""

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from bench.load import CONNECTIONS, Connection, Destination, connection
from bench.world import HOME, app_name

MERGE_PATCH = "application/merge-patch+json"

# Sizes that no AppService has at first.
FIRST_SIZE = 10


async def change(to: Destination, *, count: int, rate: float, seconds: float) -> None:
    """Change the size of one after the other, each when its time has come."""
    idle: asyncio.Queue[Connection] = asyncio.Queue()

    async def change_one(number: int) -> None:
        name = app_name(number % count)
        body = {"spec": {"size": FIRST_SIZE + number // count}}
        request = to.request("PATCH", f"{HOME}/{name}", body, sends=MERGE_PATCH)
        mine = await idle.get()
        sent_at = time.monotonic()
        answer = await mine.ask(request)
        answered_at = time.monotonic()
        idle.put_nowait(mine)
        generation = json.loads(answer)["metadata"]["generation"]
        lines.append(f"{name} {generation} {sent_at} {answered_at}")

    lines: list[str] = []
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as changes:
        for _ in range(CONNECTIONS):
            idle.put_nowait(await stack.enter_async_context(connection(to)))
        began_at = time.monotonic()
        for number in range(int(rate * seconds)):
            await asyncio.sleep(began_at + number / rate - time.monotonic())
            changes.create_task(change_one(number))
    print("\n".join(lines))


if __name__ == "__main__":
    place, how_many, a_second, how_long = sys.argv[1:]
    asyncio.run(
        change(
            Destination.of(Path(place)),
            count=int(how_many),
            rate=float(a_second),
            seconds=float(how_long),
        )
    )
