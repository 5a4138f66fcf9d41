"""steersman: typed objects, with default deadlines and retries."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Annotated

from bench.harness.task import CONFIG_MAP, CONFIG_MAP_KEY, GROUP, NAMESPACE, VERSION
from steersman.client import Client, connect, find_config
from steersman.clock import SystemClock
from steersman.kinds import CustomResource, Part, Rule, apps_v1, core_v1
from steersman.observe import Observer, ignore


class Spec(Part):
    image: str
    size: Annotated[int, Rule(ge=0)] = 1
    ports: Annotated[tuple[core_v1.ServicePort, ...], Rule(min_length=1)]
    envs: tuple[core_v1.EnvVar, ...] = ()
    resources: core_v1.ResourceRequirements | None = None


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


class AppService(CustomResource[Spec, Status], group=GROUP, version=VERSION):
    """Runs an image in a Deployment, and exposes it on a port of every node."""


@asynccontextmanager
async def connected(kubeconfig: Path, observe: Observer = ignore) -> AsyncIterator[Client]:
    config = find_config(
        environ=os.environ, home=Path.home(), kubeconfig=kubeconfig, observe=observe
    )
    async with connect(config, clock=SystemClock(), rng=Random(), observe=observe) as client:
        yield client


async def list_apps(client: Client) -> tuple[AppService, ...]:
    listing = await client.list(AppService, namespace=NAMESPACE)
    return listing.items


async def get_motto(client: Client) -> str:
    config_map = await client.get(core_v1.ConfigMap, CONFIG_MAP, namespace=NAMESPACE)
    return (config_map.data or {})[CONFIG_MAP_KEY]
