"""Sample objects for the view."""

from collections.abc import Sequence
from typing import Any

from steersman.kinds import Unstructured

VERSIONS = {
    "AppService": "app.example.com/v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "Job": "batch/v1",
    "Pod": "v1",
    "Service": "v1",
    "ConfigMap": "v1",
}
CREATED = "2026-01-01T00:00:00Z"


def thing(
    kind: str,
    name: str,
    *,
    of: Sequence[Unstructured] = (),
    controlled: bool = True,
    metadata: dict[str, Any] | None = None,
    **fields: Any,
) -> Unstructured:
    """An object with these owners; the last is its controller."""
    owners = [
        {"uid": each.uid, "kind": each.gvk.kind, "name": each.name, "controller": False}
        for each in of
    ]
    if owners:
        owners[-1]["controller"] = controlled
    body = {
        "apiVersion": VERSIONS[kind],
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid of {kind} {name}",
            "creationTimestamp": CREATED,
            "ownerReferences": owners,
            **(metadata or {}),
        },
        **fields,
    }
    return Unstructured(body)


def condition(type_: str, status: str, reason: str = "") -> dict[str, str]:
    """A condition of a status."""
    return {"type": type_, "status": status, "reason": reason}


def app(name: str = "web", *conditions: dict[str, str]) -> Unstructured:
    """An AppService with these conditions."""
    return thing("AppService", name, status={"conditions": list(conditions)})


def replicas(kind: str, name: str, ready: int, wanted: int, **more: Any) -> Unstructured:
    """An object with this number of ready replicas."""
    status = {
        "replicas": wanted,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "updatedReplicas": wanted,
    }
    return thing(kind, name, spec={"replicas": wanted}, status=status, **more)
