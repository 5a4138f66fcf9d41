"""``python -m tests.real.differential``: where the embedded server differs from the real one.

    python -m tests.real.differential                  compare the two
    python -m tests.real.differential --against FILE   compare with a recording of the real server
    python -m tests.real.differential record FILE      make such a recording
    python -m tests.real.differential show             what the real server answers, or answered
    python -m tests.real.differential list             what is asked
    python -m tests.real.differential cover            how often each option of each verb is asked
    python -m tests.real.differential twice            compare the real server with itself

Each takes ``--only PATTERN``: a glob, or a part of the names of stories. Differences are grouped by
their shape, with one example each; ``--all`` lists every one.
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
from tests.real.differential.coverage import asked_in, table
from tests.real.differential.recording import read_recording, write_recording
from tests.real.differential.replay import (
    EMBEDDED_PACE,
    REAL_PACE,
    Pace,
    Transcript,
    replay,
    with_needs,
)
from tests.real.differential.servers import real
from tests.real.differential.story import Raw, Server, Story


def main() -> None:
    """Do what the command line asks."""
    options = _options()
    everything = corpus()
    chosen = [story for story in everything if _is_wanted(story.name, options.only)]
    stories = with_needs(chosen, everything)
    match options.command:
        case "list":
            _print_requests(chosen)
        case "cover":
            _print("\n".join(table(asked_in(chosen, kinds_of_corpus()))))
        case "record":
            write_recording(options.file, _transcript(real(), stories, REAL_PACE))
        case "show":
            _print_answers(_real_transcript(options, stories), chosen)
        case command:
            theirs = _real_transcript(options, stories)
            ours = (
                _transcript(real(), stories, REAL_PACE)
                if command == "twice"
                else _embedded_transcript(stories)
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
    parser.add_argument("--only", default="*", help="the stories of this name")
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


def _real_transcript(options: argparse.Namespace, stories: list[Story]) -> Transcript:
    if options.against is not None:
        recorded = read_recording(options.against)
        new = [story for story in stories if not _is_recorded(story, recorded)]
        if new:
            # What is older than the corpus is asked anew.
            asked = _transcript(real(), with_needs(new, stories), REAL_PACE)
            return {**recorded, **{story.name: asked[story.name] for story in new}}
        return recorded
    return _transcript(real(), stories, REAL_PACE)


def _embedded_transcript(stories: list[Story]) -> Transcript:
    # Here, so that the real server can be asked while the embedded one is under the knife.
    from tests.real.differential.embedded import embedded

    return _transcript(embedded(), stories, EMBEDDED_PACE)


def _is_recorded(story: Story, recorded: Transcript) -> bool:
    return {request.name for request in story.requests} == recorded.get(story.name, {}).keys()


def _transcript(
    server: AbstractContextManager[Server], stories: list[Story], pace: Pace
) -> Transcript:
    with server as started:
        return replay(stories, started, pace=pace)


def _print_verdict(
    theirs: Transcript, ours: Transcript, options: argparse.Namespace, *, whole: bool
) -> int:
    verdict = judged(theirs, ours, known_differences(), whole=whole)
    shown = listing if options.all else compact_listing
    _print(shown(verdict.unexplained))
    _print(verdict.summary())
    return 1 if verdict.unexplained or verdict.outdated else 0


def _print_answers(transcript: Transcript, stories: list[Story]) -> None:
    for story in stories:
        for request in story.requests:
            _print(f"{story.name}:{request.name}  {request.method} {request.path}")
            told = asdict(transcript[story.name][request.name])
            _print(json.dumps(told, ensure_ascii=False, indent=1))


def _print_requests(stories: list[Story]) -> None:
    for story in stories:
        _print(story.name)
        for request in story.requests:
            body = f"  {len(request.body.content)} bytes" if isinstance(request.body, Raw) else ""
            _print(f"  {request.name:32} {request.method} {request.path}{body}")
    _print(f"{sum(len(story.requests) for story in stories)} requests in {len(stories)} stories")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
