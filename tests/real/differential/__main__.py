"""``python -m tests.real.differential``: the differences between the embedded and the real server.

    python -m tests.real.differential                  compare the two python -m
    tests.real.differential --against FILE   compare with a recording of the real server python -m
    tests.real.differential record FILE      make such a recording python -m tests.real.differential
    show             print the real server's (recorded) responses python -m tests.real.differential
    list             list the requests python -m tests.real.differential cover            count the
    requests with each option of each verb python -m tests.real.differential twice
    compare the real server with itself

Each takes ``--only PATTERN``: a glob, or a part of the names of scenarios. Differences are grouped
by their shape, with one example each; ``--all`` lists every one.
"""

import argparse
import fnmatch
import json
import sys
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

from tests.real.differential.compare import (
    compact_listing,
    judged,
    known_differences,
    listing,
)
from tests.real.differential.corpus import corpus, kinds_of_corpus
from tests.real.differential.coverage import request_shapes, table
from tests.real.differential.recording_files import read_recording, write_recording
from tests.real.differential.replay import (
    EMBEDDED_PACE,
    REAL_PACE,
    Pace,
    Transcript,
    replay,
    with_needs,
)
from tests.real.differential.scenario import Raw, Scenario, Server
from tests.real.differential.servers import real


def main() -> None:
    """Run the command line."""
    options = _options()
    everything = corpus()
    chosen = [scenario for scenario in everything if _is_wanted(scenario.name, options.only)]
    scenarios = with_needs(chosen, everything)
    match options.command:
        case "list":
            _print_requests(chosen)
        case "cover":
            _print("\n".join(table(request_shapes(chosen, kinds_of_corpus()))))
        case "record":
            write_recording(options.file, _transcript(real(), scenarios, REAL_PACE))
        case "show":
            _print_answers(_real_transcript(options, scenarios), chosen)
        case command:
            theirs = _real_transcript(options, scenarios)
            ours = (
                _transcript(real(), scenarios, REAL_PACE)
                if command == "twice"
                else _embedded_transcript(scenarios)
            )
            sys.exit(_print_verdict(theirs, ours, options, whole=chosen == everything))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "command",
        nargs="?",
        choices=["compare", "record", "twice", "show", "list", "cover"],
        default="compare",
    )
    parser.add_argument("file", nargs="?", type=Path, help="where to write the recording")
    parser.add_argument("--only", default="*", help="the scenarios of this name")
    parser.add_argument("--against", type=Path, help="a recording of the real server")
    parser.add_argument(
        "--all", action="store_true", help="every difference, not one of each shape"
    )
    options = parser.parse_args()
    if options.command == "record" and options.file is None:
        parser.error("say which file to record to")
    return options


def _is_wanted(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern) or pattern in name


def _real_transcript(options: argparse.Namespace, scenarios: list[Scenario]) -> Transcript:
    if options.against is not None:
        recorded = read_recording(options.against)
        new = [scenario for scenario in scenarios if not _is_recorded(scenario, recorded)]
        if new:
            # A recording that is older than the corpus is made again.
            asked = _transcript(real(), with_needs(new, scenarios), REAL_PACE)
            return {**recorded, **{scenario.name: asked[scenario.name] for scenario in new}}
        return recorded
    return _transcript(real(), scenarios, REAL_PACE)


def _embedded_transcript(scenarios: list[Scenario]) -> Transcript:
    # Imported here, so that the real server can be called even if the embedded one does not load.
    from tests.real.differential.embedded import embedded

    return _transcript(embedded(), scenarios, EMBEDDED_PACE)


def _is_recorded(scenario: Scenario, recorded: Transcript) -> bool:
    return {request.name for request in scenario.requests} == recorded.get(scenario.name, {}).keys()


def _transcript(
    server: AbstractContextManager[Server], scenarios: list[Scenario], pace: Pace
) -> Transcript:
    with server as started:
        return replay(scenarios, started, pace=pace)


def _print_verdict(
    theirs: Transcript, ours: Transcript, options: argparse.Namespace, *, whole: bool
) -> int:
    verdict = judged(theirs, ours, known_differences(), whole=whole)
    shown = listing if options.all else compact_listing
    _print(shown(verdict.unexplained))
    _print(verdict.summary())
    return 1 if verdict.unexplained or verdict.outdated else 0


def _print_answers(transcript: Transcript, scenarios: list[Scenario]) -> None:
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
