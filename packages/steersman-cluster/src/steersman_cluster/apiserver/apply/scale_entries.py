"""The managedFields of a Scale: its object's entries, reduced to the replicas field."""

from collections.abc import Mapping, Sequence
from typing import Any

from steersman_cluster.apiserver.apply.field_sets import difference, intersection
from steersman_cluster.apiserver.apply.managed_fields import (
    Managed,
    Managers,
    decoded,
    decoded_from_client,
    encoded,
)
from steersman_cluster.apiserver.meta.reset_fields import FieldSet

SCALE_VERSION = "autoscaling/v1"
_REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}


def scale_entries(entries: Any, paths: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return the managedFields of a Scale, derived from ``entries``, those of its object.

    ``paths`` contains the path of the replicas field in each API version.
    """
    return encoded(_about_replicas(decoded(entries), paths))


def entries_after_scale(
    entries: Any, scaled: Any, paths: Mapping[str, Sequence[str]], *, api_version: str
) -> list[dict[str, Any]]:
    """Return the object's managedFields after a write of its Scale.

    ``entries`` are the object's managedFields before the write, ``scaled`` those of the Scale.
    ``paths`` contains the path of the replicas field in each API version.
    """
    managers = {
        manager: managed
        for manager, managed in decoded(entries).items()
        if managed.api_version in paths
    }
    writers = decoded_from_client(scaled or ())
    for manager in _about_replicas(managers, paths):
        if manager in writers:
            del writers[manager]
            continue
        managed = managers[manager]
        left = difference(managed.fields, _field(paths[managed.api_version]))
        if left:
            managers[manager] = managed._replace(fields=left)
        else:
            del managers[manager]
    for manager, managed in writers.items():
        if intersection(managed.fields, _REPLICAS):
            # kube-apiserver sets no time here.
            managers[manager] = Managed(_field(paths[api_version]), api_version, None)
    return encoded(managers)


def _about_replicas(managers: Managers, paths: Mapping[str, Sequence[str]]) -> Managers:
    return {
        manager: Managed(_REPLICAS, SCALE_VERSION, managed.time)
        for manager, managed in managers.items()
        if managed.api_version in paths
        and intersection(managed.fields, _field(paths[managed.api_version]))
    }


def _field(path: Sequence[str]) -> FieldSet:
    fields: FieldSet = {}
    for name in reversed(path):
        fields = {f"f:{name}": fields}
    return fields
