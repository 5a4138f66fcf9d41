"""aiohttp with the json module, without types, retries and error messages."""

import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bench.harness.task import CONFIG_MAP, CONFIG_MAP_KEY, NAMESPACE

CONFIG_MAP_PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{CONFIG_MAP}"


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[aiohttp.ClientSession]:
    config = json.loads(kubeconfig.read_text())  # noqa: ASYNC240
    cluster = config["clusters"][0]["cluster"]
    ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
    token = config["users"][0]["user"]["token"]
    async with aiohttp.ClientSession(
        cluster["server"],
        connector=aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=ca)),
        headers={"Authorization": f"Bearer {token}"},
    ) as session:
        yield session


async def get_body(session: aiohttp.ClientSession) -> bytes:
    async with session.get(CONFIG_MAP_PATH) as response:
        response.raise_for_status()
        return await response.read()


async def get_motto(session: aiohttp.ClientSession) -> Any:
    return json.loads(await get_body(session))["data"][CONFIG_MAP_KEY]
