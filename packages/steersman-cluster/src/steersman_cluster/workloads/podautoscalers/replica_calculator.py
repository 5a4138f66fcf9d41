"""The replica calculator: it computes how many replicas the usage of Pods requires. No I/O.

The result is the ratio of usage to target, multiplied by the number of measured Pods. Pods without
metrics are counted so that they make a change smaller, never larger. If the ratio is close to one,
the number of replicas does not change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final, TypeAlias

from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import condition, phase

Pod = core_v1.Pod

#: A starting Pod may use CPU for its initialization: for this time, its metrics count only once it
#: is ready.
CPU_START_SECONDS: Final = 300.0
#: A Pod whose readiness changed this early after its start was never ready before.
FIRST_READY_SECONDS: Final = 30.0

_POD_LEVEL: Final = ("cpu", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The average usage of one resource by one Pod, in thousandths.

    The average is over ``window_seconds``, a window that ends at ``time``.
    """

    milli: int
    time: datetime
    window_seconds: float = 0.0


Usages: TypeAlias = Mapping[str, Usage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """The tolerances of an autoscaler.

    The replicas do not change while the ratio of usage to target is between ``1 - down`` and ``1 +
    up``.
    """

    down: float = 0.1
    up: float = 0.1

    def are_met(self, ratio: float) -> bool:
        """Return whether ``ratio``, the ratio of usage to target, is within the tolerances."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The number of replicas that the usage requires.

    ``average_milli`` is the average usage in thousandths, and ``percent`` the average utilization
    in percent.
    """

    replicas: int
    average_milli: int
    percent: int | None = None


@dataclass(frozen=True, slots=True)
class ScalingProblem:
    """The reason why the number of required replicas cannot be computed."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grouped:
    ready: int
    unready: tuple[str, ...]
    missing: tuple[str, ...]
    server_usage: dict[str, int]


def by_utilization(
    pods: Iterable[Pod],
    usages: Usages,
    *,
    current: int,
    percent: int,
    resource: str,
    container: str,
    tolerances: Tolerances,
    now: datetime,
) -> Proposal | ScalingProblem:
    """Return the number of replicas for a target utilization of ``percent`` percent.

    The utilization is the usage of ``pods`` relative to their requests of ``resource``. ``current``
    is the current number of replicas.
    """
    grouped = _grouped(list(pods), usages, resource=resource, now=now)
    if isinstance(grouped, ScalingProblem):
        return grouped
    requests = requests_of(pods, resource, container)
    if isinstance(requests, ScalingProblem):
        return requests
    before = _utilization(grouped.server_usage, requests, percent)
    if before is None:
        return ScalingProblem("no metrics returned matched known pods")
    ratio, used_percent, average = before

    def proposal(replicas: int) -> Proposal:
        return Proposal(replicas=replicas, average_milli=average, percent=used_percent)

    assumed = _with_assumed(
        grouped,
        ratio,
        missing={
            name: requests.get(name, 0) * max(100, percent) // 100 for name in grouped.missing
        },
    )
    if assumed is None:
        if tolerances.are_met(ratio):
            return proposal(current)
        return proposal(ceil(ratio * grouped.ready))
    after = _utilization(assumed, requests, percent)
    if after is None:
        return ScalingProblem("no metrics returned matched known pods")
    return proposal(_replicas_after(ratio, after[0], len(assumed), current, tolerances))


def by_average(
    pods: Iterable[Pod],
    usages: Usages,
    *,
    current: int,
    milli: int,
    resource: str,
    tolerances: Tolerances,
    now: datetime,
) -> Proposal | ScalingProblem:
    """Return the number of replicas for a target average usage of ``milli`` thousandths per Pod.

    ``usages`` contains the usage of ``pods``, and ``current`` is the current number of replicas.
    """
    grouped = _grouped(list(pods), usages, resource=resource, now=now)
    if isinstance(grouped, ScalingProblem):
        return grouped
    average = sum(grouped.server_usage.values()) // len(grouped.server_usage)
    ratio = average / milli
    assumed = _with_assumed(grouped, ratio, missing=dict.fromkeys(grouped.missing, milli))
    if assumed is None:
        replicas = current if tolerances.are_met(ratio) else ceil(ratio * grouped.ready)
    else:
        after = sum(assumed.values()) // len(assumed) / milli
        replicas = _replicas_after(ratio, after, len(assumed), current, tolerances)
    return Proposal(replicas=replicas, average_milli=average)


def requests_of(
    pods: Iterable[Pod], resource: str, container: str
) -> dict[str, int] | ScalingProblem:
    """Return the request of each Pod for ``resource``, in thousandths, by Pod name.

    Only ``container`` counts, or all containers if ``container`` is empty. If a Pod has no such
    request, return the problem instead.
    """
    requests: dict[str, int] = {}
    for pod in pods:
        found = _request(pod, resource, container)
        if isinstance(found, ScalingProblem):
            return found
        requests[pod.name] = found
    return requests


def _request(pod: Pod, resource: str, container: str) -> int | ScalingProblem:
    spec = pod.spec
    if spec is None:
        return 0
    whole = (spec.resources.requests if spec.resources else None) or {}
    if not container and any(name in _POD_LEVEL for name in whole):
        if resource not in whole:
            return ScalingProblem(f"missing pod-level request for {resource} in Pod {pod.name}")
        return whole[resource].milli_value()
    running = [*spec.containers]
    running += [each for each in spec.init_containers or () if each.restart_policy == "Always"]
    total = 0
    for each in running:
        if container in ("", each.name):
            asked = (each.resources.requests if each.resources else None) or {}
            if resource not in asked:
                return ScalingProblem(
                    f"missing request for {resource} in container {each.name} of Pod {pod.name}"
                )
            total += asked[resource].milli_value()
        if container == each.name:
            return total
    if container:
        return ScalingProblem(f"container {container} not found in Pod {pod.name}")
    return total


def _grouped(
    pods: list[Pod], usages: Usages, *, resource: str, now: datetime
) -> _Grouped | ScalingProblem:
    if not pods:
        return ScalingProblem("no pods returned by selector while calculating replica count")
    server_usage = {name: usage.milli for name, usage in usages.items()}
    unready: list[str] = []
    missing: list[str] = []
    ready = 0
    for pod in pods:
        if pod.metadata.deletion_timestamp is not None or phase(pod) == "Failed":
            server_usage.pop(pod.name, None)
        elif phase(pod) == "Pending":
            server_usage.pop(pod.name, None)
            unready.append(pod.name)
        elif pod.name not in usages:
            missing.append(pod.name)
        elif resource == "cpu" and _is_starting(pod, usages[pod.name], now):
            server_usage.pop(pod.name, None)
            unready.append(pod.name)
        else:
            ready += 1
    if not server_usage:
        return ScalingProblem("did not receive metrics for targeted pods (pods might be unready)")
    return _Grouped(
        ready=ready, unready=tuple(unready), missing=tuple(missing), server_usage=server_usage
    )


def _is_starting(pod: Pod, usage: Usage, now: datetime) -> bool:
    ready = condition(pod, "Ready")
    started = pod.status.start_time if pod.status else None
    if ready is None or started is None:
        return True
    turned = ready.last_transition_time or started
    is_unready = ready.status == "False"
    if started + timedelta(seconds=CPU_START_SECONDS) > now:
        return is_unready or usage.time < turned + timedelta(seconds=usage.window_seconds)
    return is_unready and started + timedelta(seconds=FIRST_READY_SECONDS) > turned


def _utilization(
    server_usage: Mapping[str, int], requests: Mapping[str, int], percent: int
) -> tuple[float, int, int] | None:
    known = [name for name in server_usage if name in requests]
    total = sum(server_usage[name] for name in known)
    requested = sum(requests[name] for name in known)
    if not requested:
        return None
    used_percent = total * 100 // requested
    return used_percent / percent, used_percent, total // len(known)


def _with_assumed(
    grouped: _Grouped, ratio: float, *, missing: Mapping[str, int]
) -> dict[str, int] | None:
    """Return the usage including an assumed usage of Pods without metrics.

    Return ``None`` if there are no such Pods.
    """
    counts_unready = bool(grouped.unready) and ratio > 1.0
    if not counts_unready and not grouped.missing:
        return None
    assumed = dict(grouped.server_usage)
    if ratio < 1.0:
        assumed |= missing
    elif ratio > 1.0:
        assumed |= dict.fromkeys(grouped.missing, 0)
    if counts_unready:
        assumed |= dict.fromkeys(grouped.unready, 0)
    return assumed


def _replicas_after(
    before: float, after: float, number: int, current: int, tolerances: Tolerances
) -> int:
    turned = (before < 1.0 < after) or (after < 1.0 < before)
    if tolerances.are_met(after) or turned:
        return current
    replicas = ceil(after * number)
    if (after < 1.0 and replicas > current) or (after > 1.0 and replicas < current):
        return current
    return replicas
