"""aiohttp with msgspec: the minimum cost of a request with aiohttp."""

from typing import Any

import aiohttp
import msgspec

from bench.harness.task import CONFIG_MAP_KEY
from bench.peers.clients.bare_aiohttp import connected, get_body

__all__ = ["connected", "get_motto"]


async def get_motto(session: aiohttp.ClientSession) -> Any:
    return msgspec.json.decode(await get_body(session))["data"][CONFIG_MAP_KEY]
