"""Whose turn it is among those who have no node."""

from steersman_cluster.workloads.scheduler.schedule_one import QueuedPodInfo, queued_pod_info
from steersman_cluster.workloads.scheduler.scheduling_queue import SchedulingQueue
from tests.unit.workloads.nodes.samples import pod

SORT = b"one signature"


def wishes(number: int, *, priority: int = 0, prefix: str = "pod") -> list[QueuedPodInfo]:
    return [queued_pod_info(pod(f"{prefix}-{each}", priority=priority)) for each in range(number)]


def turns(waiting: SchedulingQueue) -> list[str]:
    """The names of all who have a turn."""
    found = []
    while (each := waiting.pop()) is not None:
        found.append(each.pod.name)
    return found


def test_who_comes_first_has_the_first_turn_but_for_priority() -> None:
    waiting = SchedulingQueue()
    for each in (*wishes(2), *wishes(1, priority=5, prefix="urgent")):
        waiting.add(each)

    assert turns(waiting) == ["urgent-0", "pod-0", "pod-1"]
    assert turns(waiting) == []


def test_of_those_who_fit_nowhere_together_one_is_tried_and_then_the_next() -> None:
    waiting = SchedulingQueue()
    crowd = wishes(3)
    for each in crowd:
        waiting.add(each)
        waiting.pop()
        waiting.add_unschedulable(each, SORT, "full")

    waiting.move_all_to_active()
    first = turns(waiting)
    waiting.remove(crowd[0].pod.uid)  # it got a node
    second = turns(waiting)
    waiting.add_unschedulable(crowd[1], SORT, "full again")
    third = turns(waiting)

    assert (first, second, third) == (["pod-0"], ["pod-1"], [])
    assert waiting.message(SORT) == "full again"


def test_while_one_is_to_be_tried_nobody_knows_about_the_others() -> None:
    waiting = SchedulingQueue()
    one, new = wishes(2)
    waiting.add(one)
    waiting.pop()
    waiting.add_unschedulable(one, SORT, "full")
    known = waiting.message(SORT)

    waiting.move_all_to_active()

    assert known == "full"
    assert waiting.message(SORT) is None
    assert waiting.message(new.signature) is None


def test_who_turns_out_to_be_of_another_sort_lets_the_next_one_try() -> None:
    waiting = SchedulingQueue()
    crowd = wishes(2)
    for each in crowd:
        waiting.add(each)
        waiting.pop()
        waiting.add_unschedulable(each, SORT, "full")
    waiting.move_all_to_active()
    assert turns(waiting) == ["pod-0"]

    waiting.add_unschedulable(crowd[0], b"another signature", "kept away")

    assert turns(waiting) == ["pod-1"]


def test_a_change_among_neighbours_is_news_only_to_those_who_have_some() -> None:
    waiting = SchedulingQueue()
    alone, social = wishes(2)
    social = QueuedPodInfo(
        pod=social.pod, requested={}, ports=(), signature=b"social", has_pod_constraints=True
    )
    for each in (alone, social):
        waiting.add(each)
        waiting.pop()
        waiting.add_unschedulable(each, each.signature, "no")
    assert waiting.has_pod_constraints

    waiting.move_all_to_active(only_pod_constraints=True)

    assert turns(waiting) == ["pod-1"]
    waiting.remove(social.pod.uid)
    assert not waiting.has_pod_constraints


def test_nothing_is_kept_of_those_who_are_gone() -> None:
    waiting = SchedulingQueue()
    crowd = wishes(3)
    for each in crowd:
        waiting.add(each)
    waiting.pop()
    waiting.add_unschedulable(crowd[0], SORT, "full")

    for each in crowd:
        waiting.remove(each.pod.uid)

    assert (len(waiting), waiting.signatures, turns(waiting)) == (0, 0, [])
