"""The reflector on a correct server, over a transport with faults."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import inf
from random import Random
from typing import Any

import pytest

from steersman.client import Client, ClientSettings, Labels, MergePatch, RetryPolicy
from steersman.errors import NotFound, Unreachable
from steersman.kinds import Resource, core_v1
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman.observe import (
    HistoryRewound,
    KindMissing,
    Listed,
    OutOfOrder,
    WatchFailed,
    WatchSilent,
)
from steersman.watch import ClientListerWatcher, Reflector, ReflectorSettings
from steersman.wire import Request, Response
from steersman_cluster.apiserver import InProcessTransport
from tests.cluster.faulty_transports import FaultyTransport
from tests.embedded import EmbeddedServer, turns
from tests.real.definitions import WIDGETS, Widget, install, widget
from tests.real.objects import config_map, create_config_maps
from tests.transports import error_response
from tests.unit.watch.scripted import RecordingSink

# After this many iterations of the event loop, the state is final.
PATIENCE = 20_000

LOST = Unreachable("the server is not there")


class Scene:
    """A server, a transport with faults, and a reflector."""

    def __init__(
        self,
        api: EmbeddedServer,
        kind: type[Resource],
        namespace: str | None,
        *,
        labels: Labels | None = None,
        transport: FaultyTransport | None = None,
        **settings: Any,
    ) -> None:
        self.api = api
        self.kind = kind
        self.namespace = namespace
        self.labels = labels
        self.server = api.client()
        self.transport = transport or FaultyTransport(InProcessTransport(api.server))
        self.mirror = RecordingSink()
        self.observed: list[Any] = []
        client = Client(
            self.transport,
            clock=api.clock,
            rng=Random(0),
            observe=api.observed.append,
            # These tests are about the reflector's own timeouts.
            settings=ClientSettings(retry=RetryPolicy(attempts=1)),
        )
        self.reflector = Reflector(
            ClientListerWatcher(client, kind, namespace=namespace, labels=labels),
            self.mirror,
            clock=api.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=ReflectorSettings(**settings),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the reflector inside the block."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.reflector.run())
            try:
                await self.until(lambda: self.reflector.is_connected)
                yield
            finally:
                task.cancel()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for the condition; count iterations of the event loop, not time."""
        for _ in range(PATIENCE):
            if holds():
                return
            await asyncio.sleep(0)  # noqa: TID251 - no wait: a turn is given away
        raise AssertionError(
            f"in vain; received: {self.mirror.received[-20:]}, seen: {self.observed[-5:]}"
        )

    async def fresh(self) -> dict[str, str]:
        """The objects, from a list without faults."""
        listing = await self.server.list(self.kind, namespace=self.namespace, labels=self.labels)
        return {each.name: each.resource_version for each in listing.items}

    async def settled(self) -> bool:
        """Whether the store becomes equal to the server."""
        fresh = await self.fresh()
        await self.until(lambda: self.mirror.objects == fresh)
        return True

    def seen(self, kind: type[Any]) -> list[Any]:
        """The observations of one kind."""
        return [each for each in self.observed if isinstance(each, kind)]


@pytest.fixture
def api() -> EmbeddedServer:
    """A separate server, because compaction affects all clients."""
    return EmbeddedServer()


def scene_of(api: EmbeddedServer, namespace: str, **rest: Any) -> Scene:
    return Scene(api, core_v1.ConfigMap, namespace, **rest)


async def change(client: Client, namespace: str) -> None:
    """Create, change and delete an object each."""
    await create_config_maps(client, namespace, "new")
    patch = MergePatch({"data": {"color": "red"}})
    await client.patch(core_v1.ConfigMap, "kept", patch, namespace=namespace)
    await client.delete(core_v1.ConfigMap, "lost", namespace=namespace)


# Faults: the actions before the change, and after it.


def cut(scene: Scene) -> None:
    scene.transport.cut()


def cut_and_compact(scene: Scene) -> None:
    scene.api.server.compactor.compact_all()
    scene.transport.cut()


def black_out(scene: Scene) -> None:
    scene.transport.silence_watches()


def wait_in_vain(scene: Scene) -> None:
    scene.api.clock.advance(151)


def pause(scene: Scene) -> None:
    scene.transport.pause()


