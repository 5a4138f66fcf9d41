"""The next steps for the Pods of a StatefulSet, and its status. No I/O.

    first   each desired Pod, from the lowest ordinal on: created, replaced if it has ended, waited
            for until it is available
    then    surplus Pods, from the highest ordinal on
    then    Pods of an older revision, from the highest ordinal down to the partition

A set with ordered Pods takes one step at a time, and waits until that step is complete. A set with
parallel Pods creates and deletes all Pods concurrently, but still updates one Pod at a time.
(``maxUnavailable`` would permit more; Kubernetes 1.36 drops the field unless a feature gate is
enabled.)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from steersman.kinds import apps_v1
from steersman_cluster.workloads.pods import is_available, is_ended, is_ready
from steersman_cluster.workloads.statefulsets.identity import (
    Pod,
    StatefulSet,
    first_ordinal,
    has_identity,
    has_storage,
    ordinal_of,
    replicas_of,
    revision_of,
    spec_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatePod:
    """A step that creates the missing Pod with the ordinal ``ordinal``.

    If ``is_current`` is true, the Pod is created from the current revision, because its ordinal is
    below the partition; otherwise, it is created from the newest revision.
    """

    ordinal: int
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePod:
    """A step that deletes a Pod because it has ended, is surplus, or has an outdated revision."""

    pod: Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateClaims:
    """A step that creates those PersistentVolumeClaims of an existing Pod that are missing.

    Without these claims, the Pod could stay pending.
    """

    pod: Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPod:
    """A step that corrects the label, the volumes, or the owners of the claims of a Pod."""

    pod: Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateClaimOwners:
    """A step that updates the owners of a surplus Pod's PersistentVolumeClaims.

    The retention policy may require that these claims are deleted with the Pod.
    """

    pod: Pod


Step: TypeAlias = CreatePod | DeletePod | CreateClaims | RepairPod | UpdateClaimOwners


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The Pods of a StatefulSet.

    ``wanted`` contains the Pod of each desired ordinal, or ``None`` if it is missing. ``condemned``
    contains the surplus Pods.
    """

    wanted: tuple[Pod | None, ...]
    condemned: tuple[Pod, ...]  # from the highest ordinal down


def members(owner: StatefulSet, pods: Sequence[Pod]) -> Members:
    """Return the Pods of ``owner``, a StatefulSet, by their ordinals."""
    spec = spec_of(owner)
    first = first_ordinal(spec)
    wanted: list[Pod | None] = [None] * replicas_of(spec)
    condemned: list[Pod] = []
    for pod in pods:
        place = ordinal_of(pod) - first
        if 0 <= place < len(wanted):
            wanted[place] = pod
        else:
            condemned.append(pod)
    condemned.sort(key=ordinal_of, reverse=True)
    return Members(wanted=tuple(wanted), condemned=tuple(condemned))


def steps(owner: StatefulSet, there: Members, *, update: str, now: datetime) -> Iterator[Step]:
    """Yield the next steps for the Pods ``there`` in order.

    ``update`` is the name of the newest revision.
    """
    spec = spec_of(owner)
    is_ordered = spec.pod_management_policy != "Parallel"
    for place, pod in enumerate(there.wanted):
        yield from _for_wanted(owner, place, pod)
        if is_ordered and (pod is None or is_unavailable(spec, pod, now)):
            return
        if pod is not None and not is_ended(pod) and _may_need_repair(owner, pod):
            yield RepairPod(pod=pod)
    if spec.volume_claim_templates:
        yield from (UpdateClaimOwners(pod=pod) for pod in there.condemned)
    for pod in there.condemned:
        if pod.deletion_time is None:
            if is_ordered and _waits_for_another(spec, pod, there, now):
                return
            yield DeletePod(pod=pod)
        if is_ordered:
            return
    yield from _updates(spec, there, update=update, now=now)


def is_unavailable(spec: apps_v1.StatefulSetSpec, pod: Pod, now: datetime) -> bool:
    """Return whether ``pod`` counts as unavailable during an update."""
    return (
        pod.deletion_time is not None
        or not _is_running(pod)
        or not is_available(pod, spec.min_ready_seconds or 0, now)
    )


