"""Clients of the API server for the admin, or for a user with a token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random

from steersman.client import Client, connect, find_config
from steersman.client.access.cluster_config import Login, Token
from steersman.clock import Clock, SystemClock
from steersman.observe import Observer
from steersman_cluster.testing import ControlPlane


@asynccontextmanager
async def connected(
    plane: ControlPlane,
    *,
    observe: Observer,
    clock: Clock | None = None,
    server: str | None = None,
    token: str | None = None,
    login: Login | None = None,
) -> AsyncIterator[Client]:
    """A client for the admin, or for the user of ``token`` or ``login``, during the block.

    ``server`` overrides the address of the API server.
    """
    config = find_config(
        environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=observe
    )
    config = replace(
        config,
        server=server or config.server,
        login=Token(token=token) if token else login or config.login,
    )
    async with connect(
        config, clock=clock or SystemClock(), rng=Random(0), observe=observe
    ) as client:
        yield client
