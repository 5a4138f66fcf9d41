"""The client: the API server's verbs, typed. Here, paints in ConfigMaps."""

from collections.abc import AsyncGenerator

from steersman import recipes
from steersman.client import Client, Labels, MergePatch, Wrote
from steersman.kinds import core_v1

PAINT = {"sort": "paint"}


async def mix(client: Client, name: str, colour: str, *, namespace: str) -> core_v1.ConfigMap:
    """Create or change it: exactly these fields are ours, with these values."""
    paint = recipes.config_map(name, {"colour": colour}, namespace=namespace, labels=PAINT)
    return await client.apply(paint, field_manager="painter")


async def dry(client: Client, name: str, *, namespace: str) -> core_v1.ConfigMap:
    """Change one field, and no other; ``NotFound`` if there is none of this name."""
    change = MergePatch({"data": {"wet": "no"}})
    return await client.patch(core_v1.ConfigMap, name, change, namespace=namespace)


async def colours(client: Client, *, namespace: str) -> dict[str, str]:
    """All there are, asked for in pages."""
    paints = client.each(core_v1.ConfigMap, namespace=namespace, labels=Labels.equal(PAINT))
    return {paint.name: (paint.data or {})["colour"] async for paint in paints}


async def news(client: Client, *, namespace: str, since: str) -> AsyncGenerator[str, None]:
    """What is written from now on; ends when the server ends it, or says that it is too late."""
    paints = Labels.equal(PAINT)
    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, labels=paints, resource_version=since
    ) as events:
        async for event in events:
            if isinstance(event, Wrote):
                yield event.obj.name