def partition_of(spec: apps_v1.StatefulSetSpec) -> int:
    """Return the partition of a StatefulSet with ``spec``: lower ordinals are not updated."""
    strategy = spec.update_strategy
    rolling = strategy.rolling_update if strategy is not None else None
    return (rolling.partition or 0) if rolling is not None else 0


def status_of(
    owner: StatefulSet,
    pods: Sequence[Pod],
    *,
    current: str,
    update: str,
    collisions: int,
    now: datetime,
) -> apps_v1.StatefulSetStatus:
    """Return the status of ``owner``, a StatefulSet with the Pods ``pods``.

    ``current`` is the name of the current revision, and ``update`` the name of the newest revision.
    """
    spec = spec_of(owner)
    wanted = replicas_of(spec)
    ready = [pod for pod in pods if _is_running(pod) and is_ready(pod)]
    staying = [revision_of(pod) for pod in pods if pod.deletion_time is None]
    available = sum(is_available(pod, spec.min_ready_seconds or 0, now) for pod in ready)
    updated = staying.count(update)
    current_count = staying.count(current)
    is_rolling = spec.update_strategy is None or spec.update_strategy.type != "OnDelete"
    if is_rolling and updated == len(ready) == len(pods) == wanted:
        current, current_count = update, updated
    return apps_v1.StatefulSetStatus(
        observed_generation=owner.generation or None,
        replicas=len(pods),
        ready_replicas=len(ready) or None,
        available_replicas=available,
        current_replicas=current_count or None,
        updated_replicas=updated or None,
        current_revision=current,
        update_revision=update,
        collision_count=collisions,
        conditions=owner.status.conditions if owner.status is not None else None,
    )


def _for_wanted(owner: StatefulSet, place: int, pod: Pod | None) -> Iterator[Step]:
    spec = spec_of(owner)
    if pod is None:
        # Without a partition, as many Pods as before are created with the current revision.
        ordinal = first_ordinal(spec) + place
        yield CreatePod(ordinal=ordinal, is_current=place < _partition(owner))
    elif is_ended(pod):
        if pod.deletion_time is None:
            yield DeletePod(pod=pod)
    elif not _is_running(pod) and spec.volume_claim_templates:
        yield CreateClaims(pod=pod)


def _partition(owner: StatefulSet) -> int:
    strategy = spec_of(owner).update_strategy
    if strategy is None or strategy.type == "OnDelete":
        return 0
    if strategy.rolling_update is not None:
        return strategy.rolling_update.partition or 0
    return (owner.status.current_replicas or 0) if owner.status is not None else 0


def _may_need_repair(owner: StatefulSet, pod: Pod) -> bool:
    return (
        bool(spec_of(owner).volume_claim_templates)
        or not has_identity(pod)
        or not has_storage(owner, pod)
    )


def _waits_for_another(
    spec: apps_v1.StatefulSetSpec, pod: Pod, there: Members, now: datetime
) -> bool:
    """Return whether ``pod``, a surplus Pod, is unavailable, and another surplus Pod with a lower
    ordinal is unavailable, too.
    """
    if not is_unavailable(spec, pod, now):
        return False
    lower = there.condemned[there.condemned.index(pod) + 1 :]
    return any(is_unavailable(spec, each, now) for each in lower)


def _updates(
    spec: apps_v1.StatefulSetSpec, there: Members, *, update: str, now: datetime
) -> Iterator[Step]:
    if spec.update_strategy is not None and spec.update_strategy.type == "OnDelete":
        return
    for pod in reversed(there.wanted[partition_of(spec) :]):
        if pod is None or is_ended(pod):
            return
        if revision_of(pod) != update and pod.deletion_time is None:
            yield DeletePod(pod=pod)
            return
        if is_unavailable(spec, pod, now):
            return


def _is_running(pod: Pod) -> bool:
    return pod.status is not None and pod.status.phase == "Running"
