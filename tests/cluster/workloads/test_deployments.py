"""Deployments on the embedded server."""

from typing import Any

import pytest

from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.kinds import core_v1, meta_v1, replace
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads.deployments.revisions import new_replica_set
from steersman_cluster.workloads.deployments.rollout import ReplicaLimits
from tests.cluster.workloads.replicated import (
    Deployment,
    ReplicaSet,
    notes,
    pod,
    pod_quota,
    pods,
    ready_pods,
    run_steps,
)
from tests.real.deployment_scenarios import (
    SCENARIOS,
    WEB,
    Scenario,
    change,
    deployment,
    rolling_update,
    set_image,
    short_history,
)
from tests.real.workload_steps import Stage, in_order

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"


async def condition(
    cluster: SimulatedCluster, type: str
) -> tuple[str, str | None, str | None] | None:
    status = (await cluster.get(Deployment, WEB)).status
    for each in (status.conditions if status is not None else None) or ():
        if each.type == type:
            return each.status, each.reason, each.message
    return None


async def revisions(cluster: SimulatedCluster) -> dict[str, tuple[str, str | None, int | None]]:
    """The revision, the revision history and the replicas by image."""
    found = {}
    for rs in await cluster.list(ReplicaSet):
        assert rs.spec is not None
        assert rs.spec.template is not None
        assert rs.spec.template.spec is not None
        image = rs.spec.template.spec.containers[0].image or ""
        found[image] = rs.annotations[REVISION], rs.annotations.get(HISTORY), rs.spec.replicas
    return found


def test_a_rolling_update_respects_its_limits_and_completes() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> list[tuple[str, Any]]:
        await rolling_update(stage)
        assert (await revisions(cluster)) == {"web:1": ("1", None, 0), "web:2": ("2", None, 4)}
        assert await condition(cluster, "Progressing") is not None
        return in_order(stage.steps.of(ReplicaSet))

    resizes = run_steps(steps)

    sizes: dict[str, int] = {}
    totals = []
    for name, size in resizes:
        sizes[name] = size
        totals.append(sum(sizes.values()))
    # Four at the start; then from one below to one above.
    assert max(totals) == 5
    assert min(totals[totals.index(4) :]) >= 4
    assert totals[-1] == 4


def test_the_available_pods_never_fall_below_the_minimum() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=6, surge=2, unavailable=2))
        await stage.make_pods_ready()
        await set_image(stage, "web:2")

        fewest, most = 6, 6
        while await stage.make_pods_ready(at_most=1):
            fewest = min(fewest, len(await ready_pods(cluster)))
            most = max(most, len(await pods(cluster)))

        assert (fewest, most) == (4, 8)

    run_steps(steps)


def test_a_rollback_keeps_the_old_replicaset_and_gives_it_a_new_revision() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=1))
        await stage.make_pods_ready()
        await set_image(stage, "web:2")
        await stage.make_pods_ready()
        (first,) = [
            rs.uid for rs in await cluster.list(ReplicaSet) if rs.annotations[REVISION] == "1"
        ]

        await set_image(stage, "web:1")
        await stage.make_pods_ready()

        assert await revisions(cluster) == {"web:1": ("3", "1", 1), "web:2": ("2", None, 0)}
        assert (await cluster.get(Deployment, WEB)).annotations[REVISION] == "3"
        assert first in [rs.uid for rs in await cluster.list(ReplicaSet)]

    run_steps(steps)


def test_recreate_creates_new_pods_after_the_last_old_one_is_gone() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=2, strategy="Recreate"))
        await stage.make_pods_ready()
        held = MergePatch({"metadata": {"finalizers": ["example.com/hold"]}})
        last = (await pods(cluster))[0].name
        await cluster.patch(core_v1.Pod, last, held)

        await set_image(stage, "web:2")
        await stage.make_pods_ready()
        assert await revisions(cluster) == {"web:1": ("1", None, 0)}

        await cluster.patch(core_v1.Pod, last, MergePatch({"metadata": {"finalizers": None}}))
        await stage.make_pods_ready()
        assert await revisions(cluster) == {"web:1": ("1", None, 0), "web:2": ("2", None, 2)}

    run_steps(steps)


