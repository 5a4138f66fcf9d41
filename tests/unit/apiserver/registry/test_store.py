"""The store: who is woken by a write, and who is not."""

import asyncio
from contextvars import ContextVar

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.rules import Rules
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.registry.store import LARGEST, ChangeSignal, Store
from steersman_cluster.apiserver.storage import Key, RevisionConflict, RevisionLog
from tests.clocks import FakeClock
from tests.embedded import EmbeddedServer, turns

PODS = GroupResource("", "pods")
WEB = Key("pods", "default/web")


@pytest.fixture
def store(api: EmbeddedServer) -> Store:
    return Store(RevisionLog(), clock=FakeClock(), rng=api.server.store.rng)


def pod(**rest: object) -> dict[str, object]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}, **rest}


async def test_a_change_signal_wakes_all_who_wait_once() -> None:
    change_signal, woken = ChangeSignal(), list[int]()

    async def wait(number: int) -> None:
        await change_signal.wait()
        woken.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(wait(number))
        await turns()
        change_signal.notify()
        change_signal.notify()

    assert sorted(woken) == [0, 1, 2]


async def test_a_change_signal_ignores_cancelled_waits() -> None:
    change_signal = ChangeSignal()
    async with asyncio.TaskGroup() as group:
        left = group.create_task(change_signal.wait())
        stays = group.create_task(change_signal.wait())
        await turns()
        left.cancel()
        await turns()

        change_signal.notify()

    assert left.cancelled()
    assert stays.done()


async def test_a_cancelled_wait_for_a_change_signal_leaves_nothing_behind() -> None:
    change_signal = ChangeSignal()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):  # noqa: TID251 - no time at all
            await change_signal.wait()

    assert repr(change_signal) == "<ChangeSignal 0 waiting>"


async def test_a_write_wakes_those_who_wait_for_its_resource_alone(store: Store) -> None:
    async with asyncio.TaskGroup() as group:
        pods = group.create_task(store.change_signal("pods").wait())
        nodes = group.create_task(store.change_signal("nodes").wait())
        await turns()

        store.write(WEB, pod(), rules=Rules(), replacing=None)
        await turns()

        assert pods.done()
        assert not nodes.done()
        nodes.cancel()


def test_an_object_gets_the_version_of_its_write(store: Store) -> None:
    entry = store.write(WEB, pod(), rules=Rules(), replacing=None)

    assert entry.value is not None
    assert entry.value["metadata"]["resourceVersion"] == str(entry.revision)
    assert store.find(PODS, "default", "web") == entry.value
    assert list(store.every(PODS)) == [entry.value]
    assert store.last_change(PODS) == entry.revision


def test_a_write_made_from_something_older_is_not_made(store: Store) -> None:
    first = store.write(WEB, pod(), rules=Rules(), replacing=None)
    second = store.write(WEB, pod(spec={}), rules=Rules(), replacing=first)

    with pytest.raises(RevisionConflict):
        store.delete(first, rules=Rules())

    assert store.find(PODS, "default", "web") == second.value


def test_what_etcd_would_not_take_is_not_kept(store: Store) -> None:
    with pytest.raises(StatusError) as refused:
        store.write(WEB, pod(spec={"a": "x" * LARGEST}), rules=Rules(), replacing=None)

    assert refused.value.message == "etcdserver: request is too large"
    assert store.find(PODS, "default", "web") is None


def test_rules_are_called_with_what_was_and_what_is(store: Store) -> None:
    calls: list[tuple[bool, bool]] = []
    rules = Rules(stored=lambda old, new: calls.append((old is not None, new is not None)))

    entry = store.write(WEB, pod(), rules=rules, replacing=None)
    entry = store.write(WEB, pod(spec={}), rules=rules, replacing=entry)
    store.delete(entry, rules=rules)

    assert calls == [(False, True), (True, True), (True, False)]


def test_who_listens_hears_an_object_as_it_is_or_was_last(store: Store) -> None:
    received: list[object] = []
    store.listen(PODS, lambda obj: received.append(obj.get("phase")))

    entry = store.write(WEB, pod(phase="new"), rules=Rules(), replacing=None)
    entry = store.write(WEB, pod(phase="old"), rules=Rules(), replacing=entry)
    store.delete(entry, rules=Rules())

    assert received == ["new", "old", "old"]


def test_on_first_write_is_called_once(store: Store) -> None:
    called: list[int] = []

    will_be = store.on_first_write(PODS, lambda: called.append(store.log.revision))
    entry = store.write(WEB, pod(), rules=Rules(), replacing=None)
    store.write(WEB, pod(), rules=Rules(), replacing=entry)

    assert will_be
    assert called == [entry.revision]


def test_on_first_write_is_not_called_where_there_are_objects_already(store: Store) -> None:
    called: list[int] = []
    entry = store.write(WEB, pod(), rules=Rules(), replacing=None)

    will_be = store.on_first_write(PODS, lambda: called.append(1))
    store.delete(entry, rules=Rules())

    assert not will_be
    assert called == []


def test_on_first_write_is_called_in_the_context_of_who_asked_for_it(store: Store) -> None:
    whose: ContextVar[str] = ContextVar("whose", default="none")
    called: list[str] = []

    whose.set("listener")
    store.on_first_write(PODS, lambda: called.append(whose.get()))
    whose.set("writer")
    store.write(WEB, pod(), rules=Rules(), replacing=None)

    assert called == ["listener"]
