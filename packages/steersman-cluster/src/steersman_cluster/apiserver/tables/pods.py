"""The table row of a Pod: the aggregated state of its containers."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, Printer, TableColumn
from steersman_cluster.apiserver.tables.cells import NONE, is_true
from steersman_cluster.apiserver.tables.printers import age_of, filled, name_of, part

_IS_OVER = ("Succeeded", "Failed")
_UNREACHABLE = "NodeLost"
_GATED = "SchedulingGated"
_BEGINNING = "PodInitializing"

_COMPLETED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


class _Restarts(NamedTuple):
    """The number of container restarts, and the time of the last termination before a restart."""

    times: int = 0
    last: str = ""

    def and_of(self, status: Object) -> "_Restarts":
        ended = part(status, "lastState", "terminated").get("finishedAt") or ""
        # Timestamps are in UTC and have the same precision, so that they sort as strings.
        return _Restarts(self.times + status.get("restartCount", 0), max(self.last, ended))


class _Summary(NamedTuple):
    """The aggregated state of the containers of one type."""

    ready: int
    restarts: _Restarts
    reason: str  # empty: no reason to show


class _InitSummary(NamedTuple):
    """The progress of a Pod's init containers."""

    summary: _Summary
    sidecars: _Restarts  # of restartable init containers

    @property
    def is_over(self) -> bool:
        return not self.summary.reason


def _cells(pod: Object, ages: Ages) -> Sequence[Cell]:
    spec = pod.get("spec") or {}
    ready, restarts, reason = _summary(pod)
    total = len(spec.get("containers") or ()) + len(_staying(spec))
    times = str(restarts.times)
    if restarts.times and restarts.last:
        times = f"{times} ({ages.since(restarts.last)} ago)"
    return [
        name_of(pod, ages),
        f"{ready}/{total}",
        reason,
        times,
        age_of(pod, ages),
        _address(pod),
        _NODE(pod, ages),
        _NOMINATED(pod, ages),
        _gates(pod),
    ]


def _summary(pod: Object) -> _Summary:
    status = pod.get("status") or {}
    reason: str = status.get("reason") or status.get("phase") or ""
    conditions: Iterable[Object] = status.get("conditions") or ()
    if any(
        each.get("type") == "PodScheduled" and each.get("reason") == _GATED for each in conditions
    ):
        reason = _GATED
    init = _init_summary(pod)
    ready, restarts = init.summary.ready, init.summary.restarts
    reason = init.summary.reason or reason
    if init.is_over or is_true(pod, "Initialized"):
        running = _running(pod, reason, init.sidecars)
        ready, restarts, reason = ready + running.ready, running.restarts, running.reason
    if pod["metadata"].get("deletionTimestamp") is not None:
        if status.get("reason") == _UNREACHABLE:
            reason = "Unknown"
        elif status.get("phase") not in _IS_OVER:
            reason = "Terminating"
    return _Summary(ready, restarts, reason)


def _staying(spec: Object) -> set[str]:
    """Return the names of sidecar containers: init containers with ``restartPolicy: Always``."""
    return {
        each["name"]
        for each in spec.get("initContainers") or ()
        if each.get("restartPolicy") == "Always"
    }


def _init_summary(pod: Object) -> _InitSummary:
    statuses: Sequence[Object] = part(pod, "status", "initContainerStatuses")
    ready, restarts, sidecars = 0, _Restarts(), _Restarts()
    if not statuses:
        return _InitSummary(_Summary(0, restarts, ""), sidecars)
    spec = pod["spec"]
    stays = _staying(spec)
    for index, status in enumerate(statuses):
        restarts = restarts.and_of(status)
        if status["name"] in stays:
            sidecars = sidecars.and_of(status)
        state = status.get("state") or {}
        ended = state.get("terminated")
        if ended is not None and not ended.get("exitCode"):
            continue
        if status["name"] in stays and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        waits = (state.get("waiting") or {}).get("reason")
        if ended is not None:
            reason = f"Init:{_ending(ended)}"
        elif waits and waits != _BEGINNING:
            reason = f"Init:{waits}"
        else:
            reason = f"Init:{index}/{len(spec.get('initContainers') or ())}"
        return _InitSummary(_Summary(ready, restarts, reason), sidecars)
    return _InitSummary(_Summary(ready, restarts, ""), sidecars)


def _ending(ended: Object) -> str:
    """Return the reason why a container terminated."""
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _running(pod: Object, reason: str, restarts: _Restarts) -> _Summary:
    """Return the summary of the main containers.

    Its reason is that of the first container that has a reason, else ``reason``.
    """
    ready, failure = 0, ""
    statuses: Sequence[Object] = part(pod, "status", "containerStatuses") or ()
    for status in reversed(statuses):
        restarts = restarts.and_of(status)
        state = status.get("state") or {}
        ended = state.get("terminated")
        if waits := (state.get("waiting") or {}).get("reason"):
            reason = waits
        elif ended is not None:
            reason = _ending(ended)
            failure = reason if ended.get("exitCode") else failure
        elif status.get("ready") and state.get("running") is not None:
            ready += 1
    if reason == "Completed":
        # One completed container does not mean that the Pod is completed.
        if ready and is_true(pod, "Ready"):
            reason = "Running"
        elif failure or ready:
            reason = failure or "NotReady"
    return _Summary(ready, restarts, reason)


_NODE = filled("spec.nodeName", NONE)
_NOMINATED = filled("status.nominatedNodeName", NONE)


def _address(pod: Object) -> str:
    addresses: Sequence[Object] = part(pod, "status", "podIPs")
    return (addresses[0].get("ip") if addresses else None) or NONE


def _gates(pod: Object) -> str:
    gates: Sequence[Object] = part(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    open_ = sum(is_true(pod, each["conditionType"]) for each in gates)
    return f"{open_}/{len(gates)}"


def _conditions(pod: Object) -> Sequence[Any]:
    phase = part(pod, "status").get("phase")
    if phase not in _COMPLETED:
        return ()
    message = _COMPLETED[phase]
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


POD = Printer(
    columns=(
        TableColumn(name="Name", format="name"),
        TableColumn(name="Ready"),
        TableColumn(name="Status"),
        TableColumn(name="Restarts"),
        TableColumn(name="Age"),
        TableColumn(name="IP", priority=1),
        TableColumn(name="Node", priority=1),
        TableColumn(name="Nominated Node", priority=1),
        TableColumn(name="Readiness Gates", priority=1),
    ),
    cells=_cells,
    conditions=_conditions,
)
