"""Functions that read fields and annotations of Deployments and ReplicaSets. No I/O."""

from collections.abc import Iterable, Mapping, Sequence

from steersman.kinds import apps_v1, core_v1, replace
from steersman.units import IntOrString, scaled
from steersman_cluster.workloads.deployments.rollout import Group, ReplicaLimits

Deployment = apps_v1.Deployment
ReplicaSet = apps_v1.ReplicaSet

#: The label with the hash of the Pod template.
HASH_LABEL = "pod-template-hash"

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"

# The value that means "no limit".
_ENDLESS = 2**31 - 1


def spec_of(deployment: Deployment) -> apps_v1.DeploymentSpec:
    """Return the spec of ``deployment``.

    Raise ``ValueError`` if there is no spec; the API server rejects such a Deployment.
    """
    if deployment.spec is None:
        raise ValueError(f"{deployment.ref} has no spec; the API server requires one")
    return deployment.spec


def is_rolling(deployment: Deployment) -> bool:
    """Return whether the strategy of ``deployment`` is ``RollingUpdate``, which is the default."""
    strategy = spec_of(deployment).strategy
    return strategy is None or strategy.type in (None, "RollingUpdate")


def limits_of(deployment: Deployment) -> ReplicaLimits:
    """Return the desired replicas, ``maxSurge`` and ``maxUnavailable`` of ``deployment``."""
    spec = spec_of(deployment)
    replicas = 1 if spec.replicas is None else spec.replicas
    if not is_rolling(deployment):
        return ReplicaLimits(replicas=replicas)
    rolling = spec.strategy.rolling_update if spec.strategy is not None else None
    surge = _limit(rolling.max_surge if rolling else None, replicas, round_up=True)
    unavailable = _limit(rolling.max_unavailable if rolling else None, replicas, round_up=False)
    if surge == 0 and unavailable == 0:
        # Both rounded to 0: the update could never begin.
        unavailable = 1
    return ReplicaLimits(replicas=replicas, surge=surge, unavailable=min(unavailable, replicas))


def deadline_seconds(deployment: Deployment) -> int | None:
    """Return the progress deadline of ``deployment``, or ``None`` if it has no deadline."""
    seconds = spec_of(deployment).progress_deadline_seconds
    return None if seconds is None or seconds == _ENDLESS else seconds


def history_limit(deployment: Deployment) -> int | None:
    """Return how many old ReplicaSets ``deployment`` keeps, or ``None`` if there is no limit."""
    limit = spec_of(deployment).revision_history_limit
    return None if limit is None or limit == _ENDLESS else limit


def group_of(rs: ReplicaSet) -> Group:
    """Return the replica counts of ``rs``, from which the next sizes are computed."""
    replicas = rs.spec.replicas if rs.spec is not None else None
    return Group(
        name=rs.name,
        size=1 if replicas is None else replicas,
        available=(rs.status.available_replicas if rs.status is not None else None) or 0,
        created=rs.metadata.creation_timestamp,
        desired=replica_count_annotation(rs.annotations, DESIRED_REPLICAS),
        max_replicas=replica_count_annotation(rs.annotations, MAX_REPLICAS),
    )


def replica_count_annotation(annotations: Mapping[str, str], name: str) -> int | None:
    """Return the annotation ``name`` as a number of replicas.

    Return ``None`` if the annotation does not exist, or if its value is not a valid replica count.
    """
    text = annotations.get(name, "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 11 else None
    return number if number is not None and number <= _ENDLESS else None


def revision_of(rs: ReplicaSet) -> int | None:
    """Return the revision of ``rs``, from its revision annotation.

    Return 0 if there is no such annotation, and ``None`` if its value is invalid.
    """
    return whole_number(rs.annotations.get(REVISION, "0"))


def whole_number(text: str) -> int | None:
    """Return ``text`` as an integer, or ``None`` if ``text`` is not a 64-bit integer."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def by_age(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """Return ``sets`` sorted by creation time, the oldest first, then by name."""

    def age(rs: ReplicaSet) -> tuple[float, str]:
        created = rs.metadata.creation_timestamp
        return created.timestamp() if created is not None else 0.0, rs.name

    return sorted(sets, key=age)


def new_and_old(
    deployment: Deployment, sets: Sequence[ReplicaSet]
) -> tuple[ReplicaSet | None, list[ReplicaSet]]:
    """Return the ReplicaSet with the template of ``deployment``, and all other ReplicaSets.

    If several ReplicaSets have this template, the oldest of them is the first result, and the
    others are among the other ReplicaSets. If no ReplicaSet has it, the first result is ``None``.
    """
    template = spec_of(deployment).template
    ordered = by_age(sets)
    new = next((rs for rs in ordered if is_same_template(template, rs)), None)
    return new, [rs for rs in ordered if rs is not new]


def is_same_template(template: core_v1.PodTemplateSpec, rs: ReplicaSet) -> bool:
    """Return whether ``rs`` has this ``template``, apart from the template hash label."""
    theirs = rs.spec.template if rs.spec is not None else None
    if theirs is None or theirs.spec != template.spec:
        return False
    return _without_hash(theirs) == _without_hash(template)


def _without_hash(template: core_v1.PodTemplateSpec) -> core_v1.PodTemplateSpec:
    metadata = template.metadata
    if metadata is None or metadata.labels is None or HASH_LABEL not in metadata.labels:
        return template
    labels = {key: value for key, value in metadata.labels.items() if key != HASH_LABEL}
    return replace(template, metadata=replace(metadata, labels=labels or None))


def _limit(value: IntOrString | None, replicas: int, *, round_up: bool) -> int:
    return 0 if value is None else scaled(value, replicas, round_up=round_up)
