"""An operator in the program of a test or a demonstration, beside whoever watches it work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import steersman as sm
from steersman.manager import Surroundings

# There is one of it, it may do everything, and nobody looks after it.
ALONE = sm.ManagerSettings(leader_election=False, health_address="", metrics_address="")


@asynccontextmanager
async def operating(around: Surroundings, *controllers: sm.Controller[Any]) -> AsyncIterator[None]:
    """Run the controllers while the block runs, then end them in peace."""
    stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    manager = sm.Manager(controllers=controllers)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(manager.operate(around, settings=ALONE, stop=stop), name="operator")
        try:
            yield
        finally:
            stop.set_result("the end of the block")
