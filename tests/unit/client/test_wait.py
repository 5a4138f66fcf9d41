"""Waiting for a condition, and retries after a conflict."""

from collections.abc import Awaitable
from random import Random
from typing import Any

import msgspec
import pytest

from steersman.client import has_condition, retry_on_conflict, wait_for, wait_until_gone
from steersman.errors import (
    BadName,
    Conflict,
    Forbidden,
    InvalidObject,
    NotFound,
    Unreachable,
    WaitTimeout,
)
from steersman.kinds import Condition, Unstructured, apps_v1
from tests.clocks import FakeClock
from tests.transports import FakeResponse, Piece, error_response, json_response
from tests.unit.client.scripted_client import (
    ScriptedClient,
    Widget,
    WidgetSpec,
    WidgetStatus,
    widget,
    widgets,
)


def large(obj: Widget) -> bool:
    return obj.spec.size > 5


def event(type: str, obj: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": type, "object": obj}) + b"\n"


async def wait(fixture: ScriptedClient, **options: Any) -> Widget:
    return await wait_for(
        fixture.client, Widget, "web", large, namespace="default", within_seconds=30, **options
    )


def forever(clock: FakeClock) -> Piece:
    def hang() -> Awaitable[None]:
        return clock.sleep(1_000_000)

    return hang


async def test_a_condition_that_is_met_returns_immediately() -> None:
    fixture = ScriptedClient(json_response(widgets(widget(size=9))))

    found = await wait(fixture)

    assert found.spec.size == 9
    assert fixture.server.sent == [
        "GET /apis/example.com/v1/namespaces/default/widgets?limit=500&fieldSelector="
        "metadata.name%3Dweb"
    ]


async def test_an_object_is_watched_from_its_resource_version_until_the_condition_is_met() -> None:
    events = event("MODIFIED", widget(size=4)) + event("MODIFIED", widget(size=9))
    fixture = ScriptedClient(
        json_response(widgets(widget(), version="12")), FakeResponse(body=events)
    )

    found = await wait(fixture)

    assert found.spec.size == 9
    assert dict(fixture.server.requests[1].query)["resourceVersion"] == "12"
    assert fixture.server.open_responses == 0


async def test_a_missing_object_can_be_waited_for() -> None:
    fixture = ScriptedClient(
        json_response(widgets()), FakeResponse(body=event("ADDED", widget(size=9)))
    )

    assert (await wait(fixture)).spec.size == 9


async def test_a_recreated_object_is_waited_for_too() -> None:
    events = event("DELETED", widget()) + event("ADDED", widget(size=9))
    fixture = ScriptedClient(json_response(widgets(widget())), FakeResponse(body=events))

    assert (await wait(fixture)).spec.size == 9


@pytest.mark.parametrize(
    "ending",
    [
        FakeResponse(),
        FakeResponse(body=event("BOOKMARK", {"metadata": {"resourceVersion": "13"}})),
        FakeResponse(body=event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})),
        FakeResponse(body=[Unreachable("connection reset")]),
        error_response(410, "Expired"),
        error_response(503, "ServiceUnavailable"),
        Unreachable("connection refused", may_have_happened=False),
    ],
)
async def test_a_watch_that_ends_early_is_followed_by_another_read(
    ending: FakeResponse | Unreachable,
) -> None:
    fixture = ScriptedClient(
        json_response(widgets(widget())), ending, json_response(widgets(widget(size=9)))
    )

    assert (await wait(fixture)).spec.size == 9


async def test_a_timeout_is_an_error_with_the_last_object() -> None:
    clock = FakeClock()
    began_at = clock.monotonic()
    fixture = ScriptedClient(
        json_response(widgets(widget())),
        FakeResponse(body=[event("MODIFIED", widget(version="13")), forever(clock)]),
        clock=clock,
    )

    with pytest.raises(WaitTimeout) as caught:
        await wait(fixture, waited_for="a large size")

    assert str(caught.value) == (
        "waited 30 s for a large size of Widget default/web without success; last seen: version 13."
    )
    assert clock.monotonic() - began_at == 30
    assert fixture.server.open_responses == 0


async def test_the_error_for_an_object_that_never_existed_says_so() -> None:
    clock = FakeClock()
    fixture = ScriptedClient(
        json_response(widgets()), FakeResponse(body=[forever(clock)]), clock=clock
    )

    with pytest.raises(WaitTimeout, match="last seen: nothing"):
        await wait(fixture)


async def test_an_api_error_ends_the_wait() -> None:
    with pytest.raises(Forbidden):
        await wait(ScriptedClient(error_response(403, "Forbidden")))
    with pytest.raises(Forbidden):
        await wait(ScriptedClient(json_response(widgets()), error_response(403, "Forbidden")))


async def test_an_object_that_cannot_be_decoded_ends_the_wait() -> None:
    with pytest.raises(InvalidObject):
        await wait(ScriptedClient(json_response(widgets(widget(size="large")))))
    with pytest.raises(InvalidObject):
        await wait(
            ScriptedClient(
                json_response(widgets()), FakeResponse(body=event("ADDED", widget(size="large")))
            )
        )


