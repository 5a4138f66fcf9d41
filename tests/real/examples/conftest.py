"""The clusters on which the examples run."""

from collections.abc import Iterator

import pytest

from steersman_cluster.testing import ControlPlane
from tests.real.kubectl_sessions.pairs import embedded_cluster, real_with_simulated_nodes

STARTING = {"real": real_with_simulated_nodes, "embedded": embedded_cluster}


@pytest.fixture(scope="session", params=STARTING)
def living_cluster(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A real control plane with simulated nodes, or an embedded cluster."""
    with STARTING[request.param]() as cluster:
        yield cluster


@pytest.fixture
def usual_cluster(living_cluster: ControlPlane) -> Iterator[ControlPlane]:
    """The same cluster, cleaned up after each test."""
    yield living_cluster
    living_cluster.kubectl("delete", "crd", "--all")
    living_cluster.kubectl("delete", "deployment,pod", "--all", "--grace-period=1")
