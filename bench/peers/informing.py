"""What every informer here does besides.

It says once that it is whole, stays while it is wanted, and then tells what its cache holds. Where
a library does not tell when all that was there has come, the program gets their number.
"""

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from bench.harness.task import held


def say(objects: int) -> None:
    """How many objects were handed to the handler."""
    print(json.dumps({"objects": objects}), flush=True)


async def unwanted() -> None:
    """Return when standard input is closed."""
    await asyncio.to_thread(sys.stdin.read)


def say_held(apps: Iterable[tuple[str | None, str, str, int]]) -> None:
    """What the cache holds: of each AppService its namespace, name, image and size."""
    print(json.dumps(held(apps)), flush=True)


def in_short(app: Mapping[str, Any]) -> tuple[str, str, str, int]:
    """That of one which is kept as it came."""
    metadata, spec = app["metadata"], app["spec"]
    return metadata["namespace"], metadata["name"], spec["image"], spec["size"]
