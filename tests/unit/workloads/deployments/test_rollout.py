"""The next size of each ReplicaSet of a Deployment."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman_cluster.workloads.deployments.rollout import (
    Group,
    ReplicaLimits,
    Resize,
    first_size,
    is_scaled,
    recreate_step,
    rolling_step,
    scaling_step,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def group(name: str, size: int, available: int | None = None, **rest: int) -> Group:
    """A group whose Pods are available by default; the names give the order of creation."""
    return Group(
        name=name,
        size=size,
        available=size if available is None else available,
        created=START + timedelta(seconds=ord(name[0])),
        **rest,
    )


def steps(resizes: list[Resize]) -> list[tuple[str, int, int]]:
    return [(each.name, each.before, each.after) for each in resizes]


# Rolling


def test_a_new_replica_set_starts_with_the_size_that_maxsurge_allows() -> None:
    assert first_size(ReplicaLimits(replicas=3, surge=1), [group("a", 3)], is_rolling=True) == 1
    assert first_size(ReplicaLimits(replicas=3, surge=1), [], is_rolling=True) == 3
    assert (
        first_size(
            ReplicaLimits(replicas=3, surge=0, unavailable=1), [group("a", 3)], is_rolling=True
        )
        == 0
    )
    assert first_size(ReplicaLimits(replicas=3), [group("a", 3)], is_rolling=False) == 3


def test_the_new_replica_set_grows_before_the_old_ones_shrink() -> None:
    limits = ReplicaLimits(replicas=10, surge=3, unavailable=2)

    assert steps(rolling_step(limits, group("b", 3), [group("a", 8)])) == [("b", 3, 5)]
    assert steps(rolling_step(limits, group("b", 3, 0), [group("a", 10)])) == [("a", 10, 8)]


def test_no_old_pod_is_deleted_while_new_pods_are_unavailable() -> None:
    limits = ReplicaLimits(replicas=10, surge=3, unavailable=2)

    assert rolling_step(limits, group("b", 5, 0), [group("a", 8)]) == []
    # An old Pod is unavailable as well: still no step.
    assert rolling_step(limits, group("b", 5, 0), [group("a", 8, 7)]) == []


def test_unavailable_old_pods_are_deleted_first() -> None:
    limits = ReplicaLimits(replicas=10, surge=3, unavailable=2)
    olds = [group("a", 5), group("b", 4, 1)]

    # 9 + 4 Pods; 8 must stay. Three of b are unavailable; then one of a can be deleted.
    assert steps(rolling_step(limits, group("c", 4), olds)) == [("b", 4, 1), ("a", 5, 3)]


def test_a_rollback_during_an_update_first_deletes_unavailable_pods() -> None:
    limits = ReplicaLimits(replicas=10, surge=3, unavailable=2)

    assert steps(rolling_step(limits, group("a", 8, 7), [group("b", 5, 0)])) == [("b", 5, 1)]


def test_a_new_replica_set_above_its_size_shrinks_at_once() -> None:
    assert steps(rolling_step(ReplicaLimits(replicas=2, surge=1), group("a", 5), [])) == [
        ("a", 5, 2)
    ]


def test_a_complete_rollout_has_no_next_step() -> None:
    assert rolling_step(ReplicaLimits(replicas=3, surge=1), group("b", 3), [group("a", 0)]) == []


def test_recreate_scales_all_old_replica_sets_to_zero() -> None:
    assert steps(recreate_step([group("a", 3), group("b", 0), group("c", 1, 0)])) == [
        ("a", 3, 0),
        ("c", 1, 0),
    ]


TERMS = st.integers(0, 12).flatmap(
    lambda replicas: st.tuples(st.integers(0, 5), st.integers(0, max(0, replicas))).map(
        lambda limits: ReplicaLimits(
            replicas=replicas,
            surge=limits[0],
            unavailable=max(limits[1], 0 if limits[0] else min(1, replicas)),
        )
    )
)


@st.composite
def rollouts(draw: st.DrawFn) -> tuple[ReplicaLimits, Group, list[Group]]:
    """A Deployment during updates, within its limits, with any number of available Pods."""
    limits = draw(TERMS)
    room, groups = limits.max_replicas, []
    for name in "abcd"[: draw(st.integers(1, 4))]:
        size = draw(st.integers(0, room))
        room -= size
        groups.append(group(name, size, draw(st.integers(0, size))))
    new = groups.pop(draw(st.integers(0, len(groups) - 1)))
    return limits, replace(new, size=min(new.size, limits.replicas)), groups


def resized(groups: list[Group], resizes: list[Resize]) -> list[Group]:
    """The groups after the steps; unavailable Pods are deleted first."""
    for each in resizes:
        groups = [
            replace(old, size=each.after, available=min(old.available, each.after))
            if old.name == each.name
            else old
            for old in groups
        ]
    return groups


def availables(groups: list[Group]) -> int:
    return sum(each.available for each in groups)


@given(rollouts())
def test_a_rolling_update_never_exceeds_maxsurge(
    rollout: tuple[ReplicaLimits, Group, list[Group]],
) -> None:
    limits, new, olds = rollout

    after = resized([new, *olds], rolling_step(limits, new, olds))

    assert sum(each.size for each in after) <= limits.max_replicas


@given(rollouts())
def test_a_rolling_update_never_exceeds_maxunavailable(
    rollout: tuple[ReplicaLimits, Group, list[Group]],
) -> None:
    limits, new, olds = rollout
    new = replace(new, available=min(new.available, new.size))
    before = availables([new, *olds])

    after = availables(resized([new, *olds], rolling_step(limits, new, olds)))

    assert after >= min(before, limits.min_available)


@given(rollouts(), st.randoms(use_true_random=False))
def test_a_rolling_update_completes_in_any_order_of_pod_readiness(
    rollout: tuple[ReplicaLimits, Group, list[Group]], chance: object
) -> None:
    limits, new, olds = rollout
    groups = [replace(new, available=min(new.available, new.size)), *olds]

    for _ in range(500):
        step = rolling_step(limits, groups[0], groups[1:])
        groups = resized(groups, step)
        assert sum(each.size for each in groups) <= limits.max_replicas
        waiting = [each for each in groups if each.available < each.size]
        if not step and not waiting:
            break
        if waiting:
            up = chance.choice(waiting)  # type: ignore[attr-defined]
            groups = [
                replace(each, available=each.available + 1) if each is up else each
                for each in groups
            ]

    assert [each.size for each in groups] == [limits.replicas, *(0 for _ in olds)]


# Scaling


def test_a_deployment_is_scaled_if_the_desired_replicas_annotation_differs() -> None:
    limits = ReplicaLimits(replicas=5)

    assert is_scaled(limits, [group("a", 3, desired=3)])
    assert not is_scaled(limits, [group("a", 3, desired=5)])
    assert not is_scaled(limits, [group("a", 0, desired=3), group("b", 3)])


def scaled(
    limits: ReplicaLimits,
    new: Group | None,
    olds: list[Group],
    *,
    is_rolling: bool = True,
    pods: int = 0,
) -> list[tuple[str, int, int]]:
    return steps(scaling_step(limits, new, olds, is_rolling=is_rolling, pods=pods))


def test_the_only_active_replica_set_gets_the_full_size() -> None:
    assert scaled(ReplicaLimits(replicas=5), group("b", 3), [group("a", 0)]) == [("b", 3, 5)]
    assert scaled(ReplicaLimits(replicas=5), group("b", 0), [group("a", 3)]) == [("a", 3, 5)]
    assert scaled(ReplicaLimits(replicas=5), group("b", 5), [group("a", 0)]) == []


def test_without_any_pods_the_newest_replica_set_gets_the_full_size() -> None:
    assert scaled(ReplicaLimits(replicas=2), group("b", 0), [group("a", 0)]) == [("b", 0, 2)]
    assert scaled(ReplicaLimits(replicas=2), None, [group("a", 0), group("b", 0)]) == [("b", 0, 2)]
    assert scaled(ReplicaLimits(replicas=2), None, []) == []


def test_old_replica_sets_are_scaled_down_when_the_new_one_is_saturated() -> None:
    full = group("b", 5, desired=5)

    assert scaled(ReplicaLimits(replicas=5), full, [group("a", 2)]) == [("a", 2, 0)]


@pytest.mark.parametrize(
    ("limits", "sizes", "max_replicas", "after"),
    [
        # The Deployment doubles, so each group doubles; the largest gets the remainder.
        (ReplicaLimits(replicas=20, surge=0), {"a": 5, "b": 5}, 10, {"b": 10, "a": 10}),
        (ReplicaLimits(replicas=12), {"a": 3, "b": 7}, 10, {"b": 8, "a": 4}),
        (ReplicaLimits(replicas=5), {"a": 5, "b": 5}, 10, {"a": 2, "b": 3}),
        (ReplicaLimits(replicas=0, surge=0), {"a": 5, "b": 5}, 10, {"a": 0, "b": 0}),
        (ReplicaLimits(replicas=10, surge=2), {"a": 6, "b": 6}, 12, {"a": 6, "b": 6}),
    ],
)
def test_during_an_update_each_replica_set_gets_its_share(
    limits: ReplicaLimits, sizes: dict[str, int], max_replicas: int, after: dict[str, int]
) -> None:
    old, new = (group(name, size, max_replicas=max_replicas) for name, size in sizes.items())

    assert {name: size for name, _, size in scaled(limits, new, [old])} == after


def test_a_share_uses_the_current_size_if_the_annotation_is_invalid() -> None:
    olds, new = [group("a", 5)], group("b", 5)

    assert scaled(ReplicaLimits(replicas=20), new, olds, pods=10) == [("b", 5, 10), ("a", 5, 10)]
    assert scaled(ReplicaLimits(replicas=20), new, olds, pods=0) == [("b", 5, 15), ("a", 5, 5)]


def test_the_recreate_strategy_scales_without_shares() -> None:
    olds, new = [group("a", 5)], group("b", 5)

    assert scaled(ReplicaLimits(replicas=20), new, olds, is_rolling=False) == []


@given(rollouts(), st.integers(0, 20))
def test_the_shares_add_up_to_the_allowed_size(
    rollout: tuple[ReplicaLimits, Group, list[Group]], before: int
) -> None:
    limits, new, olds = rollout
    olds = [replace(old, max_replicas=before) for old in olds]
    active = [each for each in (new, *olds) if each.size > 0]

    step = scaling_step(limits, new, olds, is_rolling=True, pods=0)

    if len(active) > 1 and len(step) == len(active):
        wanted = limits.max_replicas if limits.replicas else 0
        assert sum(each.after for each in step) == wanted
        assert all(each.after >= 0 for each in step)
