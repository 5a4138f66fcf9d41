"""One server for all tests of a module, our own client of it, and a namespace for each test."""

import pytest

from steersman.client import Client
from tests.cluster.informing import Scene, two_namespaces
from tests.embedded import World


@pytest.fixture(scope="module")
def world() -> World:
    """A server, shared: whoever needs an empty one makes it."""
    return World()


@pytest.fixture
def client(world: World) -> Client:
    """A client that may do everything."""
    return world.client()


@pytest.fixture
async def namespace(world: World) -> str:
    """The name of a namespace that only this test has."""
    return await world.namespace()


@pytest.fixture
async def scene() -> Scene:
    """A server of its own with something on it to be followed, and a way to disturb that."""
    return await two_namespaces()
