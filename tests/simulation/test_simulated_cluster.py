"""A simulated cluster: its seed, its virtual time, and the operators in it."""

import asyncio
from collections import Counter

import pytest

import steersman as sm
from steersman.errors import ManagerFailed, WaitTimeout
from steersman.kinds import apps_v1, batch_v1, core_v1, meta_v1, networking_v1, policy_v1
from steersman_cluster.errors import BadScenario
from steersman_cluster.simulation import (
    SimulatedCluster,
    VirtualLoop,
    running_simulated_cluster,
    simulate,
)
from steersman_cluster.workloads import WorkloadSettings

BARE = WorkloadSettings(parts=())

ConfigMap = core_v1.ConfigMap


class Spec(sm.Part):
    """The desired number of copies."""

    copies: int = 1


class Status(sm.Part):
    """The observed number of copies."""

    copies: int | None = None


class Note(sm.CustomResource[Spec, Status], group="test.example.com", version="v1"):
    """A note, copied to this number of ConfigMaps."""


def note(name: str = "one", *, copies: int = 1) -> Note:
    return Note(metadata=meta_v1.ObjectMeta(name=name), spec=Spec(copies=copies))


def copy_of(obj: Note, number: int) -> ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=f"{obj.name}-{number}"))


async def reconcile(obj: Note, ctx: sm.Context) -> sm.Outcome:
    for number in range(obj.spec.copies):
        await ctx.apply_owned(copy_of(obj, number))
    await ctx.prune()
    await ctx.apply_status(obj, Status(copies=obj.spec.copies))
    return sm.Done()


PRUNED = sm.Owns(ConfigMap, verbs=("create", "patch", "delete"))
controller = sm.Controller(Note, reconcile=reconcile, owns=(PRUNED,))


def hourly_job(name: str) -> batch_v1.CronJob:
    annotations = {"nodes.steersman.dev/exit-after-seconds": "5"}
    container = core_v1.Container(name="main", image="busybox")
    pods = core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(annotations=annotations),
        spec=core_v1.PodSpec(containers=(container,), restart_policy="Never"),
    )
    template = batch_v1.JobTemplateSpec(spec=batch_v1.JobSpec(template=pods))
    return batch_v1.CronJob(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=batch_v1.CronJobSpec(schedule="0 * * * *", job_template=template),
    )


def names(objects: list[ConfigMap]) -> list[str]:
    return sorted(each.name for each in objects if each.name != "kube-root-ca.crt")


async def steps(cluster: SimulatedCluster) -> str:
    await cluster.install(Note)
    operator = await cluster.run_operator(controller)
    await cluster.apply(note(copies=3))
    await cluster.settle()
    await operator.kill()
    await cluster.run_operator(controller)
    await cluster.apply(note(copies=1))
    await cluster.settle()
    return cluster.history.digest()


def test_the_same_seed_gives_the_same_history() -> None:
    assert simulate(steps, seed=7) == simulate(steps, seed=7)


def test_another_seed_gives_another_history() -> None:
    assert simulate(steps, seed=7, settings=BARE) != simulate(steps, seed=8, settings=BARE)


def test_two_clusters_on_one_loop_are_independent() -> None:
    async def both() -> list[str]:
        digests = []
        for _ in range(2):
            async with running_simulated_cluster(seed=3, settings=BARE) as cluster:
                digests.append(await steps(cluster))
        return digests

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        first, second = runner.run(both())

    assert first == second


def test_settle_returns_when_the_operator_writes_nothing_more() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[str], float]:
        await cluster.install(Note)
        await cluster.run_operator(controller)
        await cluster.apply(note(copies=2))
        await cluster.settle()
        return names(await cluster.list(ConfigMap)), cluster.clock.monotonic()

    found, seconds = simulate(main, settings=BARE)

    assert found == ["one-0", "one-1"]
    assert seconds < 5.0


def test_settle_waits_for_an_hour_of_backoff() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[str], float]:
        async def fail_for_an_hour(obj: Note, ctx: sm.Context) -> sm.Outcome:
            if cluster.clock.monotonic() < 3600.0:
                raise ValueError("not yet")
            return await reconcile(obj, ctx)

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=fail_for_an_hour, owns=(PRUNED,)))
        await cluster.apply(note())
        await cluster.settle()
        return names(await cluster.list(ConfigMap)), cluster.clock.monotonic()

    found, seconds = simulate(main, settings=BARE)

    assert found == ["one-0"]
    assert seconds > 3600.0


def test_the_error_of_settle_names_an_endless_failure() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        async def fail(obj: Note, ctx: sm.Context) -> sm.Outcome:
            raise ValueError("no such luck")

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=fail))
        await cluster.apply(note())
        await cluster.settle()

    with pytest.raises(WaitTimeout, match=r"Note default/one: no such luck"):
        simulate(main, settings=BARE)


