"""A thousand AppServices have exactly their children and statuses after every fault.

All tests share one cluster and run in order. Each starts once the cluster has converged.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from opdemo.appservice import AppService

from steersman.client import Client
from steersman.kinds import apps_v1, core_v1
from tests.real.convergence.checks import Sight
from tests.real.convergence.operator_cluster import OperatorCluster, accepted, full_cluster

pytestmark = [pytest.mark.deep, pytest.mark.timeout(480)]

# Fewer, for a quick run.
APPS = int(os.environ.get("STEERSMAN_TEST_APPS", "1000"))
NAMES = [f"app-{number}" for number in range(APPS)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatorCluster]:
    """The cluster, for all tests of this module."""
    directory: Path = tmp_path_factory.mktemp("audit")
    with full_cluster(directory) as cluster:
        yield cluster


@pytest.fixture
async def client(cluster: OperatorCluster) -> AsyncIterator[Client]:
    """A client of the cluster."""
    async with cluster.client() as client:
        yield client


@pytest.fixture
async def before(cluster: OperatorCluster, client: Client) -> Sight:
    """Wait until the cluster has converged."""
    if not cluster.wanted:
        await cluster.create(client, NAMES)
    cluster.ensure_operator()
    rest = cluster.at_rest or await cluster.converged(client)
    cluster.at_rest = None
    return rest


async def test_every_app_service_gets_a_deployment_a_service_and_a_status(
    cluster: OperatorCluster, client: Client
) -> None:
    await cluster.create(client, NAMES)
    log = cluster.audit.follow()
    cluster.start_operator()

    sight = await cluster.converged(client)

    assert len(sight.apps) == len(sight.deployments) == len(sight.services) == APPS
    log.read()
    assert len(accepted(log, "deployments")) == APPS
    assert len(accepted(log, "services")) == APPS


async def test_deleted_children_are_recreated(
    cluster: OperatorCluster, client: Client, before: Sight
) -> None:
    await cluster.delete_all(client, apps_v1.Deployment)
    await cluster.delete_all(client, core_v1.Service)

    after = await cluster.converged(client)

    for kind in (apps_v1.Deployment, core_v1.Service):
        assert not set(before.uids(kind).values()) & set(after.uids(kind).values())
    assert after.uids(AppService) == before.uids(AppService)


async def test_a_changed_spec_is_reconciled(
    cluster: OperatorCluster, client: Client, before: Sight
) -> None:
    log = cluster.audit.follow()

    await cluster.change(client, image="example.com/app:2")

    after = await cluster.converged(client)
    for kind in (AppService, apps_v1.Deployment, core_v1.Service):
        assert after.uids(kind) == before.uids(kind)
    assert after.node_ports == before.node_ports
    log.read()
    assert len(accepted(log, "deployments")) == APPS
    assert accepted(log, "services") == []


async def test_a_second_operator_continues_after_the_first_is_killed(
    cluster: OperatorCluster, client: Client, before: Sight
) -> None:
    cluster.stop_operator()
    await cluster.delete_all(client, apps_v1.Deployment)
    await cluster.until_gone(client, apps_v1.Deployment)
    log = cluster.audit.follow()
    cluster.start_operator()
    # Early, so that the kill happens during the writes.
    await cluster.until_written(APPS // 10, "deployments", log=log)
    cluster.kill_operator()
    some = await cluster.look(client)
    assert APPS // 10 <= len(some.deployments) < APPS
    await cluster.shorten_lease(client)
    gone, new = NAMES[: APPS // 20], [f"new-{number}" for number in range(APPS // 20)]
    await cluster.delete(client, gone)
    await cluster.create(client, new)
    cluster.start_operator()

    after = await cluster.converged(client)

    assert len(after.apps) == APPS
    assert {each.name for each in after.deployments} == set(NAMES[APPS // 20 :]) | set(new)


async def test_the_operator_continues_after_the_api_server_is_killed_and_restarted(
    cluster: OperatorCluster, client: Client, before: Sight
) -> None:
    log = cluster.audit.follow()

    async with asyncio.TaskGroup() as group:
        group.create_task(cluster.change(client, image="example.com/app:3"))
        await cluster.until_written(APPS // 3, "deployments", log=log)
        await asyncio.to_thread(cluster.crash_api_server)

    after = await cluster.converged(client)

    for kind in (AppService, apps_v1.Deployment, core_v1.Service):
        assert after.uids(kind) == before.uids(kind)
    assert after.node_ports == before.node_ports
