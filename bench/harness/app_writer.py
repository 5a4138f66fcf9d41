"""``python -m bench.harness.app_writer (change|create) KUBECONFIG …``: write at a steady rate.

The program changes or creates AppServices. After each response it prints a line in the format of
``bench.harness.spans.Write``. It ends after the last response.
"""

import argparse
import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

from bench.harness.fixtures import HOME, app_name, app_service
from bench.harness.load import CONNECTIONS, Connection, Destination, connection
from bench.harness.spans import Write
from steersman.kinds import Codec

MERGE_PATCH = "application/merge-patch+json"

# Larger than the size of any new AppService.
FIRST_SIZE = 10

# The request with this number, and the name of its object.
Request: TypeAlias = Callable[[int], tuple[bytes, str]]


def changes(to: Destination, *, count: int) -> Request:
    """Change the sizes of ``count`` AppServices in turn; each cycle increases them by one."""

    def change(number: int) -> tuple[bytes, str]:
        name = app_name(number % count)
        body = {"spec": {"size": FIRST_SIZE + number // count}}
        return to.request("PATCH", f"{HOME}/{name}", body, sends=MERGE_PATCH), name

    return change


def creations(to: Destination) -> Request:
    """Create a new AppService each time."""
    codec = Codec()

    def create(number: int) -> tuple[bytes, str]:
        return to.request("POST", HOME, codec.encode(app_service(number))), app_name(number)

    return create


async def write(to: Destination, request: Request, *, first: int, rate: float, total: int) -> None:
    """Send each request when it is due, and requests for one object sequentially."""
    idle: asyncio.Queue[Connection] = asyncio.Queue()
    # On two connections, the second request could arrive before the first.
    turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def write_one(number: int, due_at: float) -> None:
        body, name = request(number)
        async with turns[name]:
            mine = await idle.get()
            sent_at = time.monotonic()
            response = await mine.send(body)
            last_response_at = time.monotonic()
            idle.put_nowait(mine)
        app = json.loads(response)
        written = Write(
            name=app["metadata"]["name"],
            generation=app["metadata"]["generation"],
            size=app["spec"]["size"],
            due_at=due_at,
            sent_at=sent_at,
            last_response_at=last_response_at,
        )
        print(written.line(), flush=True)

    async with AsyncExitStack() as stack, asyncio.TaskGroup() as writes:
        for _ in range(CONNECTIONS):
            idle.put_nowait(await stack.enter_async_context(connection(to)))
        began_at = time.monotonic()
        for number in range(total):
            due_at = began_at + number / rate
            await asyncio.sleep(due_at - time.monotonic())
            writes.create_task(write_one(first + number, due_at))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("change", "create"))
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument(
        "--count", type=int, default=1, help="number of AppServices that are changed"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first write")
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    to = Destination.of(options.kubeconfig)
    request = changes(to, count=options.count) if options.what == "change" else creations(to)
    total = int(options.rate * options.seconds)
    asyncio.run(write(to, request, first=options.first, rate=options.rate, total=total))


if __name__ == "__main__":
    main()
