"""The comparison of a group: of the embedded server, or of the real one, with the recording."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from tests.recorded.differential.compare import Verdict, judged, known_differences, listing
from tests.recorded.differential.embedded import embedded
from tests.recorded.differential.live import MAX_RUNS, confirmed_transcript
from tests.recorded.differential.replay import EMBEDDED_PACE, Transcript, replay, with_needs
from tests.recorded.differential.scenario import Scenario
from tests.recorded.differential.servers import real
from tests.recorded.differential.transcripts import (
    check_complete,
    group_of,
    record_transcript,
    recorded_transcript,
)
from tests.recorded.module_recording import Mode
from tests.recorded.recordings import RecordingError

# Compares the group of this name, or records it.
Compare: TypeAlias = Callable[[str], None]


def embedded_comparison(everything: Sequence[Scenario]) -> Compare:
    """Fails if the embedded server does not respond to a group as recorded."""

    def compare(group: str) -> None:
        scenarios = [each for each in everything if group_of(each.name) == group]
        recorded = recorded_transcript(group)
        check_complete(group, scenarios, recorded)
        with embedded() as server, _no_garbage_collection():
            run = replay(
                with_needs(scenarios, everything), server, pace=EMBEDDED_PACE, expected=recorded
            )
        found = {each.name: run[each.name] for each in scenarios}
        verdict = judged(recorded, found, known_differences(), group=group)
        assert not verdict.unexplained, report(verdict)
        assert not verdict.outdated, report(verdict)

    return compare


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    # Collections take a sixth of the time, because a transcript has many objects; none is garbage.
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def real_comparison(
    groups: Sequence[str], everything: Sequence[Scenario], *, mode: Mode
) -> Compare:
    """Fails if the real server does not respond to a group as recorded, or records it.

    The scenarios of all groups run at once, because most of a watch is waiting for its end.
    """
    scenarios = [each for each in everything if group_of(each.name) in groups]
    recorded = {group: recorded_transcript(group) for group in groups}
    every = {name: each for transcript in recorded.values() for name, each in transcript.items()}
    run = confirmed_transcript(scenarios, everything, every, real)

    def compare(group: str) -> None:
        own = [each for each in scenarios if group_of(each.name) == group]
        if unsettled := [each.name for each in own if each.name not in run]:
            raise RecordingError(
                f"in {MAX_RUNS} runs, the real server never responds alike to"
                f" {', '.join(unsettled)}"
            )
        found: Transcript = {each.name: run[each.name] for each in own}
        if mode is Mode.RECORD:
            record_transcript(group, found)
            return
        check_complete(group, own, recorded[group])
        differences = judged(found, recorded[group], []).unexplained
        if differences:
            raise RecordingError(f"{group} is out of date:\n{listing(differences)}\n")

    return compare


def report(verdict: Verdict) -> str:
    """All differences, and the number of equal responses."""
    return f"\n{listing(verdict.unexplained)}\n{verdict.summary()}"
