"""Owners and dependents, and the objects that remain."""

from typing import Any

from steersman.kinds import Resource, core_v1, meta_v1
from steersman.kinds.meta_v1 import OwnerReference
from steersman_cluster.simulation import Cluster

ConfigMap = core_v1.ConfigMap
Secret = core_v1.Secret

HELD = "example.com/held"


def named(name: str, *owners: OwnerReference, **rest: Any) -> meta_v1.ObjectMeta:
    """The metadata of an object with these owners."""
    return meta_v1.ObjectMeta(name=name, owner_references=owners or None, **rest)


def config_map(name: str, *owners: OwnerReference, **rest: Any) -> ConfigMap:
    return ConfigMap(metadata=named(name, *owners, **rest))


def secret(name: str, *owners: OwnerReference, **rest: Any) -> Secret:
    return Secret(metadata=named(name, *owners, **rest))


def of(obj: Resource, *, blocks: bool | None = None, uid: str = "") -> OwnerReference:
    """A reference to an owner."""
    return OwnerReference(
        api_version=obj.api_version,
        kind=obj.kind,
        name=obj.name,
        uid=uid or obj.uid,
        block_owner_deletion=blocks,
    )


async def left(cluster: Cluster, *kinds: type[Resource]) -> list[str]:
    """The names of the remaining objects, without the default objects of a namespace."""
    return sorted(
        [
            each.name
            for kind in kinds or (ConfigMap, Secret)
            for each in (await cluster.client.list(kind)).items
            if not each.name.startswith(("kube-", "extension-apiserver"))
        ]
    )
