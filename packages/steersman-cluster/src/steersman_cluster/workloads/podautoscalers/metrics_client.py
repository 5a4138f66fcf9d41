"""The metrics client: the usage of Pods, from annotations or from a metrics server. No I/O.

``nodes.steersman.dev/cpu-usage: 250m`` is the usage of each container, and
``nodes.steersman.dev/cpu-usage.NAME`` the usage of the container NAME. ``memory-usage`` works the
same way.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from steersman.errors import SteersmanError
from steersman.kinds import core_v1
from steersman.units import Quantity, parse_duration, parse_time
from steersman_cluster.workloads.podautoscalers.replica_calculator import Usage
from steersman_cluster.workloads.pods import phase

Pod = core_v1.Pod

_PREFIX: Final = "nodes.steersman.dev/"


def annotated_usage(
    pods: Iterable[Pod], resource: str, container: str, now: datetime
) -> dict[str, Usage]:
    """Return the usage in the annotations of those ``pods`` that are running, by Pod name.

    It is the usage of ``resource`` by the container ``container``, or by all containers if
    ``container`` is empty.
    """
    found: dict[str, Usage] = {}
    for pod in pods:
        milli = _annotation(pod, resource, container) if phase(pod) == "Running" else None
        if milli is not None:
            found[pod.name] = Usage(milli=milli, time=now)
    return found


def server_usage(
    items: Iterable[Mapping[str, Any]], resource: str, container: str
) -> dict[str, Usage]:
    """Return the usage in ``items``, the response of a metrics server, by Pod name.

    It is the usage of ``resource`` by the container ``container``, or by all containers if
    ``container`` is empty.
    """
    found: dict[str, Usage] = {}
    for item in items:
        containers = [
            each for each in item.get("containers") or () if container in ("", each.get("name"))
        ]
        amounts = [
            each["usage"][resource] for each in containers if resource in (each.get("usage") or {})
        ]
        if not amounts or len(amounts) < len(containers):
            continue
        found[item["metadata"]["name"]] = Usage(
            milli=sum(Quantity(each).milli_value() for each in amounts),
            time=parse_time(item["timestamp"]),
            window_seconds=parse_duration(item.get("window") or "0s"),
        )
    return found


def _annotation(pod: Pod, resource: str, container: str) -> int | None:
    annotations = pod.annotations
    of_each = f"{_PREFIX}{resource}-usage"
    if not annotations or pod.spec is None:
        return None
    total: int | None = None
    for each in pod.spec.containers:
        if container in ("", each.name):
            text = annotations.get(f"{of_each}.{each.name}", annotations.get(of_each))
            milli = None if text is None else _milli(text)
            if milli is None:
                return None
            total = (total or 0) + milli
    return total


def _milli(text: str) -> int | None:
    try:
        return Quantity(text).milli_value()
    except SteersmanError:
        return None  # as without metrics
