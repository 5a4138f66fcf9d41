"""The writes of two replicas in the API server's audit log. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from steersman.units import parse_time

# Everything that is written, once it is answered.
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "verbs": ["get", "list", "watch"]}, {"level": "Metadata"}],
}

# What a replica may write that does not lead.
FREE = frozenset({"leases", "events"})
REVIEWS = "reviews"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A write of a replica, from when the server got it until when it had answered."""

    agent: str
    what: str
    code: int
    received_time: datetime
    answered_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The leader stood still from one moment to the other, and another took over."""

    old: str
    new: str
    stopped_time: datetime
    woken_time: datetime
    ended_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a round; ``late`` are writes of the old leader after the new one's first."""

    failover_seconds: float
    late: Sequence[Written]
    writes: int


def accepted(lines: Iterable[bytes]) -> list[Written]:
    """The writes that only a leader may make, and that were carried out, in order."""
    found: list[Written] = []
    for line in lines:
        event = json.loads(line)
        about = event.get("objectRef", {})
        resource = about.get("resource", "")
        code = event.get("responseStatus", {}).get("code", 0)
        if resource in FREE or resource.endswith(REVIEWS) or not 200 <= code < 300:
            continue
        found.append(
            Written(
                agent=event.get("userAgent", ""),
                what=f"{event['verb']} {resource} {about.get('name', '')}",
                code=code,
                received_time=parse_time(event["requestReceivedTimestamp"]),
                answered_time=parse_time(event["stageTimestamp"]),
            )
        )
    return sorted(found, key=lambda each: each.received_time)


def judged(played: Round, writes: Sequence[Written]) -> Verdict:
    """How long there was no write, and which replica wrote wrongly."""
    within = [
        each for each in writes if played.stopped_time < each.answered_time <= played.ended_time
    ]
    of_new = [each for each in within if each.agent == played.new]
    assert of_new, f"{played.new} has never written"
    first = of_new[0]
    return Verdict(
        failover_seconds=(first.received_time - played.stopped_time).total_seconds(),
        # By when they were answered: one that the server had long before counts as well.
        late=[
            each
            for each in within
            if each.agent == played.old and each.answered_time > first.received_time
        ],
        writes=len(of_new),
    )
