"""One server for all tests of a module, our own client of it, and a namespace for each test."""

import pytest

from steersman.client import Client
from tests.cluster.informing import Scene, two_namespaces
from tests.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def api() -> EmbeddedServer:
    """A server, shared: a test that needs an empty one creates it."""
    return EmbeddedServer()


@pytest.fixture
def client(api: EmbeddedServer) -> Client:
    """A client that may do everything."""
    return api.client()


@pytest.fixture
async def namespace(api: EmbeddedServer) -> str:
    """The name of a namespace that only this test has."""
    return await api.namespace()


@pytest.fixture
async def scene() -> Scene:
    """A server of its own with something on it to be followed, and a way to disturb that."""
    return await two_namespaces()