async def test_a_namespaced_object_requires_a_namespace() -> None:
    fixture = ScriptedClient()

    with pytest.raises(BadName, match="pass a namespace"):
        await wait_for(fixture.client, Widget, "web", large, within_seconds=1)

    assert fixture.server.requests == []


async def test_wait_until_gone_returns_after_the_deletion() -> None:
    events = event("MODIFIED", widget()) + event("DELETED", widget())
    fixture = ScriptedClient(json_response(widgets(widget())), FakeResponse(body=events))

    await wait_until_gone(fixture.client, Widget, "web", namespace="default", within_seconds=30)

    assert len(fixture.server.requests) == 2
    assert fixture.server.open_responses == 0


async def test_with_a_uid_a_recreated_object_counts_as_gone() -> None:
    fixture = ScriptedClient(json_response(widgets(widget(uid="u-2"))))

    await wait_until_gone(
        fixture.client, Widget, "web", uid="u-1", namespace="default", within_seconds=30
    )

    assert len(fixture.server.requests) == 1


async def test_an_object_that_is_not_deleted_is_an_error_after_the_wait() -> None:
    clock = FakeClock()
    fixture = ScriptedClient(
        json_response(widgets(widget())), FakeResponse(body=[forever(clock)]), clock=clock
    )

    with pytest.raises(WaitTimeout, match="for the end of Widget default/web"):
        await wait_until_gone(
            fixture.client, Widget, "web", uid="u-1", namespace="default", within_seconds=30
        )


@pytest.mark.parametrize(
    ("conditions", "holds"),
    [
        ([{"type": "Ready", "status": "True"}], True),
        ([{"type": "Odd", "status": "False"}, {"type": "Ready", "status": "True"}], True),
        ([{"type": "Ready", "status": "False"}], False),
        ([{"type": "Ready", "status": "Unknown"}], False),
        ([{"type": "Odd", "status": "True"}], False),
        ([], False),
        (None, False),
    ],
)
def test_a_condition_is_found_in_typed_and_in_unstructured_objects(
    conditions: list[dict[str, str]] | None, holds: bool
) -> None:
    loose = Unstructured(widget() | {"status": {"conditions": conditions}})
    typed = Widget(
        spec=WidgetSpec(size=3),
        status=WidgetStatus(
            conditions=None
            if conditions is None
            else tuple(Condition(type=each["type"], status=each["status"]) for each in conditions)
        ),
    )

    assert has_condition("Ready")(loose) is holds
    assert has_condition("Ready")(typed) is holds


def test_a_condition_can_be_waited_for_to_be_false() -> None:
    deployment = apps_v1.Deployment(
        status=apps_v1.DeploymentStatus(
            conditions=(apps_v1.DeploymentCondition(type="Available", status="False"),)
        )
    )

    assert has_condition("Available", "False")(deployment)


@pytest.mark.parametrize("status", [{}, None, {"conditions": ["odd", 7]}, "odd"])
def test_an_object_without_conditions_satisfies_none(status: object) -> None:
    assert not has_condition("Ready")(Unstructured(widget() | {"status": status}))


def conflict() -> Conflict:
    return Conflict(wanted="x", code=409, reason="Conflict", message="changed")


async def test_a_new_attempt_is_made_after_each_conflict() -> None:
    clock = FakeClock()
    outcomes: list[Conflict | str] = [conflict(), conflict(), "written"]
    began_at = clock.monotonic()

    async def attempt() -> str:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Conflict):
            raise outcome
        return outcome

    assert await retry_on_conflict(attempt, clock=clock, rng=Random(0)) == "written"
    assert 0.015 <= clock.monotonic() - began_at <= 0.03


async def test_after_the_last_attempt_the_conflict_is_raised() -> None:
    made: list[Conflict] = []

    async def attempt() -> None:
        made.append(conflict())
        raise made[-1]

    with pytest.raises(Conflict) as caught:
        await retry_on_conflict(attempt, clock=FakeClock(), rng=Random(0), attempts=3)

    assert len(made) == 3
    assert caught.value is made[-1]


async def test_only_conflicts_are_retried() -> None:
    made: list[int] = []

    async def attempt() -> None:
        made.append(1)
        raise NotFound(wanted="x", code=404, reason="NotFound", message="gone")

    with pytest.raises(NotFound):
        await retry_on_conflict(attempt, clock=FakeClock(), rng=Random(0))

    assert len(made) == 1


async def test_the_wait_continues_while_the_server_is_down() -> None:
    away = Unreachable("connection refused", may_have_happened=False)
    fixture = ScriptedClient(*[away] * 20, json_response(widgets(widget(size=9))))

    found = await wait(fixture)

    assert found.spec.size == 9


async def test_a_wait_pauses_before_it_reads_again() -> None:
    clock = FakeClock()
    began_at = clock.monotonic()
    still_small = json_response(widgets(widget()))
    fixture = ScriptedClient(
        *[still_small, FakeResponse()] * 3, json_response(widgets(widget(size=9))), clock=clock
    )

    await wait(fixture)

    assert clock.monotonic() - began_at == 1.5
