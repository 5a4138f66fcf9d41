"""The log line of each observation, and its level."""

import io
import json
import logging
import sys
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from steersman.clock import SystemClock
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import KeyDone, LineFormatter, LogObserver, Observation, log_to
from steersman.observe.logs import MAX_TEXT_LENGTH, Style
from tests.unit.observe.samples import (
    ADDED,
    ALL,
    DELAYED,
    DONE,
    FINISHED,
    RAISED,
    RETRIED,
    RETRIES_SPENT,
    TAKEN,
    WARNED,
    describe,
    failed,
    level_of,
)
from tests.unit.observe.watch_samples import FAILED


class NoonClock(SystemClock):
    def now(self) -> datetime:
        return datetime(2026, 1, 2, 12, 0, 0, 5000, tzinfo=UTC)


NOON = NoonClock()


def logged(*observations: Observation, style: Style, level: int = logging.DEBUG) -> list[str]:
    stream = io.StringIO()
    observe = log_to(stream, style=style, level=level, clock=NOON)
    for observation in observations:
        observe(observation)
    return stream.getvalue().splitlines()


def test_every_observation_has_a_log_line() -> None:
    assert len(logged(*ALL, style="plain")) == len(ALL)
    assert len(logged(*ALL, style="json")) == len(ALL)


@pytest.mark.parametrize("observation", [FINISHED, RETRIED, RETRIES_SPENT, WARNED])
def test_a_log_line_carries_the_object_it_is_about(observation: Observation) -> None:
    (plain,) = logged(observation, style="plain")
    (line,) = logged(observation, style="json")

    fields = json.loads(line)
    assert "Deployment default/web" in plain
    assert (fields["kind"], fields["namespace"], fields["name"]) == ("Deployment", "default", "web")


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (ADDED, "queue apps: default/web: added with priority -100"),
        (RAISED, "queue apps: default/web: moved up from priority -100 to 0"),
        (DELAYED, "queue apps: default/web: to be added in 20 ms, after failure 3"),
        (TAKEN, "queue apps: default/web: taken after 500 ms"),
        (DONE, "queue apps: default/web: done in 2.5 s"),
    ],
)
def test_queue_observations_are_logged_at_debug_level_with_their_object(
    observation: Observation, text: str
) -> None:
    line, fields = describe(observation)

    assert line == text
    assert (fields["namespace"], fields["name"]) == ("default", "web")
    assert fields["key"] == "default/web"
    assert level_of(observation) == logging.DEBUG


def test_a_key_without_a_namespace_or_an_object_is_logged_unchanged() -> None:
    _, of_a_node = describe(KeyDone(queue="nodes", key=ObjectKey(None, "a"), took_seconds=1))
    _, of_a_ref = describe(KeyDone(queue="x", key=ObjectRef("Node", None, "a"), took_seconds=1))
    _, of_a_number = describe(KeyDone(queue="numbers", key=7, took_seconds=1))

    assert of_a_node == {"queue": "nodes", "key": "a", "name": "a", "took_seconds": 1}
    assert (of_a_ref["kind"], of_a_ref["name"]) == ("Node", "a")
    assert of_a_number == {"queue": "numbers", "key": "7", "took_seconds": 1}


def test_a_plain_line_is_time_level_and_text() -> None:
    assert logged(FINISHED, style="plain") == [
        "2026-01-02T12:00:00.005Z DEBUG   patch Deployment default/web: 200 in 12 ms"
    ]


def test_a_json_line_has_the_text_and_its_values_as_fields() -> None:
    (line,) = logged(failed(409), style="json")

    assert json.loads(line) == {
        "time": "2026-01-02T12:00:00.005Z",
        "level": "debug",
        "message": "patch Deployment default/web: failed in 2.5 s and 3 attempts: "
        + str(failed(409).error),
        "verb": "patch",
        "resource": "deployments",
        "kind": "Deployment",
        "name": "web",
        "namespace": "default",
        "took_seconds": 2.5,
        "attempts": 3,
        "code": 409,
        "error": "Conflict",
    }


