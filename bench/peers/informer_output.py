"""What each informer program of this benchmark prints and waits for.

It prints a line when its cache has synced, runs until standard input is closed, and then prints the
contents of its cache. A library without a sync signal gets the number of objects as an argument.
"""

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from bench.harness.task import cache_summary


def print_synced(objects: int) -> None:
    """Print how many objects the handler has received."""
    print(json.dumps({"objects": objects}), flush=True)


async def stdin_closed() -> None:
    """Return when standard input is closed."""
    await asyncio.to_thread(sys.stdin.read)


def print_cache(apps: Iterable[tuple[str | None, str, str, int]]) -> None:
    """Print the contents of the cache: of each AppService its namespace, name, image and size."""
    print(json.dumps(cache_summary(apps)), flush=True)


def summary_fields(app: Mapping[str, Any]) -> tuple[str, str, str, int]:
    """Namespace, name, image and size of an object that the library keeps as JSON."""
    metadata, spec = app["metadata"], app["spec"]
    return metadata["namespace"], metadata["name"], spec["image"], spec["size"]
