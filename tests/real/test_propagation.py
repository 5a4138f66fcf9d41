"""Deletion propagation to owned objects, with the running garbage collector."""

import pytest

from steersman.client import Client, wait_for, wait_until_gone
from steersman.kinds import core_v1, meta_v1, replace
from tests.real.objects import config_map

pytestmark = pytest.mark.usefixtures("controllers")

# The garbage collector starts slowly on a busy machine.
WITHIN_SECONDS = 50.0


async def create_owner_and_owned(client: Client, namespace: str) -> None:
    owner = await client.create(config_map(namespace, "owner"))
    reference = meta_v1.OwnerReference(
        api_version="v1",
        kind="ConfigMap",
        name=owner.name,
        uid=owner.uid,
        block_owner_deletion=True,
    )
    owned = config_map(namespace, "owned")
    await client.create(
        replace(owned, metadata=replace(owned.metadata, owner_references=(reference,)))
    )


async def wait_for_deletion(client: Client, namespace: str, name: str) -> None:
    await wait_until_gone(
        client, core_v1.ConfigMap, name, namespace=namespace, within_seconds=WITHIN_SECONDS
    )


async def test_foreground_deletion_deletes_the_dependents_first(
    client: Client, namespace: str
) -> None:
    await create_owner_and_owned(client, namespace)

    await client.delete(core_v1.ConfigMap, "owner", namespace=namespace, propagation="Foreground")
    await wait_for_deletion(client, namespace, "owner")

    assert (await client.list(core_v1.ConfigMap, namespace=namespace)).items == ()


async def test_background_deletion_deletes_the_owner_first(client: Client, namespace: str) -> None:
    await create_owner_and_owned(client, namespace)

    await client.delete(core_v1.ConfigMap, "owner", namespace=namespace, propagation="Background")

    await wait_for_deletion(client, namespace, "owned")


async def test_orphaned_dependents_stay_without_an_owner_reference(
    client: Client, namespace: str
) -> None:
    await create_owner_and_owned(client, namespace)

    await client.delete(core_v1.ConfigMap, "owner", namespace=namespace, propagation="Orphan")
    await wait_for_deletion(client, namespace, "owner")

    orphan = await wait_for(
        client,
        core_v1.ConfigMap,
        "owned",
        lambda obj: obj.metadata.owner_references is None,
        namespace=namespace,
        within_seconds=WITHIN_SECONDS,
    )
    assert orphan.deletion_time is None