def test_a_request_without_an_object_is_named_by_its_resource() -> None:
    text, fields = describe(replace(FINISHED, verb="list", ref=None))

    assert text == "list deployments: 200 in 12 ms"
    assert "name" not in fields


def test_an_object_without_a_namespace_has_no_such_field() -> None:
    _, fields = describe(replace(FINISHED, ref=ObjectRef("Node", None, "a")))

    assert "namespace" not in fields


@pytest.mark.parametrize("code", [401, 403, 429, 500, 503, None])
def test_failures_that_need_an_administrator_are_logged_at_a_high_level(code: int | None) -> None:
    assert level_of(failed(code)) == logging.WARNING


@pytest.mark.parametrize("code", [404, 409, 410, 422])
def test_errors_that_the_caller_can_handle_are_logged_at_a_low_level(code: int) -> None:
    assert level_of(failed(code)) == logging.DEBUG


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_a_long_outage_is_not_reported_at_each_attempt(verb: str) -> None:
    attempts = [replace(each, verb=verb) for each in (failed(None), RETRIED, RETRIES_SPENT)]

    assert {level_of(each) for each in attempts} == {logging.DEBUG}
    assert level_of(FAILED) == logging.WARNING
    assert level_of(replace(FAILED, is_news=False)) == logging.DEBUG


def test_a_line_below_the_level_is_left_out() -> None:
    lines = logged(FINISHED, RETRIED, WARNED, style="plain", level=logging.WARNING)

    assert len(lines) == 1
    assert "the API server warns: apps/v1beta1 is deprecated" in lines[0]


def test_a_message_cannot_inject_log_lines() -> None:
    hostile = replace(WARNED, text="old\n2026-01-02T12:00:00Z INFO all is well\x1b[2J")

    (plain,) = logged(hostile, style="plain")
    (line,) = logged(hostile, style="json")

    assert r"old\n2026" in plain
    assert "\x1b" not in plain + line


def test_a_long_message_is_truncated() -> None:
    (line,) = logged(replace(WARNED, text="x" * 10**6), style="json")

    assert len(json.loads(line)["message"]) == MAX_TEXT_LENGTH


def test_a_percent_sign_is_not_interpreted() -> None:
    (line,) = logged(replace(WARNED, text="100%s"), style="plain")

    assert line.endswith("100%s")


def test_other_loggers_are_not_configured() -> None:
    root, ours = logging.getLogger(), logging.getLogger("steersman")
    before = [*root.handlers], [*ours.handlers], root.level, ours.level

    logged(*ALL, style="plain")

    assert ([*root.handlers], [*ours.handlers], root.level, ours.level) == before


def test_two_observers_write_one_line_each() -> None:
    stream = io.StringIO()

    for observe in (
        log_to(stream, style="plain", level=logging.INFO, clock=NOON),
        log_to(stream, style="json", level=logging.INFO, clock=NOON),
    ):
        observe(WARNED)

    assert len(stream.getvalue().splitlines()) == 2


def test_a_custom_logger_gets_the_fields_with_the_record(
    caplog: pytest.LogCaptureFixture,
) -> None:
    LogObserver(logging.getLogger("mine"))(WARNED)

    (record,) = caplog.records
    assert record.name == "mine"
    assert record.__dict__["fields"]["name"] == "web"


@pytest.mark.parametrize("style", ["plain", "json"])
def test_an_error_in_a_record_is_written_with_its_traceback(style: Style) -> None:
    try:
        raise KeyError("here")
    except KeyError:
        record = logging.LogRecord("x", 40, "", 0, "it broke", None, sys.exc_info())

    text = LineFormatter(style=style, clock=NOON).format(record)

    assert "it broke" in text
    assert "KeyError: 'here'" in text


def test_characters_that_the_stream_cannot_encode_are_escaped() -> None:
    raw = io.BytesIO()
    observe = log_to(io.TextIOWrapper(raw, encoding="ascii"), clock=NOON)

    observe(replace(WARNED, text="größer"))

    assert rb"gr\xf6\xdfer" in raw.getvalue()


def test_a_line_that_cannot_be_written_is_lost_without_an_error() -> None:
    stream = io.StringIO()
    observe = log_to(stream, clock=NOON)
    stream.close()

    observe(WARNED)
