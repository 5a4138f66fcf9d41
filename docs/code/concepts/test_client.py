"""What the page about the client says."""

import pytest

from docs.code.concepts.client import colours, dry, mix, news
from steersman import recipes
from steersman.errors import Conflict, NotFound
from steersman_cluster.simulation import Cluster


async def test_what_is_applied_can_be_read(cluster: Cluster) -> None:
    client, home = cluster.client, cluster.namespace
    await mix(client, "sky", "blue", namespace=home)
    await mix(client, "sky", "grey", namespace=home)
    await mix(client, "grass", "green", namespace=home)

    assert await colours(client, namespace=home) == {"sky": "grey", "grass": "green"}


async def test_a_patch_leaves_the_other_fields_alone(cluster: Cluster) -> None:
    await mix(cluster.client, "sky", "blue", namespace=cluster.namespace)

    dried = await dry(cluster.client, "sky", namespace=cluster.namespace)

    assert dried.data == {"colour": "blue", "wet": "no"}


async def test_what_is_not_there_is_an_error_of_its_own(cluster: Cluster) -> None:
    with pytest.raises(NotFound, match=f"could not patch ConfigMap {cluster.namespace}/sky"):
        await dry(cluster.client, "sky", namespace=cluster.namespace)


async def test_a_field_of_another_manager_is_not_taken(cluster: Cluster) -> None:
    theirs = recipes.config_map("sky", {"colour": "pink"}, namespace=cluster.namespace)
    await cluster.client.apply(theirs, field_manager="vandal")

    with pytest.raises(Conflict, match=r'conflict with "vandal": \.data\.colour'):
        await mix(cluster.client, "sky", "blue", namespace=cluster.namespace)


async def test_a_watch_tells_of_each_write(cluster: Cluster) -> None:
    client, home = cluster.client, cluster.namespace
    before = await mix(client, "sky", "blue", namespace=home)
    written = news(client, namespace=home, since=before.resource_version)

    await mix(client, "grass", "green", namespace=home)

    assert await anext(written) == "grass"
    await written.aclose()
