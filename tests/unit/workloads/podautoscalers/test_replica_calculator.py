"""The number of replicas that the usage of Pods requires."""

from collections.abc import Sequence

import pytest

from steersman.kinds import core_v1
from steersman_cluster.workloads.podautoscalers.replica_calculator import (
    Proposal,
    ScalingProblem,
    Tolerances,
    Usages,
    by_average,
    by_utilization,
    requests_of,
)
from tests.unit.workloads.podautoscalers.samples import NOW, ago, pod, pods, used


def proposed(
    of: Sequence[core_v1.Pod],
    usages: Usages,
    *,
    current: int,
    percent: int = 50,
    resource: str = "cpu",
    tolerances: Tolerances | None = None,
) -> Proposal | ScalingProblem:
    return by_utilization(
        of,
        usages,
        current=current,
        percent=percent,
        resource=resource,
        container="",
        tolerances=tolerances or Tolerances(),
        now=NOW,
    )


def replicas(proposal: Proposal | ScalingProblem) -> int:
    assert isinstance(proposal, Proposal), proposal
    return proposal.replicas


@pytest.mark.parametrize(
    ("milli", "wanted"), [(100, 4), (75, 3), (51, 2), (54, 2), (56, 3), (46, 2), (25, 1), (5, 1)]
)
def test_the_recommendation_is_the_usage_ratio_times_the_pods(milli: int, wanted: int) -> None:
    assert replicas(proposed(pods(2), used(milli, milli), current=2)) == wanted


def test_a_recommendation_includes_the_average_usage() -> None:
    proposal = proposed(pods(2), used(30, 90), current=2)

    assert proposal == Proposal(replicas=3, average_milli=60, percent=60)


def test_a_lower_tolerance_allows_smaller_changes() -> None:
    close = Tolerances(down=0.1, up=0.0)

    assert replicas(proposed(pods(100), used(*[51] * 100), current=100, tolerances=close)) == 102


def test_an_average_value_needs_no_requests() -> None:
    bare = [pod("web-0", requests=None), pod("web-1", requests=None)]

    proposal = by_average(
        bare,
        used(300, 300),
        current=2,
        milli=200,
        resource="cpu",
        tolerances=Tolerances(),
        now=NOW,
    )

    assert proposal == Proposal(replicas=3, average_milli=300)


def test_a_pod_without_metrics_never_makes_a_change_larger() -> None:
    up = proposed(pods(3), used(100, 100), current=3)
    down = proposed(pods(3), used(10, 10), current=3)

    # Scaling up counts it as idle: (100 + 100 + 0) of 300 is 66 %, times three over 50 %.
    assert replicas(up) == 4
    # Scaling down counts it as fully used: (10 + 10 + 100) of 300 is 40 %.
    assert replicas(down) == 3


def test_a_pending_pod_counts_as_idle_when_scaling_up() -> None:
    starting = [*pods(2), pod("web-2", phase="Pending")]

    assert replicas(proposed(starting, used(100, 100), current=3)) == 4


def test_the_metrics_of_a_starting_unready_pod_are_ignored() -> None:
    busy = pod("web-1", ready=False, started=ago(20), ready_changed=ago(20))

    assert replicas(proposed([pod("web-0"), busy], used(50, 1000), current=2)) == 2


def test_the_metrics_of_a_pod_that_was_never_ready_are_ignored() -> None:
    never = pod("web-1", ready=False, started=ago(3600), ready_changed=ago(3595))

    assert replicas(proposed([pod("web-0"), never], used(50, 1000), current=2)) == 2


def test_the_metrics_of_an_unready_pod_that_was_ready_before_count() -> None:
    broken = pod("web-1", ready=False, started=ago(3600), ready_changed=ago(60))

    assert replicas(proposed([pod("web-0"), broken], used(50, 150), current=2)) == 4


def test_readiness_does_not_matter_for_memory() -> None:
    mib = 1024 * 1024 * 1000
    busy = pod("web-1", ready=False, started=ago(20), ready_changed=ago(20))

    proposal = proposed(
        [pod("web-0"), busy], used(50 * mib, 150 * mib), current=2, resource="memory"
    )

    assert replicas(proposal) == 4


def test_terminating_and_failed_pods_do_not_count() -> None:
    others = [pod("web-1", ending=True), pod("web-2", phase="Failed")]

    assert replicas(proposed([pod("web-0"), *others], used(100, 900, 900), current=1)) == 2


def test_a_change_that_pods_without_metrics_would_reverse_is_dropped() -> None:
    # 60 % is above the target; with two idle Pods it is 20 %.
    assert replicas(proposed(pods(3), used(60), current=3)) == 3


@pytest.mark.parametrize(
    ("given", "usages", "why"),
    [
        ([], used(100), "no pods returned by selector while calculating replica count"),
        (
            [pod("web-0", phase="Pending")],
            used(100),
            "did not receive metrics for targeted pods (pods might be unready)",
        ),
        (
            [pod("web-0", requests=None)],
            used(100),
            "missing request for cpu in container main of Pod web-0",
        ),
        ([pod("web-0", requests="0")], used(100), "no metrics returned matched known pods"),
    ],
)
def test_a_missing_recommendation_has_a_reason(
    given: list[core_v1.Pod], usages: Usages, why: str
) -> None:
    assert proposed(given, usages, current=1) == ScalingProblem(why)


def test_a_container_metric_uses_only_the_request_of_its_container() -> None:
    two = pod(containers=("main", "proxy"))

    assert requests_of([two], "cpu", "") == {"web-1": 200}
    assert requests_of([two], "cpu", "proxy") == {"web-1": 100}
    assert requests_of([two], "cpu", "no") == ScalingProblem("container no not found in Pod web-1")
