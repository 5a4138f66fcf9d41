"""Tests of the samples."""

from pathlib import Path

import pytest
import steersman as sm
import yaml
from steersman.kinds import core_v1
from steersman_cluster.simulation import Cluster

from opdemo.appservice import AppService
from opdemo.operator import manager
from opdemo.webservice import WebService

SAMPLES = Path(__file__).parents[1] / "samples"


def sample(kind: type[AppService | WebService]) -> sm.Unstructured:
    """The object in the file."""
    body = yaml.safe_load((SAMPLES / f"{kind.__name__.lower()}.yaml").read_text())
    return sm.Unstructured.at(kind.resource_type)(body)


async def start_operator(cluster: Cluster) -> None:
    """Install both kinds and run the operator."""
    await cluster.install(AppService, WebService)
    await cluster.run_operator(*manager.controllers)


@pytest.mark.parametrize("kind", [AppService, WebService])
async def test_a_sample_has_two_pods_and_a_node_port(
    cluster: Cluster, kind: type[AppService | WebService]
) -> None:
    await start_operator(cluster)

    await cluster.apply(sample(kind))
    await cluster.settle()

    pods = await cluster.list(core_v1.Pod)
    service = await cluster.get(core_v1.Service, "nginx-app")
    assert sm.is_ready(await cluster.get(kind, "nginx-app"))
    assert ["image='nginx:1.7.9'" in repr(pod.spec) for pod in pods] == [True, True]
    assert "node_port=30002" in repr(service.spec)


async def test_the_samples_run_one_after_the_other(cluster: Cluster) -> None:
    await start_operator(cluster)
    for kind in (AppService, WebService, AppService):
        await cluster.apply(sample(kind))
        await cluster.settle()

        assert sm.is_ready(await cluster.get(kind, "nginx-app"))

        await cluster.delete(kind, "nginx-app")
        await cluster.settle()
