"""The client: typed requests to the API server. The example stores colors in ConfigMaps."""

from collections.abc import AsyncGenerator

from steersman import recipes
from steersman.client import Client, Labels, MergePatch, ObjectWritten
from steersman.kinds import core_v1

LABELS = {"type": "color"}


async def set_color(client: Client, name: str, color: str, *, namespace: str) -> core_v1.ConfigMap:
    """Create or update a ConfigMap with server-side apply. The field manager owns these fields."""
    config_map = recipes.config_map(name, {"color": color}, namespace=namespace, labels=LABELS)
    return await client.apply(config_map, field_manager="painter")


async def set_approved(client: Client, name: str, *, namespace: str) -> core_v1.ConfigMap:
    """Patch one field. Raises ``NotFound`` if the ConfigMap does not exist."""
    change = MergePatch({"data": {"approved": "yes"}})
    return await client.patch(core_v1.ConfigMap, name, change, namespace=namespace)


async def colors(client: Client, *, namespace: str) -> dict[str, str]:
    """List all colors, page by page."""
    found = client.iterate(core_v1.ConfigMap, namespace=namespace, labels=Labels.equal(LABELS))
    return {each.name: (each.data or {})["color"] async for each in found}


async def changes(client: Client, *, namespace: str, since: str) -> AsyncGenerator[str, None]:
    """Watch from a resource version. Raises ``Expired`` if the version is too old."""
    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        labels=Labels.equal(LABELS),
        resource_version=since,
    ) as events:
        async for event in events:
            if isinstance(event, ObjectWritten):
                yield event.obj.name
