"""Claims and volumes on the embedded server."""

from typing import Any

import pytest

from steersman.client import MergePatch
from steersman.kinds import core_v1, meta_v1, storage_v1
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.volumes import controllers, runnables
from tests.cluster.workloads.stateful import (
    Claim,
    Pod,
    Volume,
    claim,
    names,
    phase_of,
    run_steps,
    said,
)

VOLUMES = ("volumes",)
StorageClass = storage_v1.StorageClass


def storage_class(
    name: str, *, mode: str = "Immediate", annotations: Any = None, **rest: Any
) -> StorageClass:
    rest.setdefault("provisioner", "disks.example.com")
    return StorageClass(
        metadata=meta_v1.ObjectMeta(name=name, annotations=annotations),
        volume_binding_mode=mode,
        **rest,
    )


def volume(name: str, size: str, **spec: Any) -> Volume:
    spec.setdefault("storage_class_name", "manual")
    return core_v1.PersistentVolume(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.PersistentVolumeSpec(
            access_modes=("ReadWriteOnce",),
            capacity={"storage": Quantity(size)},
            host_path=core_v1.HostPathVolumeSource(path="/data"),
            **spec,
        ),
    )


def user(name: str, *claims: str) -> Pod:
    """A Pod with these claims."""
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main"),),
            volumes=tuple(
                core_v1.Volume(
                    name=each,
                    persistent_volume_claim=core_v1.PersistentVolumeClaimVolumeSource(
                        claim_name=each
                    ),
                )
                for each in claims
            ),
        ),
    )


async def only_volume(cluster: SimulatedCluster) -> Volume:
    [found] = await cluster.list(Volume)
    return found


def test_a_claim_whose_class_has_a_provisioner_gets_a_volume_of_its_own() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(storage_class("fast", reclaim_policy="Retain"))
        made = await cluster.create(claim("data", "5Gi", storage_class_name="fast"))
        await cluster.settle()

        found = await cluster.get(Claim, "data")
        there = await only_volume(cluster)
        assert there.name == f"pvc-{made.uid}"
        assert there.status is not None
        assert there.status.phase == "Bound"
        assert there.spec is not None
        assert there.spec.claim_ref is not None
        assert there.spec.claim_ref.uid == made.uid
        assert there.spec.persistent_volume_reclaim_policy == "Retain"
        assert there.annotations == {"pv.kubernetes.io/provisioned-by": "disks.example.com"}
        assert found.spec is not None
        assert found.spec.volume_name == there.name
        assert found.status == core_v1.PersistentVolumeClaimStatus(
            phase="Bound",
            access_modes=("ReadWriteOnce",),
            capacity={"storage": Quantity("5Gi")},
        )
        assert found.annotations == {
            "pv.kubernetes.io/bind-completed": "yes",
            "pv.kubernetes.io/bound-by-controller": "yes",
            "volume.beta.kubernetes.io/storage-provisioner": "disks.example.com",
            "volume.kubernetes.io/storage-provisioner": "disks.example.com",
        }

    run_steps(steps, parts=VOLUMES)


def test_a_claim_without_a_class_gets_the_default_class() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        await cluster.create(claim("data"))
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Bound"
        there = await only_volume(cluster)
        assert there.spec is not None
        assert there.spec.storage_class_name == "standard"

    run_steps(steps, parts=VOLUMES)


def test_a_claim_older_than_the_default_class_gets_it_too() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.settle()
        await cluster.delete(StorageClass, "standard")
        await cluster.create(claim("data"))
        await cluster.settle()
        assert await phase_of(cluster, Claim, "data") == "Pending"
        assert await said(cluster, "PersistentVolumeClaim") == [
            "FailedBinding: no persistent volumes available for this claim and no storage class"
            " is set"
        ]

        default = {"storageclass.kubernetes.io/is-default-class": "true"}
        await cluster.create(storage_class("new", annotations=default))
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Bound"

    run_steps(steps, parts=VOLUMES)


def test_a_cluster_with_a_default_class_gets_no_other() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        default = {"storageclass.kubernetes.io/is-default-class": "true"}
        await cluster.create(storage_class("mine", annotations=default))
        await cluster.run_operator(
            *controllers(WorkloadSettings()), runnables=runnables(WorkloadSettings())
        )
        await cluster.settle()

        assert await names(cluster, StorageClass) == ["mine"]

    run_steps(steps, parts=())


def test_a_claim_that_waits_for_its_first_consumer_is_bound_after_the_consumer_exists() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(storage_class("late", mode="WaitForFirstConsumer"))
        await cluster.create(claim("data", storage_class_name="late"))
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Pending"
        assert await names(cluster, Volume) == []
        assert await said(cluster, "PersistentVolumeClaim") == [
            "WaitForFirstConsumer: waiting for first consumer to be created before binding"
        ]

        await cluster.create(user("one", "data"))
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Bound"

    run_steps(steps, parts=VOLUMES)


