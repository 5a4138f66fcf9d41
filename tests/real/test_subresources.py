"""Subresources: status, scale, eviction, token, and others, each with its own type."""

import pytest

from steersman.client import Client, JsonPatch, MergePatch, Preconditions
from steersman.errors import Conflict, NotFound, TooManyRequests
from steersman.kinds import (
    Condition,
    Unstructured,
    apps_v1,
    authentication_v1,
    autoscaling_v1,
    core_v1,
    meta_v1,
    policy_v1,
    replace,
)
from steersman_cluster.testing import RealControlPlane
from tests.real.clients import connected
from tests.real.definitions import AnyWidget, Widget, WidgetStatus, any_widget, widget
from tests.real.objects import config_map, deployment, pod
from tests.real.recording_observer import RecordingObserver

AnyNamespace = Unstructured.of("v1", "Namespace", namespaced=False)


def no_disruption(namespace: str) -> policy_v1.PodDisruptionBudget:
    return policy_v1.PodDisruptionBudget(
        metadata=meta_v1.ObjectMeta(name="none", namespace=namespace),
        spec=policy_v1.PodDisruptionBudgetSpec(
            max_unavailable=0, selector=meta_v1.LabelSelector(match_labels={"app": "web"})
        ),
    )


def eviction_of(namespace: str, name: str) -> policy_v1.Eviction:
    return policy_v1.Eviction(metadata=meta_v1.ObjectMeta(name=name, namespace=namespace))


# Status


async def test_a_status_is_the_whole_object(client: Client, namespace: str) -> None:
    created = await client.create(deployment(namespace, "web"))

    assert await client.status(apps_v1.Deployment, "web", namespace=namespace).get() == created


async def test_a_patch_of_the_status_changes_nothing_else(client: Client, namespace: str) -> None:
    created = await client.create(deployment(namespace, "web", replicas=2))

    patched = await client.status(apps_v1.Deployment, "web", namespace=namespace).patch(
        MergePatch({"spec": {"replicas": 9}, "status": {"replicas": 2, "readyReplicas": 1}})
    )

    assert patched.spec == created.spec
    assert patched.status is not None
    assert (patched.status.replicas, patched.status.ready_replicas) == (2, 1)
    assert patched.generation == created.generation


async def test_a_patch_of_the_object_does_not_change_its_status(
    client: Client, namespace: str
) -> None:
    await client.create(deployment(namespace, "web", replicas=2))

    patched = await client.patch(
        apps_v1.Deployment,
        "web",
        MergePatch({"spec": {"replicas": 9}, "status": {"replicas": 9}}),
        namespace=namespace,
    )

    assert patched.spec is not None
    assert patched.spec.replicas == 9
    assert patched.status == apps_v1.DeploymentStatus()


