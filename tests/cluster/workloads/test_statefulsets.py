"""StatefulSets on the embedded server, with nodes that run their Pods."""

import pytest

from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster
from steersman_cluster.workloads import WorkloadSettings
from steersman_cluster.workloads.statefulsets import controllers
from tests.cluster.workloads.stateful import (
    Claim,
    Pod,
    PodEvents,
    Revision,
    StatefulSet,
    claim,
    images,
    names,
    retention,
    rolling,
    run_steps,
    said,
    scale,
    stateful_set,
    status,
)

NEVER_READY = {"nodes.steersman.dev/never-ready": "true"}


def test_ordered_pods_are_created_one_after_the_other_and_deleted_in_reverse_order() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        seen = await PodEvents().start(cluster)
        await cluster.apply(stateful_set(3))
        await cluster.settle()
        await scale(cluster, 0)
        await cluster.settle()

        assert " ".join(seen.steps) == "+0 +1 +2 -2 2 -1 1 -0 0"
        assert await names(cluster, Pod) == []

    run_steps(steps)


def test_no_pod_is_created_after_one_that_is_not_ready() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(3, pod_annotations=NEVER_READY))
        await cluster.settle()

        assert await names(cluster, Pod) == ["web-0"]
        assert (await status(cluster)).available_replicas == 0

    run_steps(steps)


def test_parallel_pods_do_not_wait_for_each_other() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(
            stateful_set(3, pod_annotations=NEVER_READY, pod_management_policy="Parallel")
        )
        await cluster.settle()

        assert await names(cluster, Pod) == ["web-0", "web-1", "web-2"]

        await scale(cluster, 0)
        await cluster.settle()

        assert await names(cluster, Pod) == []

    run_steps(steps)


def test_ordinals_start_at_the_configured_ordinal() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        ordinals = apps_v1.StatefulSetOrdinals(start=4)
        await cluster.apply(stateful_set(2, ordinals=ordinals))
        await cluster.settle()

        assert await names(cluster, Pod) == ["web-4", "web-5"]

    run_steps(steps)


def test_the_status_of_a_set_has_all_counts_and_revisions() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(2))
        await cluster.settle()

        [revision] = await names(cluster, Revision)
        assert await status(cluster) == apps_v1.StatefulSetStatus(
            observed_generation=1,
            replicas=2,
            ready_replicas=2,
            available_replicas=2,
            current_replicas=2,
            updated_replicas=2,
            current_revision=revision,
            update_revision=revision,
            collision_count=0,
        )

    run_steps(steps)


def test_a_set_in_deletion_counts_its_pods_and_creates_none() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(2))
        await cluster.settle()
        held = MergePatch({"metadata": {"finalizers": ["example.com/hold"]}})
        await cluster.patch(StatefulSet, "web", held)
        before = await status(cluster)

        await cluster.delete(StatefulSet, "web")
        await cluster.delete(Pod, "web-0")
        await cluster.settle()

        after = await status(cluster)
        assert await names(cluster, Pod) == ["web-1"]
        assert (before.replicas, after.replicas, after.ready_replicas) == (2, 1, 1)
        assert (after.current_revision, after.update_revision) == (
            before.current_revision,
            before.update_revision,
        )

    run_steps(steps)


def test_a_pod_counts_as_available_after_it_was_ready_long_enough() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(2, min_ready_seconds=300))
        await cluster.advance(200.0)
        await cluster.settle()

        before = await status(cluster)
        assert (before.replicas, before.ready_replicas, before.available_replicas) == (1, 1, 0)

        await cluster.advance(500.0)
        await cluster.settle()

        after = await status(cluster)
        assert (after.replicas, after.ready_replicas, after.available_replicas) == (2, 2, 2)

    run_steps(steps)