def test_claims_bind_to_existing_volumes_and_never_two_to_the_same() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for name, size in (("large", "9Gi"), ("small", "2Gi"), ("tiny", "1Mi")):
            await cluster.create(volume(name, size))
        await cluster.settle()
        assert await phase_of(cluster, Volume, "small") == "Available"

        for name in ("one", "two", "three"):
            await cluster.create(claim(name, "1Gi", storage_class_name="manual"))
        await cluster.settle()

        bound = {
            each.name: each.spec.volume_name
            for each in await cluster.list(Claim)
            if each.spec is not None
        }
        assert sorted(filter(None, bound.values())) == ["large", "small"]
        assert await phase_of(cluster, Volume, "small") == "Bound"
        assert await phase_of(cluster, Volume, "tiny") == "Available"

    run_steps(steps, parts=VOLUMES)


def test_a_pending_claim_binds_to_a_later_volume() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claim("data", "1Gi", storage_class_name="manual"))
        await cluster.settle()
        assert await said(cluster, "PersistentVolumeClaim") == [
            'ProvisioningFailed: storageclass.storage.k8s.io "manual" not found'
        ]

        await cluster.create(volume("late", "2Gi"))
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Bound"

    run_steps(steps, parts=VOLUMES)


def test_a_claim_binds_to_the_volume_that_it_names_if_that_fits() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(volume("small", "1Gi"))
        await cluster.create(volume("large", "9Gi"))
        await cluster.create(claim("one", "2Gi", storage_class_name="manual", volume_name="small"))
        await cluster.create(claim("two", "2Gi", storage_class_name="manual", volume_name="large"))
        await cluster.settle()
        await cluster.create(
            claim("three", "2Gi", storage_class_name="manual", volume_name="large")
        )
        await cluster.settle()

        assert [await phase_of(cluster, Claim, each) for each in ("one", "two", "three")] == [
            "Pending",
            "Bound",
            "Pending",
        ]
        assert await said(cluster, "PersistentVolumeClaim") == [
            'VolumeMismatch: Cannot bind to requested volume "small": requested PV is too small',
            'FailedBinding: volume "large" already bound to a different claim.',
        ]

    run_steps(steps, parts=VOLUMES)


def test_a_claim_in_use_is_not_deleted_before_its_last_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claim("data"))
        await cluster.create(user("one", "data"))
        await cluster.create(user("two", "data"))
        await cluster.settle()

        await cluster.delete(Claim, "data")
        await cluster.delete(Pod, "one")
        await cluster.settle()
        assert await names(cluster, Claim) == ["data"]

        await cluster.delete(Pod, "two")
        await cluster.settle()
        assert await names(cluster, Claim) == []

    run_steps(steps, parts=("nodes", "scheduler", "volumes"))


def with_ephemeral_claim(name: str) -> Pod:
    """A Pod with an ephemeral claim."""
    spec = claim().spec
    assert spec is not None
    template = core_v1.PersistentVolumeClaimTemplate(
        metadata=meta_v1.ObjectMeta(labels={"tier": "scratch"}), spec=spec
    )
    source = core_v1.EphemeralVolumeSource(volume_claim_template=template)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main"),),
            volumes=(core_v1.Volume(name="scratch", ephemeral=source),),
        ),
    )


def test_an_ephemeral_claim_is_created_and_deleted_with_its_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(with_ephemeral_claim("one"))
        await cluster.settle()

        made = await cluster.get(Claim, "one-scratch")
        assert made.labels == {"tier": "scratch"}
        assert made.status is not None
        assert made.status.phase == "Bound"

        await cluster.delete(Pod, "one")
        await cluster.settle()

        assert await names(cluster, Claim) == []
        assert await names(cluster, Volume) == []

    run_steps(steps, parts=("garbagecollector", "nodes", "scheduler", "volumes"))


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        (
            (),
            "waiting for ephemeral volume controller to create the persistentvolumeclaim"
            ' "one-scratch"',
        ),
        (
            (claim("one-scratch"),),
            "PVC default/one-scratch was not created for pod default/one (pod is not owner)",
        ),
    ],
)
def test_a_pod_is_not_bound_before_its_ephemeral_claim(claims: tuple[Claim, ...], why: str) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        for each in claims:
            await cluster.create(each)
        await cluster.create(with_ephemeral_claim("one"))
        await cluster.settle()

        pod = await cluster.get(Pod, "one")
        assert pod.status is not None
        [scheduled] = [each for each in pod.status.conditions or () if each.type == "PodScheduled"]
        assert (scheduled.message or "").startswith(f"0/2 nodes are available: {why}. preemption:")

    run_steps(steps, parts=("nodes", "scheduler"))


