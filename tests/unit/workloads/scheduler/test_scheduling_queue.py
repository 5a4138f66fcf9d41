"""Whose turn it is among those who have no node."""

from steersman_cluster.workloads.scheduler.schedule_one import Wish, wish
from steersman_cluster.workloads.scheduler.scheduling_queue import Waiting
from tests.unit.kubelet.samples import pod

SORT = b"one sort"


def wishes(number: int, *, priority: int = 0, prefix: str = "pod") -> list[Wish]:
    return [wish(pod(f"{prefix}-{each}", priority=priority)) for each in range(number)]


def turns(waiting: Waiting) -> list[str]:
    """The names of all who have a turn."""
    found = []
    while (each := waiting.next()) is not None:
        found.append(each.pod.name)
    return found


def test_who_comes_first_has_the_first_turn_but_for_priority() -> None:
    waiting = Waiting()
    for each in (*wishes(2), *wishes(1, priority=5, prefix="urgent")):
        waiting.add(each)

    assert turns(waiting) == ["urgent-0", "pod-0", "pod-1"]
    assert turns(waiting) == []


def test_of_those_who_fit_nowhere_together_one_is_tried_and_then_the_next() -> None:
    waiting = Waiting()
    crowd = wishes(3)
    for each in crowd:
        waiting.add(each)
        waiting.next()
        waiting.block(each, SORT, "full")

    waiting.reconsider()
    first = turns(waiting)
    waiting.remove(crowd[0].pod.uid)  # it got a node
    second = turns(waiting)
    waiting.block(crowd[1], SORT, "full again")
    third = turns(waiting)

    assert (first, second, third) == (["pod-0"], ["pod-1"], [])
    assert waiting.message(SORT) == "full again"


def test_while_one_is_to_be_tried_nobody_knows_about_the_others() -> None:
    waiting = Waiting()
    one, new = wishes(2)
    waiting.add(one)
    waiting.next()
    waiting.block(one, SORT, "full")
    known = waiting.message(SORT)

    waiting.reconsider()

    assert known == "full"
    assert waiting.message(SORT) is None
    assert waiting.message(new.shape) is None


def test_who_turns_out_to_be_of_another_sort_lets_the_next_one_try() -> None:
    waiting = Waiting()
    crowd = wishes(2)
    for each in crowd:
        waiting.add(each)
        waiting.next()
        waiting.block(each, SORT, "full")
    waiting.reconsider()
    assert turns(waiting) == ["pod-0"]

    waiting.block(crowd[0], b"another sort", "kept away")

    assert turns(waiting) == ["pod-1"]


def test_a_change_among_neighbours_is_news_only_to_those_who_have_some() -> None:
    waiting = Waiting()
    alone, social = wishes(2)
    social = Wish(pod=social.pod, needs={}, ports=(), shape=b"social", has_neighbours=True)
    for each in (alone, social):
        waiting.add(each)
        waiting.next()
        waiting.block(each, each.shape, "no")
    assert waiting.has_neighbours

    waiting.reconsider(only_neighbours=True)

    assert turns(waiting) == ["pod-1"]
    waiting.remove(social.pod.uid)
    assert not waiting.has_neighbours


def test_nothing_is_kept_of_those_who_are_gone() -> None:
    waiting = Waiting()
    crowd = wishes(3)
    for each in crowd:
        waiting.add(each)
    waiting.next()
    waiting.block(crowd[0], SORT, "full")

    for each in crowd:
        waiting.remove(each.pod.uid)

    assert (len(waiting), waiting.sorts, turns(waiting)) == (0, 0, [])
