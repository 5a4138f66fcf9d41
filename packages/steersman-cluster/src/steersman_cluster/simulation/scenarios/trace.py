"""The trace of a scenario: the operator's writes and other events, with virtual times."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from steersman_cluster.simulation.history import History, RecordedRequest

# Lines around the fault, and before the end.
BEFORE: Final = 8
AFTER: Final = 12
LAST: Final = 30

#: The actor of the cluster's own controllers.
WORKLOADS: Final = "workloads"

_PATH: Final = re.compile(
    r"/(?:api|apis/[^/]+)/[^/]+/(?:namespaces/(?P<namespace>[^/]+)/(?=[^/]+(?:/|$)))?(?P<rest>.*)"
)


class TraceEntry(NamedTuple):
    """An event in the trace; ``after`` is the number of requests that were recorded before it."""

    after: int
    at: float
    actor: str
    what: str
    is_fault: bool = False


def fault_trace(
    asked: Sequence[RecordedRequest],
    noted: Sequence[TraceEntry],
    *,
    since: int,
    home: str,
    without: frozenset[str],
) -> tuple[str, ...]:
    """Return a line for each write and noted event; if many, only those near the fault.

    ``asked`` are the requests, of which the first ``since`` are left out, and ``noted`` are the
    other events. Writes of the actors in ``without`` are left out, and so is the namespace in a
    path if it is ``home``.
    """
    events = [
        *noted,
        *(
            TraceEntry(number, each.at, each.actor, _written(each, home))
            for number, each in enumerate(asked)
            if number >= since and each.is_write and each.actor not in without
        ),
    ]
    # A stable sort: a note after so many requests comes before the next request.
    events.sort(key=lambda event: event.after)
    faults = (number for number, event in enumerate(events) if event.is_fault)
    fault = next(faults, len(events))
    begin, end = max(fault - BEFORE, 0), fault + AFTER
    width = max((len(event.actor) for event in events), default=0)
    lines = [f"{event.at:8.3f} s  {event.actor:<{width}}  {event.what}" for event in events]
    dots = f"{'…':>8}"
    return (
        *((dots,) if begin else ()),
        *lines[begin:end],
        *((dots,) if end < len(lines) else ()),
    )


def last_writes(history: History, *, home: str) -> tuple[str, ...]:
    """Return a line for each of the last writes in ``history``.

    Writes by the cluster's own controllers are included only if they are in the namespace ``home``.
    """
    at_home = f"/namespaces/{home}/"
    written = [
        each
        for each in history.requests
        if each.is_write and (each.actor != WORKLOADS or at_home in each.target)
    ]
    last = written[-LAST:]
    width = max((len(each.actor) for each in last), default=0)
    dots = (f"{'…':>8}",) if len(last) < len(written) else ()
    lines = (f"{each.at:8.3f} s  {each.actor:<{width}}  {_written(each, home)}" for each in last)
    return (*dots, *lines)


def short_path(path: str, *, home: str) -> str:
    """Return ``path`` as ``deployments/web``; add its namespace if that is not ``home``."""
    found = _PATH.fullmatch(path.partition("?")[0])
    if found is None:
        return path
    namespace = found["namespace"]
    where = f" in {namespace}" if namespace and namespace != home else ""
    return f"{found['rest']}{where}"


def _written(asked: RecordedRequest, home: str) -> str:
    what = f"{asked.method} {short_path(asked.target, home=home)}"
    if not asked.status:
        return f"{what}  no response"
    if asked.status >= 400:
        return f"{what}  {asked.status}"
    return what if asked.is_change else f"{what}  changes nothing"