def test_the_history_limit_bounds_the_old_replicasets() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await short_history(stage)

        assert await revisions(cluster) == {"web:3": ("3", None, 0), "web:4": ("4", None, 1)}

    run_steps(steps)


def test_a_replicaset_gets_the_min_ready_seconds_of_its_deployment() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=1))
        await stage.make_pods_ready()

        await change(stage, minReadySeconds=30)
        await cluster.settle()

        (rs,) = await cluster.list(ReplicaSet)
        assert rs.spec is not None
        assert rs.spec.min_ready_seconds == 30

    run_steps(steps)


def test_a_paused_deployment_rolls_nothing_out() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=2))
        await stage.make_pods_ready()

        await change(stage, paused=True)
        await set_image(stage, "web:2")
        await stage.make_pods_ready()

        assert await revisions(cluster) == {"web:1": ("1", None, 2)}
        assert await condition(cluster, "Progressing") == (
            "Unknown",
            "DeploymentPaused",
            "Deployment is paused",
        )

    run_steps(steps)


def test_a_stalled_rollout_is_reported_after_its_deadline_and_not_before() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=2, progress_deadline_seconds=100))
        await stage.make_pods_ready()
        await set_image(stage, "web:2")
        await cluster.settle()
        (name,) = [
            rs.name for rs in await cluster.list(ReplicaSet) if rs.annotations[REVISION] == "2"
        ]

        await cluster.clock.sleep(90)
        before = await condition(cluster, "Progressing")
        await cluster.clock.sleep(20)
        after = await condition(cluster, "Progressing")
        await stage.make_pods_ready()
        at_last = await condition(cluster, "Progressing")

        assert before == ("True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.')
        assert after == (
            "False",
            "ProgressDeadlineExceeded",
            f'ReplicaSet "{name}" has timed out progressing.',
        )
        assert at_last == (
            "True",
            "NewReplicaSetAvailable",
            f'ReplicaSet "{name}" has successfully progressed.',
        )

    run_steps(steps)


def test_two_deployments_with_the_same_selector_roll_out_independently() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        one = deployment(replicas=2)
        two = replace(one, metadata=replace(one.metadata, name="two"))
        await stage.create(one)
        await stage.create(two)
        await stage.make_pods_ready()
        await set_image(stage, "web:2")
        await stage.make_pods_ready()

        owners = [controller_of(rs) for rs in await cluster.list(ReplicaSet)]
        assert sorted(owner.name for owner in owners if owner) == ["two", "web", "web"]
        assert len(await pods(cluster)) == 4
        await cluster.assert_second_pass_writes_nothing()

    run_steps(steps)


def test_a_replicaset_with_the_template_and_without_a_controller_is_adopted() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=2))
        await stage.make_pods_ready()
        before = await pods(cluster)

        await cluster.delete(Deployment, WEB, propagation="Orphan")
        # As the garbage collector does.
        (rs,) = await cluster.list(ReplicaSet)
        await cluster.patch(
            ReplicaSet, rs.name, MergePatch({"metadata": {"ownerReferences": None}})
        )
        going = MergePatch({"metadata": {"finalizers": None}})
        await cluster.patch(Deployment, WEB, going)
        await stage.create(deployment(replicas=2))
        await cluster.settle()

        (adopted,) = await cluster.list(ReplicaSet)
        owner = controller_of(adopted)
        assert owner is not None
        assert owner.uid == (await cluster.get(Deployment, WEB)).uid
        assert [each.uid for each in await pods(cluster)] == [each.uid for each in before]
        assert await condition(cluster, "Progressing") == (
            "True",
            "NewReplicaSetAvailable",
            f'ReplicaSet "{adopted.name}" has successfully progressed.',
        )

    run_steps(steps)


def test_a_deployment_in_deletion_creates_no_replicaset() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await stage.create(deployment(replicas=2))
        await stage.make_pods_ready()

        await cluster.delete(Deployment, WEB, propagation="Foreground")
        await set_image(stage, "web:2")
        await cluster.settle()

        assert [*(await revisions(cluster))] == ["web:1"]
        going = await cluster.get(Deployment, WEB)
        assert going.status is not None
        assert going.status.observed_generation == going.generation

    run_steps(steps)


