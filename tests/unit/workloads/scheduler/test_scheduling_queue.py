"""The order in which the scheduling queue pops Pods."""

from steersman_cluster.workloads.scheduler.schedule_one import QueuedPodInfo, queued_pod_info
from steersman_cluster.workloads.scheduler.scheduling_queue import SchedulingQueue
from tests.unit.workloads.nodes.samples import pod

SORT = b"one signature"


def wishes(number: int, *, priority: int = 0, prefix: str = "pod") -> list[QueuedPodInfo]:
    return [queued_pod_info(pod(f"{prefix}-{each}", priority=priority)) for each in range(number)]


def turns(waiting: SchedulingQueue) -> list[str]:
    """The names of all Pods that the queue pops now."""
    found = []
    while (each := waiting.pop()) is not None:
        found.append(each.pod.name)
    return found


def test_pods_are_popped_by_priority_and_then_by_arrival() -> None:
    waiting = SchedulingQueue()
    for each in (*wishes(2), *wishes(1, priority=5, prefix="urgent")):
        waiting.add(each)

    assert turns(waiting) == ["urgent-0", "pod-0", "pod-1"]
    assert turns(waiting) == []


def test_of_unschedulable_pods_with_one_signature_one_is_tried_at_a_time() -> None:
    waiting = SchedulingQueue()
    crowd = wishes(3)
    for each in crowd:
        waiting.add(each)
        waiting.pop()
        waiting.add_unschedulable(each, SORT, "full")

    waiting.move_all_to_active()
    first = turns(waiting)
    waiting.remove(crowd[0].pod.uid)  # it was bound
    second = turns(waiting)
    waiting.add_unschedulable(crowd[1], SORT, "full again")
    third = turns(waiting)

    assert (first, second, third) == (["pod-0"], ["pod-1"], [])
    assert waiting.message(SORT) == "full again"


def test_while_one_pod_is_queued_others_of_its_signature_have_no_known_result() -> None:
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


def test_a_pod_with_a_changed_signature_lets_the_next_one_try() -> None:
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


def test_a_pod_change_only_retries_pods_with_constraints_on_other_pods() -> None:
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


def test_a_removed_pod_leaves_no_entry_in_the_queue() -> None:
    waiting = SchedulingQueue()
    crowd = wishes(3)
    for each in crowd:
        waiting.add(each)
    waiting.pop()
    waiting.add_unschedulable(crowd[0], SORT, "full")

    for each in crowd:
        waiting.remove(each.pod.uid)

    assert (len(waiting), waiting.signatures, turns(waiting)) == (0, 0, [])
