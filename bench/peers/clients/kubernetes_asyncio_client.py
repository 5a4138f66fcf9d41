"""kubernetes_asyncio: models for built-in kinds, dictionaries for custom resources."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kubernetes_asyncio import client, config

from bench.harness.task import (
    CONFIG_MAP,
    CONFIG_MAP_KEY,
    GROUP,
    NAMESPACE,
    PAGE_SIZE,
    PLURAL,
    VERSION,
)


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[client.ApiClient]:
    await config.load_kube_config(config_file=str(kubeconfig))
    async with client.ApiClient() as api:
        yield api


async def list_apps(api: client.ApiClient) -> list[Any]:
    custom_objects = client.CustomObjectsApi(api)
    apps: list[Any] = []
    token = ""
    while True:
        page = await custom_objects.list_namespaced_custom_object(
            GROUP, VERSION, NAMESPACE, PLURAL, limit=PAGE_SIZE, _continue=token
        )
        apps += page["items"]
        token = page["metadata"].get("continue", "")
        if not token:
            return apps


async def get_motto(api: client.ApiClient) -> Any:
    config_map = await client.CoreV1Api(api).read_namespaced_config_map(CONFIG_MAP, NAMESPACE)
    return config_map.data[CONFIG_MAP_KEY]