@pytest.mark.parametrize("is_ours", [True, False], ids=["by another template", "by a user"])
def test_a_name_collision_leads_to_another_name(is_ours: bool) -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        web = await stage.create(deployment(paused=True))
        wanted = new_replica_set(web, revision=1, size=0, limits=ReplicaLimits(replicas=4))
        await cluster.create(taking_the_name_of(wanted, is_ours=is_ours))

        await change(stage, paused=False)
        await stage.make_pods_ready()

        web = await cluster.get(Deployment, WEB)
        assert web.status is not None
        assert (web.status.collision_count, web.status.available_replicas) == (1, 4)
        assert len(await cluster.list(ReplicaSet)) == 2

    run_steps(steps)


def taking_the_name_of(rs: ReplicaSet, *, is_ours: bool) -> ReplicaSet:
    """Another ReplicaSet with the same name."""
    assert rs.spec is not None
    assert rs.spec.template is not None
    pods = pod("other", **{**rs.labels, **({} if is_ours else {"app": "else"})})
    other = replace(pods.spec or core_v1.PodSpec(containers=()), hostname="other")
    return replace(
        rs,
        metadata=replace(
            rs.metadata,
            labels=pods.labels,
            owner_references=rs.metadata.owner_references if is_ours else None,
        ),
        spec=replace(
            rs.spec,
            selector=meta_v1.LabelSelector(match_labels=pods.labels),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=pods.labels), spec=other
            ),
        ),
    )


def test_a_rejected_replicaset_is_reported_in_a_condition_and_an_event() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await pod_quota(cluster, "count/replicasets.apps", 0)

        await stage.create(deployment())
        await cluster.settle()

        found = await condition(cluster, "Progressing")
        assert found is not None
        status, reason, message = found
        assert (status, reason) == ("False", "ReplicaSetCreateError")
        assert (message or "").startswith('Failed to create new replica set "web-')
        assert "exceeded quota: few" in (message or "")
        assert message in await notes(cluster, "ReplicaSetCreateError")

    run_steps(steps)


def test_rejected_pods_are_reported_in_a_condition_of_the_deployment() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await pod_quota(cluster, "pods", 0)

        await stage.create(deployment())
        await cluster.settle()

        found = await condition(cluster, "ReplicaFailure")
        assert found is not None
        assert found[:2] == ("True", "FailedCreate")

    run_steps(steps)


def test_a_deployment_does_not_adopt_a_foreign_pod() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await cluster.create(pod("other", app=WEB))

        await stage.create(deployment(replicas=1))
        await stage.make_pods_ready()

        # It lacks the hash label that the ReplicaSet selects.
        assert controller_of(await cluster.get(core_v1.Pod, "other")) is None

    run_steps(steps)


def test_a_settled_deployment_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster, stage: Stage) -> None:
        await rolling_update(stage)

        await cluster.assert_second_pass_writes_nothing()

    run_steps(steps)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_a_deployment_has_the_same_result_when_its_controller_is_killed(scenario: Scenario) -> None:
    async def undisturbed(cluster: SimulatedCluster, stage: Stage) -> Any:
        await scenario(stage)
        return await revisions(cluster), len(await pods(cluster))

    async def with_kills(cluster: SimulatedCluster, stage: Stage) -> Any:
        quiet, calls = stage.quiet, 0

        async def quiet_with_kills() -> None:
            nonlocal calls
            calls += 1
            if calls % 3 == 2:
                await cluster.clock.sleep(0.003)
                (operator,) = cluster.operators
                await operator.kill()
                operator.again()
            await quiet()

        await scenario(
            Stage(
                client=stage.client,
                namespace=stage.namespace,
                steps=stage.steps,
                quiet=quiet_with_kills,
            )
        )
        return await revisions(cluster), len(await pods(cluster))

    assert run_steps(with_kills) == run_steps(undisturbed)
