"""Events expire."""

from typing import Any

from tests.embedded import MERGE_PATCH, EmbeddedServer

HOUR = 3600.0


def event(name: str, namespace: str) -> Any:
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": namespace},
    }


async def test_an_event_expires_an_hour_after_its_last_write() -> None:
    api = EmbeddedServer()
    events = f"/api/v1/namespaces/{(place := await api.namespace())}/events"
    for name in ("once", "again"):
        await api.asked("POST", events, event(name, place))

    api.clock.advance(HOUR - 1)
    await api.asked("PATCH", f"{events}/again", {"count": 2}, sends=MERGE_PATCH)
    before = (await api.ask("GET", events)).names
    api.clock.advance(1)
    after = (await api.ask("GET", events)).names
    api.clock.advance(HOUR)

    assert before == ["again", "once"]
    assert after == ["again"]
    assert (await api.ask("GET", f"{events}/again")).status == 404


async def test_a_watch_has_a_delete_event_for_an_expired_event() -> None:
    api = EmbeddedServer()
    events = f"/api/v1/namespaces/{(place := await api.namespace())}/events"
    await api.asked("POST", events, event("old", place))

    api.clock.advance(HOUR - 1)

    async with api.watch(f"{events}?resourceVersion=0") as lines:
        first = await lines.seen(1)
        api.clock.advance(1)
        await api.asked("POST", events, event("new", place))
        then = await lines.seen(2)

    assert first == [("ADDED", "old")]
    assert then == [("DELETED", "old"), ("ADDED", "new")]


async def test_events_that_exist_at_the_start_are_kept_for_an_hour() -> None:
    first = EmbeddedServer()
    events = f"/api/v1/namespaces/{(place := await first.namespace())}/events"
    await first.asked("POST", events, event("old", place))

    second = EmbeddedServer(log=first.log, clock=first.clock)
    await second.asked("POST", events, event("new", place))
    first.clock.advance(HOUR - 1)
    before = (await second.ask("GET", events)).names
    first.clock.advance(1)

    assert before == ["new", "old"]
    assert (await second.ask("GET", events)).names == []
