"""``WorkloadSettings``: which parts of a cluster are played, and how large it is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from steersman.errors import BadSettings
from steersman.names import ResourceType
from steersman.units import Quantity

#: Calls a function when the first object of a kind is written, and returns whether it will: not if
#: there are objects of that kind already.
OnFirstWrite: TypeAlias = Callable[[ResourceType, Callable[[], None]], bool]

#: The scheduler of Pods that name no other.
SCHEDULER: Final = "default-scheduler"

#: All parts, in the order in which they are started.
PARTS: Final = (
    "namespaces",
    "garbagecollector",
    "nodes",
    "scheduler",
    "volumes",
    "replicasets",
    "replicationcontrollers",
    "deployments",
    "statefulsets",
    "daemonsets",
    "jobs",
    "cronjobs",
    "services",
    "podautoscalers",
    "disruptions",
    "quotas",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSettings:
    """Which parts run, on how many nodes, and how large a node is.

    ``root_ca`` is what every namespace is told to trust the API server by. A Pod starts
    ``pod_start_seconds`` after it was given a node, unless it says otherwise. A node gives a sign
    of life every ``heartbeat_seconds``; only a real node controller misses it. Without
    ``routine_events`` nothing is told of Pods for which all goes well. A ``storage_class`` is made
    at the start for claims that name none, unless there is a default already. With
    ``on_first_write``, which an API server in the same process has, the garbage collector does not
    watch a kind before there is an object of it.
    """

    parts: tuple[str, ...] = PARTS
    nodes: int = 1
    node_cpu: str = "8"
    node_memory: str = "32Gi"
    node_pods: int = 110
    pod_start_seconds: float = 0.0
    heartbeat_seconds: float | None = None
    root_ca: str = ""
    routine_events: bool = True
    storage_class: bool = True
    on_first_write: OnFirstWrite | None = None

    def __post_init__(self) -> None:
        _check_parts(self.parts)
        if self.nodes < 0 or self.node_pods < 1:
            raise BadSettings(
                source="nodes",
                problem=f"{self.nodes} nodes with room for {self.node_pods} Pods each cannot be",
                what_now="Give no fewer than no nodes, and each room for at least one Pod.",
            )
        for quantity in (self.node_cpu, self.node_memory):
            Quantity(quantity)

    def without(self, *names: str) -> "WorkloadSettings":
        """The same without these parts; ``BadSettings`` where there is no such part."""
        _check_parts(names)
        return replace(self, parts=tuple(each for each in self.parts if each not in names))


def node_name(number: int) -> str:
    """The name of the node with this number; they are counted from 1."""
    return f"node-{number}"


def _check_parts(names: tuple[str, ...]) -> None:
    unknown = next((each for each in names if each not in PARTS), None)
    if unknown is None:
        return
    from difflib import get_close_matches  # not needed where all names are right

    like = get_close_matches(unknown.lower(), PARTS, n=1)
    raise BadSettings(
        source="parts",
        problem=f"there is no part {unknown!r} of a cluster",
        what_now=(f"Did you mean {like[0]!r}? " if like else "")
        + f"Choose among {', '.join(PARTS)}.",
    )