def test_an_update_replaces_pods_from_the_highest_ordinal_down_to_the_partition() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        seen = await PodEvents().start(cluster)
        await cluster.apply(stateful_set(3, update_strategy=rolling(partition=1)))
        await cluster.settle()
        await cluster.apply(stateful_set(3, image="web:2", update_strategy=rolling(partition=1)))
        await cluster.settle()

        assert " ".join(seen.steps) == "+0 +1 +2 -2 2 +2 -1 1 +1"
        assert await images(cluster) == {"web-0": "web:1", "web-1": "web:2", "web-2": "web:2"}
        half = await status(cluster)
        assert (half.current_replicas, half.updated_replicas) == (1, 2)
        assert half.current_revision != half.update_revision

        await cluster.apply(stateful_set(3, image="web:2", update_strategy=rolling(partition=0)))
        await cluster.settle()

        assert set((await images(cluster)).values()) == {"web:2"}
        whole = await status(cluster)
        assert (whole.current_replicas, whole.updated_replicas) == (3, 3)
        assert whole.current_revision == whole.update_revision == half.update_revision

    run_steps(steps)


def test_a_lost_pod_below_the_partition_is_recreated_with_the_current_revision() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(3, update_strategy=rolling(partition=2)))
        await cluster.settle()
        await cluster.apply(stateful_set(3, image="web:2", update_strategy=rolling(partition=2)))
        await cluster.settle()

        await cluster.delete(Pod, "web-0")
        await cluster.settle()

        assert await images(cluster) == {"web-0": "web:1", "web-1": "web:1", "web-2": "web:2"}

    run_steps(steps)


def test_an_update_that_never_becomes_ready_stops_at_the_first_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(3))
        await cluster.settle()
        await cluster.apply(stateful_set(3, image="web:2", pod_annotations=NEVER_READY))
        await cluster.settle()

        assert await images(cluster) == {"web-0": "web:1", "web-1": "web:1", "web-2": "web:2"}

    run_steps(steps)


def test_with_ondelete_a_pod_is_replaced_only_after_it_is_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        strategy = apps_v1.StatefulSetUpdateStrategy(type="OnDelete")
        await cluster.apply(stateful_set(2, update_strategy=strategy))
        await cluster.settle()
        await cluster.apply(stateful_set(2, image="web:2", update_strategy=strategy))
        await cluster.settle()

        assert set((await images(cluster)).values()) == {"web:1"}

        await cluster.delete(Pod, "web-0")
        await cluster.settle()

        assert await images(cluster) == {"web-0": "web:2", "web-1": "web:1"}

    run_steps(steps)


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_an_ended_pod_is_recreated_with_the_same_name(phase: str) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(2))
        await cluster.settle()
        before = await cluster.get(Pod, "web-0")

        await cluster.patch(
            Pod, "web-0", MergePatch({"status": {"phase": phase}}), subresource="status"
        )
        await cluster.settle()

        assert (await cluster.get(Pod, "web-0")).uid != before.uid
        assert (await status(cluster)).available_replicas == 2

    run_steps(steps)


def test_the_events_of_a_set_have_the_messages_of_the_real_controller() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(1, claims=(claim(),)))
        await cluster.settle()
        await scale(cluster, 0)
        await cluster.settle()

        assert await said(cluster) == [
            "SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success",
            "SuccessfulCreate: Create Pod web-0 in StatefulSet web successful",
            "SuccessfulDelete: Delete Pod web-0 in StatefulSet web successful",
        ]

    run_steps(steps)


def test_a_rejection_is_reported_with_the_message_of_the_server() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        few = core_v1.ResourceQuotaSpec(hard={"pods": Quantity("1")})
        await cluster.create(
            core_v1.ResourceQuota(metadata=meta_v1.ObjectMeta(name="few"), spec=few)
        )
        await cluster.settle()
        await cluster.apply(stateful_set(2))
        await cluster.advance(20.0)
        await cluster.settle()

        assert await names(cluster, Pod) == ["web-0"]
        failures = [each for each in await said(cluster) if each.startswith("FailedCreate")]
        assert failures == [
            'FailedCreate: Create Pod web-1 in StatefulSet web failed error: pods "web-1" is'
            " forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1"
        ]

    run_steps(steps, parts=("nodes", "scheduler", "statefulsets", "quotas"))


