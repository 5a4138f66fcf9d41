"""One server for all tests of a module; a namespace for each of them."""

import pytest

from tests.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def api() -> EmbeddedServer:
    """A shared server; a test that needs an empty one makes it."""
    return EmbeddedServer()


@pytest.fixture
async def namespace(api: EmbeddedServer) -> str:
    """The name of a namespace that only this test has."""
    return await api.namespace()
