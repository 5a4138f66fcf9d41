"""Changes of DaemonSets, disruption budgets and quotas, and the resulting state."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from steersman.client import MergePatch
from steersman.errors import ApiError, NotFound
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1, policy_v1, recipes
from steersman.units import IntOrString, Quantity
from steersman_cluster.workloads.daemonsets.node_fit import target_of
from steersman_cluster.workloads.pods import is_active, is_ready
from tests.real.controller_comparison import Scenario
from tests.real.workload_steps import Read, Stage, event_counts

DaemonSet = apps_v1.DaemonSet
Deployment = apps_v1.Deployment
Budget = policy_v1.PodDisruptionBudget
Quota = core_v1.ResourceQuota
Node = core_v1.Node
Pod = core_v1.Pod

AGENT, WEB, LIMITS = "agent", "web", "limits"
MAIN = core_v1.Container(name="main", image="one")

KINDS: dict[type[Resource], Read | None] = {DaemonSet: None, Budget: None, Quota: None}


async def is_caught_up(stage: Stage) -> bool:
    """Whether the statuses say that the controllers have observed all changes."""
    reconciled: list[Any] = [*await stage.list(DaemonSet), *await stage.list(Deployment)]
    # The status of a budget that cannot be computed has no observedGeneration.
    reconciled += [each for each in await stage.list(Budget) if not _has_failed(each)]
    for each in reconciled:
        if each.status is None or (each.status.observed_generation or 0) < each.generation:
            return False
    return all(
        each.status is not None and each.status.hard == (each.spec.hard if each.spec else None)
        for each in await stage.list(Quota)
    )


def _has_failed(found: Budget) -> bool:
    conditions = (found.status.conditions if found.status is not None else None) or ()
    return any(each.reason == "SyncFailed" for each in conditions)


# Objects


def daemon_set(
    *,
    unavailable: IntOrString = 1,
    surge: IntOrString = 0,
    strategy: str = "RollingUpdate",
    where: str = "",
    **spec: Any,
) -> DaemonSet:
    """A DaemonSet with the name ``agent``, for nodes with a label of the stage."""
    rolling = apps_v1.RollingUpdateDaemonSet(max_unavailable=unavailable, max_surge=surge)
    return DaemonSet(
        metadata=meta_v1.ObjectMeta(name=AGENT),
        spec=apps_v1.DaemonSetSpec(
            selector=meta_v1.LabelSelector(match_labels={"app": AGENT}),
            update_strategy=apps_v1.DaemonSetUpdateStrategy(
                type=strategy, rolling_update=rolling if strategy == "RollingUpdate" else None
            ),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels={"app": AGENT}),
                spec=core_v1.PodSpec(containers=(MAIN,), node_selector={"stage": where}),
            ),
            **spec,
        ),
    )


def budget(name: str, app: str = WEB, **spec: Any) -> Budget:
    """A budget for the Pods of an app."""
    key = "app" if app == AGENT else "app.kubernetes.io/name"
    selector = meta_v1.LabelSelector(match_labels={key: app})
    return Budget(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=policy_v1.PodDisruptionBudgetSpec(selector=selector, **spec),
    )


def quota(name: str, hard: Mapping[str, str], scopes: tuple[str, ...] | None = None) -> Quota:
    """A quota with these limits."""
    amounts = {key: Quantity(value) for key, value in hard.items()}
    return Quota(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.ResourceQuotaSpec(hard=amounts, scopes=scopes),
    )


def pod(
    name: str,
    *,
    requests: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Pod:
    """A Pod without a controller."""
    amounts = {key: Quantity(value) for key, value in (requests or {}).items()}
    resources = core_v1.ResourceRequirements(requests=amounts or None, limits=amounts or None)
    return Pod(
        metadata=meta_v1.ObjectMeta(name=name, labels=labels),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="one", resources=resources),), **spec
        ),
    )


def node_name(stage: Stage, name: str) -> str:
    """The name of a node: nodes are cluster-scoped, and concurrent scenarios have their own."""
    return f"{stage.namespace}.{name}"


async def add_nodes(stage: Stage, *names: str) -> None:
    """Create nodes for the stage's daemons, without taints."""
    for name in names:
        metadata = meta_v1.ObjectMeta(
            name=node_name(stage, name), labels={"stage": stage.namespace}
        )
        await stage.client.create(Node(metadata=metadata))
        await set_taints(stage, name)


