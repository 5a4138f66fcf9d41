"""Helpers for tests of DaemonSets, disruption budgets and quotas in a simulated cluster."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1, recipes
from steersman.wire import Request
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.simulation.actors import Actor
from steersman_cluster.workloads import WorkloadSettings

Pod = core_v1.Pod
Steps = Callable[[SimulatedCluster], Awaitable[None]]

# A node that the test creates, with a simulated kubelet.
SIMULATED = {"nodes.steersman.dev/simulated": "true"}


def simulate_steps(steps: Steps, *, parts: tuple[str, ...], nodes: int = 2) -> None:
    """Run the steps in a new cluster."""
    simulate(steps, settings=WorkloadSettings(parts=parts, nodes=nodes))


def deployment(name: str = "web", *, replicas: int = 3, **rest: Any) -> apps_v1.Deployment:
    """A Deployment as it is applied; its Pods have the label ``app.kubernetes.io/name``."""
    container = core_v1.Container(name="main", image="main", **rest)
    return recipes.deployment(name, container, replicas=replicas)


def bare_pod(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    requests: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    """A Pod without a controller."""
    resources = core_v1.ResourceRequirements(requests=requests) if requests else None
    container = core_v1.Container(name="main", image="main", resources=resources)
    return Pod(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels, annotations=annotations),
        spec=core_v1.PodSpec(containers=(container,), **spec),
    )


async def add_node(
    cluster: SimulatedCluster,
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[core_v1.Taint] = (),
) -> None:
    """Add a node."""
    metadata = meta_v1.ObjectMeta(name=name, labels=labels, annotations=SIMULATED)
    spec = core_v1.NodeSpec(taints=tuple(taints) or None)
    await cluster.create(core_v1.Node(metadata=metadata, spec=spec))


async def set_taints(cluster: SimulatedCluster, node: str, *taints: tuple[str, str]) -> None:
    """Replace the taints of a node by these keys and effects."""
    said = [{"key": key, "effect": effect} for key, effect in taints]
    await cluster.patch(core_v1.Node, node, MergePatch({"spec": {"taints": said}}))


async def notes(cluster: SimulatedCluster, reason: str) -> list[str]:
    """The events with this reason: controller, kind and note."""
    events = await cluster.list(events_v1.Event)
    return sorted(
        f"{each.reporting_controller}: {each.regarding.kind}: {each.note}"
        for each in events
        if each.reason == reason and each.regarding is not None
    )


def writes_of(cluster: SimulatedCluster, part: str, since: int = 0) -> list[str]:
    """All writes to paths that contain this text."""
    return [
        f"{each.actor} {each.method} {each.target}"
        for each in cluster.history.requests[since:]
        if each.is_write and part in each.target
    ]


class ConcurrentWrites:
    """Runs one callback just before a write reaches the server, and another just after it.

    It does so once, for the first status write below this path after ``is_armed`` is set.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_armed = False
        self.before: Callable[[], Awaitable[None]] | None = None
        self.after: Callable[[], Awaitable[None]] | None = None

    async def before_request(self, actor: Actor, request: Request) -> None:
        if self._is_meant(request) and self.before is not None:
            before, self.before = self.before, None
            await before()

    async def before_response(self, actor: Actor, request: Request) -> None:
        if self._is_meant(request) and self.after is not None:
            self.is_armed = False
            await self.after()

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """No faults in watches."""

    def _is_meant(self, request: Request) -> bool:
        is_status = self.path in request.path and request.path.endswith("/status")
        return self.is_armed and is_status and request.method == "PATCH"