def test_a_distant_requeue_runs_when_time_is_advanced_to_it() -> None:
    async def main(cluster: SimulatedCluster) -> list[list[str]]:
        async def reconcile_tomorrow(obj: Note, ctx: sm.Context) -> sm.Outcome:
            if cluster.clock.monotonic() < 86400.0:
                return sm.Later(after_seconds=86400.0)
            return await reconcile(obj, ctx)

        await cluster.install(Note)
        await cluster.run_operator(
            sm.Controller(Note, reconcile=reconcile_tomorrow, owns=(PRUNED,))
        )
        await cluster.apply(note())
        await cluster.settle()
        today = names(await cluster.list(ConfigMap))
        await cluster.advance(86401.0)
        await cluster.settle()
        return [today, names(await cluster.list(ConfigMap))]

    assert simulate(main, settings=BARE) == [[], ["one-0"]]


def test_advance_passes_exactly_the_given_seconds() -> None:
    async def main(cluster: SimulatedCluster) -> list[float]:
        async def reconcile_every_minute(obj: Note, ctx: sm.Context) -> sm.Outcome:
            await ctx.apply_status(obj, Status(copies=int(cluster.clock.monotonic())))
            return sm.Later(after_seconds=60)

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=reconcile_every_minute))
        await cluster.apply(note())
        passed = []
        for seconds in (3600.0, 0.25, 59.0):
            before = cluster.clock.monotonic()
            await cluster.advance(seconds)
            passed.append(cluster.clock.monotonic() - before)
        return passed

    assert simulate(main, settings=BARE) == pytest.approx([3600.0, 0.25, 59.0], abs=1e-5)


# Eleven, with the operator's own kind.
TEN_KINDS = (
    *(ConfigMap, core_v1.Secret, core_v1.Service, core_v1.ServiceAccount),
    *(core_v1.PersistentVolumeClaim, apps_v1.Deployment, apps_v1.StatefulSet),
    *(batch_v1.CronJob, policy_v1.PodDisruptionBudget, networking_v1.Ingress),
)


def test_an_idle_week_of_eleven_watches_is_a_few_hundred_steps() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, list[str]]:
        async def nothing(obj: Note, ctx: sm.Context) -> sm.Outcome:
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=nothing, owns=TEN_KINDS))
        await cluster.apply(note())
        await cluster.settle()
        leaps, moment = cluster.loop.leaps, cluster.history_position()
        await cluster.advance(7 * 86400.0 - 3600.0)
        asked = [each for each in cluster.history.requests[moment:] if each.actor == "operator"]
        return cluster.loop.leaps - leaps, [each.target for each in asked]

    leaps, asked = simulate(main)

    assert leaps < 1000
    assert asked == []


def test_an_hour_of_eleven_watches_and_an_hourly_job_costs_no_more_than_the_job() -> None:
    """A week takes two seconds of CPU time, which cannot be measured on a busy machine."""

    async def main(cluster: SimulatedCluster) -> tuple[Counter[str], int]:
        async def hourly(obj: Note, ctx: sm.Context) -> sm.Outcome:
            await ctx.apply_owned(hourly_job(obj.name))
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=hourly, owns=TEN_KINDS))
        await cluster.apply(note())
        await cluster.settle()
        leaps, moment = cluster.loop.leaps, cluster.history_position()
        await cluster.advance(86400.0)
        asked = Counter(each.actor for each in cluster.history.requests[moment:])
        assert len(await cluster.list(batch_v1.Job)) == 3  # the history limit
        return asked, cluster.loop.leaps - leaps

    asked, leaps = simulate(main)

    assert asked["operator"] == 0
    assert asked["workloads"] <= 24 * 20
    assert leaps <= 24 * 6


def test_a_second_pass_of_a_correct_operator_writes_nothing() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        await cluster.install(Note)
        await cluster.run_operator(controller)
        await cluster.apply(note(copies=2))
        await cluster.assert_second_pass_writes_nothing()

    simulate(main, settings=BARE)


def test_an_operator_that_is_started_again_is_built_again() -> None:
    built: list[list[str]] = []

    class WithMemory:
        def __init__(self) -> None:
            self.names: list[str] = []
            built.append(self.names)

        async def reconcile(self, obj: Note, ctx: sm.Context) -> sm.Outcome:
            self.names.append(obj.name)
            return sm.Done()

    async def main(cluster: SimulatedCluster) -> None:
        await cluster.install(Note)
        await cluster.apply(note())
        await cluster.run_operator(lambda: sm.Controller(Note, reconcile=WithMemory().reconcile))
        await cluster.assert_second_pass_writes_nothing()

    simulate(main, settings=BARE)

    assert built == [["one"], ["one"]]