async def set_taints(stage: Stage, node: str, *taints: tuple[str, str]) -> None:
    """Set exactly these taints on the node."""
    values = [{"key": key, "effect": effect} for key, effect in taints]
    patch = MergePatch({"spec": {"taints": values}})
    await stage.client.patch(Node, node_name(stage, node), patch)


async def remove_nodes(stage: Stage, *names: str) -> None:
    """Delete the nodes."""
    for name in names:
        await stage.client.delete(Node, node_name(stage, name))


async def set_image(stage: Stage, image: str) -> None:
    """Change the image in the template."""
    containers = [{"name": "main", "image": image}]
    await stage.patch(
        DaemonSet, AGENT, {"spec": {"template": {"spec": {"containers": containers}}}}
    )


async def record_state(stage: Stage) -> None:
    """Wait until the controllers are idle, and record the state."""
    await stage.quiet()
    reads: list[tuple[type[Any], Read]] = [
        (DaemonSet, _daemons),
        (Budget, _budget),
        (Quota, _quota),
    ]
    for kind, read in reads:
        for each in sorted(await stage.list(kind), key=lambda found: found.name):
            stage.steps.record(kind, each.name, read(each))
    if any(kind is DaemonSet for kind, _, _ in stage.steps.entries):
        stage.steps.record(Pod, "images", sorted(_image(each) for each in await stage.list(Pod)))


async def simulate_kubelet(stage: Stage, *, at_most: int = 100) -> None:
    """Delete, bind or make ready one Pod, whenever the controllers are idle."""
    for _ in range(at_most):
        await record_state(stage)
        pods = sorted(await stage.list(Pod), key=lambda each: each.name)
        terminating = [each for each in pods if each.deletion_time is not None]
        waiting = [each for each in pods if is_active(each) and not is_ready(each)]
        if terminating:
            await _delete_pod(stage, terminating[0])
        elif waiting:
            await _bind(stage, waiting[0])
            await stage.set_pod_status(waiting[0], "Running", is_ready=True)
        else:
            return
    await record_state(stage)


async def _delete_pod(stage: Stage, ended: Pod) -> None:
    with suppress(NotFound):
        await stage.client.delete(Pod, ended.name, namespace=stage.namespace, grace_seconds=0)


async def _bind(stage: Stage, waiting: Pod) -> None:
    """Bind a daemon Pod to its node; other Pods need no node."""
    node = target_of(waiting)
    if node is None or waiting.spec is None or waiting.spec.node_name:
        return
    metadata = meta_v1.ObjectMeta(name=waiting.name, namespace=stage.namespace)
    target = core_v1.ObjectReference(kind="Node", name=node)
    binding = stage.client.subresource(
        Pod, waiting.name, "binding", of=core_v1.Binding, namespace=stage.namespace
    )
    await binding.create(core_v1.Binding(metadata=metadata, target=target))


async def evict(stage: Stage, name: str, label: str) -> None:
    """Try to evict a Pod, and record the result."""
    eviction = policy_v1.Eviction(metadata=meta_v1.ObjectMeta(name=name, namespace=stage.namespace))
    try:
        await stage.client.eviction(name, namespace=stage.namespace).create(eviction)
    except ApiError as error:
        causes = [each.message for each in error.causes]
        stage.steps.record(policy_v1.Eviction, label, (error.code, causes))
    else:
        stage.steps.record(policy_v1.Eviction, label, "evicted")


async def try_to_create(stage: Stage, obj: Resource) -> None:
    """Try to create an object beyond the quota, and record the error."""
    try:
        await stage.create(obj)
    except ApiError as error:
        stage.steps.record(type(obj), obj.name, (error.code, error.message))
    else:
        stage.steps.record(type(obj), obj.name, "created")


# The final state


