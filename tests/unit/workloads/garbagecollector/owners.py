"""Minimal objects and owners."""

from collections.abc import Sequence
from datetime import UTC, datetime

from steersman.kinds.meta_v1 import ObjectMeta, OwnerReference
from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwnerCache
from steersman_cluster.workloads.garbagecollector.graph import DependencyGraph
from steersman_cluster.workloads.garbagecollector.identity import Identity

ENDING = datetime(2030, 1, 1, tzinfo=UTC)


def identity(uid: str, *, namespace: str = "here", kind: str = "ConfigMap") -> Identity:
    return Identity(kind, "v1", namespace, uid, uid)


def owner(
    uid: str, *, blocks: bool | None = None, name: str = "", kind: str = "ConfigMap"
) -> OwnerReference:
    return OwnerReference(
        api_version="v1", kind=kind, name=name or uid, uid=uid, block_owner_deletion=blocks
    )


def metadata(
    *owners: OwnerReference, finalizers: Sequence[str] = (), ending: bool = False, version: str = ""
) -> ObjectMeta:
    return ObjectMeta(
        owner_references=owners or None,
        finalizers=tuple(finalizers) or None,
        deletion_timestamp=ENDING if ending else None,
        resource_version=version,
    )


def empty_graph() -> DependencyGraph:
    return DependencyGraph(absent=AbsentOwnerCache())


def observe(graph: DependencyGraph, uid: str, *owners: OwnerReference, **rest: object) -> None:
    """Update the graph with an object in the namespace ``here``."""
    graph.update(identity(uid), metadata(*owners, **rest))  # type: ignore[arg-type]


def work_in(graph: DependencyGraph) -> list[tuple[str, str]]:
    """The work items of the graph, as pairs."""
    return [(each.what, each.uid) for each in graph.take_work()]
