"""One server for all tests of a module; a namespace for each of them."""

import pytest

from tests.embedded import World


@pytest.fixture(scope="module")
def world() -> World:
    """A server, shared: whoever needs an empty one makes it."""
    return World()


@pytest.fixture
async def namespace(world: World) -> str:
    """The name of a namespace that only this test has."""
    return await world.namespace()
