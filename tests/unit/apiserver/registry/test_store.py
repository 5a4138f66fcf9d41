"""Writes to the store, and the waiters that they wake."""

import asyncio
from contextvars import ContextVar

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Strategy
from steersman_cluster.apiserver.registry.store import MAX_OBJECT_BYTES, ChangeSignal, Store
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


async def test_a_change_signal_wakes_every_waiter_once() -> None:
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


async def test_a_cancelled_wait_for_a_change_signal_is_removed() -> None:
    change_signal = ChangeSignal()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):  # noqa: TID251 - no time at all
            await change_signal.wait()

    assert repr(change_signal) == "<ChangeSignal 0 waiting>"


async def test_a_write_wakes_only_waiters_of_its_resource(store: Store) -> None:
    async with asyncio.TaskGroup() as group:
        pods = group.create_task(store.change_signal("pods").wait())
        nodes = group.create_task(store.change_signal("nodes").wait())
        await turns()

        store.write(WEB, pod(), strategy=Strategy(), replacing=None)
        await turns()

        assert pods.done()
        assert not nodes.done()
        nodes.cancel()


def test_an_object_gets_the_version_of_its_write(store: Store) -> None:
    entry = store.write(WEB, pod(), strategy=Strategy(), replacing=None)

    assert entry.value is not None
    assert entry.value["metadata"]["resourceVersion"] == str(entry.revision)
    assert store.find(PODS, "default", "web") == entry.value
    assert list(store.every(PODS)) == [entry.value]
    assert store.last_change(PODS) == entry.revision


def test_a_write_based_on_a_stale_object_is_rejected(store: Store) -> None:
    first = store.write(WEB, pod(), strategy=Strategy(), replacing=None)
    second = store.write(WEB, pod(spec={}), strategy=Strategy(), replacing=first)

    with pytest.raises(RevisionConflict):
        store.delete(first, strategy=Strategy())

    assert store.find(PODS, "default", "web") == second.value


def test_an_object_over_etcds_size_limit_is_rejected(store: Store) -> None:
    with pytest.raises(StatusError) as raised:
        store.write(
            WEB, pod(spec={"a": "x" * MAX_OBJECT_BYTES}), strategy=Strategy(), replacing=None
        )

    assert raised.value.message == "etcdserver: request is too large"
    assert store.find(PODS, "default", "web") is None


def test_a_strategy_is_called_with_the_old_and_the_new_object(store: Store) -> None:
    calls: list[tuple[bool, bool]] = []
    strategy = Strategy(
        after_write=lambda old, new: calls.append((old is not None, new is not None))
    )

    entry = store.write(WEB, pod(), strategy=strategy, replacing=None)
    entry = store.write(WEB, pod(spec={}), strategy=strategy, replacing=entry)
    store.delete(entry, strategy=strategy)

    assert calls == [(False, True), (True, True), (True, False)]


def test_a_listener_receives_the_current_or_last_state_of_an_object(store: Store) -> None:
    received: list[object] = []
    store.listen(PODS, lambda obj: received.append(obj.get("phase")))

    entry = store.write(WEB, pod(phase="new"), strategy=Strategy(), replacing=None)
    entry = store.write(WEB, pod(phase="old"), strategy=Strategy(), replacing=entry)
    store.delete(entry, strategy=Strategy())

    assert received == ["new", "old", "old"]


def test_on_first_write_is_called_once(store: Store) -> None:
    called: list[int] = []

    will_be = store.on_first_write(PODS, lambda: called.append(store.log.revision))
    entry = store.write(WEB, pod(), strategy=Strategy(), replacing=None)
    store.write(WEB, pod(), strategy=Strategy(), replacing=entry)

    assert will_be
    assert called == [entry.revision]


def test_on_first_write_is_not_called_if_objects_exist(store: Store) -> None:
    called: list[int] = []
    entry = store.write(WEB, pod(), strategy=Strategy(), replacing=None)

    will_be = store.on_first_write(PODS, lambda: called.append(1))
    store.delete(entry, strategy=Strategy())

    assert not will_be
    assert called == []


def test_on_first_write_runs_in_the_context_of_its_registration(store: Store) -> None:
    whose: ContextVar[str] = ContextVar("whose", default="none")
    called: list[str] = []

    whose.set("listener")
    store.on_first_write(PODS, lambda: called.append(whose.get()))
    whose.set("writer")
    store.write(WEB, pod(), strategy=Strategy(), replacing=None)

    assert called == ["listener"]