def resume(scene: Scene) -> None:
    scene.transport.resume()


def lose(scene: Scene) -> None:
    scene.transport.fixed_response = LOST
    scene.transport.cut()


def find(scene: Scene) -> None:
    scene.transport.fixed_response = None


def find_compacted(scene: Scene) -> None:
    scene.api.server.compactor.compact_all()
    scene.transport.fixed_response = None


def answer_410(scene: Scene) -> None:
    scene.transport.fixed_response = error_response(410, "Expired")
    scene.transport.cut()


def answer_401(scene: Scene) -> None:
    scene.transport.fixed_response = error_response(401, "Unauthorized")
    scene.transport.cut()


def answer_503(scene: Scene) -> None:
    scene.transport.fixed_response = error_response(503, "ServiceUnavailable")
    scene.transport.cut()


def double(scene: Scene) -> None:
    scene.transport.garble = lambda piece: b"".join(line * 2 for line in piece.splitlines(True))


def reverse(scene: Scene) -> None:
    scene.transport.pause()
    scene.transport.garble = lambda piece: b"".join(piece.splitlines(True)[::-1])


def break_lines(scene: Scene) -> None:
    scene.transport.garble = lambda piece: piece[: len(piece) // 2]


def mend(scene: Scene) -> None:
    scene.transport.garble = bytes


def mend_and_cut(scene: Scene) -> None:
    scene.transport.garble = bytes
    scene.transport.cut()


def nothing(scene: Scene) -> None:
    pass


def lose_a_day(scene: Scene) -> None:
    scene.api.clock.advance(86400)


FAULTS = [
    (nothing, cut),
    (cut, nothing),
    (nothing, cut_and_compact),
    (black_out, wait_in_vain),
    (pause, resume),
    (lose, find),
    (lose, find_compacted),
    (answer_410, find),
    (answer_401, find),
    (answer_503, find),
    (double, mend),
    (reverse, resume),
    (break_lines, mend_and_cut),
    (nothing, lose_a_day),
    (lose_a_day, cut_and_compact),
]


@pytest.mark.parametrize("initial", ["listed", "streamed"])
@pytest.mark.parametrize(
    ("before", "after"),
    FAULTS,
    ids=lambda each: each.__name__,
)
async def test_after_any_failure_the_store_contains_the_objects_of_a_new_list(
    api: EmbeddedServer,
    namespace: str,
    initial: str,
    before: Callable[[Scene], None],
    after: Callable[[Scene], None],
) -> None:
    scene = scene_of(api, namespace, initial=initial, page_size=1)
    await create_config_maps(scene.server, namespace, "kept", "lost")

    async with scene.running():
        before(scene)
        await turns()
        await change(scene.server, namespace)
        await turns()
        after(scene)
        await scene.settled()
        await create_config_maps(scene.server, namespace, "afterwards")
        await scene.settled()

    assert set(scene.mirror.objects) >= {"kept", "new", "afterwards"}


@pytest.mark.parametrize("initial", ["listed", "streamed"])
async def test_an_object_deleted_in_a_gap_is_missing_from_the_next_list(
    api: EmbeddedServer, namespace: str, initial: str
) -> None:
    scene = scene_of(api, namespace, initial=initial)
    await create_config_maps(scene.server, namespace, "kept", "lost")

    async with scene.running():
        lose(scene)
        await change(scene.server, namespace)
        find_compacted(scene)
        await scene.settled()

    assert not any("gone" in each for each in scene.mirror.received)
    assert scene.mirror.received[-1].startswith("replace")
    assert [each.reason for each in scene.seen(Listed)] == ["start", "expired"]


async def test_a_drop_without_a_gap_costs_no_list(api: EmbeddedServer, namespace: str) -> None:
    scene = scene_of(api, namespace)
    await create_config_maps(scene.server, namespace, "kept", "lost")

    async with scene.running():
        scene.transport.cut()
        await change(scene.server, namespace)
        await scene.settled()

    assert len(scene.seen(Listed)) == 1
    assert scene.mirror.received[-1].startswith("lost gone")


async def test_a_compaction_in_the_middle_of_paging_starts_the_list_again(
    api: EmbeddedServer, namespace: str
) -> None:
    class Compacting(FaultyTransport):
        @asynccontextmanager
        async def open(self, request: Request) -> AsyncIterator[Response]:
            if any(name == "continue" for name, _ in request.query) and not compacted:
                compacted.append(request)
                await create_config_maps(api.client(), namespace, "meanwhile")
                api.server.compactor.compact_all()
            async with super().open(request) as response:
                yield response

    compacted: list[Request] = []
    transport = Compacting(InProcessTransport(api.server))
    scene = scene_of(api, namespace, page_size=1, transport=transport)
    await create_config_maps(scene.server, namespace, "a", "b", "c")

    async with scene.running():
        await scene.settled()

    assert compacted
    assert [each.reason for each in scene.seen(Listed)] == ["expired"]
    assert set(scene.mirror.objects) == {"a", "b", "c", "meanwhile"}
    assert len(scene.mirror.received) == 1


async def test_after_a_restore_the_sink_equals_the_shorter_history(
    api: EmbeddedServer, namespace: str
) -> None:
    scene = scene_of(api, namespace)
    await create_config_maps(scene.server, namespace, *(f"c{number}" for number in range(30)))
    backup = EmbeddedServer(clock=api.clock)
    await backup.asked("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    await create_config_maps(backup.client(), namespace, "c0", "older")

    async with scene.running():
        scene.transport.server = InProcessTransport(backup.server)
        scene.server = backup.client()
        scene.transport.cut()
        await scene.settled()
        await create_config_maps(scene.server, namespace, "afterwards")
        await scene.settled()

    assert set(scene.mirror.objects) == {"c0", "older", "afterwards"}
    assert len(scene.seen(HistoryRewound)) == 1
    assert sum(each.startswith("rewound") for each in scene.mirror.received) == 1


async def test_a_lagging_server_never_reverts_the_store(
    api: EmbeddedServer, namespace: str
) -> None:
    scene = scene_of(api, namespace)
    lagging = EmbeddedServer(clock=api.clock)
    await lagging.asked("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    await create_config_maps(scene.server, namespace, *(f"c{number}" for number in range(30)))

    async with scene.running():
        seen = len(scene.mirror.received)
        scene.transport.server = InProcessTransport(lagging.server)
        scene.transport.cut()
        await scene.until(lambda: len(scene.seen(WatchFailed)) == 2)
        scene.transport.server = InProcessTransport(api.server)
        await create_config_maps(scene.server, namespace, "afterwards")
        await scene.settled()

    assert [each.split()[0] for each in scene.mirror.received[seen:]] == ["afterwards"]
    assert scene.seen(HistoryRewound) == []


async def test_a_silent_watch_is_detected_and_reopened(api: EmbeddedServer, namespace: str) -> None:
    scene = scene_of(api, namespace)

    async with scene.running():
        scene.transport.silence_watches()
        await create_config_maps(scene.server, namespace, "unheard")
        await api.after(152)
        await scene.settled()

    assert len(scene.seen(WatchSilent)) == 1


@pytest.mark.parametrize("initial", ["listed", "streamed"])
async def test_a_reflector_without_a_silence_limit_recovers_from_all_other_faults(
    api: EmbeddedServer, namespace: str, initial: Any
) -> None:
    patient = {"silence_seconds": inf, "watch_seconds": 86400.0}
    scene = scene_of(api, namespace, initial=initial, **patient)

    async with scene.running():
        scene.transport.silence_watches()
        await create_config_maps(scene.server, namespace, "unheard")
        await api.after(3600)
        assert scene.reflector.is_connected

        scene.transport.cut()
        await scene.until(lambda: bool(scene.seen(WatchFailed)))
        await api.after(60)
        await scene.settled()

    assert scene.seen(WatchSilent) == []


async def test_a_quiet_kind_is_not_silent(api: EmbeddedServer, namespace: str) -> None:
    scene = scene_of(api, namespace)

    async with scene.running():
        await api.after(1300)
        assert scene.reflector.is_connected

    assert scene.seen(WatchSilent) == scene.seen(WatchFailed) == []
    assert len(scene.seen(Listed)) == 1


async def test_duplicate_events_are_reported(api: EmbeddedServer, namespace: str) -> None:
    scene = scene_of(api, namespace)

    async with scene.running():
        double(scene)
        await create_config_maps(scene.server, namespace, "a", "b")
        await scene.settled()

    assert len(scene.seen(OutOfOrder)) == 1
    assert len(scene.seen(Listed)) == 1


async def test_objects_that_no_longer_match_the_selector_are_removed(
    api: EmbeddedServer, namespace: str
) -> None:
    red = Labels.equal({"color": "red"})
    scene = scene_of(api, namespace, labels=red)
    await scene.server.create(config_map(namespace, "a", labels={"color": "red"}))
    await scene.server.create(config_map(namespace, "b", labels={"color": "red"}))

    async with scene.running():
        scene.transport.cut()
        patch = MergePatch({"metadata": {"labels": {"color": "blue"}}})
        await scene.server.patch(core_v1.ConfigMap, "a", patch, namespace=namespace)
        await scene.settled()

    assert set(scene.mirror.objects) == {"b"}


async def test_a_kind_can_be_defined_deleted_and_defined_again(
    api: EmbeddedServer, namespace: str
) -> None:
    scene = Scene(api, Widget, namespace)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(scene.reflector.run())
        await scene.until(lambda: len(scene.seen(KindMissing)) == 1)
        assert scene.mirror.received == []

        await install(scene.server, WIDGETS)
        await scene.server.create(widget(namespace, "first"))
        await scene.until(lambda: "first" in scene.mirror.objects)

        await scene.server.delete(CustomResourceDefinition, WIDGETS.name)
        await scene.until(lambda: len(scene.seen(KindMissing)) == 2)
        assert scene.mirror.objects == {}
        assert isinstance(scene.reflector.last_error, NotFound)

        await install(scene.server, WIDGETS)
        await scene.server.create(widget(namespace, "second"))
        await scene.until(lambda: set(scene.mirror.objects) == {"second"})
        task.cancel()


async def test_permissions_that_are_granted_later_take_effect(
    api: EmbeddedServer, namespace: str
) -> None:
    stranger = InProcessTransport(api.server, user="web", groups=())
    scene = scene_of(api, namespace, transport=FaultyTransport(stranger))
    await create_config_maps(scene.server, namespace, "a")

    async with asyncio.TaskGroup() as group:
        task = group.create_task(scene.reflector.run())
        await scene.until(lambda: len(scene.seen(WatchFailed)) == 3)
        error = str(scene.reflector.last_error)

        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]
        rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        await api.asked("POST", f"{rbac}/roles", {"metadata": {"name": "web"}, "rules": rules})
        binding = {
            "metadata": {"name": "web"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "web"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "web"}],
        }
        await api.asked("POST", f"{rbac}/rolebindings", binding)
        await scene.settled()
        task.cancel()

    assert 'User "web" cannot list resource "configmaps"' in error
    assert "Grant this verb on this resource" in error


@pytest.mark.parametrize("seed", range(12))
async def test_after_many_faults_the_events_are_complete_and_in_order(
    api: EmbeddedServer, namespace: str, seed: int
) -> None:
    rng = Random(seed)
    scene = scene_of(
        api, namespace, initial=rng.choice(["listed", "streamed"]), page_size=rng.choice([1, 500])
    )
    names = [f"c{number}" for number in range(5)]

    async with scene.running():
        for _ in range(25):
            before, after = rng.choice(FAULTS)
            before(scene)
            for name in rng.choices(names, k=rng.randrange(6)):
                await one_write(scene.server, namespace, name, rng)
                if rng.random() < 0.5:
                    await turns()
            after(scene)
            mend(scene)
        await scene.settled()

    assert_each_object_arrives_in_order(scene.mirror.received)


async def one_write(client: Client, namespace: str, name: str, rng: Random) -> None:
    try:
        if rng.random() < 0.4:
            await client.delete(core_v1.ConfigMap, name, namespace=namespace)
        else:
            patch = MergePatch({"data": {"number": str(rng.random())}})
            await client.patch(core_v1.ConfigMap, name, patch, namespace=namespace)
    except NotFound:
        await create_config_maps(client, namespace, name)


def assert_each_object_arrives_in_order(lines: list[str]) -> None:
    last = 0
    for each in lines:
        version = int(each.split()[-1])
        assert version >= last, lines
        last = version