def _daemons(found: DaemonSet) -> Any:
    status = found.status
    assert status is not None
    return {
        "desired": status.desired_number_scheduled,
        "current": status.current_number_scheduled,
        "misscheduled": status.number_misscheduled,
        "ready": status.number_ready,
        "updated": status.updated_number_scheduled,
        "available": status.number_available,
        "unavailable": status.number_unavailable,
        "generation": status.observed_generation,
    }


def _budget(found: Budget) -> Any:
    status = found.status
    assert status is not None
    return {
        "expected": status.expected_pods,
        "healthy": status.current_healthy,
        "desired": status.desired_healthy,
        "allowed": status.disruptions_allowed,
        "disrupted": len(status.disrupted_pods or {}),
        "generation": status.observed_generation,
        "conditions": [
            (each.type, each.status, each.reason, each.message, each.observed_generation)
            for each in status.conditions or ()
        ],
    }


def _quota(found: Quota) -> Any:
    status = found.status
    assert status is not None
    return {
        "hard": {name: str(each) for name, each in sorted((status.hard or {}).items())},
        "used": {name: str(each) for name, each in sorted((status.used or {}).items())},
    }


def _image(found: Pod) -> str:
    return (found.spec.containers[0].image if found.spec is not None else None) or ""


async def final_state(stage: Stage) -> dict[str, Any]:
    """The recorded steps, and the events."""
    nodes = [node_name(stage, each) for each in "abc"]
    events = await event_counts(stage, [*nodes, AGENT, stage.namespace])
    revisions = await stage.list(apps_v1.ControllerRevision)
    return {
        "steps": [(kind.__name__, name, value) for kind, name, value in stage.steps.entries],
        "daemons": sorted(
            (reason, _on_any_node(note), count)
            for (source, reason, note), count in events.items()
            if source == "daemonset-controller"
        ),
        # The count depends on how often a controller reconciled. Kubernetes names a random one of
        # several budgets of a Pod, and none before the Pod changes.
        "budgets": sorted(
            (reason, note)
            for source, reason, note in events
            if source == "controllermanager" and reason != "MultiplePodDisruptionBudgets"
        ),
        "revisions": sorted((each.revision, len(each.labels)) for each in revisions),
    }


def _on_any_node(note: str) -> str:
    return re.sub("node <[123]>", "some node", note)


# Scenarios


async def a_daemon_set_is_updated_as_nodes_come_and_go(stage: Stage) -> None:
    """Labels, taints, an update and a rollback."""
    await add_nodes(stage, "a", "b", "c")
    await set_taints(stage, "c", ("own", "NoSchedule"))
    await stage.create(daemon_set(where=stage.namespace))
    await simulate_kubelet(stage)
    await set_taints(stage, "c")
    await simulate_kubelet(stage)
    await set_image(stage, "two")
    await simulate_kubelet(stage)
    await set_taints(stage, "a", ("own", "NoExecute"))
    await simulate_kubelet(stage)
    await set_image(stage, "one")
    await simulate_kubelet(stage)
    await remove_nodes(stage, "a", "b", "c")


async def a_daemon_set_surges(stage: Stage) -> None:
    """New Pods are created before old ones are deleted."""
    await add_nodes(stage, "a", "b", "c")
    await stage.create(daemon_set(where=stage.namespace, unavailable=0, surge="50%"))
    await simulate_kubelet(stage)
    await set_image(stage, "two")
    await simulate_kubelet(stage)
    await remove_nodes(stage, "a", "b", "c")


async def a_daemon_set_with_on_delete_replaces_only_deleted_and_terminated_pods(
    stage: Stage,
) -> None:
    """Old Pods are kept; failed and succeeded Pods are replaced."""
    await add_nodes(stage, "a", "b")
    await stage.create(daemon_set(where=stage.namespace, strategy="OnDelete"))
    await simulate_kubelet(stage)
    await set_image(stage, "two")
    await simulate_kubelet(stage)
    one, two = sorted(await stage.list(Pod), key=lambda each: each.name)
    await stage.set_pod_status(one, "Failed", is_ready=False)
    await simulate_kubelet(stage)
    await stage.set_pod_status(two, "Succeeded", is_ready=False)
    await simulate_kubelet(stage)
    await remove_nodes(stage, "a", "b")


