"""A real or embedded cluster for every test, and a client.

Fixtures are imported, not named in ``pytest_plugins``, which pytest accepts in a top-level
conftest.py only.
"""

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from steersman.client import Client
from steersman.clock import SystemClock
from steersman_cluster.testing import (
    ControlPlane,
    RealControlPlane,
    find_binaries,
    running_embedded_control_plane,
    running_real_control_plane,
)
from steersman_cluster.testing.fixtures import controllers, namespace
from tests.real.clients import connected
from tests.real.definitions import OCTOPODES, WIDGETS, install
from tests.real.kubernetes_versions import MARKER, minor_version, reason_to_skip
from tests.real.recording_observer import RecordingObserver

__all__ = ["controllers", "namespace"]

REAL, EMBEDDED = "real", "embedded"

# Tests of etcd, Kubernetes' own controllers or a kubelet, and comparisons with the real server.
REAL_ONLY = frozenset(
    (
        "test_control_plane",
        "test_demo",
        "test_generated_definitions",
        "test_logs",
        "test_openapi",
        "test_overload",
        "test_propagation",
    )
)

# Tests that the embedded server cannot pass, each with the reason.
_TLS_REJECTS = (
    "Python's TLS closes a connection with an untrusted client certificate before the server can"
    " respond with 401"
)
NOT_EMBEDDED = {
    "test_an_exec_plugin_runs_again_after_a_401_to_its_certificate": _TLS_REJECTS,
    "test_a_request_is_retried_with_rotated_certificate_files_after_a_401": _TLS_REJECTS,
}

# Modules that take a minute or more run first: a worker that began one at the end would keep the
# others waiting.
LONG_MODULES = (
    "test_kubectl_sessions",
    "test_documents",
    "test_generated_project",
    "test_workload_ends",
    "test_informers",
    "test_sessions",
    "test_workloads",
    "test_hostile_servers",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: number for number, name in enumerate(LONG_MODULES)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "control_plane" in metafunc.fixturenames:
        module = metafunc.definition.path.stem
        both = (
            metafunc.config.getoption("--control-plane") == "both"
            and module not in REAL_ONLY
            and metafunc.function.__name__ not in NOT_EMBEDDED
            and "controllers" not in metafunc.fixturenames
        )
        servers = (REAL, EMBEDDED) if both else (REAL,)
        metafunc.parametrize("control_plane", servers, indirect=True, scope="session")


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """The cluster, shared by the whole session."""
    if request.param == REAL:
        with running_real_control_plane(
            find_binaries(environ=os.environ), clock=SystemClock()
        ) as plane:
            yield plane
    else:
        with running_embedded_control_plane(clock=SystemClock()) as cluster:
            yield cluster


@pytest.fixture(autouse=True)
def _supported_version(request: pytest.FixtureRequest) -> None:
    """Skip a test that needs a newer server."""
    marks = list(request.node.iter_markers(MARKER))
    if marks:
        served = minor_version(request.getfixturevalue("control_plane"))
        if reason := reason_to_skip(marks, served=served):
            pytest.skip(reason)


@pytest.fixture
def seen() -> RecordingObserver:
    """The observations of the client of this test."""
    return RecordingObserver()


@pytest.fixture
async def client(control_plane: RealControlPlane, seen: RecordingObserver) -> AsyncIterator[Client]:
    """A client with all permissions."""
    async with connected(control_plane, observe=seen) as client:
        yield client


@pytest.fixture
async def widgets(client: Client) -> None:
    """Install the definition of Widgets."""
    await install(client, WIDGETS)


@pytest.fixture
async def octopodes(client: Client) -> None:
    """Install the definition of Octopodes."""
    await install(client, OCTOPODES)
