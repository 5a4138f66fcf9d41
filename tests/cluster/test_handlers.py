"""Handlers of informers on the embedded server: when they are called, and with what."""

import asyncio
from typing import Any

import pytest

from steersman.cache import (
    Added,
    Delta,
    Sync,
    handler_funcs,
)
from steersman.errors import (
    Unreachable,
)
from steersman.observe import (
    HandlerFailed,
    HandlerStuck,
)
from tests.cluster.informer_setup import (
    HERE,
    THERE,
    RecordingHandler,
    Scene,
    names,
    outcome,
)
from tests.embedded import turns
from tests.real.objects import config_map, create_config_maps


async def test_a_handler_that_never_returns_is_reported_once(scene: Scene) -> None:
    informer = scene.informer()

    async def stuck(delta: Delta[Any]) -> None:
        await asyncio.Event().wait()

    informer.add_handler(stuck, name="stuck")
    async with informer.running():
        await scene.until(lambda: scene.seen(HandlerStuck), seconds=5)
        for _ in range(20):
            scene.clock.advance(5)
            await turns()

    (reported,) = scene.seen(HandlerStuck)
    assert reported.handler == "stuck"
    assert reported.busy_seconds >= 30
    assert reported.waiting == 1


async def test_a_handler_that_was_cancelled_has_failed_and_continues(scene: Scene) -> None:
    informer = scene.informer()
    received: list[str] = []

    async def handle(delta: Delta[Any]) -> None:
        received.append(delta.key.name)
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    informer.add_handler(handle)
    async with informer.running():
        await scene.until(lambda: len(received) == 2)
        await scene.until(lambda: len(scene.seen(HandlerFailed)) == 2)


