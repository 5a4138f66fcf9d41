"""Turns are taken in rounds, so that nobody has the better half of a noisy hour."""

from collections.abc import Callable

import pytest

from bench.harness.rounds import Cost, above, compared, in_rounds


def turns(*names: str, log: list[str]) -> dict[str, Callable[[], Cost]]:
    def turn(name: str) -> Callable[[], Cost]:
        def run() -> Cost:
            log.append(name)
            return {"turn": float(len(log))}

        return run

    return {name: turn(name) for name in names}


def quiet(_: str) -> None: ...


def test_rounds_go_there_and_back_after_one_that_does_not_count() -> None:
    log: list[str] = []

    costs = in_rounds(turns("a", "b", "c", log=log), rounds=3, progress=quiet)

    assert "".join(log) == "cba" + "abc" + "cba" + "abc"
    assert [cost["turn"] for cost in costs["a"]] == [4, 9, 10]
    assert {name: len(each) for name, each in costs.items()} == {"a": 3, "b": 3, "c": 3}


def test_what_warms_up_may_be_less_or_nothing() -> None:
    log: list[str] = []
    warmed: list[str] = []
    lesser = turns("a", "b", log=warmed)

    in_rounds(turns("a", "b", log=log), rounds=1, progress=quiet, warming_up=lesser)
    in_rounds(turns("a", "b", log=log), rounds=1, progress=quiet, warming_up={})

    assert warmed == ["b", "a"]
    assert log == ["a", "b", "a", "b"]


def test_who_is_optional_and_fails_is_left_out_and_the_others_go_on() -> None:
    log: list[str] = []
    notes: list[str] = []

    def fail() -> Cost:
        raise AssertionError("not today\nthe rest of it")

    taken = {**turns("a", "c", log=log), "b": fail}
    costs = in_rounds(
        taken, rounds=2, progress=quiet, warming_up={}, optional=["b"], told=notes.append
    )

    assert {name: len(each) for name, each in costs.items()} == {"a": 2, "c": 2}
    assert notes == ["without b, which failed (round 1 of 2): not today"]
    with pytest.raises(AssertionError, match="not today"):
        in_rounds(taken, rounds=1, progress=quiet, warming_up={}, optional=["a"])


def test_ratios_and_differences_are_taken_within_a_round() -> None:
    ours = [{"cpu": 1.0, "wall": 3.0}, {"cpu": 4.0, "wall": 5.0}]
    theirs = [{"cpu": 2.0, "wall": 2.0}, {"cpu": 2.0, "wall": 2.0}]

    assert [cost["cpu_ratio"] for cost in compared(ours, theirs, ["cpu"])] == [0.5, 2.0]
    assert above(ours, theirs) == [{"cpu": -1.0, "wall": 1.0}, {"cpu": 2.0, "wall": 3.0}]


def test_rounds_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        compared([{"cpu": 1.0}], [], ["cpu"])
