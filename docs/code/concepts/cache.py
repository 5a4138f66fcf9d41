"""Caches: one informer for each kind, and reads that include the operator's own writes."""

from steersman import recipes
from steersman.cache import Caches
from steersman.client import Client
from steersman.kinds import core_v1


async def count_up(client: Client, caches: Caches, *, namespace: str) -> str:
    """Increment a number in a ConfigMap, and read it from the cache."""
    async with caches.informer(core_v1.ConfigMap) as config_maps:
        before = config_maps.lister.get("count", namespace=namespace)
        number = int((before.data or {})["number"]) if before is not None else 0
        wanted = recipes.config_map("count", {"number": str(number + 1)}, namespace=namespace)

        await caches.record_write(client.apply(wanted, field_manager="counter"))

        # The cache has the new number, even if the watch has not delivered it yet.
        after = config_maps.lister.get("count", namespace=namespace)
        return (after.data or {})["number"] if after is not None else "missing"
