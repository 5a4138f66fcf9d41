"""``python -m tests.recorded.differential``: requests, responses and differences, one by one.

    compare   the embedded server with the recordings (the default)
    show      what the real server responded
    list      the requests
    cover     the number of requests with each option of each verb

Each takes ``--only PATTERN``: a glob, or a part of the names of scenarios. Differences are grouped
by their shape, with one example each; ``--all`` lists every one. ``make record`` renews recordings.
"""

import argparse
import fnmatch
import json
import sys
from dataclasses import asdict

from tests.recorded.differential.compare import (
    compact_listing,
    judged,
    known_differences,
    listing,
)
from tests.recorded.differential.corpus import corpus, kinds_of_corpus
from tests.recorded.differential.coverage import request_shapes, table
from tests.recorded.differential.embedded import embedded
from tests.recorded.differential.replay import (
    EMBEDDED_PACE,
    Transcript,
    replay,
    with_needs,
)
from tests.recorded.differential.scenario import Raw, Scenario
from tests.recorded.differential.transcripts import group_of, recorded_transcript


def main() -> None:
    """Run the command line."""
    options = _options()
    everything = corpus()
    chosen = [scenario for scenario in everything if _is_wanted(scenario.name, options.only)]
    match options.command:
        case "list":
            _print_requests(chosen)
        case "cover":
            _print("\n".join(table(request_shapes(chosen, kinds_of_corpus()))))
        case "show":
            _print_responses(_recorded(chosen), chosen)
        case _:
            sys.exit(_print_differences(chosen, everything, list_all=options.all))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "command", nargs="?", choices=["compare", "show", "list", "cover"], default="compare"
    )
    parser.add_argument("--only", default="*", help="the scenarios of this name")
    parser.add_argument(
        "--all", action="store_true", help="every difference, not one of each shape"
    )
    return parser.parse_args()


def _is_wanted(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern) or pattern in name


def _recorded(scenarios: list[Scenario]) -> Transcript:
    groups = {group_of(scenario.name) for scenario in scenarios}
    return {name: each for group in groups for name, each in recorded_transcript(group).items()}


def _print_differences(
    chosen: list[Scenario], everything: list[Scenario], *, list_all: bool
) -> int:
    recorded = _recorded(chosen)
    with embedded() as server:
        run = replay(with_needs(chosen, everything), server, pace=EMBEDDED_PACE, expected=recorded)
    found = {scenario.name: run[scenario.name] for scenario in chosen}
    verdict = judged(recorded, found, known_differences())
    shown = listing if list_all else compact_listing
    _print(shown(verdict.unexplained))
    _print(verdict.summary())
    return 1 if verdict.unexplained else 0


def _print_responses(transcript: Transcript, scenarios: list[Scenario]) -> None:
    for scenario in scenarios:
        for request in scenario.requests:
            _print(f"{scenario.name}:{request.name}  {request.method} {request.path}")
            response = asdict(transcript[scenario.name][request.name])
            _print(json.dumps(response, ensure_ascii=False, indent=1))


def _print_requests(scenarios: list[Scenario]) -> None:
    for scenario in scenarios:
        _print(scenario.name)
        for request in scenario.requests:
            body = f"  {len(request.body.content)} bytes" if isinstance(request.body, Raw) else ""
            _print(f"  {request.name:32} {request.method} {request.path}{body}")
    _print(
        f"{sum(len(each.requests) for each in scenarios)} requests in {len(scenarios)} scenarios"
    )


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
