"""The corpus has all kinds of requests, and each request has a recording."""

from pathlib import Path

import pytest

from tests.recorded.differential.corpus import corpus, kinds_of_corpus
from tests.recorded.differential.coverage import OPTIONS, missing, request_shapes
from tests.recorded.differential.normal import NormalizedResponse
from tests.recorded.differential.replay import Transcript
from tests.recorded.differential.scenario import Last, Request, Scenario
from tests.recorded.differential.transcripts import (
    check_complete,
    delete_recordings,
    group_of,
    record_transcript,
    recorded_groups,
    recorded_transcript,
)
from tests.recorded.module_recording import Mode
from tests.recorded.recordings import RecordingError

MIN_REQUESTS = 30_000
MIN_LIVE_WATCHES = 1000


def test_the_corpus_is_large_and_no_two_scenarios_have_one_name(
    all_scenarios: list[Scenario],
) -> None:
    assert sum(len(scenario.requests) for scenario in all_scenarios) >= MIN_REQUESTS
    assert len({scenario.name for scenario in all_scenarios}) == len(all_scenarios)


def test_the_corpus_has_each_verb_with_each_option_for_each_kind(
    all_scenarios: list[Scenario],
) -> None:
    kinds = kinds_of_corpus()

    shapes = request_shapes(all_scenarios, kinds)

    assert missing(shapes, kinds) == []
    assert {each.verb for each in shapes} >= OPTIONS.keys()


def test_the_corpus_has_a_watch_during_changes_for_every_kind(
    all_scenarios: list[Scenario],
) -> None:
    kinds = kinds_of_corpus()

    live = [each for each in request_shapes(all_scenarios, kinds) if "live" in each.options]

    assert len(live) >= MIN_LIVE_WATCHES
    assert {each.kind for each in live} == kinds.keys()


def test_the_corpus_is_deterministic(all_scenarios: list[Scenario]) -> None:
    first, second = (
        [
            (scenario.name, request.name, request.path)
            for scenario in scenarios
            for request in scenario.requests
        ]
        for scenarios in (all_scenarios, corpus())
    )

    assert first == second


def test_a_request_that_no_scenario_makes_is_reported_as_missing(
    all_scenarios: list[Scenario],
) -> None:
    kinds = kinds_of_corpus()
    scenarios = [
        scenario
        for scenario in all_scenarios
        if not scenario.name.startswith("core/v1/pods/options")
    ]

    found = missing(request_shapes(scenarios, kinds), kinds)

    assert "core/v1/pods: json-patch with dryRun" in found
    assert all(each.startswith("core/v1/pods: ") for each in found)


def test_the_end_of_a_watch_is_an_event_of_one_type_about_one_object() -> None:
    last = Last("ADDED", "last")

    assert last.matches(b'{"type":"ADDED","object":{"metadata":{"name":"last"}}}\n')
    assert not last.matches(b'{"type":"DELETED","object":{"metadata":{"name":"last"}}}\n')
    assert not last.matches(b'{"type":"ADDED","object":{"metadata":{"name":"first"}}}\n')
    assert not last.matches(b"nonsense")


def test_each_recording_is_of_a_group_of_the_corpus(
    all_scenarios: list[Scenario], mode: Mode
) -> None:
    groups = {group_of(scenario.name) for scenario in all_scenarios}

    unused = set(recorded_groups()) - groups

    if mode is Mode.RECORD:
        delete_recordings(unused)
    else:
        assert unused == set()


def test_each_group_of_the_corpus_has_a_recording(
    all_scenarios: list[Scenario], mode: Mode
) -> None:
    if mode is Mode.RECORD:
        pytest.skip("another process may be about to record the group")

    groups = {group_of(scenario.name) for scenario in all_scenarios}

    assert groups - set(recorded_groups()) == set()


def test_a_deleted_recording_is_no_longer_listed(tmp_path: Path) -> None:
    for group in ("core/v1/pods", "edges"):
        record_transcript(group, {}, tmp_path)

    delete_recordings(["core/v1/pods"], tmp_path)

    assert recorded_groups(tmp_path) == ["edges"]


def found(name: str) -> NormalizedResponse:
    """A response whose body is a name."""
    return NormalizedResponse(status=200, headers={"Warning": ["careful"]}, body={"name": name})


def scenario(*requests: str) -> Scenario:
    """A scenario of Pods with these requests."""
    return Scenario(
        name="core/v1/pods/get",
        requests=tuple(Request(name=each, method="GET", path="/") for each in requests),
    )


def test_a_recorded_transcript_is_read_as_it_was_written(tmp_path: Path) -> None:
    transcript: Transcript = {"core/v1/pods/get": {"one": found("a"), "two": found("b")}}

    record_transcript("core/v1/pods", transcript, tmp_path)

    assert recorded_groups(tmp_path) == ["core/v1/pods"]
    assert recorded_transcript("core/v1/pods", tmp_path) == transcript


def test_a_request_without_a_recording_is_an_error() -> None:
    with pytest.raises(RecordingError, match="1 cases without a recording: core/v1/pods/get:two"):
        check_complete(
            "core/v1/pods", [scenario("one", "two")], {"core/v1/pods/get": {"one": found("a")}}
        )


def test_a_recording_that_no_request_needs_is_an_error() -> None:
    with pytest.raises(
        RecordingError, match="1 recordings that no case asks for: core/v1/pods/get:two"
    ):
        check_complete(
            "core/v1/pods",
            [scenario("one")],
            {"core/v1/pods/get": {"one": found("a"), "two": found("b")}},
        )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("apps/v1/deployments/options/status", "apps/v1/deployments"),
        ("scenarios.example.com/v1beta1/widgets/watch", "scenarios.example.com/v1beta1/widgets"),
        ("edges/booleans", "edges"),
        ("discovery/server", "discovery"),
    ],
)
def test_a_group_is_a_kind_or_the_first_word_of_a_name(name: str, expected: str) -> None:
    assert group_of(name) == expected
