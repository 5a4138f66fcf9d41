"""A thousand AppServices, whatever happens: each has its children and its status, and that is all.

One world for all tests, which disturb it one after the other; each begins with everything at rest.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from opdemo.appservice import AppService

from steersman.client import Client
from steersman.kinds import apps_v1, core_v1
from tests.real.convergence.judging import Sight
from tests.real.convergence.world import World, accepted, full_world

pytestmark = pytest.mark.timeout(480)

# Fewer, for a quick run.
APPS = int(os.environ.get("STEERSMAN_TEST_APPS", "1000"))
NAMES = [f"app-{number}" for number in range(APPS)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The cluster, for all tests of this module."""
    directory: Path = tmp_path_factory.mktemp("audit")
    with full_world(directory) as world:
        yield world


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    """A user of it."""
    async with world.client() as client:
        yield client


@pytest.fixture
async def before(world: World, client: Client) -> Sight:
    """Everything at rest."""
    if not world.wanted:
        await world.create(client, NAMES)
    world.ensure_operator()
    rest = world.at_rest or await world.converged(client)
    world.at_rest = None
    return rest


async def test_all_are_brought_to_deployment_service_and_status(
    world: World, client: Client
) -> None:
    await world.create(client, NAMES)
    log = world.audit.follow()
    world.start_operator()

    sight = await world.converged(client)

    assert len(sight.apps) == len(sight.deployments) == len(sight.services) == APPS
    log.read()
    assert len(accepted(log, "deployments")) == APPS
    assert len(accepted(log, "services")) == APPS


async def test_children_that_are_deleted_come_back(
    world: World, client: Client, before: Sight
) -> None:
    await world.delete_all(client, apps_v1.Deployment)
    await world.delete_all(client, core_v1.Service)

    after = await world.converged(client)

    for kind in (apps_v1.Deployment, core_v1.Service):
        assert not set(before.uids(kind).values()) & set(after.uids(kind).values())
    assert after.uids(AppService) == before.uids(AppService)


async def test_a_changed_spec_is_followed(world: World, client: Client, before: Sight) -> None:
    log = world.audit.follow()

    await world.change(client, image="example.com/app:2")

    after = await world.converged(client)
    for kind in (AppService, apps_v1.Deployment, core_v1.Service):
        assert after.uids(kind) == before.uids(kind)
    assert after.node_ports == before.node_ports
    log.read()
    assert len(accepted(log, "deployments")) == APPS
    assert accepted(log, "services") == []


async def test_an_operator_that_is_killed_in_the_middle_is_followed_by_another(
    world: World, client: Client, before: Sight
) -> None:
    world.stop_operator()
    await world.delete_all(client, apps_v1.Deployment)
    await world.until_gone(client, apps_v1.Deployment)
    log = world.audit.follow()
    world.start_operator()
    # Early: it goes on while we stutter.
    await world.until_written(APPS // 10, "deployments", log=log)
    world.kill_operator()
    some = await world.look(client)
    assert APPS // 10 <= len(some.deployments) < APPS
    await world.shorten_lease(client)
    gone, new = NAMES[: APPS // 20], [f"new-{number}" for number in range(APPS // 20)]
    await world.delete(client, gone)
    await world.create(client, new)
    world.start_operator()

    after = await world.converged(client)

    assert len(after.apps) == APPS
    assert {each.name for each in after.deployments} == set(NAMES[APPS // 20 :]) | set(new)


async def test_an_api_server_that_is_killed_and_started_again_finds_everything_going_on(
    world: World, client: Client, before: Sight
) -> None:
    log = world.audit.follow()

    async with asyncio.TaskGroup() as group:
        group.create_task(world.change(client, image="example.com/app:3"))
        await world.until_written(APPS // 3, "deployments", log=log)
        await asyncio.to_thread(world.crash_api_server)

    after = await world.converged(client)

    for kind in (AppService, apps_v1.Deployment, core_v1.Service):
        assert after.uids(kind) == before.uids(kind)
    assert after.node_ports == before.node_ports
