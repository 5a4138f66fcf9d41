"""Caches: one informer for each kind, however many use it, and our own writes at once."""

from steersman import recipes
from steersman.cache import Caches
from steersman.client import Client
from steersman.kinds import core_v1


async def count_up(client: Client, caches: Caches, *, namespace: str) -> str:
    """Add one to a number that is kept in a ConfigMap, and read it back from memory."""
    async with caches.informer(core_v1.ConfigMap) as config_maps:
        before = config_maps.lister.get("count", namespace=namespace)
        number = int((before.data or {})["number"]) if before is not None else 0
        wanted = recipes.config_map("count", {"number": str(number + 1)}, namespace=namespace)

        await caches.record_write(client.apply(wanted, field_manager="counter"))

        # No wait for the watch: it may be a second behind, and the next count would be wrong.
        after = config_maps.lister.get("count", namespace=namespace)
        return (after.data or {})["number"] if after is not None else "lost"
