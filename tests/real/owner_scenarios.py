"""Scenarios of owners and namespaces, run with either garbage collector.

They wait by looking: what is seen at the end, and of a namespace on the way, is compared.
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
HELD = "example.com/held"
FREE = MergePatch({"metadata": {"finalizers": None}})
UNKNOWN_UID = "0b7c9d3a-0000-4000-8000-000000000000"

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

LOOK_SECONDS = 0.1
# So long nothing has changed, and nothing is left to be done.
QUIET_SECONDS = 0.5
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace, and who asks about it."""

    client: Client
    namespace: str

    async def make(
        self, kind: type[Any], name: str, *owners: OwnerReference, **rest: Any
    ) -> Resource:
        """A new object with these owners."""
        metadata = meta_v1.ObjectMeta(
            name=name, namespace=self.namespace, owner_references=owners or None, **rest
        )
        made: Resource = await self.client.create(kind(metadata=metadata))
        return made

    async def delete(self, obj: Resource, propagation: Any = "Background") -> None:
        """Ask for its end, and wait until all that follows from it has happened."""
        await self.client.delete(
            type(obj), obj.name, namespace=self.namespace, propagation=propagation
        )
        await self.wait_until_quiet()

    async def free(self, obj: Resource) -> None:
        """Take away its finalizers."""
        await self.client.patch(type(obj), obj.name, FREE, namespace=self.namespace)
        await self.wait_until_quiet()

    async def objects(self) -> list[Resource]:
        """All that is there."""
        return [
            each
            for kind in (ConfigMap, Secret)
            for each in (await self.client.list(kind, namespace=self.namespace)).items
            if each.name != "kube-root-ca.crt"
        ]

    async def wait_until_quiet(self) -> None:
        """Wait until nothing is left to be done."""
        clock = self.client.clock
        ends_at = clock.monotonic() + PATIENCE_SECONDS
        last: list[str] = []
        since_at = clock.monotonic()
        while clock.monotonic() < ends_at:
            there = await self.objects()
            now = [f"{each.uid} {each.resource_version}" for each in there]
            if now != last or not is_done(there):
                last, since_at = now, clock.monotonic()
            elif clock.monotonic() - since_at >= QUIET_SECONDS:
                return
            await clock.sleep(LOOK_SECONDS)
        raise AssertionError(f"it never came to rest: {await self.seen()}")

    async def seen(self) -> dict[str, Any]:
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


Scenario: TypeAlias = Callable[[Place], Awaitable[Any]]


def _source(event: events_v1.Event) -> str | None:
    old = event.deprecated_source
    return event.reporting_controller or (old.component if old is not None else None)


def is_done(there: Iterable[Resource]) -> bool:
    """Whether no garbage is left to be collected."""
    objects = list(there)
    uids = {each.uid for each in objects}
    for each in objects:
        about = each.metadata
        missing = [owner.uid not in uids for owner in about.owner_references or ()]
        if any(missing) and each.deletion_time is None:
            return False
        if each.deletion_time is None:
            continue
        finalizers = about.finalizers or ()
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


def of(obj: Resource, *, blocks: bool | None = None, uid: str = "") -> OwnerReference:
    """A reference to an owner."""
    return OwnerReference(
        api_version="v1",
        kind=obj.kind,
        name=obj.name,
        uid=uid or obj.uid,
        block_owner_deletion=blocks,
    )


async def in_the_background(place: Place) -> Any:
    one, two = await place.make(ConfigMap, "one"), await place.make(ConfigMap, "two")
    child = await place.make(Secret, "child", of(one), of(two))
    await place.make(ConfigMap, "leaf", of(child), finalizers=(HELD,))
    await place.delete(one)
    between = await place.seen()
    await place.delete(two)
    return between, await place.seen()


async def in_the_foreground(place: Place) -> Any:
    owner = await place.make(ConfigMap, "owner")
    child = await place.make(Secret, "child", of(owner, blocks=True))
    leaf = await place.make(ConfigMap, "leaf", of(child, blocks=True), finalizers=(HELD,))
    await place.make(ConfigMap, "free", of(owner, blocks=False))
    await place.delete(owner, "Foreground")
    between = await place.seen()
    await place.free(leaf)
    return between, await place.seen()


async def in_the_foreground_with_another_owner(place: Place) -> Any:
    owner, other = await place.make(ConfigMap, "owner"), await place.make(ConfigMap, "other")
    await place.make(Secret, "child", of(owner, blocks=True), of(other, blocks=True))
    await place.delete(owner, "Foreground")
    return await place.seen()


async def orphaned(place: Place) -> Any:
    owner, other = await place.make(ConfigMap, "owner"), await place.make(ConfigMap, "other")
    await place.make(Secret, "child", of(owner), of(other, blocks=True))
    await place.make(Secret, "alone", of(owner, blocks=True))
    await place.delete(owner, "Orphan")
    return await place.seen()


async def _ring(place: Place) -> list[Resource]:
    ring = [await place.make(ConfigMap, name) for name in ("one", "two", "three")]
    for each, owner in zip(ring, (ring[-1], *ring), strict=False):
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner.name,
            "uid": owner.uid,
            "blockOwnerDeletion": True,
        }
        change = MergePatch({"metadata": {"ownerReferences": [reference]}})
        await place.client.patch(ConfigMap, each.name, change, namespace=place.namespace)
    await place.wait_until_quiet()
    return ring