def test_a_rejected_claim_is_reported_for_the_claim_and_for_the_pod() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        none = core_v1.ResourceQuotaSpec(hard={"persistentvolumeclaims": Quantity("0")})
        await cluster.create(
            core_v1.ResourceQuota(metadata=meta_v1.ObjectMeta(name="none"), spec=none)
        )
        await cluster.settle()
        await cluster.apply(stateful_set(1, claims=(claim(),)))
        await cluster.settle()

        refusal = (
            'persistentvolumeclaims "data-web-0" is forbidden: exceeded quota: none, requested:'
            " persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited:"
            " persistentvolumeclaims=0"
        )
        assert sorted(await said(cluster)) == [
            "FailedCreate: Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error:"
            f" {refusal}",
            "FailedCreate: Create Pod web-0 in StatefulSet web failed error: failed to create PVC"
            f" data-web-0: {refusal}",
        ]

    run_steps(steps, parts=("nodes", "scheduler", "statefulsets", "quotas"))


# Claims


def test_a_recreated_pod_gets_its_previous_claims() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(2, claims=(claim(),)))
        await cluster.settle()
        before = {each.name: each.uid for each in await cluster.list(Claim)}

        await scale(cluster, 0)
        await cluster.settle()
        await scale(cluster, 2)
        await cluster.settle()

        assert {each.name: each.uid for each in await cluster.list(Claim)} == before
        assert list(before) == ["data-web-0", "data-web-1"]
        assert (await status(cluster)).available_replicas == 2

    run_steps(steps)


@pytest.mark.parametrize(
    ("when_scaled", "when_deleted", "after_scaling", "after_deleting"),
    [
        ("Retain", "Retain", ["data-web-0", "data-web-1"], ["data-web-0", "data-web-1"]),
        ("Delete", "Retain", ["data-web-0"], ["data-web-0"]),
        ("Retain", "Delete", ["data-web-0", "data-web-1"], []),
        ("Delete", "Delete", ["data-web-0"], []),
    ],
)
def test_claims_are_deleted_with_their_set_or_their_pod_only_by_the_retention_policy(
    when_scaled: str, when_deleted: str, after_scaling: list[str], after_deleting: list[str]
) -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        policy = retention(when_scaled=when_scaled, when_deleted=when_deleted)
        await cluster.apply(
            stateful_set(2, claims=(claim(),), persistent_volume_claim_retention_policy=policy)
        )
        await cluster.settle()

        await scale(cluster, 1)
        await cluster.settle()
        assert await names(cluster, Claim) == after_scaling

        await cluster.delete(StatefulSet, "web")
        await cluster.settle()
        assert await names(cluster, Claim) == after_deleting

    run_steps(steps)


def test_a_recreated_pod_waits_until_the_claim_of_its_predecessor_is_gone() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        policy = retention(when_scaled="Delete")
        await cluster.apply(
            stateful_set(2, claims=(claim(),), persistent_volume_claim_retention_policy=policy)
        )
        await cluster.settle()
        before = await cluster.get(Claim, "data-web-1")

        await scale(cluster, 1)
        await scale(cluster, 2)
        await cluster.settle()
        await scale(cluster, 1)
        await cluster.advance(0.01)
        await cluster.settle()
        await scale(cluster, 2)
        await cluster.settle()

        assert (await cluster.get(Claim, "data-web-1")).uid != before.uid
        assert (await status(cluster)).available_replicas == 2

    run_steps(steps)


