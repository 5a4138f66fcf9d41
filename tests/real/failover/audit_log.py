"""The writes of two replicas in the API server's audit log. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from steersman.units import parse_time

# All writes, after the response.
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "verbs": ["get", "list", "watch"]}, {"level": "Metadata"}],
}

# Resources that a replica may write without leading.
UNFENCED = frozenset({"leases", "events"})
REVIEWS = "reviews"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedWrite:
    """A write of a replica, with the times of its request and response."""

    agent: str
    description: str
    code: int
    received_time: datetime
    answered_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One failover: the old leader was paused, and the new one acquired the lease."""

    old: str
    new: str
    stopped_time: datetime
    resumed_time: datetime
    ended_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverResult:
    """The result of a round; ``late`` are writes of the old leader after the new one's first."""

    failover_seconds: float
    late: Sequence[AuditedWrite]
    writes: int


def leader_writes(lines: Iterable[bytes]) -> list[AuditedWrite]:
    """The successful writes that only a leader may make, by the time of receipt."""
    found: list[AuditedWrite] = []
    for line in lines:
        event = json.loads(line)
        reference = event.get("objectRef", {})
        resource = reference.get("resource", "")
        code = event.get("responseStatus", {}).get("code", 0)
        if resource in UNFENCED or resource.endswith(REVIEWS) or not 200 <= code < 300:
            continue
        found.append(
            AuditedWrite(
                agent=event.get("userAgent", ""),
                description=f"{event['verb']} {resource} {reference.get('name', '')}",
                code=code,
                received_time=parse_time(event["requestReceivedTimestamp"]),
                answered_time=parse_time(event["stageTimestamp"]),
            )
        )
    return sorted(found, key=lambda each: each.received_time)


def failover_result(played: Round, writes: Sequence[AuditedWrite]) -> FailoverResult:
    """The time without a write, and the late writes of the old leader."""
    within = [
        each for each in writes if played.stopped_time < each.answered_time <= played.ended_time
    ]
    of_new = [each for each in within if each.agent == played.new]
    assert of_new, f"{played.new} wrote nothing"
    first = of_new[0]
    return FailoverResult(
        failover_seconds=(first.received_time - played.stopped_time).total_seconds(),
        # By the time of the response: an earlier request that completed late counts, too.
        late=[
            each
            for each in within
            if each.agent == played.old and each.answered_time > first.received_time
        ],
        writes=len(of_new),
    )
