"""The names and texts of recorded events; tests/cluster has their writes."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from steersman.client import Client
from steersman.controller.events.recorder import (
    EventRecorder,
    event_name,
    reporting_name,
    truncated,
)
from steersman.names import ObjectRef
from steersman.observe import ignore
from tests.clocks import FakeClock
from tests.transports import ScriptedTransport
from tests.unit.controller.apps import app

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_long_text_is_truncated_between_characters() -> None:
    assert truncated("x" * 10, 10) == "x" * 10
    assert truncated("x" * 11, 10) == "x" * 7 + "…"
    assert truncated("€€€€", 10) == "€€…"
    assert truncated("€€€", 10) == "€€€"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("web", "web."), ("system:node", "system-node."), ("..", "role."), ("a" * 253, "aaaa")],
)
def test_the_name_of_an_event_is_valid(name: str, begins: str) -> None:
    made = event_name(ObjectRef("Role", None, name), NOW, 0, Random(0))

    assert made.startswith(begins)
    assert len(made) <= 253


def test_names_of_events_sort_in_the_order_of_recording() -> None:
    ref, rng = ObjectRef("Pod", "here", "web"), Random(0)
    moments = [(NOW, 9), (NOW, 10), (NOW + timedelta(microseconds=1), 0)]

    names = [event_name(ref, time, number, rng) for time, number in moments]

    assert names == sorted(names)


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("appservice", "appservice"),
        ("apps.example.com/appservice", "apps.example.com/appservice"),
        ("a" * 70, "a" * 63),
        ("Not a Name!", "not-a-name"),
        ("?", "controller"),
    ],
)
def test_a_controllers_name_is_reported_in_a_form_that_the_server_accepts(
    name: str, reported: str
) -> None:
    assert reporting_name(name) == reported


async def test_recording_sends_nothing_and_the_repr_shows_the_queue() -> None:
    transport = ScriptedTransport()
    clock = FakeClock()
    client = Client(transport, clock=clock, rng=Random(0), observe=ignore)
    recorder = EventRecorder(
        client,
        controller="apps.example.com/appservice",
        instance="pod-0",
        clock=clock,
        rng=Random(0),
        observe=ignore,
    )
    for _ in range(2):
        recorder.record(app(), "Failed", "no luck")

    assert repr(recorder) == "<EventRecorder of appservice: <EventCorrelator 1 kept, 1 queued>>"
    assert transport.requests == []
