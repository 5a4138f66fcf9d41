"""A server for third-party clients, and kubectl as the first of them."""

from pathlib import Path

import pytest

from steersman_cluster.testing import RealControlPlane
from tests.real.foreign.kubectl import PATIENCE, Kubectl, Server
from tests.real.foreign.manifests import GREETINGS


@pytest.fixture(scope="module")
def server(control_plane: RealControlPlane) -> Server:
    """The server that kubectl talks to."""
    return control_plane


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kubectl keeps what it has discovered, from one test to the next."""
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def kubectl(server: Server, namespace: str, home: Path) -> Kubectl:
    """kubectl, in a namespace that only this test has."""
    return Kubectl(server=server, namespace=namespace, home=home)


@pytest.fixture
def greetings(kubectl: Kubectl) -> None:
    """The server knows Greetings."""
    kubectl("apply", f"--filename={GREETINGS}")
    kubectl("wait", f"--filename={GREETINGS}", "--for=condition=Established", PATIENCE)
    # What is established is served a moment later.
    kubectl.until("", "get", "greetings", "--output=name")