async def a_budget_allows_a_drain_step_by_step(stage: Stage) -> None:
    """Pods are evicted one at a time, each after the last one is replaced."""
    await stage.create(recipes.deployment(WEB, MAIN, replicas=3))
    await simulate_kubelet(stage, at_most=1)
    await stage.create(budget(WEB, max_unavailable=1))
    await simulate_kubelet(stage)
    first, second, *_ = sorted(each.name for each in await stage.list(Pod))
    await evict(stage, first, "first")
    await record_state(stage)
    await evict(stage, second, "second")
    await simulate_kubelet(stage)
    await evict(stage, second, "second")
    await simulate_kubelet(stage)
    await stage.patch(Deployment, WEB, {"spec": {"replicas": 1}})
    await record_state(stage)
    await stage.patch(Budget, WEB, {"spec": {"maxUnavailable": "100%"}})
    await record_state(stage)


async def budgets_of_every_form_are_computed(stage: Stage) -> None:
    """Budgets in numbers and percents; Pods without a controller, and with unknown owners."""
    await stage.create(budget("early", max_unavailable="30%"))
    await record_state(stage)
    await add_nodes(stage, "a")
    await stage.create(daemon_set(where=stage.namespace))
    await stage.create(recipes.deployment(WEB, MAIN, replicas=4))
    await stage.create(pod("alone", labels={"app.kubernetes.io/name": "alone"}))
    await simulate_kubelet(stage)
    await stage.create(budget("half", min_available="50%"))
    await stage.create(budget("two", min_available=2))
    await stage.create(budget("none", max_unavailable=0))
    await stage.create(budget("alone", "alone", max_unavailable=1))
    await stage.create(budget("daemons", AGENT, max_unavailable=1))
    await record_state(stage)
    await remove_nodes(stage, "a")


async def a_quota_is_used_and_released(stage: Stage) -> None:
    """Pods, Services, claims and object counts: created, deleted and ended."""
    hard = {
        "pods": "3",
        "count/pods": "9",
        "requests.cpu": "2",
        "limits.memory": "2Gi",
        "services.nodeports": "2",
        "requests.storage": "5Gi",
        "persistentvolumeclaims": "5",
        "configmaps": "9",
        "count/deployments.apps": "2",
    }
    needs = {"cpu": "500m", "memory": "512Mi"}
    await stage.create(quota(LIMITS, hard))
    await stage.create(quota("short", {"pods": "1"}, ("Terminating",)))
    await record_state(stage)
    for name in ("a", "b"):
        await stage.create(pod(name, requests=needs))
    await stage.create(pod("c", requests=needs, active_deadline_seconds=600))
    await record_state(stage)
    await try_to_create(stage, pod("d", requests=needs))
    await stage.create(recipes.service("web", [core_v1.ServicePort(port=80)], type="NodePort"))
    await stage.create(recipes.pvc("data", "2Gi"))
    await stage.create(recipes.deployment(WEB, MAIN, replicas=0))
    await record_state(stage)
    await stage.delete(await stage.get(Pod, "a"))
    await stage.set_pod_status(await stage.get(Pod, "b"), "Succeeded", is_ready=False)
    await stage.delete(await stage.get(core_v1.Service, "web"))
    await stage.delete(await stage.get(Deployment, WEB))
    await record_state(stage)
    await try_to_create(stage, pod("d", requests=needs))
    await stage.patch(Quota, LIMITS, {"spec": {"hard": {"pods": "1", "secrets": "9"}}})
    await record_state(stage)
    for each in await stage.list(Pod):
        with suppress(NotFound):
            await stage.delete(each)
    await record_state(stage)


SCENARIOS: tuple[Scenario, ...] = (
    a_daemon_set_is_updated_as_nodes_come_and_go,
    a_daemon_set_surges,
    a_daemon_set_with_on_delete_replaces_only_deleted_and_terminated_pods,
    a_budget_allows_a_drain_step_by_step,
    budgets_of_every_form_are_computed,
    a_quota_is_used_and_released,
)
