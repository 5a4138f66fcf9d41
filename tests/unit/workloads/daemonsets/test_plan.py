"""What is missing on a node, and what is too much."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from steersman.kinds import core_v1
from steersman_cluster.workloads.daemonsets.node_fit import Fit, on_node
from steersman_cluster.workloads.daemonsets.plan import Plan, by_node, make_plan
from tests.unit.workloads.daemonsets.samples import NEW, NO, STAY, YES, daemon, on, spec
from tests.unit.workloads.pods.samples import NOW, ago


def plan(
    placed: Mapping[str, Sequence[core_v1.Pod]],
    fits: Mapping[str, Fit],
    *,
    surges: bool = False,
    wait_for: Callable[[str], float] = lambda _: 0.0,
) -> Plan:
    return make_plan(
        placed, fits, NEW, min_ready_seconds=0, surges=surges, now=NOW, wait_for=wait_for
    )


def names(pods: Sequence[core_v1.Pod]) -> list[str]:
    return [each.name for each in pods]


def test_a_pod_is_made_on_each_node_that_has_none_and_should() -> None:
    made = plan(on(daemon("a", "one")), {"one": YES, "two": YES, "three": NO, "four": STAY})

    assert made == Plan(make_on=("two",))


def test_what_may_not_stay_goes_and_what_may_stays() -> None:
    placed = on(daemon("a", "one"), daemon("b", "two"), daemon("c", "three", ending=True))

    made = plan(placed, {"one": NO, "two": STAY, "three": NO})

    assert names(made.delete) == ["a"]


def test_nothing_is_made_in_the_place_of_a_pod_that_is_still_there() -> None:
    placed = on(daemon("a", ending=True))

    assert plan(placed, {"node-1": YES}).is_idle
    assert plan(placed, {"node-1": YES}, surges=True).make_on == ("node-1",)


def test_of_several_pods_on_a_node_the_oldest_stays() -> None:
    young, old = daemon("young", created=ago(10)), daemon("old", created=ago(20))
    waiting = daemon("waiting", node=None, created=ago(30))
    assert waiting.spec is not None
    for_node = on_node(waiting.spec, "node-1")
    placed = by_node([young, old, core_v1.Pod(metadata=waiting.metadata, spec=for_node)])

    made = plan(placed, {"node-1": YES})

    assert names(made.delete) == ["young", "waiting"]


def test_what_has_ended_is_deleted_and_people_are_told() -> None:
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


def test_a_pod_that_failed_is_left_there_for_as_long_as_is_said() -> None:
    placed = on(daemon("a", "one", phase="Failed"), daemon("b", "two", phase="Failed"))
    waits = {"one": 4.0, "two": 2.0}

    made = plan(placed, {"one": YES, "two": YES}, wait_for=waits.__getitem__)

    assert made == Plan(wait_seconds=2.0)


def test_what_waits_for_a_node_that_is_gone_is_deleted_and_what_was_on_it_is_not() -> None:
    waiting = core_v1.Pod(metadata=daemon("a").metadata, spec=on_node(spec(), "gone"))
    there = daemon("b", "gone")

    made = plan(by_node([waiting, there]), {"node-1": NO})

    assert names(made.delete) == ["a"]


def test_what_has_ended_and_is_being_deleted_is_in_nobodys_way() -> None:
    ended = daemon("a", phase="Failed", ending=True)

    assert by_node([ended]) == {}


OLD: dict[str, Any] = {"hash": "old", "created": ago(900)}

SURGING = [
    # the old one does the work while the new one is not available
    ([daemon("old", **OLD), daemon("new", ready=False)], []),
    ([daemon("old", **OLD), daemon("new")], ["old"]),
    ([daemon("old", ready=False, **OLD), daemon("new", ready=False)], ["old"]),
    # all but the oldest of either are too many
    ([daemon("old", **OLD), daemon("new", ready=False), daemon("more", ready=False)], ["more"]),
    ([daemon("old", **OLD), daemon("older", **OLD)], ["older"]),
    ([daemon("new")], []),
]


@pytest.mark.parametrize(("pods", "goes"), SURGING)
def test_while_it_surges_an_old_and_a_new_pod_may_be_on_one_node(
    pods: list[core_v1.Pod], goes: list[str]
) -> None:
    made = plan(on(*pods), {"node-1": YES}, surges=True)

    assert names(made.delete) == goes
    assert made.make_on == ()
