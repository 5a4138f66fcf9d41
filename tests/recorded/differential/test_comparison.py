"""What is normalized, and what is a difference."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from tests.recorded.differential.compare import Known, judged, known_differences, listing
from tests.recorded.differential.live import MAX_RUNS, confirmed_transcript
from tests.recorded.differential.normal import NormalizedResponse, Normalizer
from tests.recorded.differential.replay import Transcript
from tests.recorded.differential.scenario import Answer, Json, Request, Scenario, Server

MAX_EXPLANATIONS = 20


def test_few_differences_need_an_explanation() -> None:
    assert len(known_differences()) <= MAX_EXPLANATIONS


def transcript(**body: Json) -> Transcript:
    """The response of a server to one request."""
    return {"pods/get": {"found": NormalizedResponse(status=200, headers={}, body=body)}}


def test_a_difference_is_listed_with_its_path_and_both_values() -> None:
    verdict = judged(transcript(a={"b": [1, 2]}), transcript(a={"b": [1, 3]}), [])

    assert " ".join(listing(verdict.unexplained).split()) == (
        "pods/get:found body.a.b[1] real 2 other 3"
    )


def test_an_explained_difference_is_only_counted() -> None:
    known = Known(requests=["pods/*:*"], paths=["body.a.b[]"], why="a reason")

    verdict = judged(transcript(a={"b": [1, 2]}), transcript(a={"b": [1, 3]}), [known])

    assert (verdict.unexplained, verdict.outdated) == ([], [])
    assert "1    a reason" in verdict.summary()


def test_an_explanation_without_a_difference_is_outdated() -> None:
    known = Known(requests=["pods/*"], paths=["body.a"], why="a reason")

    verdict = judged(transcript(a=1), transcript(a=1), [known], group="pods")

    assert verdict.outdated == [known]


def test_true_is_not_1() -> None:
    verdict = judged(transcript(a=True), transcript(a=1), [])

    assert [each.path for each in verdict.unexplained] == ["body.a"]


UIDS = ("0b8a6a4e-3f3c-4f43-8a3e-6f1d7f7f0a01", "c2f5a1d7-92de-4d0c-8a86-5d5a3f9e7b02")


def answer(**body: Json) -> Answer:
    """A response with this body."""
    return Answer(status=200, headers=(), body=msgspec.json.encode(body))


def a_pod(uid: str, **metadata: Json) -> Answer:
    """A Pod that was made at some time."""
    shown = {"uid": uid, "creationTimestamp": "2026-01-02T03:04:05Z", **metadata}
    return answer(kind="Pod", metadata=shown, spec={"nodeName": "n"})


def test_a_generated_value_is_replaced_by_the_request_that_first_had_it() -> None:
    normalizer = Normalizer()

    first = normalizer.normalized("created", a_pod(UIDS[0]))
    second = normalizer.normalized("read", a_pod(UIDS[0]))

    assert first == second
    assert first.body["metadata"] == {"creationTimestamp": "<time>", "uid": "<uid of created>"}


@pytest.mark.parametrize(
    "actual",
    [
        a_pod(UIDS[1]),
        a_pod(UIDS[1], labels={"a": "b"}),
        a_pod("no uid"),
        answer(kind="Pod", metadata=None, spec={"nodeName": True}),
        answer(kind="Pod", metadata={"uid": UIDS[1]}, items=[{"name": UIDS[1]}]),
    ],
)
def test_a_response_is_normalized_alike_with_and_without_the_expected_one(actual: Answer) -> None:
    expected = Normalizer().normalized("created", a_pod(UIDS[0]))

    fast = Normalizer().normalized("created", actual, expected)

    assert fast == Normalizer().normalized("created", actual)


def test_an_age_of_days_is_not_compared() -> None:
    table = answer(kind="Table", rows=[{"cells": ["a", "3 (6y12d ago)", "686d", "5h"]}])

    shown = Normalizer().normalized("list", table)

    assert shown.body["rows"][0]["cells"] == ["a", "3 (<long age> ago)", "<long age>", "5h"]


class Responder:
    """A server that gives these responses, one for each run."""

    token = ""

    def __init__(self, *names: str) -> None:
        self.names = list(names)

    @contextmanager
    def start(self) -> Iterator[Server]:
        yield self  # type: ignore[misc]  # no scenario here follows a watch

    def call(self, *_: object) -> Answer:
        return answer(name=self.names.pop(0))

    def wait_for_second(self) -> None:
        raise AssertionError("no scenario here waits")


LOOK = Scenario(name="look", requests=(Request(name="get", method="GET", path="/"),))


def look(name: str) -> Transcript:
    """The transcript of ``LOOK``."""
    return {
        "look": {"get": NormalizedResponse(status=200, headers={}, body={"name": name})},
    }


@pytest.mark.parametrize(
    ("recorded", "given", "confirmed"),
    [
        (look("a"), ["a"], "a"),
        (look("a"), ["b", "a"], "a"),
        (look("a"), ["b", "b"], "b"),
        ({}, ["a", "b", "a"], "a"),
    ],
)
def test_a_response_counts_once_it_was_given_twice(
    recorded: Transcript, given: list[str], confirmed: str
) -> None:
    responder = Responder(*given)

    found = confirmed_transcript([LOOK], [LOOK], recorded, responder.start)

    assert found == look(confirmed)
    assert responder.names == []


def test_a_response_that_differs_in_each_run_is_not_confirmed() -> None:
    responder = Responder(*map(str, range(MAX_RUNS)))

    found = confirmed_transcript([LOOK], [LOOK], {}, responder.start)

    assert found == {}
