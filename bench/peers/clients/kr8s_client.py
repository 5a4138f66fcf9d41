"""kr8s: an object around each dictionary. A get is a list of one, by its name."""

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import kr8s.asyncio
from kr8s.asyncio.objects import ConfigMap

from bench.harness.task import CONFIG_MAP, CONFIG_MAP_KEY, NAMESPACE

# The newest servers are not among those that it was tested with; it works all the same.
warnings.filterwarnings("ignore", message="Kubernetes version")


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Any]:
    yield await kr8s.asyncio.api(kubeconfig=str(kubeconfig))


async def get_motto(api: Any) -> Any:
    config_map = await ConfigMap.get(CONFIG_MAP, namespace=NAMESPACE, api=api)
    return config_map.data[CONFIG_MAP_KEY]
