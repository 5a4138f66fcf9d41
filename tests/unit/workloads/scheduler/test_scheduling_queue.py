"""The order in which the scheduling queue pops Pods."""

from steersman_cluster.workloads.scheduler.schedule_one import QueuedPodInfo, queued_pod_info
from steersman_cluster.workloads.scheduler.scheduling_queue import SchedulingQueue
from tests.unit.workloads.nodes.samples import pod

SORT = b"one signature"


def queued_pods(number: int, *, priority: int = 0, prefix: str = "pod") -> list[QueuedPodInfo]:
    return [queued_pod_info(pod(f"{prefix}-{each}", priority=priority)) for each in range(number)]


def popped(queue: SchedulingQueue) -> list[str]:
    """Return the names of all Pods that the queue pops."""
    found = []
    while (each := queue.pop()) is not None:
        found.append(each.pod.name)
    return found


def test_pods_are_popped_by_priority_and_then_by_arrival() -> None:
    queue = SchedulingQueue()
    for each in (*queued_pods(2), *queued_pods(1, priority=5, prefix="urgent")):
        queue.add(each)

    assert popped(queue) == ["urgent-0", "pod-0", "pod-1"]
    assert popped(queue) == []


def test_of_unschedulable_pods_with_one_signature_one_is_tried_at_a_time() -> None:
    queue = SchedulingQueue()
    pods = queued_pods(3)
    for each in pods:
        queue.add(each)
        queue.pop()
        queue.add_unschedulable(each, SORT, "full")

    queue.move_all_to_active()
    first = popped(queue)
    queue.remove(pods[0].pod.uid)  # it was bound
    second = popped(queue)
    queue.add_unschedulable(pods[1], SORT, "full again")
    third = popped(queue)

    assert (first, second, third) == (["pod-0"], ["pod-1"], [])
    assert queue.message(SORT) == "full again"


def test_while_one_pod_is_queued_others_of_its_signature_have_no_known_result() -> None:
    queue = SchedulingQueue()
    one, new = queued_pods(2)
    queue.add(one)
    queue.pop()
    queue.add_unschedulable(one, SORT, "full")
    known = queue.message(SORT)

    queue.move_all_to_active()

    assert known == "full"
    assert queue.message(SORT) is None
    assert queue.message(new.signature) is None


def test_a_pod_with_a_changed_signature_makes_the_next_one_active() -> None:
    queue = SchedulingQueue()
    pods = queued_pods(2)
    for each in pods:
        queue.add(each)
        queue.pop()
        queue.add_unschedulable(each, SORT, "full")
    queue.move_all_to_active()
    assert popped(queue) == ["pod-0"]

    queue.add_unschedulable(pods[0], b"another signature", "kept away")

    assert popped(queue) == ["pod-1"]


def test_a_pod_change_only_retries_pods_with_constraints_on_other_pods() -> None:
    queue = SchedulingQueue()
    alone, social = queued_pods(2)
    social = QueuedPodInfo(
        pod=social.pod, requested={}, ports=(), signature=b"social", has_pod_constraints=True
    )
    for each in (alone, social):
        queue.add(each)
        queue.pop()
        queue.add_unschedulable(each, each.signature, "no")
    assert queue.has_pod_constraints

    queue.move_all_to_active(only_pod_constraints=True)

    assert popped(queue) == ["pod-1"]
    queue.remove(social.pod.uid)
    assert not queue.has_pod_constraints


def test_a_removed_pod_leaves_no_entry_in_the_queue() -> None:
    queue = SchedulingQueue()
    pods = queued_pods(3)
    for each in pods:
        queue.add(each)
    queue.pop()
    queue.add_unschedulable(pods[0], SORT, "full")

    for each in pods:
        queue.remove(each.pod.uid)

    assert (len(queue), queue.signatures, popped(queue)) == (0, 0, [])
