"""One server for all tests of a module, a client, and a namespace for each test."""

import pytest

from steersman.client import Client
from tests.cluster.informer_setup import Scene, two_namespaces
from tests.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def api() -> EmbeddedServer:
    """A shared server; a test that needs an empty server creates one."""
    return EmbeddedServer()


@pytest.fixture
def client(api: EmbeddedServer) -> Client:
    """A client with all permissions."""
    return api.client()


@pytest.fixture
async def namespace(api: EmbeddedServer) -> str:
    """The name of a namespace for this test only."""
    return await api.namespace()


@pytest.fixture
async def scene() -> Scene:
    """A new server with objects to watch, and a transport with faults."""
    return await two_namespaces()
