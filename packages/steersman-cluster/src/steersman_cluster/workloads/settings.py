"""``WorkloadSettings``: which parts of a cluster run, and the size of its nodes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from steersman.errors import BadSettings
from steersman.names import ResourceType
from steersman.units import Quantity

#: Registers a function to be called when the first object of a kind is written. Returns whether it
#: was registered: not if there are objects of that kind already.
OnFirstWrite: TypeAlias = Callable[[ResourceType, Callable[[], None]], bool]

#: The scheduler of Pods that name none.
SCHEDULER: Final = "default-scheduler"

#: All parts, in the order of their start.
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
    """The parts that run, the number of nodes, and the size of each node.

    ``root_ca`` is the certificate that every namespace gets as ``kube-root-ca.crt``. A Pod starts
    ``pod_start_seconds`` after its binding, unless an annotation of the Pod sets another delay. A
    node renews its lease every ``heartbeat_seconds``; only a real node controller needs these
    leases. Without ``routine_events``, only failures produce events of Pods. With
    ``storage_class``, the class ``standard`` is created at the start, unless there is a default
    class.

    With ``on_first_write``, which an API server in the same process provides, the garbage collector
    does not watch a kind until the first object of this kind exists.
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
                problem=f"{self.nodes} nodes for {self.node_pods} Pods each are impossible",
                what_now="Set nodes to at least 0, and node_pods to at least 1.",
            )
        for quantity in (self.node_cpu, self.node_memory):
            Quantity(quantity)

    def without(self, *names: str) -> "WorkloadSettings":
        """Return the settings without the parts in ``names``.

        Raise ``BadSettings`` if a name is unknown.
        """
        _check_parts(names)
        return replace(self, parts=tuple(each for each in self.parts if each not in names))


def node_name(number: int) -> str:
    """Return the name of the node with the number ``number``; numbers start at 1."""
    return f"node-{number}"


def _check_parts(names: tuple[str, ...]) -> None:
    unknown = next((each for each in names if each not in PARTS), None)
    if unknown is None:
        return
    from difflib import get_close_matches  # only for the error message

    like = get_close_matches(unknown.lower(), PARTS, n=1)
    raise BadSettings(
        source="parts",
        problem=f"there is no part {unknown!r} of a cluster",
        what_now=(f"Did you mean {like[0]!r}? " if like else "")
        + f"Choose among {', '.join(PARTS)}.",
    )
