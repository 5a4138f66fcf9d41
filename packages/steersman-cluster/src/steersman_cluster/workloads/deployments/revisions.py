"""The revisions of a Deployment, and the annotations of its ReplicaSets. No I/O."""

from collections.abc import Iterable, Mapping

from steersman.controller import owner_reference
from steersman.kinds import apps_v1, core_v1, meta_v1, replace
from steersman_cluster.workloads.deployments.accessors import (
    DESIRED_REPLICAS,
    HASH_LABEL,
    HISTORY,
    MAX_REPLICAS,
    REVISION,
    Deployment,
    ReplicaSet,
    revision_of,
    spec_of,
    whole_number,
)
from steersman_cluster.workloads.deployments.rollout import ReplicaLimits
from steersman_cluster.workloads.pods import template_hash

# The maximum for an object's name.
_MAX_NAME_LENGTH = 253
# About a hundred rollbacks: annotations are limited.
_MAX_HISTORY = 2000

# Annotations that are not copied from a Deployment to its ReplicaSets.
_NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
)


def next_revision(olds: Iterable[ReplicaSet]) -> int:
    """Return the revision for a new template: the highest revision in ``olds``, plus one."""
    return max((revision_of(rs) or 0 for rs in olds), default=0) + 1


def sizing_annotations(limits: ReplicaLimits) -> dict[str, str]:
    """Return the annotations that record a Deployment's size on its ReplicaSets.

    They contain the desired and the maximum number of replicas in ``limits``.
    """
    return {DESIRED_REPLICAS: str(limits.replicas), MAX_REPLICAS: str(limits.max_replicas)}


def changed_annotations(
    deployment: Deployment, annotations: Mapping[str, str], revision: int
) -> dict[str, str]:
    """Return the annotations to add to or change on the new ReplicaSet.

    ``annotations`` are the annotations that the ReplicaSet already has. The annotations of
    ``deployment`` are copied. The ReplicaSet's revision is changed to ``revision`` only if it was
    lower, for example after a rollback; the previous revision is then appended to the revision
    history.
    """
    changes = {
        key: value
        for key, value in deployment.annotations.items()
        if key not in _NOT_COPIED and annotations.get(key) != value
    }
    before = annotations.get(REVISION)
    number = whole_number(before or "0")
    if number is None or number >= revision:
        return changes
    changes[REVISION] = str(revision)
    if before is not None:
        history = _history(annotations.get(HISTORY, ""), before)
        if history is not None:
            changes[HISTORY] = history
    return changes


def new_replica_set(
    deployment: Deployment, *, revision: int, size: int, limits: ReplicaLimits
) -> ReplicaSet:
    """Return a ReplicaSet with the template of ``deployment`` and with ``size`` replicas.

    The name is derived from the Deployment's name and from the hash of the template.
    """
    spec = spec_of(deployment)
    collisions = deployment.status.collision_count if deployment.status is not None else None
    hashed = template_hash(spec.template, collisions)
    inner = spec.template.metadata or meta_v1.ObjectMeta()
    labels = {**(inner.labels or {}), HASH_LABEL: hashed}
    template = core_v1.PodTemplateSpec(
        metadata=replace(inner, labels=labels), spec=spec.template.spec
    )
    selector = replace(
        spec.selector, match_labels={**(spec.selector.match_labels or {}), HASH_LABEL: hashed}
    )
    return ReplicaSet(
        metadata=meta_v1.ObjectMeta(
            name=set_name(deployment.name, hashed),
            namespace=deployment.namespace,
            labels=labels,
            annotations={
                **changed_annotations(deployment, {}, revision),
                **sizing_annotations(limits),
            },
            owner_references=(owner_reference(deployment),),
        ),
        spec=apps_v1.ReplicaSetSpec(
            replicas=size,
            min_ready_seconds=spec.min_ready_seconds,
            selector=selector,
            template=template,
        ),
    )


def set_name(deployment: str, hashed: str) -> str:
    """Return the name of a ReplicaSet: the name ``deployment``, a hyphen, and ``hashed``.

    If this name would be too long, ``deployment`` is cut.
    """
    return f"{deployment[: _MAX_NAME_LENGTH - 1 - len(hashed)]}-{hashed}"


def cleanable(olds: Iterable[ReplicaSet], limit: int | None) -> list[ReplicaSet]:
    """Return which of the old ReplicaSets ``olds`` to delete, the lowest revision first.

    These are the ReplicaSets beyond the history limit ``limit``, except ReplicaSets that still have
    Pods.
    """
    if limit is None:
        return []
    there = [rs for rs in olds if rs.deletion_time is None]
    surplus = len(there) - limit
    if surplus <= 0:
        return []
    # They are sorted by age, and the sort is stable.
    there.sort(key=lambda rs: revision_of(rs) or 0)
    return [rs for rs in there[:surplus] if _has_no_pods(rs)]


def _has_no_pods(rs: ReplicaSet) -> bool:
    status = rs.status
    return (
        rs.spec is not None
        and rs.spec.replicas == 0
        and status is not None
        and status.replicas == 0
        and rs.generation <= (status.observed_generation or 0)
    )


def _history(history: str, revision: str) -> str | None:
    """Return the history with one more revision, or ``None`` if the revision does not fit."""
    if not history:
        return revision
    revisions = [*history.split(","), revision]
    while len(",".join(revisions)) > _MAX_HISTORY:
        del revisions[0]
        if not revisions:
            return None
    return ",".join(revisions)
