"""The embedded server responds like the real one, request by request.

The requests are in ``tests/real/differential/corpus``, and the accepted differences in
``tests/real/differential/known.toml``. ``STEERSMAN_DIFFERENCES=FILE`` writes all differences to a
file. ``python -m tests.real.differential`` shows single ones.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.real.differential.compare import (
    Known,
    Verdict,
    judged,
    known_differences,
    listing,
)
from tests.real.differential.corpus import corpus, kinds_of_corpus
from tests.real.differential.coverage import OPTIONS, missing, request_shapes
from tests.real.differential.embedded import embedded
from tests.real.differential.normal import NormalizedResponse
from tests.real.differential.replay import (
    EMBEDDED_PACE,
    REAL_PACE,
    Pace,
    Transcript,
    replay,
    with_needs,
)
from tests.real.differential.scenario import Json, Last, Scenario, Server
from tests.real.differential.servers import real

MIN_REQUESTS = 30_000
MIN_LIVE_WATCHES = 1000
MAX_EXPLANATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedServer:
    """A server to compare with the real one, and the prefixes of the names of its scenarios."""

    start: Callable[[], AbstractContextManager[Server]]
    pace: Pace
    scenarios: tuple[str, ...] = ("",)
    known: Sequence[Known] = ()


# Two real servers give the same responses, which shows that the normalization is complete.
REAL = ComparedServer(
    start=real,
    pace=REAL_PACE,
    scenarios=(
        "apps/v1/deployments/apply/managers",
        "core/v1/configmaps/create",
        "core/v1/configmaps/list",
        "core/v1/configmaps/watch",
        "core/v1/services/addresses",
        "discovery/server",
        "definitions/refused",
        "access/forbidden",
        "scenarios.example.com/v1/widgets/apply/lists",
    ),
)
EMBEDDED = ComparedServer(start=embedded, pace=EMBEDDED_PACE, known=known_differences())


@pytest.fixture(scope="module")
def all_scenarios() -> list[Scenario]:
    """The whole corpus, which takes seconds to build."""
    return corpus()


def write_report(verdict: Verdict, directory: Path) -> str:
    """Write all differences to a file, and return a summary."""
    differences = [*verdict.unexplained, *(difference for _, difference in verdict.explained)]
    file = Path(os.environ.get("STEERSMAN_DIFFERENCES") or directory / "differences.txt")
    file.write_text(f"{listing(differences)}\n", encoding="utf-8")
    return f"{verdict.summary()}\nall differences: {file}"


def without_races(
    verdict: Verdict, compared: ComparedServer, found: Transcript, all_scenarios: list[Scenario]
) -> Verdict:
    """The verdict without differences that a second run against the real server does not have.

    The real server first patches the object of its watch cache. If that is stale, it retries, and
    also sends the warnings of the first attempt. This happens in about one run in a hundred.
    """
    names = {each.scenario for each in verdict.unexplained}
    if not names:
        return verdict
    scenarios = with_needs(
        [scenario for scenario in all_scenarios if scenario.name in names], all_scenarios
    )
    with real() as server:
        again = replay(scenarios, server, pace=REAL_PACE)
    responses_before = {scenario.name: found[scenario.name] for scenario in scenarios}
    still_different = judged(again, responses_before, compared.known, whole=False).unexplained
    repeated = {(each.where, each.path) for each in still_different}
    unexplained = [each for each in verdict.unexplained if (each.where, each.path) in repeated]
    return replace(verdict, unexplained=unexplained)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "compared",
    [
        pytest.param(REAL, id="real"),
        pytest.param(EMBEDDED, id="embedded"),
    ],
)
def test_the_embedded_server_responds_like_the_real_one(
    compared: ComparedServer,
    all_scenarios: list[Scenario],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = [
        scenario for scenario in all_scenarios if scenario.name.startswith(compared.scenarios)
    ]
    scenarios = with_needs(chosen, all_scenarios)

    with real() as server:
        expected = replay(scenarios, server, pace=REAL_PACE)
    with compared.start() as server:
        found = replay(scenarios, server, pace=compared.pace)

    verdict = judged(expected, found, compared.known, whole=chosen == all_scenarios)
    verdict = without_races(verdict, compared, found, all_scenarios)
    report = write_report(verdict, tmp_path)
    with capsys.disabled():
        sys.stdout.write(f"\n{report}\n")
    assert not verdict.unexplained, report
    assert not verdict.outdated, report


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


def test_few_differences_need_an_explanation() -> None:
    assert len(known_differences()) <= MAX_EXPLANATIONS


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


def transcript(**body: Json) -> Transcript:
    """The response of a server to one request."""
    return {"pods/get": {"found": NormalizedResponse(status=200, headers={}, body=body)}}


def test_a_difference_is_listed_with_its_path_and_both_values() -> None:
    verdict = judged(transcript(a={"b": [1, 2]}), transcript(a={"b": [1, 3]}), [], whole=True)

    assert " ".join(listing(verdict.unexplained).split()) == (
        "pods/get:found body.a.b[1] real 2 other 3"
    )


def test_an_explained_difference_is_only_counted() -> None:
    known = Known(requests=["pods/*:*"], paths=["body.a.b[]"], why="a reason")

    verdict = judged(transcript(a={"b": [1, 2]}), transcript(a={"b": [1, 3]}), [known], whole=True)

    assert (verdict.unexplained, verdict.outdated) == ([], [])
    assert "1    a reason" in verdict.summary()


def test_an_explanation_without_a_difference_is_outdated() -> None:
    known = Known(requests=["*"], paths=["body.a"], why="a reason")

    verdict = judged(transcript(a=1), transcript(a=1), [known], whole=True)

    assert verdict.outdated == [known]
