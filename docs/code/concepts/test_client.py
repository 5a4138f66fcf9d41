"""Tests of the code in the page about the client."""

import pytest

from docs.code.concepts.client import changes, colors, set_approved, set_color
from steersman import recipes
from steersman.errors import Conflict, NotFound
from steersman_cluster.simulation import Cluster


async def test_applied_objects_can_be_listed(cluster: Cluster) -> None:
    client, home = cluster.client, cluster.namespace
    await set_color(client, "sky", "blue", namespace=home)
    await set_color(client, "sky", "gray", namespace=home)
    await set_color(client, "grass", "green", namespace=home)

    assert await colors(client, namespace=home) == {"sky": "gray", "grass": "green"}


async def test_a_patch_does_not_change_other_fields(cluster: Cluster) -> None:
    await set_color(cluster.client, "sky", "blue", namespace=cluster.namespace)

    patched = await set_approved(cluster.client, "sky", namespace=cluster.namespace)

    assert patched.data == {"color": "blue", "approved": "yes"}


async def test_a_missing_object_raises_not_found(cluster: Cluster) -> None:
    with pytest.raises(NotFound, match=f"could not patch ConfigMap {cluster.namespace}/sky"):
        await set_approved(cluster.client, "sky", namespace=cluster.namespace)


async def test_a_field_of_another_manager_is_a_conflict(cluster: Cluster) -> None:
    theirs = recipes.config_map("sky", {"color": "pink"}, namespace=cluster.namespace)
    await cluster.client.apply(theirs, field_manager="other")

    with pytest.raises(Conflict, match=r'conflict with "other": \.data\.color'):
        await set_color(cluster.client, "sky", "blue", namespace=cluster.namespace)


async def test_a_watch_delivers_each_write(cluster: Cluster) -> None:
    client, home = cluster.client, cluster.namespace
    before = await set_color(client, "sky", "blue", namespace=home)
    written = changes(client, namespace=home, since=before.resource_version)

    await set_color(client, "grass", "green", namespace=home)

    assert await anext(written) == "grass"
    await written.aclose()
