"""A manager with a controller and a runnable."""

import steersman as sm
from docs.code.concepts import reconcile
from steersman import recipes
from steersman.kinds import core_v1


async def announce(services: sm.Services) -> None:
    """Write the version of the operator, once this replica leads."""
    about = recipes.config_map("greeter", {"version": "1.4"}, namespace="default")
    await services.client.apply(about, field_manager="greeter")


announcing = sm.Runnable(announce, writes=(sm.Writes(core_v1.ConfigMap, names=("greeter",)),))
manager = sm.Manager(controllers=[reconcile.controller], runnables=[announcing])

if __name__ == "__main__":
    manager.run()