def test_a_factory_builds_all_parts_of_an_operator() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        await cluster.run_operator(lambda: controller, controller)

    with pytest.raises(BadScenario, match="Return all controllers and runnables"):
        simulate(main, settings=BARE)


def test_a_second_pass_of_an_operator_that_always_writes_has_its_writes() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        async def count(obj: Note, ctx: sm.Context) -> sm.Outcome:
            status = obj.status or Status()
            if ctx.reasons[0].event == "initial":
                await ctx.apply_status(obj, Status(copies=(status.copies or 0) + 1))
            return sm.Done()

        await cluster.install(Note)
        await cluster.apply(note())
        await cluster.run_operator(sm.Controller(Note, reconcile=count))
        await cluster.assert_second_pass_writes_nothing()

    with pytest.raises(AssertionError, match="notes/one/status"):
        simulate(main, settings=BARE)


def test_writes_since_a_moment_are_those_of_operators() -> None:
    async def main(cluster: SimulatedCluster) -> list[str]:
        await cluster.install(Note)
        await cluster.run_operator(controller)
        await cluster.apply(note())
        await cluster.settle()
        before = cluster.history_position()
        await cluster.apply(note(copies=2))
        await cluster.settle()
        return [
            f"{each.method} {each.target.partition('?')[0]}"
            for each in cluster.writes_since(before)
        ]

    assert simulate(main) == [
        "PATCH /api/v1/namespaces/default/configmaps/one-1",
        "PATCH /apis/test.example.com/v1/namespaces/default/notes/one/status",
    ]


def test_a_stopped_operator_finishes_and_writes_no_more() -> None:
    async def main(cluster: SimulatedCluster) -> list[str]:
        await cluster.install(Note)
        operator = await cluster.run_operator(controller)
        await cluster.settle()
        await operator.stop()
        await cluster.apply(note())
        await cluster.settle()
        return names(await cluster.list(ConfigMap))

    assert simulate(main, settings=BARE) == []


def test_settle_does_not_wait_for_failures_of_a_stopped_operator() -> None:
    async def main(cluster: SimulatedCluster) -> float:
        async def fail(obj: Note, ctx: sm.Context) -> sm.Outcome:
            await cluster.clock.sleep(5.0)
            raise ValueError("too late")

        await cluster.install(Note)
        operator = await cluster.run_operator(sm.Controller(Note, reconcile=fail))
        await cluster.apply(note())
        await cluster.clock.sleep(1.0)
        await operator.stop()
        await cluster.settle()
        return cluster.clock.monotonic()

    assert simulate(main, settings=BARE) < 60.0


def test_an_operator_that_was_killed_can_be_stopped_and_killed_again() -> None:
    async def main(cluster: SimulatedCluster) -> float:
        operator = await cluster.run_operator(controller)
        await operator.kill()
        await operator.stop()
        await operator.kill()
        return cluster.clock.monotonic()

    assert simulate(main, settings=BARE) == 0.0


def test_stop_returns_if_the_operator_is_killed_meanwhile() -> None:
    async def main(cluster: SimulatedCluster) -> float:
        async def run_slowly(obj: Note, ctx: sm.Context) -> sm.Outcome:
            await cluster.clock.sleep(20.0)
            return sm.Done()

        await cluster.install(Note)
        operator = await cluster.run_operator(sm.Controller(Note, reconcile=run_slowly))
        await cluster.apply(note())
        await cluster.clock.sleep(1.0)
        async with asyncio.TaskGroup() as group:
            group.create_task(operator.stop())
            await cluster.clock.sleep(1.0)
            await operator.kill()
        return cluster.clock.monotonic()

    assert simulate(main, settings=BARE) < 5.0


def test_an_operator_and_its_tasks_end_with_the_cluster() -> None:
    ends: list[str] = []

    async def main(cluster: SimulatedCluster) -> SimulatedCluster:
        async def wait(what: str) -> None:
            try:
                await cluster.clock.sleep(3600.0)
            finally:
                ends.append(what)

        async def run_slowly(obj: Note, ctx: sm.Context) -> sm.Outcome:
            cluster.loop.create_task(wait("a task of its own"))
            try:
                await wait("a look")
            finally:
                await ctx.apply_owned(copy_of(obj, 1))
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=run_slowly, owns=(ConfigMap,)))
        await cluster.apply(note())
        await cluster.clock.sleep(1.0)
        return cluster

    cluster = simulate(main, settings=BARE)

    assert sorted(ends) == ["a look", "a task of its own"]
    assert [each.target for each in cluster.history.writes() if each.actor == "operator"] == []


