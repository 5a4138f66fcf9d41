"""steersman's workloads run a cluster with only a real kube-apiserver."""

from collections.abc import AsyncIterator

import pytest

from steersman.client import Client, wait_until_gone
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.observe import ignore
from steersman_cluster.testing import RealControlPlane
from steersman_cluster.workloads import PARTS
from tests.real.clients import connected
from tests.real.deployment_availability import create_deployments, wait_until_available, workloads

WITHIN_SECONDS = 120.0
NAMESPACE = "workloads"


@pytest.fixture
async def client(control_plane: RealControlPlane) -> AsyncIterator[Client]:
    """A client with all permissions, of a server whose only controllers are steersman's."""
    async with (
        connected(control_plane, observe=ignore) as client,
        workloads(control_plane, parts=PARTS, nodes=3),
    ):
        yield client


async def test_two_hundred_deployments_become_available_and_are_deleted_with_their_namespace(
    client: Client,
) -> None:
    await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=NAMESPACE)))
    await create_deployments(client, NAMESPACE, 200)
    await wait_until_available(client, NAMESPACE, within_seconds=WITHIN_SECONDS)

    sets = (await client.list(apps_v1.ReplicaSet, namespace=NAMESPACE)).items
    pods = (await client.list(core_v1.Pod, namespace=NAMESPACE)).items
    assert len(sets) == len(pods) == 200

    await client.delete(core_v1.Namespace, NAMESPACE)
    await wait_until_gone(client, core_v1.Namespace, NAMESPACE, within_seconds=WITHIN_SECONDS)
    assert not (await client.list(core_v1.Pod, namespace=NAMESPACE)).items
