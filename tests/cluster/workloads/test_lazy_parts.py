"""Parts of a cluster start late: when an object triggers them."""

from collections.abc import Awaitable, Callable

import pytest

from steersman.kinds import (
    apps_v1,
    autoscaling_v2,
    batch_v1,
    core_v1,
    meta_v1,
    policy_v1,
    recipes,
    storage_v1,
)
from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.simulation.lazy_start import TRIGGERS
from steersman_cluster.workloads import WorkloadSettings, workloads
from tests.real.replication_scenarios import replication_controller

CONTAINER = core_v1.Container(name="main", image="nginx")
NAMED = meta_v1.ObjectMeta(name="web")
SELECTOR = meta_v1.LabelSelector(match_labels={"app": "web"})
POD = core_v1.PodTemplateSpec(
    metadata=meta_v1.ObjectMeta(labels={"app": "web"}),
    spec=core_v1.PodSpec(containers=(CONTAINER,), restart_policy="Never"),
)
CLAIM = core_v1.PersistentVolumeClaimSpec(
    access_modes=("ReadWriteOnce",),
    resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity("1Gi")}),
)


def only(part: str) -> WorkloadSettings:
    return WorkloadSettings(parts=(part,))


def parts(cluster: SimulatedCluster) -> int:
    """How many groups of parts run."""
    return len([each for each in cluster.operators if each.name == "workloads"])


async def apply_stateful_set(cluster: SimulatedCluster) -> bool:
    await cluster.apply(recipes.stateful_set("web", CONTAINER, replicas=1))
    await cluster.settle()
    return [each.name for each in await cluster.list(core_v1.Pod)] == ["web-0"]


async def create_replication_controller(cluster: SimulatedCluster) -> bool:
    await cluster.create(replication_controller(2))
    await cluster.settle()
    return len(await cluster.list(core_v1.Pod)) == 2


async def apply_daemon_set(cluster: SimulatedCluster) -> bool:
    await cluster.apply(recipes.daemon_set("web", CONTAINER))
    await cluster.settle()
    return len(await cluster.list(core_v1.Pod)) == 1


async def create_job(cluster: SimulatedCluster) -> bool:
    await cluster.create(
        batch_v1.Job(metadata=NAMED, spec=batch_v1.JobSpec(template=POD, completions=1))
    )
    await cluster.settle()
    return len(await cluster.list(core_v1.Pod)) == 1


async def create_cron_job(cluster: SimulatedCluster) -> bool:
    job = batch_v1.JobTemplateSpec(spec=batch_v1.JobSpec(template=POD))
    spec = batch_v1.CronJobSpec(schedule="0 * * * *", job_template=job)
    await cluster.create(batch_v1.CronJob(metadata=NAMED, spec=spec))
    await cluster.advance(3601)
    await cluster.settle()
    return len(await cluster.list(batch_v1.Job)) >= 1


async def create_claim(cluster: SimulatedCluster) -> bool:
    await cluster.create(core_v1.PersistentVolumeClaim(metadata=NAMED, spec=CLAIM))
    source = core_v1.PersistentVolumeClaimVolumeSource(claim_name="web")
    volume = core_v1.Volume(name="data", persistent_volume_claim=source)
    spec = core_v1.PodSpec(containers=(CONTAINER,), volumes=(volume,))
    await cluster.create(core_v1.Pod(metadata=NAMED, spec=spec))
    await cluster.settle()
    found = await cluster.get(core_v1.PersistentVolumeClaim, "web")
    return bool(found.status and found.status.phase == "Bound")


async def create_volume(cluster: SimulatedCluster) -> bool:
    spec = core_v1.PersistentVolumeSpec(
        access_modes=("ReadWriteOnce",),
        capacity={"storage": Quantity("1Gi")},
        host_path=core_v1.HostPathVolumeSource(path="/data"),
    )
    await cluster.create(core_v1.PersistentVolume(metadata=NAMED, spec=spec))
    await cluster.settle()
    found = await cluster.get(core_v1.PersistentVolume, "web")
    return bool(found.status and found.status.phase == "Available")


async def create_pod_with_an_ephemeral_volume(cluster: SimulatedCluster) -> bool:
    template = core_v1.PersistentVolumeClaimTemplate(spec=CLAIM)
    source = core_v1.EphemeralVolumeSource(volume_claim_template=template)
    volume = core_v1.Volume(name="data", ephemeral=source)
    spec = core_v1.PodSpec(containers=(CONTAINER,), volumes=(volume,))
    await cluster.create(core_v1.Pod(metadata=NAMED, spec=spec))
    await cluster.settle()
    claims = await cluster.list(core_v1.PersistentVolumeClaim)
    return [each.name for each in claims] == ["web-data"]


async def delete_the_default_account(cluster: SimulatedCluster) -> bool:
    before = await cluster.get(core_v1.ServiceAccount, "default")
    await cluster.delete(core_v1.ServiceAccount, "default")
    await cluster.settle()
    return (await cluster.get(core_v1.ServiceAccount, "default")).uid != before.uid


async def delete_the_root_certificate(cluster: SimulatedCluster) -> bool:
    before = await cluster.get(core_v1.ConfigMap, "kube-root-ca.crt")
    await cluster.delete(core_v1.ConfigMap, "kube-root-ca.crt")
    await cluster.settle()
    return (await cluster.get(core_v1.ConfigMap, "kube-root-ca.crt")).uid != before.uid


