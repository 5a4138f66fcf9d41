"""Rounds of turns, and ratios within a round."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.harness.rounds import (
    Cost,
    Turn,
    all_with_ratios,
    best_of,
    in_rounds,
    informer_turn,
    minus,
    with_ratios,
)

# Prints two lines from its environment, one at the start and one at the end. Another process works
# before the first line and after it.
INFORMER = """
import os, pathlib, sys
work = pathlib.Path(sys.argv[1])
work.write_text("5")
first, *rest = os.environ["SAID"].splitlines()
print(first, flush=True)
sys.stdin.read()
work.write_text("9")
print("\\n".join(rest))
"""


HELD = {"objects": 3, "digest": 12}


def informing(
    work: Path, *, said: int, held: str = json.dumps(HELD), later_seconds: float = 0.0
) -> Turn:
    """A turn that must print 3 and then its cache, while ``work`` increases from 2 to 5."""
    work.write_text("2")
    return informer_turn(
        [sys.executable, "-c", INFORMER, str(work)],
        Path("kubeconfig"),
        {"objects": 3},
        held=HELD,
        variables={"SAID": json.dumps({"objects": said}) + "\n" + held},
        counters={"work": lambda: float(work.read_text())},
        later_seconds=later_seconds,
    )


def turns(*names: str, log: list[str]) -> dict[str, Callable[[], Cost]]:
    def turn(name: str) -> Callable[[], Cost]:
        def run() -> Cost:
            log.append(name)
            return {"turn": float(len(log))}

        return run

    return {name: turn(name) for name in names}


def wait_until_idle(_: str) -> None: ...


def test_rounds_alternate_their_order_after_an_uncounted_warm_up() -> None:
    log: list[str] = []

    costs = in_rounds(turns("a", "b", "c", log=log), rounds=3, progress=wait_until_idle)

    assert "".join(log) == "cba" + "abc" + "cba" + "abc"
    assert [cost["turn"] for cost in costs["a"]] == [4, 9, 10]
    assert {name: len(each) for name, each in costs.items()} == {"a": 3, "b": 3, "c": 3}


def test_a_warm_up_can_be_shorter_or_empty() -> None:
    log: list[str] = []
    warmed: list[str] = []
    lesser = turns("a", "b", log=warmed)

    in_rounds(turns("a", "b", log=log), rounds=1, progress=wait_until_idle, warming_up=lesser)
    in_rounds(turns("a", "b", log=log), rounds=1, progress=wait_until_idle, warming_up={})

    assert warmed == ["b", "a"]
    assert log == ["a", "b", "a", "b"]


def test_an_optional_contender_that_fails_is_omitted() -> None:
    log: list[str] = []
    notes: list[str] = []

    def fail() -> Cost:
        raise AssertionError("not today\nthe rest of it")

    taken = {**turns("a", "c", log=log), "b": fail}
    costs = in_rounds(
        taken,
        rounds=2,
        progress=wait_until_idle,
        warming_up={},
        optional=["b"],
        report=notes.append,
    )

    assert {name: len(each) for name, each in costs.items()} == {"a": 2, "c": 2}
    assert notes == ["without b, which failed (round 1 of 2): not today"]
    with pytest.raises(AssertionError, match="not today"):
        in_rounds(taken, rounds=1, progress=wait_until_idle, warming_up={}, optional=["a"])


def test_ratios_and_differences_are_taken_within_a_round() -> None:
    steersman = [{"cpu": 1.0, "wall": 3.0}, {"cpu": 4.0, "wall": 5.0}]
    peer = [{"cpu": 2.0, "wall": 2.0}, {"cpu": 2.0, "wall": 2.0}]

    assert [cost["cpu_ratio"] for cost in with_ratios(steersman, peer, ["cpu"])] == [0.5, 2.0]
    assert minus(steersman, peer) == [{"cpu": -1.0, "wall": 1.0}, {"cpu": 2.0, "wall": 3.0}]


def test_a_round_with_only_one_of_two_contenders_has_no_ratio() -> None:
    fewer, more = [{"cpu": 1.0}], [{"cpu": 2.0}, {"cpu": 8.0}]

    assert with_ratios(fewer, more, ["cpu"]) == [{"cpu": 1.0, "cpu_ratio": 0.5}]
    assert with_ratios(more, fewer, ["cpu"]) == [{"cpu": 2.0, "cpu_ratio": 2.0}, {"cpu": 8.0}]


def test_there_is_no_ratio_to_zero_or_to_a_missing_figure() -> None:
    steersman = [{"cpu": 1.0, "late": 3.0, "later_resident": 5.0}]
    peer = [{"cpu": 2.0, "late": 0.0}]

    found = with_ratios(steersman, peer, ["cpu", "late", "later_resident", "peak"])

    assert found == [{**steersman[0], "cpu_ratio": 0.5}]


def test_all_contenders_are_compared_with_one_under_the_given_names() -> None:
    costs = {"steersman": [{"cpu": 1.0}], "peer": [{"cpu": 4.0}]}

    found = all_with_ratios(costs, "peer", ["cpu"], suffix=" of peer")

    assert found["steersman"] == [{"cpu": 1.0, "cpu of peer": 0.25}]
    assert found["peer"] == [{"cpu": 4.0, "cpu of peer": 1.0}]
    assert all_with_ratios(costs, "one that failed", ["cpu"]) == costs


def test_best_of_takes_the_best_figure_of_each_round() -> None:
    costs = {
        "one": [{"cpu": 1.0, "rate": 5.0}, {"cpu": 4.0, "rate": 6.0}],
        "another": [{"cpu": 2.0, "rate": 7.0}, {"cpu": 3.0, "rate": 5.0}],
        "no contender": [{"cpu": 0.0, "rate": 9.0}, {"cpu": 0.0, "rate": 9.0}],
    }

    assert best_of(costs, ["one", "another"], ["cpu"]) == [{"cpu": 1.0}, {"cpu": 3.0}]
    assert best_of(costs, ["one", "another"], ["rate"], best=max) == [{"rate": 7.0}, {"rate": 6.0}]


def test_extra_counters_stop_at_the_programs_first_line(tmp_path: Path) -> None:
    work = tmp_path / "work"

    cost = informing(work, said=3)()

    assert cost["work"] == 3.0
    assert work.read_text() == "9"


def test_memory_is_measured_again_only_on_request(tmp_path: Path) -> None:
    once = informing(tmp_path / "work", said=3)()
    twice = informing(tmp_path / "work", said=3, later_seconds=0.01)()

    assert "later_resident" not in once
    assert twice["later_resident"] > 0


def test_a_program_that_prints_another_result_has_no_cost(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"expected {'objects': 3}, got {'objects': 2}: "):
        informing(tmp_path / "work", said=2)()


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        ('{"objects": 3, "digest": 13}', "{'objects': 3, 'digest': 13}"),
        ('{"objects": 3}', "{'objects': 3}"),
        ("", "nothing"),
        ("no JSON", "no JSON"),
    ],
)
def test_a_program_with_wrong_or_missing_contents_has_no_cost(
    tmp_path: Path, held: str, shown: str
) -> None:
    with pytest.raises(AssertionError) as raised:
        informing(tmp_path / "work", said=3, held=held)()

    assert str(raised.value).startswith(f"expected {HELD}, got {shown}: {sys.executable} -c")


def test_a_program_that_exits_without_output_has_no_cost(tmp_path: Path) -> None:
    silent = informer_turn(
        [sys.executable, "-c", ""],
        tmp_path / "kubeconfig",
        {"objects": 3},
        held=HELD,
        variables={},
        counters={},
        later_seconds=0.0,
    )

    with pytest.raises(AssertionError, match=r"expected {'objects': 3}, got nothing"):
        silent()
