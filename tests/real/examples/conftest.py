"""The clusters on which the examples run."""

from collections.abc import Iterator

import pytest

from steersman_cluster.testing import ControlPlane
from tests.real.kubectl_sessions.pairs import embedded_cluster, real_with_our_nodes

STARTING = {"real": real_with_our_nodes, "embedded": embedded_cluster}


@pytest.fixture(scope="session", params=STARTING)
def living_cluster(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """One that runs Pods: Kubernetes' own controllers and our nodes, or all of it ours."""
    with STARTING[request.param]() as cluster:
        yield cluster


@pytest.fixture
def usual_cluster(living_cluster: ControlPlane) -> Iterator[ControlPlane]:
    """The same, on which a test that fails leaves nothing for the next."""
    yield living_cluster
    living_cluster.kubectl("delete", "crd", "--all")
    living_cluster.kubectl("delete", "deployment,pod", "--all", "--grace-period=1")
