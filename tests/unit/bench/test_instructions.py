"""Instruction counts of fixed workloads, and the comparison with recorded counts."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.instructions.__main__ import interpreter, main
from bench.instructions.callgrind import NAMES, CountingFailed, counts_between, valgrind
from bench.instructions.servers import save
from bench.instructions.verdicts import TOLERANCE, advice, enforced, lines, missing_record
from bench.instructions.virtual_loop import VirtualClock
from bench.instructions.workload_run import record, replay_workload, unmarked
from bench.instructions.workloads import Mark, Workload, before_requests, connected
from bench.peers.clients.steersman_client import get_motto
from steersman.observe import ignore


async def request_three_times(clock: VirtualClock, mark: Mark) -> None:
    async with connected(clock, ignore) as client:
        for _ in range(3):
            await get_motto(client)


async def do_nothing(clock: VirtualClock, mark: Mark) -> None:
    pass


FEW_REQUESTS = Workload(play=request_three_times, before=before_requests)


# Each of these workloads counts one operation with the name of the workload.
ALL = dict.fromkeys(NAMES, 1000)


def verdicts_of(
    before: dict[str, float], now: dict[str, float], *, is_all: bool = True
) -> list[str]:
    return [each.word for each in enforced(before, now, is_all=is_all)]


def checked(record: Path, recorded: Mapping[str, float], *arguments: str) -> int:
    """The exit status, if each requested workload takes 1,000 instructions."""
    record.write_text(json.dumps({interpreter(): recorded}))
    return main(arguments, count=lambda name: {name: 1000.0}, record=record)


def recorded_counts(record: Path) -> Mapping[str, float]:
    """The recorded counts afterwards."""
    found: Mapping[str, float] = json.loads(record.read_text())[interpreter()]
    return found


def test_a_count_within_the_tolerance_is_ok() -> None:
    assert verdicts_of({"get": 1000}, {"get": 1000 * (1 + TOLERANCE)}) == ["ok"]
    assert verdicts_of({"get": 1000}, {"get": 1000 * (1 - TOLERANCE)}) == ["ok"]


def test_a_count_beyond_the_tolerance_is_too_many() -> None:
    (verdict,) = enforced({"get": 1000}, {"get": 1040}, is_all=True)

    assert verdict.word == "TOO MANY"
    assert verdict.is_bad


def test_a_much_lower_count_is_ok_and_to_be_recorded() -> None:
    verdicts = enforced({"get": 1000}, {"get": 900}, is_all=True)

    assert [each.word for each in verdicts] == ["fewer"]
    assert not any(each.is_bad for each in verdicts)
    assert list(advice(verdicts)) == [
        "Record the lower counts: python -m bench.instructions --record",
    ]


def test_a_count_without_a_record_fails_and_is_to_be_recorded() -> None:
    verdicts = enforced({"get": 1000}, {"get": 1000, "apply": 1}, is_all=True)

    assert [(each.word, each.is_bad) for each in verdicts] == [
        ("ok", False),
        ("NOT RECORDED", True),
    ]
    (said,) = advice(verdicts)
    assert "record it: apply; python -m bench.instructions --record" in said


def test_a_record_without_a_count_fails_and_is_to_be_removed() -> None:
    verdicts = enforced({"apply": 1000, "get": 1000}, {"get": 1000}, is_all=True)

    assert [(each.word, each.is_bad) for each in verdicts] == [("ok", False), ("NOT COUNTED", True)]
    (said,) = advice(verdicts)
    assert "remove it from counts.json: apply" in said


def test_workloads_outside_a_partial_run_have_no_verdict() -> None:
    assert verdicts_of({"get": 1000, "apply": 1000}, {"get": 1000}, is_all=False) == ["ok"]


def test_the_table_has_the_recorded_and_current_counts_and_their_ratio() -> None:
    before = {"get": 1000.0, "apply": 20_000.0, "list": 5.0}
    verdicts = enforced(before, {"get": 1100, "apply": 10_000, "watch": 7}, is_all=True)

    heading, *rows = lines(verdicts)

    assert heading.split() == ["instructions", "for", "each", "recorded", "now", "ratio"]
    assert [row.split() for row in rows] == [
        ["get", "1,000", "1,100", "1.100", "TOO", "MANY"],
        ["apply", "20,000", "10,000", "0.500", "fewer"],
        ["watch", "-", "7", "-", "NOT", "RECORDED"],
        ["list", "5", "-", "-", "NOT", "COUNTED"],
    ]


def test_a_check_passes_only_if_all_counts_match_the_record(tmp_path: Path) -> None:
    record = tmp_path / "counts.json"
    first, *others = ALL

    assert checked(record, ALL) == 0
    assert checked(record, {**ALL, first: 900}) == 1
    assert checked(record, dict.fromkeys(others, 1000)) == 1
    assert checked(record, {**ALL, "of old": 1000}) == 1


def test_a_check_of_some_workloads_ignores_the_others(tmp_path: Path) -> None:
    record = tmp_path / "counts.json"
    first, second, *_ = ALL

    assert checked(record, {first: 1000, second: 900, "of old": 1000}, first) == 0
    assert checked(record, {first: 1000}, first, second) == 1


def test_a_full_recording_replaces_the_whole_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "counts.json"
    first, *_ = ALL

    assert checked(record, {first: 900, "of old": 1000}, "--record") == 0
    assert recorded_counts(record) == ALL
    assert "remove it" not in capsys.readouterr().out


def test_a_partial_recording_keeps_the_other_workloads(tmp_path: Path) -> None:
    record = tmp_path / "counts.json"
    first, second, *_ = ALL

    assert checked(record, {first: 900, second: 900}, "--record", first) == 0
    assert recorded_counts(record) == {first: 1000, second: 900}


def test_without_a_record_the_error_says_how_to_create_one() -> None:
    said = missing_record("Python 3.12, plain", ["Python 3.11, plain"])

    assert said.startswith("no counts are recorded for Python 3.12, plain")
    assert "only for: Python 3.11, plain\n" in said
    assert "bench.instructions --record\n" in said


def test_a_count_is_the_difference_between_two_marks_per_item(tmp_path: Path) -> None:
    dumps = tmp_path / "count"
    for number, total in enumerate((999, 400, 999, 50, 999), start=1):
        dumps.with_name(f"count.{number}").write_text(f"summary: 7\nfn=(1) x\ntotals: {total}\n")

    found = counts_between([("get", 4), ("", 1), ("apply", 5), ("", 1)], dumps)

    assert found == {"get": 100.0, "apply": 10.0}


def test_a_mark_that_valgrind_did_not_reach_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CountingFailed, match="has not found the marks"):
        counts_between([("get", 4), ("", 1)], tmp_path / "count")


def test_without_valgrind_the_error_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(CountingFailed, match="apt install valgrind"):
        valgrind(tmp_path / "count", path=str(tmp_path))


def test_a_recording_can_be_replayed_without_a_server(tmp_path: Path) -> None:
    record(FEW_REQUESTS, tmp_path / "script")

    replay_workload(FEW_REQUESTS, tmp_path / "script", unmarked)


def test_two_recordings_of_a_workload_have_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"

    record(FEW_REQUESTS, first)
    record(FEW_REQUESTS, second)

    assert first.read_bytes() == second.read_bytes()


def test_a_recorded_request_that_is_not_sent_is_an_error(tmp_path: Path) -> None:
    save({b"GET / HTTP/1.1": [[]]}, tmp_path / "script")

    with pytest.raises(AssertionError, match="recorded, but not requested"):
        replay_workload(Workload(play=do_nothing), tmp_path / "script", unmarked)


def test_a_request_that_is_not_in_the_recording_is_an_error(tmp_path: Path) -> None:
    save({}, tmp_path / "script")

    with pytest.raises(AssertionError, match="is not in the recording"):
        replay_workload(FEW_REQUESTS, tmp_path / "script", unmarked)
