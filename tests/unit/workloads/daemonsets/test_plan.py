"""Missing and surplus Pods on a node."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from steersman.kinds import core_v1
from steersman_cluster.workloads.daemonsets.node_fit import Fit, on_node
from steersman_cluster.workloads.daemonsets.plan import DaemonSetPlan, by_node, make_plan
from tests.unit.workloads.daemonsets.samples import NEW, NO, STAY, YES, daemon, on, spec
from tests.unit.workloads.pods.samples import NOW, ago


def plan(
    placed: Mapping[str, Sequence[core_v1.Pod]],
    fits: Mapping[str, Fit],
    *,
    surges: bool = False,
    wait_for: Callable[[str], float] = lambda _: 0.0,
) -> DaemonSetPlan:
    return make_plan(
        placed, fits, NEW, min_ready_seconds=0, surges=surges, now=NOW, wait_for=wait_for
    )


def names(pods: Sequence[core_v1.Pod]) -> list[str]:
    return [each.name for each in pods]


def test_a_pod_is_created_for_each_fitting_node_without_one() -> None:
    made = plan(on(daemon("a", "one")), {"one": YES, "two": YES, "three": NO, "four": STAY})

    assert made == DaemonSetPlan(make_on=("two",))


def test_a_pod_that_may_not_continue_to_run_is_deleted() -> None:
    placed = on(daemon("a", "one"), daemon("b", "two"), daemon("c", "three", ending=True))

    made = plan(placed, {"one": NO, "two": STAY, "three": NO})

    assert names(made.delete) == ["a"]


def test_no_pod_is_created_while_the_old_one_terminates() -> None:
    placed = on(daemon("a", ending=True))

    assert plan(placed, {"node-1": YES}).is_idle
    assert plan(placed, {"node-1": YES}, surges=True).make_on == ("node-1",)


def test_of_several_pods_on_a_node_the_oldest_is_kept() -> None:
    young, old = daemon("young", created=ago(10)), daemon("old", created=ago(20))
    waiting = daemon("waiting", node=None, created=ago(30))
    assert waiting.spec is not None
    for_node = on_node(waiting.spec, "node-1")
    placed = by_node([young, old, core_v1.Pod(metadata=waiting.metadata, spec=for_node)])

    made = plan(placed, {"node-1": YES})

    assert names(made.delete) == ["young", "waiting"]


def test_a_failed_pod_is_deleted_with_an_event() -> None:
    placed = on(daemon("a", "one", phase="Failed"), daemon("b", "two", phase="Succeeded"))

    made = plan(placed, {"one": YES, "two": YES})

    assert names(made.delete) == ["a", "b"]
    assert [(each.type, each.reason, each.note) for each in made.notes] == [
        (
            "Warning",
            "FailedDaemonPod",
            "Found failed daemon pod here/a on node one, will try to kill it",
        ),
        (
            "Normal",
            "SucceededDaemonPod",
            "Found succeeded daemon pod here/b on node two, will try to delete it",
        ),
    ]


def test_a_failed_pod_is_kept_until_its_backoff_is_over() -> None:
    placed = on(daemon("a", "one", phase="Failed"), daemon("b", "two", phase="Failed"))
    waits = {"one": 4.0, "two": 2.0}

    made = plan(placed, {"one": YES, "two": YES}, wait_for=waits.__getitem__)

    assert made == DaemonSetPlan(wait_seconds=2.0)


def test_an_unbound_pod_of_a_deleted_node_is_deleted_and_a_bound_one_is_not() -> None:
    waiting = core_v1.Pod(metadata=daemon("a").metadata, spec=on_node(spec(), "gone"))
    there = daemon("b", "gone")

    made = plan(by_node([waiting, there]), {"node-1": NO})

    assert names(made.delete) == ["a"]


def test_an_ended_pod_in_deletion_does_not_delay_its_replacement() -> None:
    ended = daemon("a", phase="Failed", ending=True)

    assert by_node([ended]) == {}


OLD: dict[str, Any] = {"hash": "old", "created": ago(900)}

SURGING = [
    # the old one runs until the new one is available
    ([daemon("old", **OLD), daemon("new", ready=False)], []),
    ([daemon("old", **OLD), daemon("new")], ["old"]),
    ([daemon("old", ready=False, **OLD), daemon("new", ready=False)], ["old"]),
    # all but the oldest of each version are surplus
    ([daemon("old", **OLD), daemon("new", ready=False), daemon("more", ready=False)], ["more"]),
    ([daemon("old", **OLD), daemon("older", **OLD)], ["older"]),
    ([daemon("new")], []),
]


@pytest.mark.parametrize(("pods", "deleted"), SURGING)
def test_a_surge_allows_an_old_and_a_new_pod_on_one_node(
    pods: list[core_v1.Pod], deleted: list[str]
) -> None:
    made = plan(on(*pods), {"node-1": YES}, surges=True)

    assert names(made.delete) == deleted
    assert made.make_on == ()
