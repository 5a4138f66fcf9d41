"""Scenarios and crash sweeps."""

from collections.abc import Sequence

import steersman as sm
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes


class Spec(sm.Part):
    """The desired state."""


class App(sm.CustomResource[Spec, sm.Part], group="app.example.com", version="v1"):
    """An app."""


async def reconcile(app: App, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


controller = sm.Controller(App, reconcile=reconcile)


class Buckets:
    """An external system."""

    async def put(self, name: str) -> None:
        """Create a bucket."""


def open_transport(buckets: Buckets) -> Sequence[sm.Controller[App]]:
    """The operator of the external system."""
    return [controller]


async def steps(cluster: Cluster) -> None:
    await cluster.settle()


async def use(cluster: Cluster) -> None:
    scenario = Scenario(operator=lambda: [controller], kinds=[App], steps=steps)
    await survives_crashes(scenario)
    await survives_crashes(scenario, seed=3, only="after call 7")
    await survives_crashes(Scenario(operator=open_transport, outside=Buckets, steps=steps))
    await survives_crashes(
        Scenario(operator=lambda: sm.Manager(controllers=[controller]), steps=steps)
    )
    await cluster.run_operator(controller)
    await cluster.run_operator(lambda: [controller])
    apps: list[App] = await cluster.list(App)
    del apps