async def test_an_applied_status_does_not_change_the_owner_of_the_spec(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.apply(any_widget(namespace, "one", size=3), field_manager="them")
    ready = Condition(type="Ready", status="True", reason="Ready", message="")

    applied = await client.status(Widget, "one", namespace=namespace).apply(
        replace(widget(namespace, "one"), status=WidgetStatus(ready=0, conditions=(ready,))),
        field_manager="us",
    )

    assert applied.spec.size == 3
    assert applied.status == WidgetStatus(ready=0, conditions=(ready,))
    stored = await client.get(AnyWidget, "one", namespace=namespace)
    entries = {entry["manager"]: entry for entry in stored.metadata["managedFields"]}
    assert entries["us"]["subresource"] == "status"
    assert "f:spec" not in entries["us"]["fieldsV1"]


async def test_a_status_field_of_another_manager_is_a_conflict_that_force_resolves(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.create(widget(namespace, "one"))
    status = client.status(Widget, "one", namespace=namespace)

    def ready(count: int) -> Widget:
        return replace(widget(namespace, "one"), status=WidgetStatus(ready=count))

    await status.apply(ready(1), field_manager="them")

    with pytest.raises(Conflict) as rejected:
        await status.apply(ready(2), field_manager="us")
    taken = await status.apply(ready(2), field_manager="us", force=True)

    assert [cause.field for cause in rejected.value.causes] == [".status.ready"]
    assert taken.status == WidgetStatus(ready=2)


async def test_an_update_of_the_status_fails_with_a_conflict_after_another_write(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.create(widget(namespace, "one", size=3))
    status = client.status(AnyWidget, "one", namespace=namespace)
    read = await status.get()

    written = await status.update(read.changed("status", "ready", to=2).changed("spec", to={}))
    with pytest.raises(Conflict):
        await status.update(read.changed("status", "ready", to=1))

    assert written.get("status", "ready") == 2
    assert written.get("spec", "size") == 3


async def test_a_dry_run_of_a_status_changes_nothing(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.create(widget(namespace, "one"))
    status = client.status(Widget, "one", namespace=namespace)

    result = await status.patch(MergePatch({"status": {"ready": 1}}), dry_run=True)

    assert result.status == WidgetStatus(ready=1)
    assert (await status.get()).status is None


# Scale


async def test_a_deployment_is_scaled_by_a_patch(client: Client, namespace: str) -> None:
    await client.create(deployment(namespace, "web", replicas=2))
    scale = client.scale(apps_v1.Deployment, "web", namespace=namespace)

    before = await scale.get()
    after = await scale.patch(MergePatch({"spec": {"replicas": 5}}))

    assert before.spec == autoscaling_v1.ScaleSpec(replicas=2)
    assert before.status is not None
    assert before.status.selector == "app=web"
    assert after.spec == autoscaling_v1.ScaleSpec(replicas=5)
    scaled = await client.get(apps_v1.Deployment, "web", namespace=namespace)
    assert scaled.spec is not None
    assert scaled.spec.replicas == 5


async def test_an_update_of_the_scale_fails_with_a_conflict_after_another_write(
    client: Client, namespace: str
) -> None:
    await client.create(deployment(namespace, "web", replicas=2))
    scale = client.scale(apps_v1.Deployment, "web", namespace=namespace)
    read = await scale.get()

    none = await scale.update(replace(read, spec=autoscaling_v1.ScaleSpec(replicas=0)))
    with pytest.raises(Conflict):
        await scale.update(replace(read, spec=autoscaling_v1.ScaleSpec(replicas=9)))

    assert none.spec is not None
    # kube-apiserver omits a zero in a Scale.
    assert none.spec.replicas in (0, None)
    scaled = await client.get(apps_v1.Deployment, "web", namespace=namespace)
    assert scaled.spec is not None
    assert scaled.spec.replicas == 0


async def test_a_custom_resource_is_scaled(client: Client, namespace: str, widgets: None) -> None:
    await client.create(widget(namespace, "one", size=2))
    scale = client.scale(Widget, "one", namespace=namespace)

    read = await scale.get()
    await scale.update(replace(read, spec=autoscaling_v1.ScaleSpec(replicas=4)))
    await scale.patch(
        JsonPatch(JsonPatch.test("/spec/replicas", 4), JsonPatch.replace("/spec/replicas", 5))
    )

    scaled = await client.get(Widget, "one", namespace=namespace)
    assert scaled.spec.size == 5


async def test_a_scale_is_applied(client: Client, namespace: str) -> None:
    await client.apply(deployment(namespace, "web", replicas=2), field_manager="them")
    scale = client.scale(apps_v1.Deployment, "web", namespace=namespace)
    five = autoscaling_v1.Scale(
        metadata=meta_v1.ObjectMeta(name="web", namespace=namespace),
        spec=autoscaling_v1.ScaleSpec(replicas=5),
    )

    with pytest.raises(Conflict):
        await scale.apply(five, field_manager="us")
    applied = await scale.apply(five, field_manager="us", force=True)

    assert applied.spec == autoscaling_v1.ScaleSpec(replicas=5)


async def test_a_kind_without_a_scale_subresource_has_no_scale(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings"))

    with pytest.raises(NotFound):
        await client.scale(core_v1.ConfigMap, "settings", namespace=namespace).get()


# Eviction


async def test_a_pod_is_evicted(client: Client, namespace: str) -> None:
    await client.create(pod(namespace, "web"))

    await client.eviction("web", namespace=namespace).create(eviction_of(namespace, "web"))

    with pytest.raises(NotFound):
        await client.get(core_v1.Pod, "web", namespace=namespace)


async def test_an_eviction_that_violates_a_disruption_budget_is_rejected_and_not_retried(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    running = await client.create(pod(namespace, "web", node="missing-node", labels={"app": "web"}))
    await client.status(core_v1.Pod, "web", namespace=namespace).patch(
        MergePatch({"status": {"phase": "Running"}})
    )
    budget = await client.create(no_disruption(namespace))
    # Without the disruption controller, the test sets the budget's observedGeneration.
    await client.status(policy_v1.PodDisruptionBudget, "none", namespace=namespace).patch(
        MergePatch({"status": {"observedGeneration": budget.generation, "disruptionsAllowed": 0}})
    )

    with pytest.raises(TooManyRequests, match="disruption budget") as rejected:
        await client.eviction("web", namespace=namespace).create(eviction_of(namespace, "web"))

    assert [cause.reason for cause in rejected.value.causes] == ["DisruptionBudget"]
    assert seen.last_attempts == 1
    kept = await client.get(core_v1.Pod, "web", namespace=namespace)
    assert (kept.uid, kept.deletion_time) == (running.uid, None)


async def test_a_dry_run_of_an_eviction_does_not_delete_the_pod(
    client: Client, namespace: str
) -> None:
    created = await client.create(pod(namespace, "web"))

    await client.eviction("web", namespace=namespace).create(
        eviction_of(namespace, "web"), dry_run=True
    )

    assert await client.get(core_v1.Pod, "web", namespace=namespace) == created


# Token


async def test_a_token_authenticates_and_appears_in_no_repr(
    client: Client,
    control_plane: RealControlPlane,
    namespace: str,
    seen: RecordingObserver,
    caplog: pytest.LogCaptureFixture,
) -> None:
    robot = core_v1.ServiceAccount(metadata=meta_v1.ObjectMeta(name="robot", namespace=namespace))
    await client.create(robot)

    response = await client.token("robot", namespace=namespace).create(
        authentication_v1.TokenRequest(
            spec=authentication_v1.TokenRequestSpec(expiration_seconds=600)
        )
    )

    assert response.status is not None
    token = response.status.token
    assert token is not None
    async with connected(control_plane, observe=seen, token=token) as robot_client:
        review = await robot_client.create(authentication_v1.SelfSubjectReview())
        with pytest.raises(Exception, match=r"^could not list Secret") as rejected:
            await robot_client.list(core_v1.Secret, namespace=namespace)
    assert review.status is not None
    assert review.status.user_info is not None
    assert review.status.user_info.username == f"system:serviceaccount:{namespace}:robot"
    texts = (repr(response), str(response), repr(seen), repr(rejected.value), caplog.text)
    assert not any(token in text for text in texts)


# Other subresources


async def test_a_pod_is_bound_to_a_node_through_a_subresource_named_by_its_path(
    client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "web"))

    await client.subresource(
        core_v1.Pod, "web", "binding", of=core_v1.Binding, namespace=namespace
    ).create(
        core_v1.Binding(
            metadata=meta_v1.ObjectMeta(name="web", namespace=namespace),
            target=core_v1.ObjectReference(kind="Node", name="missing-node"),
        )
    )

    bound = await client.get(core_v1.Pod, "web", namespace=namespace)
    assert bound.spec is not None
    assert bound.spec.node_name == "missing-node"
    # Without a kubelet, a bound Pod is only deleted with a grace period of 0.
    await client.delete(
        core_v1.Pod,
        "web",
        namespace=namespace,
        preconditions=Preconditions(uid=bound.uid),
        grace_seconds=0,
    )


async def test_a_namespace_is_finalized_through_its_subresource(client: Client) -> None:
    created = await client.create(
        core_v1.Namespace(metadata=meta_v1.ObjectMeta(generate_name="brief-"))
    )
    await client.delete(core_v1.Namespace, created.name)
    terminating = await client.get(AnyNamespace, created.name)
    assert terminating.get("status", "phase") == "Terminating"

    await client.subresource(
        AnyNamespace, created.name, "finalize", of=AnyNamespace, namespace=None
    ).update(terminating.changed("spec", "finalizers", to=[]))

    with pytest.raises(NotFound):
        await client.get(core_v1.Namespace, created.name)
