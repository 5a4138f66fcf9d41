"""Runs scenarios on a server and normalizes its responses."""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from tests.recorded.differential.normal import NormalizedResponse, Normalizer
from tests.recorded.differential.scenario import (
    Answer,
    Changed,
    Json,
    Raw,
    Request,
    Scenario,
    Server,
    Stream,
    resolved,
)

JSON = "application/json"

# The pause before a request is repeated because the server has not settled.
LOOK_AGAIN_SECONDS = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many scenarios run at a time, and how often to check whether a server has settled."""

    workers: int
    looks: int


# Most of a watch is waiting for its end. Background work of the server takes time: a definition is
# deleted after five seconds. If it takes twenty, the scenario is wrong.
REAL_PACE = Pace(workers=12, looks=800)

# The embedded server completes all work before it responds, and its watches end in virtual time.
EMBEDDED_PACE = Pace(workers=1, looks=1)

# The responses, by the names of the scenario and of the request.
Transcript: TypeAlias = Mapping[str, Mapping[str, NormalizedResponse]]


class Answers(Mapping[str, Json]):
    """The responses, by the name of the request; decoded on first use."""

    def __init__(self) -> None:
        self.received: dict[str, Answer] = {}
        self._decoded: dict[str, Json] = {}

    def __getitem__(self, name: str) -> Json:
        if name not in self._decoded:
            self._decoded[name] = self.received[name].json()
        return self._decoded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.received)

    def __len__(self) -> int:
        return len(self.received)


def with_needs(chosen: Iterable[Scenario], everything: Sequence[Scenario]) -> list[Scenario]:
    """The selected scenarios and those that they need, in the order of the corpus."""
    by_name = {scenario.name: scenario for scenario in everything}
    wanted: set[str] = set()
    waiting = [scenario.name for scenario in chosen]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += by_name[name].needs
    return [scenario for scenario in everything if scenario.name in wanted]


def replay(
    scenarios: Sequence[Scenario],
    server: Server,
    *,
    pace: Pace,
    expected: Transcript = MappingProxyType({}),
) -> Transcript:
    """The server's response to each request of each scenario.

    Responses that are as ``expected`` are normalized faster.
    """

    def run(scenario: Scenario) -> Mapping[str, NormalizedResponse]:
        return _run(scenario, server, pace, expected.get(scenario.name, {}))

    responses = {scenario.name: run(scenario) for scenario in scenarios if scenario.first}
    # The longest scenarios first, so that the run does not end with them alone.
    rest = sorted(
        (scenario for scenario in scenarios if not scenario.first), key=_waits, reverse=True
    )
    if pace.workers == 1:
        return responses | {scenario.name: run(scenario) for scenario in rest}
    with ThreadPoolExecutor(pace.workers) as pool:
        answers = pool.map(run, rest)
        return responses | {
            scenario.name: each for scenario, each in zip(rest, answers, strict=True)
        }


def _waits(scenario: Scenario) -> int:
    return sum("timeoutSeconds=1" in request.path for request in scenario.requests)


def _run(
    scenario: Scenario,
    server: Server,
    pace: Pace,
    expected: Mapping[str, NormalizedResponse],
) -> Mapping[str, NormalizedResponse]:
    if scenario.namespace is not None:
        metadata = {"name": scenario.namespace, "labels": {"scenario": scenario.namespace}}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        made = Request(name="namespace", method="POST", path="/api/v1/namespaces", body=body)
        _ask(made, server, {}, looks=1)
    normalizer = Normalizer()
    answers = Answers()
    responses: dict[str, NormalizedResponse] = {}
    followed: list[tuple[Request, Stream]] = []
    for request in scenario.requests:
        if request.new_second:
            server.wait_for_second()
        if request.ends_with is not None:
            followed.append((request, _follow(request, server, answers)))
            continue
        answer = _ask(request, server, answers, looks=pace.looks)
        answers.received[request.name] = answer
        responses[request.name] = normalizer.normalized(
            request.name, answer, expected.get(request.name)
        )
    # After all others, so that values in events have the names of the responses that had them
    # first.
    for request, stream in followed:
        assert request.ends_with is not None
        responses[request.name] = normalizer.normalized(
            request.name,
            stream.received(request.ends_with.matches),
            expected.get(request.name),
        )
    return responses


def _follow(request: Request, server: Server, answers: Mapping[str, Json]) -> Stream:
    path: str = resolved(request.path, answers)
    return server.follow(path, _headers(request, server, answers, sends=False))


def _ask(request: Request, server: Server, answers: Mapping[str, Json], *, looks: int) -> Answer:
    path: str = resolved(request.path, answers)
    body = _encoded(request.body, answers)
    sent = _headers(request, server, answers, sends=body is not None)
    answer = server.call(request.method, path, body, sent)
    while looks > 1 and request.until is not None and not request.until(answer):
        threading.Event().wait(LOOK_AGAIN_SECONDS)
        answer = server.call(request.method, path, body, sent)
        looks -= 1
    return answer


def _headers(
    request: Request, server: Server, answers: Mapping[str, Json], *, sends: bool
) -> dict[str, str]:
    headers = {
        "Accept": JSON,
        "Authorization": f"Bearer {server.token}",
        "User-Agent": "differential/1",
        **({"Content-Type": JSON} if sends else {}),
        **resolved(dict(request.headers), answers),
    }
    return {name: value for name, value in headers.items() if value}


def _encoded(body: Json, answers: Mapping[str, Json]) -> bytes | None:
    match body:
        case None:
            return None
        case Raw(content):
            return content
        case Changed():
            return _compact(resolved(body, answers))
        case _:
            written = _compact(body)
            return _compact(resolved(body, answers)) if b"{{" in written else written


def _compact(document: Json) -> bytes:
    """Without spaces, because the server stores untyped values as they are written."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
