"""Records the writes of workload controllers, in order, on any cluster.

A ``Stage`` is a namespace in which controllers run: Kubernetes' own on a real control plane, or
steersman's on a real control plane or on the embedded server in virtual time. A scenario changes
objects, and sets the status of Pods as a kubelet does: one Pod becomes ready whenever all
controllers are idle. So the recorded steps depend only on the controllers.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from steersman.cache import background_tasks
from steersman.client import Client, MergePatch, ObjectDeleted, ObjectWritten
from steersman.clock import SystemClock
from steersman.kinds import Resource, core_v1, events_v1, meta_v1, replace
from steersman.units import format_time
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads.pods import is_active, is_ready

Obj = TypeVar("Obj", bound=Resource)

# The recorded fields of an object: a step is recorded when they change.
Read: TypeAlias = Callable[[Any], Any]
# Whether the controllers have observed all objects, according to the statuses.
IsCaughtUp: TypeAlias = "Callable[[Stage], Awaitable[bool]]"

# On a real cluster, controllers are idle if they are caught up, and no object changed for this
# time.
QUIET_SECONDS = 1.0
POLL_SECONDS = 0.05
PATIENCE_SECONDS = 60.0

# The default request limits would delay controllers for longer than QUIET_SECONDS.
UNLIMITED_REQUESTS: Mapping[str, object] = {"kube-api-qps": 1000, "kube-api-burst": 1000}

GONE = "gone"


@dataclass(slots=True)
class Steps:
    """The recorded steps of named objects, oldest first."""

    entries: list[tuple[type[Resource], str, Any]] = field(default_factory=list)
    changes: int = 0

    def of(self, kind: type[Resource]) -> list[tuple[str, Any]]:
        """The steps of one kind."""
        return [(name, value) for each, name, value in self.entries if each is kind]

    def record(self, kind: type[Resource], name: str, value: Any) -> None:
        """Record the fields of an object, unless they are those of its last step."""
        self.changes += 1
        last = next(
            (
                seen
                for each, other_name, seen in reversed(self.entries)
                if each is kind and other_name == name
            ),
            None,
        )
        if value is not None and value != last:
            self.entries.append((kind, name, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A namespace with controllers; ``quiet`` waits until they are idle."""

    client: Client
    namespace: str
    steps: Steps
    quiet: Callable[[], Awaitable[None]]

    async def create(self, obj: Obj) -> Obj:
        return await self.client.create(_in_namespace(obj, self.namespace))

    async def get(self, kind: type[Obj], name: str) -> Obj:
        return await self.client.get(kind, name, namespace=self.namespace)

    async def patch(self, kind: type[Obj], name: str, patch: Mapping[str, Any]) -> Obj:
        return await self.client.patch(kind, name, MergePatch(patch), namespace=self.namespace)

    async def delete(self, obj: Resource) -> None:
        await self.client.delete(type(obj), obj.name, namespace=self.namespace)

    # What a kubelet does

    async def set_pod_status(self, pod: core_v1.Pod, phase: str, *, is_ready: bool) -> None:
        """Set a Pod's phase and its Ready condition, as the kubelet does."""
        now = format_time(self.client.clock.now())
        ready = {
            "type": "Ready",
            "status": "True" if is_ready else "False",
            "lastTransitionTime": now,
        }
        status = {"phase": phase, "conditions": [ready], "startTime": now}
        target = self.client.status(core_v1.Pod, pod.name, namespace=self.namespace)
        await target.patch(MergePatch({"status": status}))

    async def waiting(self) -> list[core_v1.Pod]:
        """The active Pods that are not ready, by the age of their owners and their own."""
        pods = await self.list(core_v1.Pod)
        owners = [name for _, name, _ in self.steps.entries]

        def order(pod: core_v1.Pod) -> tuple[int, Any, str]:
            owner = pod.metadata.owner_references[0].name if pod.metadata.owner_references else ""
            place = owners.index(owner) if owner in owners else -1
            return place, pod.metadata.creation_timestamp, pod.name

        return sorted((each for each in pods if is_active(each) and not is_ready(each)), key=order)

    async def make_pods_ready(self, *, at_most: int = 100) -> int:
        """Make up to ``at_most`` Pods ready, one whenever the controllers are idle."""
        for count in range(at_most):
            await self.quiet()
            waiting = await self.waiting()
            if not waiting:
                return count
            await self.set_pod_status(waiting[0], "Running", is_ready=True)
        await self.quiet()
        return at_most

    # The last method, because it shadows the type ``list`` in the class.

    async def list(self, kind: type[Obj]) -> list[Obj]:
        return [*(await self.client.list(kind, namespace=self.namespace)).items]


