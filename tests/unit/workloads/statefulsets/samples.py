"""StatefulSets with their Pods and claims, as the server returns them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.controller import owner_reference
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1
from steersman_cluster.workloads.statefulsets.identity import (
    POD_NAME_LABEL,
    REVISION_LABEL,
    StatefulSet,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
OLD, NEW = "web-old", "web-new"

DATA = core_v1.PersistentVolumeClaim(metadata=meta_v1.ObjectMeta(name="data"))


def stateful_set(
    replicas: int = 3,
    *,
    start: int | None = None,
    is_parallel: bool = False,
    partition: int | None = 0,
    on_delete: bool = False,
    claims: tuple[core_v1.PersistentVolumeClaim, ...] = (),
    when_deleted: str = "Retain",
    when_scaled: str = "Retain",
    status: apps_v1.StatefulSetStatus | None = None,
    **spec: Any,
) -> StatefulSet:
    """A StatefulSet ``web``, by default of three Pods."""
    rolling = apps_v1.RollingUpdateStatefulSetStrategy(partition=partition)
    return apps_v1.StatefulSet(
        metadata=meta_v1.ObjectMeta(name="web", namespace="here", uid="uid-of-web", generation=4),
        spec=apps_v1.StatefulSetSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels={"app": "web"}),
            service_name="web-service",
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels={"app": "web"}),
                spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="new"),)),
            ),
            ordinals=None if start is None else apps_v1.StatefulSetOrdinals(start=start),
            pod_management_policy="Parallel" if is_parallel else "OrderedReady",
            update_strategy=apps_v1.StatefulSetUpdateStrategy(
                type="OnDelete" if on_delete else "RollingUpdate",
                rolling_update=None if on_delete or partition is None else rolling,
            ),
            persistent_volume_claim_retention_policy=(
                apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy(
                    when_deleted=when_deleted, when_scaled=when_scaled
                )
            ),
            volume_claim_templates=claims or None,
            **spec,
        ),
        status=status,
    )


def pod(
    ordinal: int,
    *,
    revision: str = NEW,
    phase: str = "Running",
    is_ready: bool = True,
    ready_seconds: float = 60.0,
    is_ending: bool = False,
    labels: Mapping[str, str] | None = None,
    volumes: tuple[core_v1.Volume, ...] | None = None,
) -> core_v1.Pod:
    """A Pod of that set, by default ready for a minute."""
    name = f"web-{ordinal}"
    ready = core_v1.PodCondition(
        type="Ready",
        status="True" if is_ready and phase == "Running" else "False",
        last_transition_time=NOW - timedelta(seconds=ready_seconds),
    )
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace="here",
            uid=f"uid-of-{name}",
            labels=labels
            if labels is not None
            else {"app": "web", POD_NAME_LABEL: name, REVISION_LABEL: revision},
            deletion_timestamp=NOW if is_ending else None,
        ),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main"),), volumes=volumes
        ),
        status=core_v1.PodStatus(phase=phase, conditions=(ready,)),
    )


def claim(*owners: Resource | meta_v1.OwnerReference) -> core_v1.PersistentVolumeClaim:
    """A claim ``data-web-0`` with these owner references."""
    references = tuple(
        each if isinstance(each, meta_v1.OwnerReference) else owner_reference(each)
        for each in owners
    )
    return core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(
            name="data-web-0", namespace="here", owner_references=references or None
        )
    )
