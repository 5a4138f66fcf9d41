"""Fixtures for third-party clients: a server, and kubectl."""

from pathlib import Path

import pytest

from steersman_cluster.testing import RealControlPlane
from tests.real.foreign.kubectl import TIMEOUT, Kubectl, Server
from tests.real.foreign.manifests import GREETINGS


@pytest.fixture(scope="module")
def server(control_plane: RealControlPlane) -> Server:
    """The server that kubectl connects to."""
    return control_plane


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kubectl's home directory, with its discovery cache, for all tests of a module."""
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def kubectl(server: Server, namespace: str, home: Path) -> Kubectl:
    """kubectl in the namespace of this test."""
    return Kubectl(server=server, namespace=namespace, home=home)


@pytest.fixture
def greetings(kubectl: Kubectl) -> None:
    """Install the definition of Greetings."""
    kubectl("apply", f"--filename={GREETINGS}")
    kubectl("wait", f"--filename={GREETINGS}", "--for=condition=Established", TIMEOUT)
    # kube-apiserver serves an established kind a moment later.
    kubectl.until("", "get", "greetings", "--output=name")
