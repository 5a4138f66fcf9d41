"""What no sweep could run is refused before it runs."""

from collections.abc import Sequence

import steersman as sm
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes


class Spec(sm.Part):
    """What is asked for."""


class App(sm.CustomResource[Spec, sm.Part], group="app.example.com", version="v1"):
    """An app."""


async def reconcile(app: App, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


controller = sm.Controller(App, reconcile=reconcile)


class Buckets:
    """A service beyond the cluster."""


def open_transport(buckets: Buckets) -> Sequence[sm.Controller[App]]:
    """The operator of that service."""
    return [controller]


async def steps(cluster: Cluster) -> None:
    await cluster.settle()


async def misuse() -> None:
    Scenario(operator=open_transport, steps=steps)  # refused
    Scenario(operator=open_transport, outside=dict, steps=steps)  # refused
    Scenario(operator=lambda: [controller])  # refused
    Scenario(operator=[controller], steps=steps)  # refused
    Scenario(operator=lambda: ["controller"], steps=steps)  # refused
    scenario = Scenario(operator=lambda: [controller], steps=steps)
    scenario.steps = steps  # refused
    await survives_crashes(scenario, only=7)  # refused