async def create_namespace(cluster: SimulatedCluster) -> bool:
    await cluster.create(core_v1.Namespace(metadata=NAMED))
    await cluster.settle()
    return await cluster.find(core_v1.ServiceAccount, "default", namespace="web") is not None


async def create_orphan_pod_with_job_finalizer(cluster: SimulatedCluster) -> bool:
    metadata = meta_v1.ObjectMeta(name="web", finalizers=("batch.kubernetes.io/job-tracking",))
    spec = core_v1.PodSpec(containers=(CONTAINER,))
    await cluster.create(core_v1.Pod(metadata=metadata, spec=spec))
    await cluster.settle()
    return not (await cluster.get(core_v1.Pod, "web")).metadata.finalizers


async def create_budget(cluster: SimulatedCluster) -> bool:
    spec = policy_v1.PodDisruptionBudgetSpec(selector=SELECTOR, min_available=1)
    await cluster.create(policy_v1.PodDisruptionBudget(metadata=NAMED, spec=spec))
    await cluster.settle()
    found = await cluster.get(policy_v1.PodDisruptionBudget, "web")
    return bool(found.status and found.status.observed_generation == 1)


async def create_quota(cluster: SimulatedCluster) -> bool:
    spec = core_v1.ResourceQuotaSpec(hard={"pods": Quantity("5")})
    await cluster.create(core_v1.ResourceQuota(metadata=NAMED, spec=spec))
    await cluster.settle()
    found = await cluster.get(core_v1.ResourceQuota, "web")
    return bool(found.status and found.status.used)


async def create_autoscaler(cluster: SimulatedCluster) -> bool:
    await cluster.apply(recipes.deployment("web", CONTAINER, replicas=1))
    about = autoscaling_v2.CrossVersionObjectReference(
        api_version="apps/v1", kind="Deployment", name="web"
    )
    spec = autoscaling_v2.HorizontalPodAutoscalerSpec(
        scale_target_ref=about, min_replicas=3, max_replicas=5
    )
    await cluster.create(autoscaling_v2.HorizontalPodAutoscaler(metadata=NAMED, spec=spec))
    await cluster.advance(60)
    await cluster.settle()
    deployment = await cluster.get(apps_v1.Deployment, "web")
    return bool(deployment.spec and deployment.spec.replicas == 3)


@pytest.mark.parametrize(
    "act",
    [
        apply_stateful_set,
        create_replication_controller,
        apply_daemon_set,
        create_job,
        create_cron_job,
        create_orphan_pod_with_job_finalizer,
        create_claim,
        create_volume,
        create_pod_with_an_ephemeral_volume,
        create_namespace,
        delete_the_default_account,
        delete_the_root_certificate,
        create_budget,
        create_quota,
        create_autoscaler,
    ],
    ids=lambda act: act.__name__,
)
def test_a_part_starts_for_its_triggers(
    act: Callable[[SimulatedCluster], Awaitable[bool]],
) -> None:
    async def main(cluster: SimulatedCluster) -> tuple[int, bool, int]:
        return parts(cluster), await act(cluster), parts(cluster)

    before, was_done, after = simulate(main)

    assert before == 1
    assert was_done
    assert after > 1


@pytest.mark.parametrize("part", TRIGGERS)
def test_every_kind_that_a_controller_reconciles_triggers_its_part(part: str) -> None:
    kinds = [each.kind.resource_type for each in workloads(only(part)).controllers]

    reconciled = {GroupResource(each.gvk.group, each.plural) for each in kinds}

    assert reconciled <= TRIGGERS[part].keys()


@pytest.mark.parametrize("part", TRIGGERS)
def test_a_part_without_others_starts_late_too(part: str) -> None:
    async def main(cluster: SimulatedCluster) -> int:
        return parts(cluster)

    assert simulate(main, settings=only(part)) == 0


def test_a_deployment_starts_no_other_part() -> None:
    async def main(cluster: SimulatedCluster) -> int:
        await cluster.apply(recipes.deployment("web", CONTAINER, replicas=2))
        await cluster.settle()
        assert len(await cluster.list(core_v1.Pod)) == 2
        return parts(cluster)

    assert simulate(main) == 1


def test_an_object_that_was_deleted_before_its_part_started_is_not_recreated() -> None:
    async def main(cluster: SimulatedCluster) -> list[str]:
        await cluster.delete(storage_v1.StorageClass, "standard")
        await cluster.settle()
        return [each.name for each in await cluster.list(storage_v1.StorageClass)]

    assert simulate(main) == []


def test_a_crash_of_one_part_does_not_affect_the_state_of_another() -> None:
    async def main(cluster: SimulatedCluster) -> str | None:
        suspended = batch_v1.JobSpec(template=POD, suspend=True)
        await cluster.create(batch_v1.Job(metadata=NAMED, spec=suspended))
        await cluster.settle()
        lasting = core_v1.PodSpec(containers=(CONTAINER,))
        await cluster.create(core_v1.Pod(metadata=NAMED, spec=lasting))
        await cluster.clock.sleep(1)
        (*_, jobs) = cluster.operators
        await jobs.kill()
        await cluster.settle()
        pod = await cluster.get(core_v1.Pod, "web")
        return pod.status.phase if pod.status is not None else None

    assert simulate(main, settings=WorkloadSettings(pod_start_seconds=300)) == "Running"