async def a_circle(place: Place) -> Any:
    ring = await _ring(place)
    await place.delete(ring[0])
    return await place.seen()


async def a_circle_in_the_foreground(place: Place) -> Any:
    ring = await _ring(place)
    await place.delete(ring[0], "Foreground")
    return await place.seen()


async def owners_that_are_not_there(place: Place) -> Any:
    there = await place.make(ConfigMap, "there")
    gone = of(there, uid=UNKNOWN_UID)
    await place.make(ConfigMap, "doomed", gone)
    await place.make(ConfigMap, "held", gone, finalizers=(HELD,))
    await place.make(Secret, "half", of(there, blocks=True), gone)
    await place.wait_until_quiet()
    return await place.seen()


async def an_owner_elsewhere(place: Place) -> Any:
    elsewhere = Place(place.client, "kube-public")
    name = f"owner-{place.namespace}"
    owner = await elsewhere.make(ConfigMap, name)
    # It is known before an owner reference names it.
    await place.make(ConfigMap, "near", of(await place.make(ConfigMap, "home")))
    await place.wait_until_quiet()
    await place.make(ConfigMap, "child", of(owner))
    await place.wait_until_quiet()
    seen, clock = await place.seen(), place.client.clock
    ends_at = clock.monotonic() + PATIENCE_SECONDS
    while not (events := await place.events()) and clock.monotonic() < ends_at:
        await clock.sleep(LOOK_SECONDS)
    await place.client.delete(ConfigMap, name, namespace="kube-public")
    return seen, events


async def _life(place: Place, then: Callable[[Place], Awaitable[None]]) -> list[Any]:
    """Every state of a namespace that is deleted, from then on to its end."""
    client, name = place.client, f"{place.namespace}-inner"
    inner = Place(client, name)
    made = await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name=name)))
    await _until(client, lambda: _has(client, core_v1.ServiceAccount, "default", name))
    await _until(client, lambda: _has(client, ConfigMap, "kube-root-ca.crt", name))
    states: list[Any] = []
    received = asyncio.Event()

    async def listen() -> None:
        async with client.watch(
            core_v1.Namespace, fields=Fields.equal({"metadata.name": name}), initial_events=True
        ) as events:
            received.set()
            async for event in events:
                if (
                    isinstance(event, ObjectWritten)
                    and (said := _said(event.obj, name)) != states[-1:]
                ):
                    states.extend(said)

    async with asyncio.TaskGroup() as group:
        listener = group.create_task(listen())
        await received.wait()
        await then(inner)
        await client.delete(core_v1.Namespace, made.name)
        await _until(client, lambda: _is_held(client, name))
        for each in await inner.objects():
            await client.patch(type(each), each.name, FREE, namespace=name)
        for pod in (await client.list(core_v1.Pod, namespace=name)).items:
            await client.delete(core_v1.Pod, pod.name, namespace=name, grace_seconds=0)
        await _until(client, lambda: _is_gone(client, name))
        listener.cancel()
    return states


def _said(namespace: core_v1.Namespace, name: str) -> list[Any]:
    status = namespace.status
    if status is None or not status.conditions:
        return []
    return [
        [
            (each.type, each.status, each.reason, (each.message or "").replace(name, "NAME"))
            for each in status.conditions
        ]
    ]


async def _until(client: Client, is_so: Callable[[], Awaitable[bool]]) -> None:
    ends_at = client.clock.monotonic() + PATIENCE_SECONDS
    while not await is_so():
        assert client.clock.monotonic() < ends_at, "it never came to that"
        await client.clock.sleep(LOOK_SECONDS)


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


async def _is_held(client: Client, name: str) -> bool:
    """Whether it has said something of its end, or come to it."""
    try:
        found = await client.get(core_v1.Namespace, name)
    except NotFound:
        return True
    return bool(found.status is not None and found.status.conditions)


async def a_namespace_with_something_held(place: Place) -> Any:
    async def fill(inner: Place) -> None:
        await inner.make(ConfigMap, "one", finalizers=(HELD,))
        await inner.make(Secret, "two", finalizers=(HELD, "example.com/more"))
        await inner.make(Secret, "three")

    return await _life(place, fill)


async def a_namespace_with_nothing_held(place: Place) -> Any:
    async def fill(inner: Place) -> None:
        owner = await inner.make(ConfigMap, "one")
        await inner.make(Secret, "two", of(owner, blocks=True))

    return await _life(place, fill)


async def a_namespace_with_a_pod_that_stays(place: Place) -> Any:
    async def fill(inner: Place) -> None:
        await inner.make(ConfigMap, "one", finalizers=(HELD,))
        container = core_v1.Container(name="main", image="main:1")
        spec = core_v1.PodSpec(
            containers=(container,), node_name="nowhere", termination_grace_period_seconds=1
        )
        metadata = meta_v1.ObjectMeta(name="stays", namespace=inner.namespace)
        await inner.client.create(core_v1.Pod(metadata=metadata, spec=spec))

    return await _life(place, fill)


OWNERS: tuple[Scenario, ...] = (
    in_the_background,
    in_the_foreground,
    in_the_foreground_with_another_owner,
    orphaned,
    a_circle,
    a_circle_in_the_foreground,
    owners_that_are_not_there,
    an_owner_elsewhere,
)
NAMESPACES: tuple[Scenario, ...] = (
    a_namespace_with_something_held,
    a_namespace_with_nothing_held,
    a_namespace_with_a_pod_that_stays,
)
SCENARIOS = OWNERS + NAMESPACES
