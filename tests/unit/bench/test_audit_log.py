"""Writes of replicas in the audit log."""

import json
from collections.abc import Sequence

from bench.harness.audit_log import AuditedWrite, audited_writes, first_write, interleaved_writes

FORMER, SUCCESSOR = "replica-1", "replica-2"


def line(user: str, received: str, code: int = 200) -> str:
    event = {
        "user": {"username": user},
        "requestReceivedTimestamp": received,
        "responseStatus": {"code": code},
    }
    return json.dumps(event) + "\n"


def writes(letters: str) -> Sequence[AuditedWrite]:
    """One write each second: ``f`` by the former leader, ``s`` by its successor."""
    writers = {"f": FORMER, "s": SUCCESSOR}
    return [
        AuditedWrite(writer=writers[letter], unix_seconds=float(second), was_done=True)
        for second, letter in enumerate(letters)
    ]


def test_writes_of_replicas_are_sorted_by_time() -> None:
    found = audited_writes(
        [
            line("system:serviceaccount:default:replica-2", "2026-11-01T08:00:02.500000Z", 409),
            line("admin", "2026-11-01T08:00:01.000000Z"),
            line("system:serviceaccount:default:replica-1", "2026-11-01T08:00:00.250000Z", 201),
        ]
    )

    assert [(each.writer, each.was_done) for each in found] == [(FORMER, True), (SUCCESSOR, False)]
    assert found[1].unix_seconds - found[0].unix_seconds == 2.25


def test_first_write_returns_the_first_write_after_a_time() -> None:
    found = writes("fffss")

    assert first_write(SUCCESSOR, found, since=1.0) == 3.0
    assert first_write(FORMER, found, since=2.0) is None


def test_writes_of_a_former_leader_between_those_of_its_successor_are_counted() -> None:
    assert interleaved_writes(FORMER, SUCCESSOR, writes("ffssfsffs")) == 3


def test_an_early_write_of_a_standby_is_found_by_the_leaders_next_write() -> None:
    assert interleaved_writes(FORMER, SUCCESSOR, writes("ffsffsss")) == 2


def test_a_leader_that_hands_over_and_returns_has_no_overlapping_writes() -> None:
    assert interleaved_writes(FORMER, SUCCESSOR, writes("ffsssfff")) == 0
    assert interleaved_writes(FORMER, SUCCESSOR, writes("ff")) == 0
