"""What every informer here does besides: says once that it is whole, and stays while it is wanted.

Where a library does not tell when all that was there has come, the program is told how many that
are.
"""

import asyncio
import json
import sys


def say(objects: int) -> None:
    """How many objects were handed to the handler."""
    print(json.dumps({"objects": objects}), flush=True)


async def unwanted() -> None:
    """Return when standard input is closed."""
    await asyncio.to_thread(sys.stdin.read)
