"""A scenario is one value, and a sweep one line."""

from collections.abc import Sequence

import steersman as sm
from steersman_cluster.simulation import Scenario, World, survives_crashes


class Spec(sm.Part):
    """What is asked for."""


class App(sm.CustomResource[Spec, sm.Part], group="app.example.com", version="v1"):
    """An app."""


async def reconcile(app: App, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


controller = sm.Controller(App, reconcile=reconcile)


class Buckets:
    """A service beyond the cluster."""

    async def put(self, name: str) -> None:
        """Have a bucket."""


def reaching(buckets: Buckets) -> Sequence[sm.Controller[App]]:
    """The operator of that service."""
    return [controller]


async def story(world: World) -> None:
    await world.settle()


async def use(world: World) -> None:
    scenario = Scenario(operator=lambda: [controller], kinds=[App], story=story)
    await survives_crashes(scenario)
    await survives_crashes(scenario, seed=3, only="after call 7")
    await survives_crashes(Scenario(operator=reaching, outside=Buckets, story=story))
    await survives_crashes(
        Scenario(operator=lambda: sm.Manager(controllers=[controller]), story=story)
    )
    await world.run_operator(controller)
    await world.run_operator(lambda: [controller])
    apps: list[App] = await world.list(App)
    del apps
