"""Events are not kept for ever."""

from typing import Any

from tests.embedded import MERGE_PATCH, World

HOUR = 3600.0


def event(name: str, namespace: str) -> Any:
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": namespace},
    }


async def test_an_event_goes_an_hour_after_it_was_last_written() -> None:
    world = World()
    events = f"/api/v1/namespaces/{(place := await world.namespace())}/events"
    for name in ("once", "again"):
        await world.asked("POST", events, event(name, place))

    world.clock.advance(HOUR - 1)
    await world.asked("PATCH", f"{events}/again", {"count": 2}, sends=MERGE_PATCH)
    before = (await world.ask("GET", events)).names
    world.clock.advance(1)
    after = (await world.ask("GET", events)).names
    world.clock.advance(HOUR)

    assert before == ["again", "once"]
    assert after == ["again"]
    assert (await world.ask("GET", f"{events}/again")).status == 404


async def test_who_watches_events_hears_when_an_old_one_goes() -> None:
    world = World()
    events = f"/api/v1/namespaces/{(place := await world.namespace())}/events"
    await world.asked("POST", events, event("old", place))

    world.clock.advance(HOUR - 1)

    async with world.watch(f"{events}?resourceVersion=0") as lines:
        first = await lines.seen(1)
        world.clock.advance(1)
        await world.asked("POST", events, event("new", place))
        then = await lines.seen(2)

    assert first == [("ADDED", "old")]
    assert then == [("DELETED", "old"), ("ADDED", "new")]


async def test_what_a_server_finds_when_it_starts_is_kept_for_an_hour() -> None:
    first = World()
    events = f"/api/v1/namespaces/{(place := await first.namespace())}/events"
    await first.asked("POST", events, event("old", place))

    second = World(log=first.log, clock=first.clock)
    await second.asked("POST", events, event("new", place))
    first.clock.advance(HOUR - 1)
    before = (await second.ask("GET", events)).names
    first.clock.advance(1)

    assert before == ["new", "old"]
    assert (await second.ask("GET", events)).names == []
