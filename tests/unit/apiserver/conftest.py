"""Fixtures: a server for each module, and a namespace for each test."""

import pytest

from tests.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def api() -> EmbeddedServer:
    """Return a server that the tests of a module share."""
    return EmbeddedServer()


@pytest.fixture
async def namespace(api: EmbeddedServer) -> str:
    """Return the name of a new namespace for one test."""
    return await api.namespace()
