"""Read your own writes: a writer never reads an older state from the cache than it has written."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from steersman.cache import Caches, Scope, by_label
from steersman.client import Client, Deletion, Fields, Labels, MergePatch, Preconditions
from steersman.errors import ApiError
from steersman.kinds import replace
from steersman.names import ObjectKey
from steersman.observe import ignore
from steersman_cluster.apiserver import InProcessTransport
from tests.clocks import ManualClock
from tests.cluster.own_write_checks import Reader, RememberingLog, SlowTransport, WrittenRevisions
from tests.embedded import EmbeddedServer, turns
from tests.real.definitions import WIDGETS, Widget, install, widget

NAMESPACES = ("alpha", "beta", "gamma")
NAMES = ("one", "two", "three")
MADE_UP = "made-up-"
FRONT = Labels.equal({"tier": "front"})
RED = Fields((("spec.color", "=", "red"),))

SCOPES = (
    Scope(),
    Scope(namespaces=("alpha", "beta")),
    Scope(labels=FRONT),
    Scope(fields=RED),
    Scope(namespaces=("beta", "gamma"), labels=FRONT),
    Scope(labels=FRONT, fields=RED),
)

# With ten times as many, a hundred thousand writes are read back.
ROUNDS = 3_000


def selects(scope: Scope, value: dict[str, Any]) -> bool:
    """Whether the selector matches on the server."""
    is_red = value["spec"].get("color") == "red"
    return scope.labels.matches(value["metadata"].get("labels") or {}) and (
        is_red or not scope.fields.terms
    )


@dataclass
class Scenario:
    """A writer, other writers of the same objects, and caches with delayed events."""

    rng: Random
    clock: ManualClock
    api: EmbeddedServer
    log: RememberingLog
    transport: SlowTransport
    client: Client
    caches: Caches
    readers: list[Reader]
    known: WrittenRevisions
    names: dict[str, list[str]]
    rounds: int = 0

    async def write(self, rounds: int) -> None:
        """Write and read back, ``rounds`` times."""
        while self.rounds < rounds:
            self.clock.advance(0.02)
            with suppress(ApiError):
                self.read_back(await self.caches.record_write(self.random_operation(self.client)))
                self.rounds += 1
            if self.rng.random() < 0.05:
                labels = self.rng.choice((Labels(), FRONT, Labels.lacks("tier")))
                self.rng.choice(self.readers).read_all(labels, ("tier", "front"))

    def read_back(self, response: Widget | Deletion[Widget]) -> None:
        """Check that the cache has the response of the write, or a later version."""
        key = self.known.learn(response)
        if key.name.startswith(MADE_UP):
            # The last name in each namespace is the newest generated one.
            self.names[str(key.namespace)][-1] = key.name
        for reader in self.readers:
            if reader.holds(key):
                reader.read(key)

    async def write_externally(self) -> None:
        """Other clients write, and sometimes the server compacts its history or watches are cut."""
        rng, stranger = self.rng, self.api.client()
        while True:
            for _ in range(rng.randrange(40)):
                await asyncio.sleep(0)  # noqa: TID251 - no wait: a turn is given away
            with suppress(ApiError):
                await self.random_operation(stranger)
            if rng.random() < 0.002:
                self.transport.cut()
            if rng.random() < 0.002:
                self.api.server.compactor.compact_all()

    def random_operation(self, client: Client) -> Awaitable[Widget | Deletion[Widget]]:
        """A random operation on a random object."""
        rng = self.rng
        namespace = rng.choice(NAMESPACES)
        name = rng.choice(self.names[namespace])
        is_there = self.log.states[ObjectKey(namespace, name)][-1].value is not None
        match rng.randrange(12) if is_there else rng.choice((0, 0, 10, 11)):
            case 0:
                made_up = ObjectKey(namespace, self.names[namespace][-1])
                is_room = self.log.states[made_up][-1].value is None
                return client.create(self.new(namespace, None if is_there and is_room else name))
            case 1 | 2 | 3:
                labels = {"tier": rng.choice((None, "front", "back"))}
                spec = {"size": rng.randrange(100), "color": rng.choice(("red", "blue"))}
                patch = MergePatch({"metadata": {"labels": labels}, "spec": spec})
                return client.patch(Widget, name, patch, namespace=namespace)
            case 4:
                ready = MergePatch({"status": {"ready": rng.randrange(100)}})
                return client.status(Widget, name, namespace=namespace).patch(ready)
            case 5:
                held = rng.choice((None, ["example.com/held"]))
                patch = MergePatch({"metadata": {"finalizers": held}})
                return client.patch(Widget, name, patch, namespace=namespace)
            case 6 | 7:
                seconds = rng.choice((None, 0, 30))
                return client.delete(Widget, name, namespace=namespace, grace_seconds=seconds)
            case 8:
                return self.delete_known(client, name, namespace)
            case 9:
                return self.recreate(client, name, namespace)
            case _:
                wanted = self.new(namespace, name)
                return client.apply(wanted, field_manager="writer", force=True)

    def new(self, namespace: str, name: str | None) -> Widget:
        """A unique Widget."""
        rng = self.rng
        new = widget(
            namespace, name or "", size=rng.randrange(100), color=rng.choice(("red", "blue"))
        )
        labels = rng.choice((None, {"tier": "front"}, {"tier": "back"}))
        held = ("example.com/held",) if name and rng.random() < 0.2 else None
        metadata = replace(
            new.metadata,
            name=name,
            generate_name=None if name else MADE_UP,
            labels=labels,
            finalizers=held,
        )
        return replace(new, metadata=metadata)

    async def delete_known(self, client: Client, name: str, namespace: str) -> Deletion[Widget]:
        """Delete an object with its uid as a precondition."""
        there = await client.get(Widget, name, namespace=namespace)
        only = Preconditions(uid=there.uid)
        return await client.delete(Widget, name, namespace=namespace, preconditions=only)

    async def recreate(self, client: Client, name: str, namespace: str) -> Widget:
        """Delete an object, and create another with the same name."""
        with suppress(ApiError):
            gone = client.delete(Widget, name, namespace=namespace)
            if client is self.client:
                self.read_back(await self.caches.record_write(gone))
            else:
                await gone
        return await client.create(self.new(namespace, name))

    async def settle(self) -> None:
        """Deliver all events, bookmarks included."""
        for _ in range(70):
            self.clock.advance(2.0)
            for _ in range(40):
                await turns()

    async def list_again(self) -> None:
        """Make every cache list again."""
        self.transport.cut()
        stranger = self.api.client()
        for namespace in NAMESPACES:
            await stranger.create(self.new(namespace, None))
        self.api.server.compactor.compact_all()
        await self.settle()

    async def check_all_is_received(self) -> None:
        """Check that the caches equal the server, without own writes in the overlay."""
        for reader in self.readers:
            informer, scope = reader.informer, reader.informer.scope
            there: dict[str, Widget] = {}
            for namespace in scope.namespaces or (None,):
                listing = await self.api.client().list(
                    Widget, namespace=namespace, labels=scope.labels, fields=scope.fields
                )
                there |= {obj.uid: as_cached(obj) for obj in listing.items}
            assert {obj.uid: obj for obj in informer.lister.list()} == there
            assert [len(part.writes) for part in informer._children.values()] == [0] * len(
                scope.parts()
            )
        assert len(self.caches._inflight) == 0


def as_cached(obj: Widget) -> Widget:
    """The object as caches store it."""
    return replace(obj, metadata=replace(obj.metadata, managed_fields=None))


@asynccontextmanager
async def scenario(seed: int, scopes: tuple[Scope, ...]) -> AsyncIterator[Scenario]:
    """A scenario with a fixed random seed."""
    rng, clock, log = Random(seed), ManualClock(), RememberingLog()
    api = EmbeddedServer(log=log, clock=clock, observe=ignore)
    await install(api.client(), WIDGETS)
    for namespace in NAMESPACES:
        await api.asked("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    transport = SlowTransport(InProcessTransport(api.server), rng=rng, loss=0.002)
    client = Client(transport, clock=clock, rng=rng, observe=ignore)
    caches = Caches(client, observe=ignore)
    known = WrittenRevisions(log)
    tier = by_label("tier")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(caches.running())
        readers = [
            Reader(
                await stack.enter_async_context(
                    caches.informer(Widget, scope=scope, indexes={"tier": tier})
                ),
                log,
                known,
                selects=lambda value, scope=scope: selects(scope, value),  # type: ignore[misc]
                is_exact=not scope.fields.terms,
            )
            for scope in scopes
        ]
        names = {namespace: [*NAMES, NAMES[0]] for namespace in NAMESPACES}
        yield Scenario(rng, clock, api, log, transport, client, caches, readers, known, names)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 10))]
)
async def test_reads_include_our_own_writes(seed: int) -> None:
    scopes = tuple(Random(seed).sample(SCOPES, 3))
    async with scenario(seed, scopes) as running:
        async with asyncio.TaskGroup() as group:
            strangers = group.create_task(running.write_externally(), name="strangers")
            async with asyncio.TaskGroup() as writers:
                for number in range(3):
                    writers.create_task(running.write(ROUNDS), name=f"writer {number}")
            strangers.cancel()

        await running.settle()
        # Twice, because an object with an unknown version is kept until the second list.
        await running.list_again()
        await running.list_again()

        await running.check_all_is_received()
