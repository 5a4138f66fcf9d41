"""The steps of a rolling update."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds import apps_v1, core_v1
from steersman.units import IntOrString
from steersman_cluster.workloads.daemonsets.node_fit import Fit
from steersman_cluster.workloads.daemonsets.plan import DaemonSetPlan
from steersman_cluster.workloads.daemonsets.rolling_update import limits, next_step, surges
from tests.unit.workloads.daemonsets.samples import NEW, NO, YES, daemon, on, rolling
from tests.unit.workloads.pods.samples import NOW, ago

Pods = list[core_v1.Pod]


def step(
    pods: Pods,
    fits: dict[str, Fit],
    strategy: apps_v1.DaemonSetUpdateStrategy | None = None,
    *,
    min_ready_seconds: int = 0,
) -> DaemonSetPlan:
    return next_step(
        on(*pods),
        fits,
        NEW,
        strategy=strategy or rolling(),
        min_ready_seconds=min_ready_seconds,
        now=NOW,
    )


def old(name: str, node: str, *, ready: bool = True) -> core_v1.Pod:
    return daemon(name, node, hash="old", ready=ready)


def deleted(plan: DaemonSetPlan) -> list[str]:
    return [each.name for each in plan.delete]


THREE = {"one": YES, "two": YES, "three": YES}

LIMITS: list[tuple[apps_v1.DaemonSetUpdateStrategy | None, int, tuple[int, int]]] = [
    (rolling(1, 0), 4, (1, 0)),
    (rolling("30%", 0), 4, (2, 0)),
    (rolling(0, "30%"), 4, (0, 2)),
    (rolling(0, 0), 4, (1, 0)),
    (rolling(None, None), 4, (1, 0)),
    (rolling(1, 0), 0, (1, 0)),
    (rolling("30%", 0), 0, (0, 0)),
    (None, 4, (1, 0)),
]


@pytest.mark.parametrize(("strategy", "desired", "wanted"), LIMITS)
def test_percentages_are_of_the_desired_nodes_and_rounded_up(
    strategy: apps_v1.DaemonSetUpdateStrategy | None, desired: int, wanted: tuple[int, int]
) -> None:
    assert limits(strategy, desired) == wanted


@pytest.mark.parametrize(
    ("surge", "does"), [(0, False), ("0%", False), (None, False), (1, True), ("1%", True)]
)
def test_two_pods_share_a_node_only_with_maxsurge(surge: IntOrString | None, does: bool) -> None:
    assert surges(rolling(1, surge)) is does
    assert not surges(apps_v1.DaemonSetUpdateStrategy(type="OnDelete"))


def test_no_more_old_pods_are_deleted_than_maxunavailable_allows() -> None:
    pods = [old("a", "one"), old("b", "two"), old("c", "three")]

    assert deleted(step(pods, THREE)) == ["a"]
    assert deleted(step(pods, THREE, rolling(2))) == ["a", "c"]  # in the order of their nodes


def test_the_next_old_pod_is_deleted_when_the_new_one_is_available() -> None:
    fresh = daemon("new", "one", since=ago(5))
    pods = [fresh, old("b", "two"), old("c", "three")]

    assert deleted(step(pods, THREE, min_ready_seconds=10)) == []
    assert deleted(step(pods, THREE, min_ready_seconds=5)) == ["c"]


def test_unavailable_old_pods_are_deleted_at_once() -> None:
    pods = [old("a", "one", ready=False), old("b", "two", ready=False), old("c", "three")]

    assert deleted(step(pods, THREE)) == ["a", "b"]


def test_a_node_without_a_pod_counts_as_unavailable() -> None:
    assert deleted(step([old("a", "one"), old("b", "two")], THREE)) == []


def test_a_node_with_surplus_pods_is_corrected_first() -> None:
    pods = [old("a", "one"), old("b", "one"), old("c", "two"), old("d", "three")]

    assert deleted(step(pods, THREE)) == []


def test_a_surge_creates_new_pods_before_the_old_ones_are_deleted() -> None:
    pods = [old("a", "one"), old("b", "two"), old("c", "three")]

    made = step(pods, THREE, rolling(0, 2))

    assert (made.make_on, deleted(made)) == (("one", "three"), [])


def test_a_surge_deletes_an_old_pod_when_its_replacement_is_available() -> None:
    pods = [old("a", "one"), daemon("x", "one"), old("b", "two"), daemon("y", "two", ready=False)]

    made = step(pods, {"one": YES, "two": YES}, rolling(0, 1))

    assert (made.make_on, deleted(made)) == ((), ["a"])


def test_an_unavailable_old_pod_is_replaced_regardless_of_maxsurge() -> None:
    pods = [old("a", "one", ready=False), old("b", "two", ready=False), old("c", "three")]

    made = step(pods, THREE, rolling(0, 1))

    assert made.make_on == ("one", "two", "three")


def test_a_pod_on_an_unfit_node_stays_until_enough_others_are_available() -> None:
    pods = [old("a", "away"), old("b", "one")]

    alone = step(pods, {"away": NO, "one": YES, "two": YES}, rolling(0, 1))
    enough = step(pods, {"away": NO, "one": YES}, rolling(0, 1))
    useless = step([old("a", "away", ready=False)], {"away": NO}, rolling(0, 1))

    assert (deleted(alone), deleted(enough), deleted(useless)) == ([], ["a"], ["a"])


states = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=6)


@given(states, st.integers(1, 4))
def test_an_update_never_exceeds_maxunavailable(
    nodes: list[tuple[bool, bool, bool]], most: int
) -> None:
    pods = [
        daemon(f"pod-{number}", f"node-{number}", hash="old" if is_old else "new", ready=is_ready)
        for number, (is_there, is_old, is_ready) in enumerate(nodes)
        if is_there
    ]
    fits = {f"node-{number}": YES for number in range(len(nodes))}

    plan = step(pods, fits, rolling(most))

    working = [pod for pod in pods if pod.status and pod.status.conditions]
    lost = [pod for pod in plan.delete if pod in working]
    missing = len(nodes) - len(working)
    assert not lost or missing + len(lost) <= most