def in_order(steps: Iterable[tuple[str, Any]], prefix: str = "") -> list[tuple[str, Any]]:
    """The steps, with numbers for the names of objects, which differ by cluster."""
    names: dict[str, str] = {}
    return [(names.setdefault(name, f"{prefix}{len(names) + 1}"), value) for name, value in steps]


def numbered(text: str, names: Iterable[str]) -> str:
    """The text, with numbers for these names and for generated names that begin with them."""
    for place, name in enumerate(names, 1):
        text = re.sub(rf"{re.escape(name)}(-[a-z0-9]{{5}})?(?![a-z0-9-])", f"<{place}>", text)
    return text


async def event_counts(stage: Stage, names: Iterable[str]) -> Counter[tuple[str, str, str]]:
    """The counts of events by source, reason and note."""
    found: Counter[tuple[str, str, str]] = Counter()
    known = list(names)
    for event in await stage.list(events_v1.Event):
        source = event.deprecated_source.component if event.deprecated_source else None
        count = event.series.count if event.series else event.deprecated_count or 1
        note = numbered(event.note or "", known)
        found[(source or event.reporting_controller or "", event.reason or "", note)] += count
    return found


# Clusters


@asynccontextmanager
async def recorded(
    client: Client, namespace: str, kinds: Mapping[type[Resource], Read | None]
) -> AsyncIterator[Steps]:
    """Record the steps of these kinds; a kind without a function only counts changes."""
    steps = Steps()
    async with background_tasks() as start:
        for kind, read in kinds.items():
            version = (await client.list(kind, namespace=namespace)).resource_version
            start(_follow(client, kind, namespace, version, read, steps), name=f"steps of {kind}")
        yield steps


async def _follow(
    client: Client,
    kind: type[Resource],
    namespace: str,
    version: str,
    read: Read | None,
    steps: Steps,
) -> None:
    async with client.watch(kind, namespace=namespace, resource_version=version) as events:
        async for event in events:
            match event:
                case ObjectWritten(obj=obj):
                    steps.record(kind, obj.name, read(obj) if read is not None else None)
                case ObjectDeleted(obj=obj):
                    steps.record(kind, obj.name, GONE if read is not None else None)
                case _:
                    pass


@asynccontextmanager
async def real_stage(
    client: Client, kinds: Mapping[type[Resource], Read | None], *, is_caught_up: IsCaughtUp
) -> AsyncIterator[Stage]:
    """A new namespace of a cluster in real time."""
    made = await client.create(
        core_v1.Namespace(metadata=meta_v1.ObjectMeta(generate_name="steps-"))
    )
    clock = SystemClock()
    async with recorded(client, made.name, {core_v1.Pod: None, **kinds}) as steps:

        async def quiet() -> None:
            begun_at = clock.monotonic()
            while clock.monotonic() - begun_at < PATIENCE_SECONDS:
                seen = steps.changes
                if await is_caught_up(stage) and await is_quiet(seen):
                    return
                await clock.sleep(POLL_SECONDS)
            raise AssertionError("the controllers did not become idle")

        async def is_quiet(seen: int) -> bool:
            quiet_since_at = clock.monotonic()
            while steps.changes == seen and clock.monotonic() - quiet_since_at < QUIET_SECONDS:
                await clock.sleep(POLL_SECONDS)
            return steps.changes == seen

        stage = Stage(client=client, namespace=made.name, steps=steps, quiet=quiet)
        yield stage
        await client.delete(core_v1.Namespace, made.name)


@asynccontextmanager
async def virtual_stage(
    cluster: SimulatedCluster, kinds: Mapping[type[Resource], Read | None]
) -> AsyncIterator[Stage]:
    """The namespace of a simulated cluster."""
    client, namespace = cluster.client, cluster.namespace
    async with recorded(client, namespace, {core_v1.Pod: None, **kinds}) as steps:
        yield Stage(client=client, namespace=namespace, steps=steps, quiet=cluster.settle)


def _in_namespace(obj: Obj, namespace: str) -> Obj:
    return replace(obj, metadata=replace(obj.metadata, namespace=namespace))
