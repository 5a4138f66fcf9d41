"""Revisions: which number a template has, and what a ReplicaSet is told in annotations. Pure."""

from collections.abc import Iterable, Mapping

from steersman.controller import owner_reference
from steersman.kinds import apps_v1, core_v1, meta_v1, replace
from steersman_cluster.workloads.deployments.accessors import (
    DESIRED,
    HASH_LABEL,
    HISTORY,
    MOST,
    REVISION,
    Deployment,
    ReplicaSet,
    revision_of,
    spec_of,
    whole_number,
)
from steersman_cluster.workloads.deployments.rollout import Terms
from steersman_cluster.workloads.pods import template_hash

# An object's name is no longer than this.
_LONGEST_NAME = 253
# About a hundred rollbacks: annotations are small.
_LONGEST_HISTORY = 2000

# These are about one of the two, and not copied from the Deployment to its ReplicaSets.
_NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
)


def next_revision(olds: Iterable[ReplicaSet]) -> int:
    """The number of the newest template: one more than any other has."""
    return max((revision_of(rs) or 0 for rs in olds), default=0) + 1


def sizing_annotations(terms: Terms) -> dict[str, str]:
    """What a ReplicaSet is told of the size of its Deployment."""
    return {DESIRED: str(terms.replicas), MOST: str(terms.most)}


def changed_annotations(
    deployment: Deployment, annotations: Mapping[str, str], revision: int
) -> dict[str, str]:
    """What is new in the annotations of the ReplicaSet that has the newest template.

    Those of the Deployment are copied. Its revision goes up, never down; if it had another before,
    it is rolled back to, and the old number goes into its history.
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
    deployment: Deployment, *, revision: int, size: int, terms: Terms
) -> ReplicaSet:
    """A ReplicaSet of the Deployment's template, with a name that comes from both."""
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
                **sizing_annotations(terms),
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
    """The name of a Deployment's ReplicaSet, cut in the middle if it is too long."""
    return f"{deployment[: _LONGEST_NAME - 1 - len(hashed)]}-{hashed}"


def cleanable(olds: Iterable[ReplicaSet], limit: int | None) -> list[ReplicaSet]:
    """The ReplicaSets that are too old to be kept, and have no Pods; the oldest first."""
    if limit is None:
        return []
    there = [rs for rs in olds if rs.deletion_time is None]
    surplus = len(there) - limit
    if surplus <= 0:
        return []
    # They come by age, and sorting keeps that among those of one number.
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
    """The history with one revision more; ``None`` if there is no room for it."""
    if not history:
        return revision
    revisions = [*history.split(","), revision]
    while len(",".join(revisions)) > _LONGEST_HISTORY:
        del revisions[0]
        if not revisions:
            return None
    return ",".join(revisions)
