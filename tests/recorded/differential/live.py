"""What the real server responds now, without what happens only sometimes.

The real server first patches the object of its watch cache. If that is stale, it retries, and also
sends the warnings of the first attempt. Two writes may or may not be in the same second, which
changes the order of managers. Both are rare. A response is therefore accepted only if it was given
twice, where the recording counts as one time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import msgspec

from tests.recorded.differential.normal import NormalizedResponse
from tests.recorded.differential.replay import REAL_PACE, Transcript, replay, with_needs
from tests.recorded.differential.scenario import Scenario, Server

MAX_RUNS = 5

Responses = Mapping[str, NormalizedResponse]


def confirmed_transcript(
    scenarios: Sequence[Scenario],
    everything: Sequence[Scenario],
    recorded: Transcript,
    start: Callable[[], AbstractContextManager[Server]],
) -> Transcript:
    """The responses to the scenarios, each given by two runs, or by a run and the recording.

    A scenario is missing if the responses of all runs differ. Each run has a new server, because
    the names of objects are always the same.
    """
    given: dict[str, dict[bytes, Responses]] = {
        each.name: dict(_keyed(recorded.get(each.name))) for each in scenarios
    }
    confirmed: dict[str, Responses] = {}
    waiting = list(scenarios)
    for _ in range(MAX_RUNS):
        with start() as server:
            run = replay(with_needs(waiting, everything), server, pace=REAL_PACE)
        for scenario in waiting:
            for key, responses in _keyed(run[scenario.name]):
                if key in given[scenario.name]:
                    confirmed[scenario.name] = responses
                given[scenario.name][key] = responses
        waiting = [each for each in waiting if each.name not in confirmed]
        if not waiting:
            break
    return confirmed


def _keyed(responses: Responses | None) -> Iterator[tuple[bytes, Responses]]:
    if responses is not None:
        yield msgspec.json.encode(responses, order="sorted"), responses