def test_no_pod_is_created_while_its_claim_is_being_deleted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(1, claims=(claim(),)))
        await cluster.settle()
        hold = {"metadata": {"finalizers": ["example.com/hold"]}}
        await cluster.patch(Claim, "data-web-0", MergePatch(hold))
        await cluster.delete(Claim, "data-web-0")
        await cluster.delete(Pod, "web-0")
        await cluster.settle()

        assert await names(cluster, Pod) == []
        assert (
            "FailedCreate: Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is"
            " being deleted" in await said(cluster)
        )

        await cluster.patch(Claim, "data-web-0", MergePatch({"metadata": {"finalizers": []}}))
        await cluster.settle()

        assert (await status(cluster)).available_replicas == 1

    run_steps(steps)


def test_a_deleted_claim_of_a_pending_pod_is_recreated() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        # Without nodes, Pods stay pending.
        await cluster.apply(stateful_set(1, claims=(claim(),)))
        await cluster.settle()
        before = await cluster.get(Claim, "data-web-0")

        await cluster.delete(Claim, "data-web-0")
        await cluster.settle()

        assert (await cluster.get(Claim, "data-web-0")).uid != before.uid

    run_steps(steps, parts=("volumes", "statefulsets"))


def test_a_change_of_the_policy_changes_the_owners_of_the_claims() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(1, claims=(claim(),)))
        await cluster.settle()
        owner = await cluster.get(StatefulSet, "web")

        policy = retention(when_deleted="Delete")
        await cluster.apply(
            stateful_set(1, claims=(claim(),), persistent_volume_claim_retention_policy=policy)
        )
        await cluster.settle()

        references = (await cluster.get(Claim, "data-web-0")).metadata.owner_references or ()
        assert [each.uid for each in references] == [owner.uid]

    run_steps(steps)


# Adoption


def test_a_pod_without_a_controller_is_adopted_and_repaired() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.apply(stateful_set(1))
        await cluster.settle()
        await cluster.delete(StatefulSet, "web", propagation="Orphan")
        await cluster.settle()
        before = await cluster.get(Pod, "web-0")
        await cluster.patch(
            Pod,
            "web-0",
            MergePatch({"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}}),
        )

        await cluster.apply(stateful_set(1))
        await cluster.settle()

        after = await cluster.get(Pod, "web-0")
        owner = await cluster.get(StatefulSet, "web")
        assert after.uid == before.uid
        assert [each.uid for each in after.metadata.owner_references or ()] == [owner.uid]
        assert after.labels["statefulset.kubernetes.io/pod-name"] == "web-0"

    run_steps(steps)


def test_a_pod_with_another_name_is_not_adopted() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        foreign = Pod(
            metadata=meta_v1.ObjectMeta(name="other-0", labels={"app": "web"}),
            spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="web:1"),)),
        )
        await cluster.create(foreign)
        await cluster.apply(stateful_set(1))
        await cluster.settle()

        assert (await cluster.get(Pod, "other-0")).metadata.owner_references is None
        assert await names(cluster, Pod) == ["other-0", "web-0"]

    run_steps(steps)


def test_a_pod_whose_name_is_in_use_is_created_when_the_name_is_free() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        foreign = Pod(
            metadata=meta_v1.ObjectMeta(name="web-0", labels={"app": "other"}),
            spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="web:1"),)),
        )
        await cluster.create(foreign)
        await cluster.apply(stateful_set(1))
        await cluster.settle()
        assert (await cluster.get(Pod, "web-0")).labels == {"app": "other"}

        await cluster.delete(Pod, "web-0")
        await cluster.advance(60.0)
        await cluster.settle()

        assert (await cluster.get(Pod, "web-0")).labels["app"] == "web"
        assert (await status(cluster)).available_replicas == 1

    run_steps(steps)


def test_a_settled_statefulset_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.run_operator(*controllers(WorkloadSettings()))
        await cluster.apply(stateful_set(3, claims=(claim(),)))
        await cluster.settle()
        assert (await status(cluster)).available_replicas == 3

        await cluster.assert_second_pass_writes_nothing()

    run_steps(steps, parts=("nodes", "scheduler", "volumes"))
