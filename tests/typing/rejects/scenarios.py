"""Invalid crash sweeps are type errors."""

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


def open_transport(buckets: Buckets) -> Sequence[sm.Controller[App]]:
    """The operator of the external system."""
    return [controller]


async def steps(cluster: Cluster) -> None:
    await cluster.settle()


async def misuse() -> None:
    Scenario(operator=open_transport, steps=steps)  # rejected
    Scenario(operator=open_transport, outside=dict, steps=steps)  # rejected
    Scenario(operator=lambda: [controller])  # rejected
    Scenario(operator=[controller], steps=steps)  # rejected
    Scenario(operator=lambda: ["controller"], steps=steps)  # rejected
    scenario = Scenario(operator=lambda: [controller], steps=steps)
    scenario.steps = steps  # rejected
    await survives_crashes(scenario, only=7)  # rejected
