"""How to test an operator: what docs/how-to-test.md shows."""

import pytest

import steersman as sm
from docs.code.trials import Spec, Trial, controller
from steersman.client import MergePatch
from steersman.errors import Invalid
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman_cluster.simulation import (
    Cluster,
    Scenario,
    survives_concurrent_writes,
    survives_crashes,
    survives_cut_watches,
    survives_late_caches,
)
from steersman_cluster.workloads import WorkloadSettings


def trial(*, minutes: int = 60) -> Trial:
    """An object as a user applies it."""
    return Trial(
        metadata=meta_v1.ObjectMeta(name="demo"), spec=Spec(image="nginx", minutes=minutes)
    )


async def test_a_trial_runs(cluster: Cluster) -> None:
    await cluster.install(Trial)
    await cluster.run_operator(controller)

    await cluster.apply(trial())
    await cluster.settle()

    assert len(await cluster.list(core_v1.Pod)) == 1
    assert sm.is_ready(await cluster.get(Trial, "demo"))


@pytest.mark.embedded_only(reason="an hour passes")
async def test_a_trial_ends_after_its_minutes(cluster: Cluster) -> None:
    await cluster.install(Trial)
    await cluster.run_operator(controller)
    await cluster.apply(trial(minutes=60))

    await cluster.advance(45 * 60)
    await cluster.settle()
    before = await cluster.list(core_v1.Pod)
    await cluster.advance(20 * 60)
    await cluster.settle()
    after = await cluster.list(core_v1.Pod)

    assert (len(before), len(after)) == (1, 0)


async def test_a_trial_is_not_ready_while_its_pods_are_not(cluster: Cluster) -> None:
    await cluster.install(Trial)
    await cluster.run_operator(controller)
    await cluster.apply(trial())
    await cluster.settle()

    annotations = {"nodes.steersman.dev/never-ready": "true"}
    broken = MergePatch({"spec": {"template": {"metadata": {"annotations": annotations}}}})
    await cluster.patch(apps_v1.Deployment, "demo", broken)
    await cluster.settle()

    assert not sm.is_ready(await cluster.get(Trial, "demo"))


async def test_a_trial_without_minutes_is_rejected(cluster: Cluster) -> None:
    await cluster.install(Trial)

    with pytest.raises(Invalid, match="minutes"):
        await cluster.apply(trial(minutes=0))


async def test_a_killed_operator_continues_after_a_restart(cluster: Cluster) -> None:
    await cluster.install(Trial)
    operator = await cluster.run_operator(controller)
    await cluster.apply(trial())

    await operator.kill()
    await cluster.run_operator(controller, name="another")
    await cluster.settle()

    assert sm.is_ready(await cluster.get(Trial, "demo"))


async def test_a_second_reconcile_of_a_trial_writes_nothing(cluster: Cluster) -> None:
    await cluster.install(Trial)
    await cluster.run_operator(controller)

    await cluster.apply(trial())

    await cluster.assert_second_pass_writes_nothing()


async def a_whole_trial(cluster: Cluster) -> None:
    """What users do, from the first minute to the last."""
    await cluster.apply(trial(minutes=5))
    await cluster.settle()
    await cluster.delete(Trial, "demo")
    await cluster.settle()


SCENARIO = Scenario(operator=lambda: [controller], kinds=[Trial], steps=a_whole_trial)


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    await survives_crashes(SCENARIO)


async def test_concurrent_writes_of_users_do_not_change_the_result() -> None:
    await survives_concurrent_writes(SCENARIO)


async def test_cut_watches_and_late_caches_do_not_change_the_result() -> None:
    await survives_cut_watches(SCENARIO)
    await survives_late_caches(SCENARIO)


class TestWithThreeNodes:
    @pytest.fixture
    def cluster_settings(self) -> WorkloadSettings:
        return WorkloadSettings(nodes=3)

    async def test_the_cluster_has_three_nodes(self, cluster: Cluster) -> None:
        assert len(await cluster.list(core_v1.Node)) == 3


class TestWithoutScheduler:
    @pytest.fixture
    def cluster_settings(self) -> WorkloadSettings:
        return WorkloadSettings(nodes=3).without("scheduler")

    async def test_without_a_scheduler_a_pod_stays_pending(self, cluster: Cluster) -> None:
        container = core_v1.Container(name="app", image="app:1")
        await cluster.create(
            core_v1.Pod(
                metadata=meta_v1.ObjectMeta(name="web"),
                spec=core_v1.PodSpec(containers=(container,)),
            )
        )
        await cluster.settle()

        pod = await cluster.get(core_v1.Pod, "web")
        assert pod.spec is not None
        assert pod.spec.node_name is None
