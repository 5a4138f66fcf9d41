"""Creates a client from a configuration."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from steersman.client.access import AuthenticatedTransport, ClusterConfig, ConfiguredCredentials
from steersman.client.client import Client
from steersman.client.settings import ClientSettings
from steersman.clock import Clock
from steersman.observe import Observer
from steersman.wire import NetworkTransport, Transport


@asynccontextmanager
async def open_transport(
    config: ClusterConfig, *, clock: Clock, observe: Observer
) -> AsyncIterator[Transport]:
    """Provide a transport to the configured cluster, with its credentials, while the block runs."""
    credentials = ConfiguredCredentials(config, clock=clock, observe=observe)
    async with NetworkTransport(
        server=config.server,
        tls=credentials.tls,
        proxy_url=config.proxy_url,
        server_name=config.server_name,
        clock=clock,
    ) as network:
        yield AuthenticatedTransport(
            network, credentials=credentials, impersonate=config.impersonate
        )


@asynccontextmanager
async def connect(
    config: ClusterConfig,
    *,
    clock: Clock,
    rng: Random,
    observe: Observer,
    settings: ClientSettings | None = None,
) -> AsyncIterator[Client]:
    """Provide a client of the configured cluster while the block runs.

    No request is sent before the first call of a method of the client.
    """
    async with open_transport(config, clock=clock, observe=observe) as transport:
        yield Client(transport, clock=clock, rng=rng, observe=observe, settings=settings)
