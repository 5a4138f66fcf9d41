"""A crash sweep finds each of these mistakes, and reports nothing for the correct operators."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest

from steersman_cluster.errors import CrashSweepFailed
from steersman_cluster.simulation import (
    Scenario,
    survives_concurrent_writes,
    survives_crashes,
    survives_cut_watches,
    survives_late_caches,
)
from tests.simulation.flawed_operators import (
    children_from_cache,
    children_in_memory,
    counter_in_memory,
    late_finalizer,
    memory_by_name,
    stale_update,
)


class MakeScenario(Protocol):
    """Returns the scenario of an operator with or without its mistake."""

    def __call__(self, *, is_correct: bool) -> Scenario: ...


OPERATORS = [
    children_in_memory,
    memory_by_name,
    counter_in_memory,
    children_from_cache,
    stale_update,
    late_finalizer,
]


async def test_children_remembered_in_memory_are_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(children_in_memory(is_correct=False))

    assert caught.value.found[0] == (
        "Shop default/home has 2 objects of kind ConfigMap: home-first, home-second; expected 1"
    )


async def test_memory_keyed_by_a_name_that_is_used_again_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(memory_by_name(is_correct=False))

    assert "expected no titles.home, found first" in caught.value.found[0]


async def test_a_counter_in_memory_as_the_source_of_names_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(counter_in_memory(is_correct=False))

    assert "outside the cluster: expected titles.account-1 first, found second" in (
        caught.value.found
    )


async def test_children_with_generated_names_counted_from_the_cache_are_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_late_caches(children_from_cache(is_correct=False))

    assert caught.value.found[0].startswith("Shop default/home has 3 objects of kind ConfigMap")


async def test_a_users_field_overwritten_by_a_stale_update_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_concurrent_writes(stale_update(is_correct=False))

    assert caught.value.found[0].startswith("Shop default/home: expected spec.tags")
    assert caught.value.fault == "users overtake call 1"


async def test_a_finalizer_added_after_the_first_external_effect_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_concurrent_writes(late_finalizer(is_correct=False))

    assert caught.value.found == ("outside the cluster: expected no titles.home, found first",)


async def test_a_user_who_deletes_while_the_operator_is_down_is_in_the_trace() -> None:
    fault = "users write after a crash before call 2"

    with pytest.raises(CrashSweepFailed) as caught:
        await survives_concurrent_writes(late_finalizer(is_correct=False), only=fault)

    assert caught.value.found == ("outside the cluster: expected no titles.home, found first",)
    killed, deleted, started = (line.split("  ", 2)[-1].strip() for line in caught.value.trace[-3:])
    assert killed.endswith("is killed before PATCH shops/home, while users continue")
    assert deleted.endswith("DELETE shops/home")
    assert started.endswith("starts again")


@pytest.mark.parametrize(
    "survives",
    [survives_crashes, survives_concurrent_writes, survives_cut_watches, survives_late_caches],
)
@pytest.mark.parametrize("scenario", OPERATORS)
async def test_the_operator_without_the_mistake_survives(
    scenario: MakeScenario, survives: Callable[[Scenario], Awaitable[None]]
) -> None:
    await survives(scenario(is_correct=True))
