"""The official client, in a thread because it blocks; dictionaries for custom resources.

Only lists are measured: with ten concurrent requests, threads would cost more than the client.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kubernetes import client, config

from bench.harness.task import GROUP, NAMESPACE, PAGE_SIZE, PLURAL, VERSION


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[client.ApiClient]:
    config.load_kube_config(config_file=str(kubeconfig))
    with client.ApiClient() as api:
        yield api


async def list_apps(api: client.ApiClient) -> list[Any]:
    return await asyncio.to_thread(_list_apps, client.CustomObjectsApi(api))


def _list_apps(custom_objects: client.CustomObjectsApi) -> list[Any]:
    apps: list[Any] = []
    token = ""
    while True:
        page = custom_objects.list_namespaced_custom_object(
            GROUP, VERSION, NAMESPACE, PLURAL, limit=PAGE_SIZE, _continue=token
        )
        apps += page["items"]
        token = page["metadata"].get("continue", "")
        if not token:
            return apps
