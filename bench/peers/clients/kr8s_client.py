"""kr8s: an object wraps each dictionary. A get is a list with a field selector."""

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import kr8s.asyncio
from kr8s.asyncio.objects import ConfigMap

from bench.harness.task import CONFIG_MAP, CONFIG_MAP_KEY, NAMESPACE

# kr8s warns about server versions newer than those that it was tested with.
warnings.filterwarnings("ignore", message="Kubernetes version")


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Any]:
    yield await kr8s.asyncio.api(kubeconfig=str(kubeconfig))


async def get_motto(api: Any) -> Any:
    config_map = await ConfigMap.get(CONFIG_MAP, namespace=NAMESPACE, api=api)
    return config_map.data[CONFIG_MAP_KEY]
