"""The numbers that a Deployment and its ReplicaSets contain."""

from datetime import UTC, datetime

import pytest

from steersman_cluster.workloads.deployments.accessors import (
    deadline_seconds,
    history_limit,
    limits_of,
    new_and_old,
    replica_count_annotation,
    revision_of,
)
from steersman_cluster.workloads.deployments.rollout import ReplicaLimits
from tests.unit.workloads.deployments.samples import deployment, replica_set

ENDLESS = 2**31 - 1


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "limits"),
    [
        (3, "25%", "25%", (3, 1, 0)),  # rounded up, and down
        (10, "25%", "25%", (10, 3, 2)),
        (10, 3, 2, (10, 3, 2)),
        (2, 0, "1%", (2, 0, 1)),  # with both 0 the update could not begin
        (1, "0%", "25%", (1, 0, 1)),
        (2, 1, 9, (2, 1, 2)),  # limited to the replicas
        (0, 1, 1, (0, 1, 0)),
        (4, "200%", "100%", (4, 8, 4)),
    ],
)
def test_limits_are_numbers_or_percentages(
    replicas: int, surge: int | str, unavailable: int | str, limits: tuple[int, int, int]
) -> None:
    found = limits_of(deployment(replicas=replicas, surge=surge, unavailable=unavailable))

    assert (found.replicas, found.surge, found.unavailable) == limits


def test_the_recreate_strategy_has_no_limits() -> None:
    assert limits_of(deployment(strategy="Recreate")) == ReplicaLimits(replicas=3)


def test_the_largest_number_means_no_limit() -> None:
    assert deadline_seconds(deployment(progress_deadline_seconds=ENDLESS)) is None
    assert deadline_seconds(deployment()) == 600
    assert history_limit(deployment(revision_history_limit=ENDLESS)) is None
    assert history_limit(deployment(revision_history_limit=0)) == 0


def test_the_new_replicaset_is_the_oldest_with_the_template() -> None:
    def at(hour: int) -> datetime:
        return datetime(2026, 1, 1, hour, tzinfo=UTC)

    twin = replica_set("twin", image="web:2", created=at(3))
    new = replica_set("new", image="web:2", created=at(2))
    old = replica_set("old", image="web:1", created=at(1))

    assert new_and_old(deployment(image="web:2"), [twin, old, new]) == (new, [old, twin])
    assert new_and_old(deployment(image="web:3"), [old]) == (None, [old])


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), ("0", 0), ("-3", None), ("", None), ("three", None), ("2147483648", None)],
)
def test_an_invalid_count_is_ignored(text: str, number: int | None) -> None:
    assert replica_count_annotation({"here": text}, "here") == number


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), (None, 0), ("seven", None), ("-1", -1), ("-+1", None)]
)
def test_a_revision_is_a_number(text: str | None, number: int | None) -> None:
    assert revision_of(replica_set("web", revision=text)) == number
