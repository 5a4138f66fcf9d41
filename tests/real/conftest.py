"""A real control plane for every test in here, and a client of it.

Imported, not named in ``pytest_plugins``, which pytest accepts in a top-level conftest.py only.
"""

from collections.abc import AsyncIterator

import pytest

from steersman.client import Client
from steersman.testing import ControlPlane
from steersman.testing.fixtures import control_plane, controllers, namespace
from tests.real.connecting import connected
from tests.real.definitions import OCTOPODES, WIDGETS, install
from tests.real.seeing import Seen

__all__ = ["control_plane", "controllers", "namespace"]


@pytest.fixture
def seen() -> Seen:
    """What the client of this test has observed so far."""
    return Seen()


@pytest.fixture
async def client(control_plane: ControlPlane, seen: Seen) -> AsyncIterator[Client]:
    """A client that may do everything."""
    async with connected(control_plane, observe=seen) as client:
        yield client


@pytest.fixture
async def widgets(client: Client) -> None:
    """The server knows Widgets."""
    await install(client, WIDGETS)


@pytest.fixture
async def octopodes(client: Client) -> None:
    """The server knows Octopodes."""
    await install(client, OCTOPODES)