def test_a_cluster_ends_although_an_operator_is_killed_meanwhile() -> None:
    async def main(cluster: SimulatedCluster) -> SimulatedCluster:
        async def run_slowly(obj: Note, ctx: sm.Context) -> sm.Outcome:
            try:
                await cluster.clock.sleep(3600.0)
            finally:
                await cluster.clock.sleep(20.0)
            return sm.Done()

        await cluster.install(Note)
        operator = await cluster.run_operator(sm.Controller(Note, reconcile=run_slowly))
        await cluster.apply(note())
        await cluster.clock.sleep(1.0)
        cluster.loop.call_later(10.0, operator.kill_now)
        return cluster

    cluster = simulate(main, settings=BARE)

    assert cluster.loop.tasks() == []


def test_one_of_two_operators_of_one_name_can_be_killed_while_the_other_retries() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[str, list[str]]:
        async def fail_for_an_hour(obj: Note, ctx: sm.Context) -> sm.Outcome:
            if cluster.clock.monotonic() < 3600.0:
                raise ValueError("not yet")
            return await reconcile(obj, ctx)

        await cluster.install(Note)
        slow = sm.Controller(Note, reconcile=fail_for_an_hour, owns=(PRUNED,))
        await cluster.run_operator(slow)
        other = await cluster.run_operator(slow)
        await cluster.apply(note())
        await cluster.clock.sleep(10.0)
        await other.kill()
        await cluster.settle()
        return other.name, names(await cluster.list(ConfigMap))

    assert simulate(main, settings=BARE) == ("operator-2", ["one-0"])


def test_an_operator_that_fails_to_run_fails_the_test() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        async def fail(services: object) -> None:
            raise ValueError("it cannot be")

        await cluster.run_operator(runnables=(sm.Runnable(fail),))
        await cluster.settle()

    with pytest.raises(ManagerFailed, match="it cannot be"):
        simulate(main, settings=BARE)


def test_only_one_function_that_is_not_async_runs_at_a_time() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[str], list[str], str]:
        seen: list[str] = []

        def reconcile_plainly(obj: Note, ctx: sm.BlockingContext) -> sm.Outcome:
            for number in range(obj.spec.copies):
                seen.append(f"{obj.name} begins {number}")
                ctx.apply_owned(copy_of(obj, number))
                seen.append(f"{obj.name} ends {number}")
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(
            sm.Controller(Note, reconcile=reconcile_plainly, owns=(ConfigMap,))
        )
        for name in ("a", "b", "c"):
            await cluster.apply(note(name, copies=2))
        await cluster.settle()
        return names(await cluster.list(ConfigMap)), seen, cluster.history.digest()

    first, second = (simulate(main, settings=BARE) for _ in range(2))

    assert first == second
    assert first[0] == ["a-0", "a-1", "b-0", "b-1", "c-0", "c-1"]


def test_a_killed_plain_function_does_not_continue() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[list[str], list[str]]:
        seen: list[str] = []

        def reconcile_plainly(obj: Note, ctx: sm.BlockingContext) -> sm.Outcome:
            try:
                ctx.apply_owned(copy_of(obj, 0))
                seen.append("applied")
            finally:
                seen.append("finally")
            return sm.Done()

        await cluster.install(Note)
        operator = await cluster.run_operator(
            sm.Controller(Note, reconcile=reconcile_plainly, owns=(ConfigMap,))
        )
        await cluster.settle()
        await cluster.apply(note())
        await cluster.clock.sleep(0.001)
        await operator.kill()
        await cluster.settle()
        return [*seen], names(await cluster.list(ConfigMap))

    seen, found = simulate(main, settings=BARE)

    assert seen == []
    assert len(found) <= 1


def test_settle_waits_for_a_slow_pod() -> None:
    async def main(cluster: SimulatedCluster) -> tuple[str | None, float]:
        slow = {"nodes.steersman.dev/start-seconds": "600"}
        await cluster.create(
            core_v1.Pod(
                metadata=meta_v1.ObjectMeta(name="slow", annotations=slow),
                spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="slow"),)),
            )
        )
        await cluster.settle()
        status = (await cluster.get(core_v1.Pod, "slow")).status or core_v1.PodStatus()
        return status.phase, cluster.clock.monotonic()

    phase, seconds = simulate(
        main, settings=WorkloadSettings(parts=("namespaces", "nodes", "scheduler"))
    )

    assert phase == "Running"
    assert 600.0 < seconds < 700.0


def test_the_error_of_settle_names_an_operator_that_never_stops_writing() -> None:
    async def main(cluster: SimulatedCluster) -> None:
        async def count(obj: Note, ctx: sm.Context) -> sm.Outcome:
            status = obj.status or Status()
            await ctx.apply_status(obj, Status(copies=(status.copies or 0) + 1))
            return sm.Done()

        await cluster.install(Note)
        await cluster.run_operator(sm.Controller(Note, reconcile=count))
        await cluster.apply(note())
        await cluster.settle()

    with pytest.raises(WaitTimeout, match=r"operator has sent PATCH .*/notes/one/status \d+ times"):
        simulate(main, settings=BARE)
