"""Crash sweeps: an operator must have the same final state wherever it crashes."""

from dataclasses import replace
from typing import Any

import pytest

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.errors import BadScenario, CrashSweepFailed
from steersman_cluster.simulation import (
    Cluster,
    Scenario,
    survives_crashes,
    survives_cut_watches,
    survives_late_caches,
)
from tests.simulation.operators import (
    SETTINGS,
    Site,
    SiteStatus,
    finalizing,
    impatient,
    life_of_a_site,
    naming,
    own_name,
    patient,
    random_name,
    reporting,
    rollout,
    site,
)

# For arguments that the type checkers reject.
UNCHECKED: Any = Scenario


async def test_a_child_created_with_a_random_name_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(naming(random_name))

    [found] = caught.value.found
    assert found.startswith("Site default/home has 2 objects of kind ConfigMap: home-")
    assert found.endswith("; expected 1")


async def test_a_child_with_a_derived_name_survives() -> None:
    await survives_crashes(naming(own_name))


async def test_a_finalizer_removed_before_the_cleanup_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(finalizing(cleans_up_first=False))

    assert caught.value.found == ("outside the cluster: expected no titles.home, found second",)


async def test_a_finalizer_removed_after_the_cleanup_survives() -> None:
    await survives_crashes(finalizing(cleans_up_first=True))


async def test_a_status_written_before_the_work_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(reporting(works_first=False))

    assert caught.value.found == ("outside the cluster: expected titles.home first, found none",)


async def test_a_status_written_after_the_work_survives() -> None:
    await survives_crashes(reporting(works_first=True))


async def test_giving_up_on_a_child_with_a_late_event_is_found() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_late_caches(rollout(impatient))

    assert "expected status.phase Ready, found Failed" in caught.value.found[0]


async def test_waiting_for_a_child_with_a_late_event_survives() -> None:
    await survives_late_caches(rollout(patient))


async def test_an_operator_survives_a_watch_that_is_cut_at_any_event() -> None:
    await survives_cut_watches(naming(own_name))


async def test_a_failure_has_a_trace_with_the_fault_and_the_replay_command() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(reporting(works_first=False), seed=7)

    error = caught.value
    [fault] = [line for line in error.trace if "is killed" in line]
    assert fault.endswith("s  operator  is killed before Buckets.put")
    assert error.trace[-1].endswith("s  operator  starts again")
    assert str(error).splitlines()[-1] == (
        'replay: await survives_crashes(scenario, seed=7, only="before call 2")'
    )


async def test_a_failure_is_replayed_by_its_seed_and_fault() -> None:
    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(naming(random_name), seed=3)

    with pytest.raises(CrashSweepFailed) as again:
        await survives_crashes(naming(random_name), seed=3, only=caught.value.fault)

    assert str(again.value) == str(caught.value)


async def test_the_error_for_an_unknown_fault_lists_the_existing_ones() -> None:
    with pytest.raises(ValueError, match='the faults are "before call 1", "after call 1"'):
        await survives_crashes(naming(own_name), only="on a Friday")


async def test_a_failure_without_any_fault_is_the_authors_own_failure() -> None:
    async def steps(cluster: Cluster) -> None:
        await cluster.apply(site())
        await cluster.settle()
        raise AssertionError("as written")

    scenario = replace(naming(own_name), steps=steps)

    with pytest.raises(AssertionError, match="as written"):
        await survives_crashes(scenario)


async def test_an_operator_whose_second_pass_writes_is_found_without_any_fault() -> None:
    async def write_always(obj: Site, ctx: sm.Context) -> sm.Outcome:
        count = int(obj.status.phase or 0) if obj.status is not None else 0
        await ctx.apply_status(obj, SiteStatus(phase=str(count + 1)))
        return sm.Done()

    controller = sm.Controller(Site, reconcile=write_always, when=sm.changed.generation)
    scenario = Scenario(
        operator=lambda: [controller], kinds=[Site], steps=life_of_a_site, workloads=SETTINGS
    )

    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(scenario)

    assert caught.value.fault == ""
    assert "a second pass should write nothing" in caught.value.found[0]


async def test_an_operator_that_never_settles_is_found_without_any_fault() -> None:
    async def write_forever(obj: Site, ctx: sm.Context) -> sm.Outcome:
        await ctx.apply_status(obj, SiteStatus(phase=str(ctx.now)))
        return sm.Later(after_seconds=60)

    scenario = Scenario(
        operator=lambda: [sm.Controller(Site, reconcile=write_forever)],
        kinds=[Site],
        steps=life_of_a_site,
        workloads=SETTINGS,
    )

    with pytest.raises(
        CrashSweepFailed, match="the operator does not settle; its last writes are PATCH"
    ):
        await survives_crashes(scenario)


async def test_steps_may_run_a_second_pass_themselves() -> None:
    async def steps(cluster: Cluster) -> None:
        await cluster.apply(site())
        await cluster.assert_second_pass_writes_nothing()
        await cluster.apply(site("second"))
        await cluster.settle()

    await survives_crashes(replace(naming(own_name), steps=steps))


def test_an_operator_factory_takes_the_outside_system_if_there_is_one() -> None:
    with pytest.raises(BadScenario, match="must take nothing, but does not"):
        UNCHECKED(operator=lambda _: (), steps=life_of_a_site)
    with pytest.raises(BadScenario, match="must take the system that outside= makes"):
        UNCHECKED(operator=lambda: (), outside=dict, steps=life_of_a_site)


def test_the_error_for_an_operator_instead_of_a_factory_says_what_to_write() -> None:
    controller = sm.Controller(Site, reconcile=own_name)

    with pytest.raises(BadScenario) as refused:
        UNCHECKED(operator=[controller], steps=life_of_a_site)

    assert "must be a function, not a list of Controller: a crash loses the operator" in str(
        refused.value
    )
    assert "operator=lambda: [controller]" in str(refused.value)


async def test_a_factory_that_keeps_an_operators_memory_is_rejected() -> None:
    class WithMemory:
        async def reconcile(self, obj: Site, ctx: sm.Context) -> sm.Outcome:
            return sm.Done()

    kept = WithMemory()
    scenario = Scenario(
        operator=lambda: sm.Controller(Site, reconcile=kept.reconcile),
        kinds=[Site],
        steps=life_of_a_site,
        workloads=SETTINGS,
    )

    with pytest.raises(BadScenario) as refused:
        await survives_crashes(scenario)

    assert "reconcile of the controller site is a method of the same WithMemory" in (
        str(refused.value)
    )
    assert "Create the WithMemory inside the function that builds" in str(refused.value)


async def test_a_factory_that_returns_no_operator_is_rejected() -> None:
    scenario = UNCHECKED(operator=lambda: [own_name], steps=life_of_a_site)

    with pytest.raises(BadScenario, match="returned a function"):
        await survives_crashes(scenario)


async def test_an_operator_may_be_a_manager_with_runnables() -> None:
    started: list[object] = []

    async def run(services: object) -> None:
        started.append(services)

    def build() -> sm.Manager:
        controller = sm.Controller(Site, reconcile=own_name, owns=(core_v1.ConfigMap,))
        return sm.Manager(controllers=[controller], runnables=[sm.Runnable(run)])

    await survives_crashes(
        Scenario(operator=build, kinds=[Site], steps=life_of_a_site, workloads=SETTINGS)
    )

    assert len({id(each) for each in started}) > 1
