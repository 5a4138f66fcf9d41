"""Scenarios of owners and namespaces, run with either garbage collector.

The final states are compared, and all conditions of namespaces that are deleted.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from steersman.client import Client, Fields, MergePatch, ObjectWritten
from steersman.errors import NotFound
from steersman.kinds import Resource, core_v1, events_v1, meta_v1
from steersman.kinds.meta_v1 import OwnerReference

ConfigMap, Secret = core_v1.ConfigMap, core_v1.Secret
FINALIZER = "example.com/held"
REMOVE_FINALIZERS = MergePatch({"metadata": {"finalizers": None}})
UNKNOWN_UID = "0b7c9d3a-0000-4000-8000-000000000000"

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

POLL_SECONDS = 0.1
# The controllers are idle if no object changed for this time and no garbage is left.
QUIET_SECONDS = 0.5
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ScenarioNamespace:
    """A namespace and a client."""

    client: Client
    namespace: str

    async def create(
        self, kind: type[Any], name: str, *owners: OwnerReference, **rest: Any
    ) -> Resource:
        """Create an object with these owners."""
        metadata = meta_v1.ObjectMeta(
            name=name, namespace=self.namespace, owner_references=owners or None, **rest
        )
        made: Resource = await self.client.create(kind(metadata=metadata))
        return made

    async def delete(self, obj: Resource, propagation: Any = "Background") -> None:
        """Delete an object, and wait until the controllers are idle."""
        await self.client.delete(
            type(obj), obj.name, namespace=self.namespace, propagation=propagation
        )
        await self.wait_until_quiet()

    async def remove_finalizers(self, obj: Resource) -> None:
        """Remove the finalizers of an object, and wait until the controllers are idle."""
        await self.client.patch(type(obj), obj.name, REMOVE_FINALIZERS, namespace=self.namespace)
        await self.wait_until_quiet()

    async def objects(self) -> list[Resource]:
        """All ConfigMaps and Secrets but the root CA."""
        return [
            each
            for kind in (ConfigMap, Secret)
            for each in (await self.client.list(kind, namespace=self.namespace)).items
            if each.name != "kube-root-ca.crt"
        ]

    async def wait_until_quiet(self) -> None:
        """Wait until the controllers are idle."""
        clock = self.client.clock
        ends_at = clock.monotonic() + PATIENCE_SECONDS
        last: list[str] = []
        since_at = clock.monotonic()
        while clock.monotonic() < ends_at:
            objects = await self.objects()
            now = [f"{each.uid} {each.resource_version}" for each in objects]
            if now != last or not is_collected(objects):
                last, since_at = now, clock.monotonic()
            elif clock.monotonic() - since_at >= QUIET_SECONDS:
                return
            await clock.sleep(POLL_SECONDS)
        raise AssertionError(f"the controllers did not become idle: {await self.state()}")

    async def state(self) -> dict[str, Any]:
        """The objects, without values that differ on each run."""
        return {
            f"{each.kind} {each.name}": {
                "owners": [
                    (owner.name, owner.block_owner_deletion)
                    for owner in each.metadata.owner_references or ()
                ],
                "finalizers": each.metadata.finalizers,
                "is ending": each.deletion_time is not None,
            }
            for each in await self.objects()
        }

    async def events(self) -> list[tuple[str | None, ...]]:
        """The events of these objects."""
        found = (await self.client.list(events_v1.Event, namespace=self.namespace)).items
        return sorted(
            (
                each.type,
                each.reason,
                each.regarding.name if each.regarding else None,
                _source(each),
                UID.sub("UID", (each.note or "").replace(self.namespace, "NAME")),
            )
            for each in found
        )


Scenario: TypeAlias = Callable[[ScenarioNamespace], Awaitable[Any]]


def _source(event: events_v1.Event) -> str | None:
    old = event.deprecated_source
    return event.reporting_controller or (old.component if old is not None else None)


def is_collected(found: Iterable[Resource]) -> bool:
    """Whether no garbage is left."""
    objects = list(found)
    uids = {each.uid for each in objects}
    for each in objects:
        metadata = each.metadata
        missing = [owner.uid not in uids for owner in metadata.owner_references or ()]
        if any(missing) and each.deletion_time is None:
            return False
        if each.deletion_time is None:
            continue
        finalizers = metadata.finalizers or ()
        if "orphan" in finalizers:
            return False
        blocked = any(
            owner.uid == each.uid and owner.block_owner_deletion
            for other in objects
            for owner in other.metadata.owner_references or ()
        )
        if "foregroundDeletion" in finalizers and not blocked:
            return False
    return True


def reference_to(obj: Resource, *, blocks: bool | None = None, uid: str = "") -> OwnerReference:
    """A reference to an owner."""
    return OwnerReference(
        api_version="v1",
        kind=obj.kind,
        name=obj.name,
        uid=uid or obj.uid,
        block_owner_deletion=blocks,
    )


async def in_the_background(scope: ScenarioNamespace) -> Any:
    one, two = await scope.create(ConfigMap, "one"), await scope.create(ConfigMap, "two")
    child = await scope.create(Secret, "child", reference_to(one), reference_to(two))
    await scope.create(ConfigMap, "leaf", reference_to(child), finalizers=(FINALIZER,))
    await scope.delete(one)
    between = await scope.state()
    await scope.delete(two)
    return between, await scope.state()


async def in_the_foreground(scope: ScenarioNamespace) -> Any:
    owner = await scope.create(ConfigMap, "owner")
    child = await scope.create(Secret, "child", reference_to(owner, blocks=True))
    leaf = await scope.create(
        ConfigMap, "leaf", reference_to(child, blocks=True), finalizers=(FINALIZER,)
    )
    await scope.create(ConfigMap, "free", reference_to(owner, blocks=False))
    await scope.delete(owner, "Foreground")
    between = await scope.state()
    await scope.remove_finalizers(leaf)
    return between, await scope.state()


async def in_the_foreground_with_another_owner(scope: ScenarioNamespace) -> Any:
    owner, other = await scope.create(ConfigMap, "owner"), await scope.create(ConfigMap, "other")
    await scope.create(
        Secret, "child", reference_to(owner, blocks=True), reference_to(other, blocks=True)
    )
    await scope.delete(owner, "Foreground")
    return await scope.state()


async def orphaned(scope: ScenarioNamespace) -> Any:
    owner, other = await scope.create(ConfigMap, "owner"), await scope.create(ConfigMap, "other")
    await scope.create(Secret, "child", reference_to(owner), reference_to(other, blocks=True))
    await scope.create(Secret, "alone", reference_to(owner, blocks=True))
    await scope.delete(owner, "Orphan")
    return await scope.state()


async def _ring(scope: ScenarioNamespace) -> list[Resource]:
    ring = [await scope.create(ConfigMap, name) for name in ("one", "two", "three")]
    for each, owner in zip(ring, (ring[-1], *ring), strict=False):
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner.name,
            "uid": owner.uid,
            "blockOwnerDeletion": True,
        }
        change = MergePatch({"metadata": {"ownerReferences": [reference]}})
        await scope.client.patch(ConfigMap, each.name, change, namespace=scope.namespace)
    await scope.wait_until_quiet()
    return ring


async def owners_in_a_circle(scope: ScenarioNamespace) -> Any:
    ring = await _ring(scope)
    await scope.delete(ring[0])
    return await scope.state()


async def owners_in_a_circle_in_the_foreground(scope: ScenarioNamespace) -> Any:
    ring = await _ring(scope)
    await scope.delete(ring[0], "Foreground")
    return await scope.state()


async def missing_owners(scope: ScenarioNamespace) -> Any:
    owner = await scope.create(ConfigMap, "existing")
    gone = reference_to(owner, uid=UNKNOWN_UID)
    await scope.create(ConfigMap, "doomed", gone)
    await scope.create(ConfigMap, "held", gone, finalizers=(FINALIZER,))
    await scope.create(Secret, "half", reference_to(owner, blocks=True), gone)
    await scope.wait_until_quiet()
    return await scope.state()


async def owner_in_another_namespace(scope: ScenarioNamespace) -> Any:
    other = ScenarioNamespace(scope.client, "kube-public")
    name = f"owner-{scope.namespace}"
    owner = await other.create(ConfigMap, name)
    # The garbage collector must know this owner before a reference to it.
    await scope.create(ConfigMap, "near", reference_to(await scope.create(ConfigMap, "home")))
    await scope.wait_until_quiet()
    await scope.create(ConfigMap, "child", reference_to(owner))
    await scope.wait_until_quiet()
    state, clock = await scope.state(), scope.client.clock
    ends_at = clock.monotonic() + PATIENCE_SECONDS
    while not (events := await scope.events()) and clock.monotonic() < ends_at:
        await clock.sleep(POLL_SECONDS)
    await scope.client.delete(ConfigMap, name, namespace="kube-public")
    return state, events


async def _namespace_conditions(
    scope: ScenarioNamespace, fill: Callable[[ScenarioNamespace], Awaitable[None]]
) -> list[Any]:
    """The conditions of a namespace during its deletion, in order."""
    client, name = scope.client, f"{scope.namespace}-inner"
    inner = ScenarioNamespace(client, name)
    made = await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=name)))
    await _until(client, lambda: _has(client, core_v1.ServiceAccount, "default", name))
    await _until(client, lambda: _has(client, ConfigMap, "kube-root-ca.crt", name))
    states: list[Any] = []
    received = asyncio.Event()

    async def watch_namespace() -> None:
        async with client.watch(
            core_v1.Namespace, fields=Fields.equal({"metadata.name": name}), initial_events=True
        ) as events:
            received.set()
            async for event in events:
                if (
                    isinstance(event, ObjectWritten)
                    and (conditions := _conditions(event.obj, name)) != states[-1:]
                ):
                    states.extend(conditions)

    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch_namespace())
        await received.wait()
        await fill(inner)
        await client.delete(core_v1.Namespace, made.name)
        await _until(client, lambda: _is_blocked(client, name))
        for each in await inner.objects():
            await client.patch(type(each), each.name, REMOVE_FINALIZERS, namespace=name)
        for pod in (await client.list(core_v1.Pod, namespace=name)).items:
            await client.delete(core_v1.Pod, pod.name, namespace=name, grace_seconds=0)
        await _until(client, lambda: _is_gone(client, name))
        watcher.cancel()
    return states


def _conditions(namespace: core_v1.Namespace, name: str) -> list[Any]:
    status = namespace.status
    if status is None or not status.conditions:
        return []
    return [
        [
            (each.type, each.status, each.reason, (each.message or "").replace(name, "NAME"))
            for each in status.conditions
        ]
    ]


async def _until(client: Client, condition: Callable[[], Awaitable[bool]]) -> None:
    ends_at = client.clock.monotonic() + PATIENCE_SECONDS
    while not await condition():
        assert client.clock.monotonic() < ends_at, "the condition was not met"
        await client.clock.sleep(POLL_SECONDS)


async def _has(client: Client, kind: type[Any], name: str, namespace: str) -> bool:
    try:
        await client.get(kind, name, namespace=namespace)
    except NotFound:
        return False
    return True


async def _is_gone(client: Client, name: str) -> bool:
    try:
        await client.get(core_v1.Namespace, name)
    except NotFound:
        return True
    return False


async def _is_blocked(client: Client, name: str) -> bool:
    """Whether the namespace has conditions or is gone."""
    try:
        found = await client.get(core_v1.Namespace, name)
    except NotFound:
        return True
    return bool(found.status is not None and found.status.conditions)


async def namespace_with_finalizers(scope: ScenarioNamespace) -> Any:
    async def fill(inner: ScenarioNamespace) -> None:
        await inner.create(ConfigMap, "one", finalizers=(FINALIZER,))
        await inner.create(Secret, "two", finalizers=(FINALIZER, "example.com/more"))
        await inner.create(Secret, "three")

    return await _namespace_conditions(scope, fill)


async def namespace_without_finalizers(scope: ScenarioNamespace) -> Any:
    async def fill(inner: ScenarioNamespace) -> None:
        owner = await inner.create(ConfigMap, "one")
        await inner.create(Secret, "two", reference_to(owner, blocks=True))

    return await _namespace_conditions(scope, fill)


async def namespace_with_a_terminating_pod(scope: ScenarioNamespace) -> Any:
    async def fill(inner: ScenarioNamespace) -> None:
        await inner.create(ConfigMap, "one", finalizers=(FINALIZER,))
        container = core_v1.Container(name="main", image="main:1")
        spec = core_v1.PodSpec(
            containers=(container,), node_name="nowhere", termination_grace_period_seconds=1
        )
        metadata = meta_v1.ObjectMeta(name="terminating", namespace=inner.namespace)
        await inner.client.create(core_v1.Pod(metadata=metadata, spec=spec))

    return await _namespace_conditions(scope, fill)


OWNERS: tuple[Scenario, ...] = (
    in_the_background,
    in_the_foreground,
    in_the_foreground_with_another_owner,
    orphaned,
    owners_in_a_circle,
    owners_in_a_circle_in_the_foreground,
    missing_owners,
    owner_in_another_namespace,
)
NAMESPACES: tuple[Scenario, ...] = (
    namespace_with_finalizers,
    namespace_without_finalizers,
    namespace_with_a_terminating_pod,
)
SCENARIOS = OWNERS + NAMESPACES
