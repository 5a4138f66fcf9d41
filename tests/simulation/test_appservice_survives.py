"""The AppService example on a complete cluster has the same final state after any single fault."""

import pytest
from opdemo import appservice
from opdemo.appservice import AppService

import steersman as sm
from docs.code import appservice_plain
from steersman_cluster.simulation import (
    Cluster,
    Scenario,
    survives_concurrent_writes,
    survives_crashes,
    survives_cut_watches,
    survives_late_caches,
)
from tests.simulation.histories import app


async def life_of_an_app(cluster: Cluster) -> None:
    await cluster.apply(app(size=2))
    await cluster.settle()
    assert sm.is_ready(await cluster.get(AppService, "web"))
    await cluster.apply(app(size=3))
    await cluster.settle()
    await cluster.delete(AppService, "web")
    await cluster.settle()


def scenario(controller: sm.Controller[AppService]) -> Scenario:
    return Scenario(operator=lambda: [controller], kinds=[AppService], steps=life_of_an_app)


@pytest.mark.parametrize(
    "controller", [appservice.controller, appservice_plain.controller], ids=["awaited", "plain"]
)
async def test_an_app_service_survives_crashes(controller: sm.Controller[AppService]) -> None:
    await survives_crashes(scenario(controller))


async def test_an_app_service_survives_concurrent_writes() -> None:
    await survives_concurrent_writes(scenario(appservice.controller))


async def test_an_app_service_survives_cut_watches() -> None:
    await survives_cut_watches(scenario(appservice.controller))


async def test_an_app_service_survives_late_caches() -> None:
    await survives_late_caches(scenario(appservice.controller))
