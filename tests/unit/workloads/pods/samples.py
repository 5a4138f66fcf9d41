"""Pods and their owners, as the server returns them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.controller import owner_reference
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WEB: Mapping[str, str] = {"app": "web"}


def ago(seconds: float) -> datetime:
    """A time before now."""
    return NOW - timedelta(seconds=seconds)


def pod(
    name: str = "web-1",
    *,
    labels: Mapping[str, str] = WEB,
    owner: Resource | None = None,
    node: str | None = "node-1",
    phase: str = "Running",
    ready: datetime | None = None,
    created: datetime | None = None,
    ending: bool = False,
    restarts: int = 0,
    annotations: Mapping[str, str] | None = None,
    uid: str = "",
) -> core_v1.Pod:
    """A Pod; ``ready`` is the time since which it is ready."""
    conditions = None
    if ready is not None:
        conditions = (
            core_v1.PodCondition(type="Ready", status="True", last_transition_time=ready),
        )
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace="here",
            uid=uid or f"uid-of-{name}",
            labels=labels,
            annotations=annotations,
            creation_timestamp=created or ago(3600),
            deletion_timestamp=NOW if ending else None,
            owner_references=(owner_reference(owner),) if owner is not None else None,
        ),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main"),), node_name=node
        ),
        status=core_v1.PodStatus(
            phase=phase,
            conditions=conditions,
            container_statuses=(
                core_v1.ContainerStatus(
                    name="main",
                    image="main",
                    image_id="main",
                    ready=ready is not None,
                    restart_count=restarts,
                ),
            ),
        ),
    )


def replica_set(
    name: str = "web",
    *,
    selector: meta_v1.LabelSelector | None = None,
    namespace: str = "here",
    ending: bool = False,
    status: apps_v1.ReplicaSetStatus | None = None,
    annotations: Mapping[str, str] | None = None,
    created: datetime | None = None,
    **spec: Any,
) -> apps_v1.ReplicaSet:
    """A ReplicaSet that selects ``app=web`` by default."""
    return apps_v1.ReplicaSet(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"uid-of-{name}",
            generation=1,
            annotations=annotations,
            creation_timestamp=created,
            deletion_timestamp=NOW if ending else None,
        ),
        spec=apps_v1.ReplicaSetSpec(
            selector=selector or meta_v1.LabelSelector(match_labels=WEB), **spec
        ),
        status=status,
    )