async def test_a_handler_that_was_removed_receives_nothing_more(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    registration = informer.add_handler(handler)
    async with informer.running():
        await scene.until(lambda: len(handler.deltas) == 2)
        informer.remove_handler(registration)
        await scene.patch("one", color="red")
        await scene.settle()

    assert len(handler.deltas) == 2


async def test_waiting_for_a_removed_handler_is_an_error(scene: Scene) -> None:
    informer = scene.informer()
    registration = informer.add_handler(RecordingHandler(), name="removed")
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(outcome(registration.synced()))
        await scene.settle()
        informer.remove_handler(registration)
        error = await waiting

    assert "handler removed of configmaps: it was removed" in str(error)


async def test_a_resync_before_the_first_list_calls_no_handler(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    informer.warm_up([config_map(HERE, "unknown")])
    informer.add_handler(handler, resync_seconds=5)
    scene.transport.fixed_response = Unreachable("for a while")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(informer.run())
        for _ in range(20):
            await scene.settle()
            scene.clock.advance(1)
        running.cancel()

    assert handler.scenario == []


async def test_a_handler_may_remove_itself(scene: Scene) -> None:
    informer = scene.informer()
    received: list[str] = []

    def once(delta: Delta[Any]) -> None:
        received.append(delta.key.name)
        informer.remove_handler(registration)

    registration = informer.add_handler(once)
    async with informer.running():
        await scene.settle()

    assert len(received) == 1


async def test_each_handler_has_its_own_resync(scene: Scene) -> None:
    informer, often, never = scene.informer(), RecordingHandler(), RecordingHandler()
    informer.add_handler(often, resync_seconds=10)
    informer.add_handler(never)
    async with informer.running():
        await scene.until(lambda: len(often.deltas) >= 6, seconds=1)

    assert [type(delta) for delta in never.deltas] == [Added, Added]
    assert {type(delta) for delta in often.deltas[2:]} == {Sync}


async def test_a_slow_handler_has_at_most_one_resync_queued(scene: Scene) -> None:
    informer = scene.informer()

    async def stuck(delta: Delta[Any]) -> None:
        await asyncio.Event().wait()

    registration = informer.add_handler(stuck, resync_seconds=10)
    async with informer.running():
        await scene.settle()
        for _ in range(200):
            scene.clock.advance(5)
            await turns()

        assert len(registration) == 4  # both objects, and both once more from a resync


async def test_a_handler_can_consist_of_functions(scene: Scene) -> None:
    informer = scene.informer()
    said: list[str] = []
    informer.add_handler(
        handler_funcs(
            added=lambda obj: said.append(f"+{obj.name}"),
            updated=lambda old, obj: said.append(f"{old.data}→{obj.data}"),
            deleted=lambda obj: said.append(f"-{obj.name}"),
        )
    )
    async with informer.running():
        await scene.settle()
        await scene.patch("one", color="red")
        await scene.delete("two")
        await scene.until(lambda: len(said) == 4)

    assert said[:2] == ["+one", "+two"]
    assert said[2].endswith("→{'color': 'red'}")
    assert said[3] == "-two"


async def test_an_invalid_resync_is_rejected(scene: Scene) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        scene.informer().add_handler(RecordingHandler(), resync_seconds=0)


async def test_the_first_list_corrects_a_warmed_cache(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    informer.warm_up([config_map(HERE, "one"), config_map(HERE, "missing"), config_map(THERE, "x")])
    informer.add_handler(handler)
    async with informer.running():
        assert names(informer) == ["one", "two"]
        await scene.until(lambda: len(handler.deltas) == 3)
        assert set(handler.scenario) == {
            ("Deleted", "missing"),
            ("Updated", "one"),
            ("Added", "two"),
        }

        informer.warm_up([config_map(HERE, "one", color="old")])
        assert (informer.lister.get("one", namespace=HERE) or config_map(HERE, "")).uid


async def test_an_inline_handler_has_received_every_object_in_the_cache(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    registration = informer.add_handler(handler, inline=True)

    async with informer.running():
        assert registration.has_synced
        assert sorted(handler.scenario) == [("Added", "one"), ("Added", "two")]
        await scene.patch("one", new="yes")
        await scene.until(lambda: informer.lister.list()[0].data == {"new": "yes"})

    assert handler.scenario[2:] == [("Updated", "one")]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("is_late", [False, True])
async def test_a_handler_can_receive_the_newest_objects_first(
    scene: Scene, inline: bool, is_late: bool
) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    await scene.patch("one", new="yes")
    await scene.server.create(config_map(HERE, "another"))

    if not is_late:
        informer.add_handler(handler, inline=inline, newest_first=True)
    async with informer.running():
        if is_late:
            informer.add_handler(handler, inline=inline, newest_first=True)
        await scene.settle()
        await scene.patch("two", new="yes")
        await scene.settle()

    assert handler.scenario == [
        ("Added", "another"),
        ("Added", "one"),
        ("Added", "two"),
        ("Updated", "two"),
    ]


async def test_an_inline_handler_that_raises_receives_the_next_change(scene: Scene) -> None:
    informer = scene.informer()
    received: list[str] = []

    def handle(delta: Delta[Any]) -> None:
        received.append(delta.key.name)
        raise ValueError("no")

    informer.add_handler(handle, name="failing", inline=True)
    async with informer.running():
        pass

    assert sorted(received) == ["one", "two"]
    assert [each.handler for each in scene.seen(HandlerFailed)] == ["failing", "failing"]


async def test_an_inline_handler_that_awaits_has_failed(scene: Scene) -> None:
    informer = scene.informer()
    waiting = asyncio.get_running_loop().create_future()

    informer.add_handler(lambda _: waiting, name="patient", inline=True)
    async with informer.running():
        pass

    assert {type(each.error) for each in scene.seen(HandlerFailed)} == {TypeError}


async def test_an_inline_handler_that_was_removed_receives_nothing(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    registration = informer.add_handler(handler, inline=True)
    informer.remove_handler(registration)

    async with informer.running():
        pass

    assert handler.scenario == []


async def test_an_inline_handler_that_may_yield_yields_during_a_long_list(
    scene: Scene,
) -> None:
    await create_config_maps(scene.server, HERE, *(f"m{number}" for number in range(1200)))
    informer, handler = scene.informer(), RecordingHandler()
    seen: list[int] = []
    async with informer.running():
        registration = informer.add_handler(handler, inline=True, may_yield=True)

        at_once = len(handler.deltas)
        while not registration.has_synced:
            seen.append(len(handler.deltas))
            await asyncio.sleep(0)  # noqa: TID251 - a single turn, to see what each delivers

        assert at_once == 0
        assert len(handler.deltas) == len(informer) == 1202
        assert seen == sorted(seen)
        assert len({each for each in seen if 0 < each < 1202}) >= 2
        await scene.patch("one", new="yes")
        await scene.until(lambda: len(handler.deltas) == 1203)
    assert handler.scenario[-1] == ("Updated", "one")


async def test_an_inline_handler_that_may_yield_is_called_in_order_while_it_catches_up(
    scene: Scene,
) -> None:
    await create_config_maps(scene.server, HERE, *(f"m{number}" for number in range(600)))
    informer, handler = scene.informer(), RecordingHandler()
    async with informer.running():
        registration = informer.add_handler(handler, inline=True, may_yield=True)
        await informer.record_write(scene.patch("one", new="yes"))
        await registration.synced()
        await scene.until(lambda: ("Updated", "one") in handler.scenario)

    about_one = [what for what, name in handler.scenario if name == "one"]
    assert about_one == ["Added", "Updated"]


async def test_an_inline_handler_that_may_yield_and_was_removed_receives_no_more(
    scene: Scene,
) -> None:
    await create_config_maps(scene.server, HERE, *(f"m{number}" for number in range(1200)))
    informer, handler = scene.informer(), RecordingHandler()
    async with informer.running():
        registration = informer.add_handler(handler, inline=True, may_yield=True)
        while not handler.deltas:  # noqa: ASYNC110 - turn by turn
            await asyncio.sleep(0)  # noqa: TID251 - as above
        informer.remove_handler(registration)
        before = len(handler.deltas)
        await scene.settle()

    assert len(handler.deltas) == before < 1202


async def test_an_inline_handler_that_may_yield_receives_all_objects_whenever_the_informer_stopped(
    scene: Scene,
) -> None:
    made = 2
    for passes in range(8):
        informer, handler = scene.informer(), RecordingHandler()
        informer.add_handler(handler, inline=True, may_yield=True)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(informer.run())
            await informer.synced()
            # Before any handler is called.
            more = [f"p{passes}-{number}" for number in range(600)]
            await create_config_maps(scene.server, HERE, *more)
            made += len(more)
            for _ in range(passes):
                await asyncio.sleep(0)  # noqa: TID251 - to stop it at each moment there is
            running.cancel()
        async with informer.running():
            await handler.of(scene, made)
        assert sorted(handler.scenario) == sorted(("Added", name) for name in names(informer))


async def test_an_inline_handler_that_is_cancelled_has_failed_and_the_informer_continues(
    scene: Scene,
) -> None:
    def handle(delta: Delta[Any]) -> None:
        raise asyncio.CancelledError

    informer = scene.informer()
    informer.add_handler(handle, inline=True)
    async with informer.running():
        await scene.patch("one", new="yes")
        await scene.until(lambda: len(scene.seen(HandlerFailed)) == 3)


async def test_an_inline_handler_that_fails_does_not_affect_the_writer(scene: Scene) -> None:
    def handle(delta: Delta[Any]) -> None:
        raise ValueError("no")

    informer = scene.informer()
    informer.add_handler(handle, inline=True, may_yield=True)
    async with informer.running():
        responses = [
            await informer.record_write(scene.patch("one", new=each)) for each in ("a", "b")
        ]
        await scene.until(lambda: len(scene.seen(HandlerFailed)) == 4)

    assert [each.data for each in responses] == [{"new": "a"}, {"new": "b"}]


async def test_an_inline_handler_that_may_yield_receives_everything_again_in_a_resync(
    scene: Scene,
) -> None:
    await create_config_maps(scene.server, HERE, *(f"m{number}" for number in range(600)))
    informer, handler = scene.informer(), RecordingHandler()
    informer.add_handler(handler, inline=True, may_yield=True, resync_seconds=100)
    async with informer.running():
        await scene.until(lambda: len(handler.deltas) == 602)
        for number in (2, 3):
            scene.clock.advance(110)
            await handler.of(scene, number * 602)

    assert {type(each) for each in handler.deltas[602:]} == {Sync}
