"""TaintToleration: the check whether a Pod tolerates the taints of a node. No I/O."""

from collections.abc import Collection, Iterable
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads.scheduler.plugins.node_affinity import as_int

#: Effects of a taint that keep new Pods away.
NO_NEW_PODS: Final = ("NoSchedule", "NoExecute")
#: The effect that evicts Pods that run already.
NO_EXECUTE: Final = ("NoExecute",)

TAINTED: Final = "node(s) had untolerated taint(s)"


def tolerates(toleration: core_v1.Toleration, taint: core_v1.Taint) -> bool:
    """Return whether ``toleration`` tolerates ``taint``."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator or "Equal":
        case "Equal":
            return (toleration.value or "") == (taint.value or "")
        case "Exists":
            return True
        case "Gt" | "Lt":
            theirs, ours = as_int(taint.value), as_int(toleration.value)
            if theirs is None or ours is None:
                return False
            return theirs > ours if toleration.operator == "Gt" else theirs < ours
        case _:
            return False


def untolerated_taint(
    node: core_v1.Node,
    tolerations: Iterable[core_v1.Toleration] | None,
    *,
    effects: Collection[str] = NO_NEW_PODS,
) -> core_v1.Taint | None:
    """Return the first taint of ``node`` that ``tolerations`` do not tolerate, or ``None``.

    Only taints with one of ``effects`` are considered.
    """
    taints = node.spec.taints if node.spec is not None else None
    if not taints:
        return None
    tolerations_ = tuple(tolerations or ())
    for taint in taints:
        if taint.effect in effects and not any(tolerates(each, taint) for each in tolerations_):
            return taint
    return None


def count_prefer_no_schedule(
    node: core_v1.Node, tolerations: Iterable[core_v1.Toleration] | None
) -> int:
    """Return how many ``PreferNoSchedule`` taints of ``node`` are not tolerated."""
    taints = node.spec.taints if node.spec is not None else None
    if not taints:
        return 0
    tolerations_ = tuple(tolerations or ())
    return sum(
        taint.effect == "PreferNoSchedule"
        and not any(tolerates(each, taint) for each in tolerations_)
        for taint in taints
    )
