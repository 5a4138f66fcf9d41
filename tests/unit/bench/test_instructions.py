"""Instructions are counted for the same work each time, and compared with what is recorded."""

from pathlib import Path

import pytest

from bench.instructions.counting import CannotCount, between, valgrind
from bench.instructions.perform import again, rehearse, unmarked
from bench.instructions.servers import save
from bench.instructions.stage import StageClock
from bench.instructions.verdicts import TOLERANCE, judged, lines, nothing_for
from bench.instructions.workloads import Mark, Workload, before_requests, connected
from bench.peers.clients.steersman_client import get_motto
from steersman.observe import ignore


async def ask_three_times(clock: StageClock, mark: Mark) -> None:
    async with connected(clock, ignore) as client:
        for _ in range(3):
            await get_motto(client)


async def do_nothing(clock: StageClock, mark: Mark) -> None:
    pass


FEW_REQUESTS = Workload(play=ask_three_times, before=before_requests)


def words(before: dict[str, float], now: dict[str, float]) -> list[str]:
    return [each.word for each in judged(before, now)]


def test_a_count_within_the_tolerance_is_as_good_as_the_same() -> None:
    assert words({"get": 1000}, {"get": 1000 * (1 + TOLERANCE)}) == ["ok"]
    assert words({"get": 1000}, {"get": 1000 * (1 - TOLERANCE)}) == ["ok"]


def test_a_count_beyond_it_is_too_many() -> None:
    (verdict,) = judged({"get": 1000}, {"get": 1040})

    assert verdict.is_too_many
    assert not verdict.is_worth_recording


def test_what_is_clearly_fewer_or_new_is_to_be_recorded() -> None:
    assert words({"get": 1000}, {"get": 900, "apply": 1}) == ["fewer", "new"]
    assert not any(each.is_too_many for each in judged({}, {"get": 1}))


def test_what_was_not_counted_this_time_has_no_verdict() -> None:
    assert words({"get": 1000, "apply": 1000}, {"get": 1000}) == ["ok"]


def test_the_table_says_before_now_and_ratio_and_what_to_do() -> None:
    verdicts = judged({"get": 1000, "apply": 20_000}, {"get": 1100, "apply": 10_000})

    heading, get, apply, *advice = lines(verdicts)

    assert heading.split() == ["instructions", "for", "each", "recorded", "now", "ratio"]
    assert get.split() == ["get", "1,000", "1,100", "1.100", "TOO", "MANY"]
    assert apply.split() == ["apply", "20,000", "10,000", "0.500", "fewer"]
    assert len(advice) == 2


def test_without_a_record_it_says_what_there_is_and_what_to_do() -> None:
    said = nothing_for("Python 3.12, plain", ["Python 3.11, plain"])

    assert said.startswith("nothing to compare with: no counts are recorded for Python 3.12, plain")
    assert "only for: Python 3.11, plain\n" in said
    assert "bench.instructions --record\n" in said


def test_a_count_is_what_came_between_two_marks_for_one_thing(tmp_path: Path) -> None:
    dumps = tmp_path / "count"
    for number, total in enumerate((999, 400, 999, 50, 999), start=1):
        dumps.with_name(f"count.{number}").write_text(f"summary: 7\nfn=(1) x\ntotals: {total}\n")

    found = between([("get", 4), ("", 1), ("apply", 5), ("", 1)], dumps)

    assert found == {"get": 100.0, "apply": 10.0}


def test_a_mark_that_valgrind_has_not_seen_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CannotCount, match="has not seen the marks"):
        between([("get", 4), ("", 1)], tmp_path / "count")


def test_without_valgrind_the_error_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(CannotCount, match="apt install valgrind"):
        valgrind(tmp_path / "count", path=str(tmp_path))


# A whole server is made for a rehearsal.
@pytest.mark.timeout(30)
def test_what_was_rehearsed_can_be_performed_without_a_server(tmp_path: Path) -> None:
    rehearse(FEW_REQUESTS, tmp_path / "script")

    again(FEW_REQUESTS, tmp_path / "script", unmarked)


@pytest.mark.timeout(30)
def test_the_same_rehearsal_is_the_same_to_the_last_byte(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"

    rehearse(FEW_REQUESTS, first)
    rehearse(FEW_REQUESTS, second)

    assert first.read_bytes() == second.read_bytes()


def test_what_was_rehearsed_and_is_not_asked_for_is_an_error(tmp_path: Path) -> None:
    save({b"GET / HTTP/1.1": [[]]}, tmp_path / "script")

    with pytest.raises(AssertionError, match="not asked this time"):
        again(Workload(play=do_nothing), tmp_path / "script", unmarked)


def test_a_request_that_was_not_rehearsed_is_an_error(tmp_path: Path) -> None:
    save({}, tmp_path / "script")

    with pytest.raises(AssertionError, match="was not asked at the rehearsal"):
        again(FEW_REQUESTS, tmp_path / "script", unmarked)