def test_a_deleted_ephemeral_claim_is_recreated() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(with_ephemeral_claim("one"))
        await cluster.settle()
        before = await cluster.get(Claim, "one-scratch")

        await cluster.delete(Claim, "one-scratch")
        await cluster.settle()

        assert (await cluster.get(Claim, "one-scratch")).uid != before.uid

    run_steps(steps, parts=VOLUMES)


def test_a_claim_that_a_user_created_is_not_used_as_an_ephemeral_claim() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claim("one-scratch"))
        await cluster.create(with_ephemeral_claim("one"))
        await cluster.settle()

        assert (await cluster.get(Claim, "one-scratch")).metadata.owner_references is None
        assert await said(cluster, "Pod") == [
            "FailedBinding: ephemeral volume scratch: PVC default/one-scratch was not created for"
            " pod default/one (pod is not owner)"
        ]

    run_steps(steps, parts=VOLUMES)


@pytest.mark.parametrize(
    ("policy", "left"), [("Delete", []), ("Retain", ["Released"]), ("Recycle", ["Failed"])]
)
def test_a_released_volume_is_deleted_or_kept_by_its_reclaim_policy(
    policy: str, left: list[str]
) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(volume("disk", "2Gi", persistent_volume_reclaim_policy=policy))
        await cluster.create(claim("data", "1Gi", storage_class_name="manual"))
        await cluster.settle()
        assert await phase_of(cluster, Claim, "data") == "Bound"

        await cluster.delete(Claim, "data")
        await cluster.settle()

        phases = [each.status.phase for each in await cluster.list(Volume) if each.status]
        assert phases == left

    run_steps(steps, parts=VOLUMES)


def test_a_bound_volume_is_not_deleted_before_its_claim() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(volume("disk", "2Gi"))
        await cluster.create(claim("data", "1Gi", storage_class_name="manual"))
        await cluster.settle()

        await cluster.delete(Volume, "disk")
        await cluster.settle()
        assert await names(cluster, Volume) == ["disk"]

        await cluster.delete(Claim, "data")
        await cluster.settle()
        assert await names(cluster, Volume) == []

    run_steps(steps, parts=VOLUMES)


def test_a_claim_whose_volume_is_gone_is_lost() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claim("data"))
        await cluster.settle()
        there = await only_volume(cluster)

        await cluster.patch(Volume, there.name, MergePatch({"metadata": {"finalizers": []}}))
        await cluster.delete(Volume, there.name)
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Lost"
        assert (await said(cluster, "PersistentVolumeClaim"))[-1] == (
            "ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"
        )

    run_steps(steps, parts=VOLUMES)


def test_a_class_of_another_provisioner_is_left_alone() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        others = {"volumes.steersman.dev/provision": "false"}
        await cluster.create(storage_class("theirs", annotations=others))
        made = await cluster.create(claim("data", storage_class_name="theirs"))
        await cluster.settle()
        assert await phase_of(cluster, Claim, "data") == "Pending"
        assert await names(cluster, Volume) == []

        reference = core_v1.ObjectReference(namespace=made.namespace, name="data", uid=made.uid)
        theirs = volume("disk", "1Gi", storage_class_name="theirs", claim_ref=reference)
        await cluster.create(theirs)
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Bound"

    run_steps(steps, parts=VOLUMES)


def test_a_class_without_a_provisioner_uses_only_existing_volumes() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(storage_class("local", provisioner="kubernetes.io/no-provisioner"))
        await cluster.create(claim("data", storage_class_name="local"))
        await cluster.settle()

        assert await phase_of(cluster, Claim, "data") == "Pending"
        assert await said(cluster, "PersistentVolumeClaim") == [
            "ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner"
        ]

    run_steps(steps, parts=VOLUMES)


def test_a_claim_that_requests_more_storage_is_resized() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(claim("data", "1Gi"))
        await cluster.settle()

        more = {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
        await cluster.patch(Claim, "data", MergePatch(more))
        await cluster.settle()

        found = await cluster.get(Claim, "data")
        there = await only_volume(cluster)
        assert found.status is not None
        assert found.status.capacity == {"storage": Quantity("3Gi")}
        assert there.spec is not None
        assert there.spec.capacity == {"storage": Quantity("3Gi")}

    run_steps(steps, parts=VOLUMES)


def test_settled_claims_and_volumes_are_not_written() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(storage_class("fast"))
        await cluster.run_operator(*controllers(WorkloadSettings()))
        await cluster.create(claim("data", storage_class_name="fast"))
        await cluster.create(volume("free", "2Gi"))
        await cluster.settle()
        assert await phase_of(cluster, Claim, "data") == "Bound"

        await cluster.assert_second_pass_writes_nothing()

    run_steps(steps, parts=())
