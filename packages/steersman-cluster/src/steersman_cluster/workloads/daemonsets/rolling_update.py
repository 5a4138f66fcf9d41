"""The rolling update of a DaemonSet, with maxUnavailable or maxSurge. No I/O."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from steersman.kinds import apps_v1
from steersman.units import IntOrString, scaled
from steersman_cluster.workloads.daemonsets.node_fit import Fit, Pod
from steersman_cluster.workloads.daemonsets.plan import DaemonSetPlan
from steersman_cluster.workloads.daemonsets.template_version import Version
from steersman_cluster.workloads.pods import is_available

Check: TypeAlias = Callable[[Pod], bool]


def limits(strategy: apps_v1.DaemonSetUpdateStrategy | None, desired: int) -> tuple[int, int]:
    """Return the ``maxUnavailable`` and ``maxSurge`` of ``strategy`` as numbers of Pods.

    Percentages are relative to ``desired``, the number of nodes that should run a Pod.
    """
    rolling = strategy.rolling_update if strategy is not None else None
    if strategy is None or strategy.type != "RollingUpdate" or rolling is None:
        return (1, 0) if desired else (0, 0)
    missing = scaled(_or_zero(rolling.max_unavailable), desired, round_up=True)
    surplus = scaled(_or_zero(rolling.max_surge), desired, round_up=True)
    if desired and not missing and not surplus:
        return 1, 0  # with both 0 the update could never begin
    return missing, surplus


def surges(strategy: apps_v1.DaemonSetUpdateStrategy | None) -> bool:
    """Return whether ``strategy`` permits an old and a new Pod on one node during an update."""
    rolling = strategy.rolling_update if strategy is not None else None
    if strategy is None or strategy.type != "RollingUpdate" or rolling is None:
        return False
    return scaled(_or_zero(rolling.max_surge), 1, round_up=True) > 0


def next_step(
    placed: Mapping[str, Sequence[Pod]],
    fits: Mapping[str, Fit],
    version: Version,
    *,
    strategy: apps_v1.DaemonSetUpdateStrategy | None,
    min_ready_seconds: int,
    now: datetime,
) -> DaemonSetPlan:
    """Return the next step of a rolling update, within the limits of ``strategy``.

    ``placed`` contains the existing Pods by node, ``fits`` the result of ``fit`` for each node, and
    ``version`` is the version of the new Pods.
    """
    desired = sum(each.should_run for each in fits.values())
    missing, surplus = limits(strategy, desired)
    wanted = [node for node, each in fits.items() if each.should_run]
    nodes = {node: placed.get(node, ()) for node in sorted({*placed, *wanted})}

    def available(pod: Pod) -> bool:
        return is_available(pod, min_ready_seconds, now)

    if surplus:
        return _surging(nodes, fits, version, surplus, desired, available)
    return _replacing(nodes, version, missing, available)


def _replacing(
    nodes: Mapping[str, Sequence[Pod]],
    version: Version,
    max_missing: int,
    available: Check,
) -> DaemonSetPlan:
    """Return a plan that deletes old Pods first; their replacements are created later."""
    unavailable = 0
    useless: list[Pod] = []
    candidates: list[Pod] = []
    for pods in nodes.values():
        found = _new_and_old(pods, version)
        if found is None:
            unavailable += 1  # there are surplus Pods, which are deleted first
            continue
        new, old = found
        if (new is None) == (old is None):
            unavailable += 1
        elif new is not None:
            unavailable += not available(new)
        elif old is not None and available(old):
            candidates.append(old)
        elif old is not None:
            useless.append(old)
            unavailable += 1
    room = max(0, max_missing - unavailable)
    return DaemonSetPlan(delete=(*useless, *candidates[:room]))


def _surging(
    nodes: Mapping[str, Sequence[Pod]],
    fits: Mapping[str, Fit],
    version: Version,
    max_surplus: int,
    desired: int,
    available: Check,
) -> DaemonSetPlan:
    """Return a plan that creates new Pods first, and deletes old Pods once the new Pods are
    available.
    """
    surplus = working = 0
    delete: list[Pod] = []
    misplaced: list[Pod] = []
    at_once: list[str] = []
    candidates: list[str] = []
    for node, pods in nodes.items():
        found = _new_and_old(pods, version)
        if found is None:
            surplus += 1
            continue
        new, old = found
        counts = old if old is not None else new
        working += counts is not None and available(counts)
        if old is None:
            continue
        if new is not None:
            if available(new):
                delete.append(old)
            else:
                surplus += 1
            continue
        belongs = node in fits and fits[node].should_run
        if belongs:
            (candidates if available(old) else at_once).append(node)
        else:
            (misplaced if available(old) else delete).append(old)
    # On a node that no longer fits, a Pod stays until enough others are available.
    delete += misplaced[: max(0, working - desired)]
    room = max(0, max_surplus - surplus)
    return DaemonSetPlan(make_on=(*at_once, *candidates[:room]), delete=tuple(delete))


def _new_and_old(pods: Sequence[Pod], version: Version) -> tuple[Pod | None, Pod | None] | None:
    """Return the new and the old Pod of a node, or ``None`` if there are several new or several old
    Pods.
    """
    staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    new = [pod for pod in staying if version.is_of(pod)]
    old = [pod for pod in staying if not version.is_of(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return (new[0] if new else None), (old[0] if old else None)


def _or_zero(value: IntOrString | None) -> IntOrString:
    return 0 if value is None else value
