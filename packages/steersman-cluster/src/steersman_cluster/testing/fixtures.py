"""Pytest fixtures for a real control plane.

To use them, write ``pytest_plugins = ["steersman_cluster.testing.fixtures"]`` in a conftest.py. The
programs of the control plane must exist already: a test run does not compile Kubernetes. Under
pytest-xdist, each worker has its own control plane.
"""

import os
from collections.abc import Iterator

import pytest

from steersman.clock import SystemClock
from steersman_cluster.testing.control_plane.programs import find_binaries
from steersman_cluster.testing.control_plane.real_control_plane import (
    RealControlPlane,
    running_real_control_plane,
)
from steersman_cluster.testing.namespaces import fresh_namespace


@pytest.fixture(scope="session")
def control_plane() -> Iterator[RealControlPlane]:
    """A real etcd and kube-apiserver, shared by all tests of the pytest session."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        yield plane


@pytest.fixture(scope="module")
def controllers(control_plane: RealControlPlane) -> Iterator[None]:
    """A running kube-controller-manager, shared by all tests of the test module."""
    with control_plane.running_controllers():
        yield


@pytest.fixture
def namespace(control_plane: RealControlPlane) -> Iterator[str]:
    """The name of a new namespace, which is deleted with its objects when the test ends."""
    with fresh_namespace(control_plane) as name:
        yield name
