"""The status of a Pod from one sync to the next."""

from datetime import datetime, timedelta

import pytest

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.kubelet.containers import wait_seconds
from steersman_cluster.kubelet.pending_changes import has_pending_changes
from steersman_cluster.kubelet.pod_lifecycle import (
    PodAddresses,
    SyncResult,
    killing_events,
    sync_pod,
    terminated_status,
)
from tests.unit.workloads.nodes.samples import NOW, container, pod

PLACE = PodAddresses(host_ip="172.20.0.2", pod_ip="10.128.0.9")
PREFIX = "nodes.steersman.dev/"


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def step(each: core_v1.Pod, *, seconds: float = 0, start_seconds: float = 0) -> SyncResult:
    return sync_pod(each, PLACE, now=after(seconds), start_seconds=start_seconds)


def events(**values: str) -> dict[str, str]:
    return {f"{PREFIX}{what.replace('_', '-')}": value for what, value in values.items()}


def grown(each: core_v1.Pod, *, seconds: float = 0) -> core_v1.Pod:
    """The Pod with the status of that sync."""
    return replace(each, status=step(each, seconds=seconds).status)


def bound(name: str = "one", **given: object) -> core_v1.Pod:
    scheduled = core_v1.PodCondition(type="PodScheduled", status="True", last_transition_time=NOW)
    status = core_v1.PodStatus(phase="Pending", conditions=(scheduled,))
    return pod(name, node_name="node-1", status=status, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("restarts", "ran", "seconds"),
    [(0, 0, 0), (1, 0, 10), (2, 0, 20), (5, 0, 160), (6, 0, 300), (5000, 0, 300), (6, 600, 0)],
)
def test_the_restart_backoff_doubles_up_to_five_minutes(
    restarts: int, ran: float, seconds: int
) -> None:
    assert wait_seconds(restarts, ran_seconds=ran) == seconds


def test_a_pod_with_a_start_delay_is_pending_until_the_delay_is_over() -> None:
    first = step(bound(), start_seconds=3)

    assert (first.status.phase, first.status.pod_ip, first.after_seconds) == ("Pending", None, 3.0)
    assert step(replace(bound(), status=first.status), seconds=3).status.phase == "Running"


def test_a_pods_annotations_override_the_settings() -> None:
    eager = bound(annotations=events(start_seconds="0"))

    assert step(eager, start_seconds=60).status.phase == "Running"


def test_a_second_sync_at_the_same_time_changes_nothing() -> None:
    for each in (
        bound(),
        bound(restart_policy="Never"),
        bound(annotations=events(exit_code="1")),
        bound(annotations=events(image="missing")),
        bound(annotations=events(never_ready="true")),
        bound(annotations=events(ready_seconds="5")),
    ):
        once = grown(each)

        again = step(once)

        assert again.status == once.status
        assert again.events == ()


def test_a_container_exits_after_its_run_time_and_not_before() -> None:
    each = bound(restart_policy="Never", annotations=events(run_seconds="30", exit_code="7"))
    running = step(each)
    over = step(replace(each, status=running.status), seconds=30)

    assert (running.status.phase, running.after_seconds) == ("Running", 30.0)
    assert (over.status.phase, over.after_seconds) == ("Failed", None)


def test_each_container_can_have_a_script_of_its_own() -> None:
    each = bound(annotations={f"{PREFIX}never-ready.side": "true"})
    assert each.spec is not None
    two = replace(each, spec=replace(each.spec, containers=(container("app"), container("side"))))

    status = step(two).status

    assert [one.ready for one in status.container_statuses or ()] == [True, False]
    ready = next(one for one in status.conditions or () if one.type == "Ready")
    assert ready.message == "containers with unready status: [side]"


def test_conditions_that_the_kubelet_does_not_own_are_kept() -> None:
    other = core_v1.PodCondition(type="example.com/other", status="Unknown")
    each = bound()
    assert each.status is not None
    each = replace(each, status=replace(each.status, conditions=(other,), qos_class="Burstable"))

    status = step(each).status

    assert other in (status.conditions or ())
    assert status.qos_class == "Burstable"


def test_the_status_of_an_ended_pod_does_not_change() -> None:
    over = replace(bound(), status=core_v1.PodStatus(phase="Failed", reason="Evicted"))

    assert step(over).status == over.status
    assert terminated_status(over, now=NOW) == over.status


def test_only_running_containers_have_a_killing_event() -> None:
    running = grown(bound())
    crashing = grown(bound(annotations=events(exit_code="1")))

    assert [each.note for each in killing_events(running)] == ["Stopping container app"]
    assert killing_events(crashing) == ()
    assert terminated_status(running, now=NOW).phase == "Failed"


@pytest.mark.parametrize(
    ("each", "is_moving"),
    [
        (pod(), True),
        (pod(scheduler_name="another"), False),
        (bound(), True),
        (grown(bound()), False),
        (grown(bound(annotations=events(ready_seconds="9"))), True),
        (grown(bound(annotations=events(never_ready="true"))), False),
        (grown(bound(annotations=events(exit_code="1"))), False),
        (grown(bound(annotations=events(image="missing"))), True),
        (grown(grown(bound(annotations=events(image="missing"))), seconds=10), False),
        (grown(bound(restart_policy="Never", annotations=events(run_seconds="9"))), True),
        (grown(bound(restart_policy="Never")), False),
        (grown(bound(annotations=events(run_seconds="9"))), False),
    ],
)
def test_a_pod_has_pending_changes_until_its_next_transition(
    each: core_v1.Pod, is_moving: bool
) -> None:
    assert has_pending_changes(each) is is_moving


def test_a_terminating_pod_has_pending_changes_until_it_is_stopped() -> None:
    running = grown(bound())
    ending = replace(
        running,
        metadata=replace(
            running.metadata, deletion_timestamp=NOW, deletion_grace_period_seconds=30
        ),
    )
    held = replace(ending, metadata=replace(ending.metadata, deletion_grace_period_seconds=0))

    assert has_pending_changes(ending)
    assert not has_pending_changes(held)
