"""Changes of StatefulSets, and the resulting state."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from steersman.errors import NotFound
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.pods import is_ready
from tests.real.workload_steps import Read, Stage, event_counts

StatefulSet = apps_v1.StatefulSet
Revision = apps_v1.ControllerRevision
Claim = core_v1.PersistentVolumeClaim
Pod = core_v1.Pod
Scenario: TypeAlias = Callable[[Stage], Awaitable[None]]

WEB = "web"
SOURCE = "statefulset-controller"


def state(pod: Pod) -> str:
    """The image of a Pod, and whether it is being deleted."""
    image = pod.spec.containers[0].image if pod.spec is not None else None
    return f"{image} terminating" if pod.deletion_time is not None else f"{image}"


KINDS: dict[type[Resource], Read | None] = {Pod: state, StatefulSet: None}


def stateful_set(
    *,
    replicas: int = 3,
    partition: int | None = None,
    strategy: str = "RollingUpdate",
    has_node: bool = False,
    claims: tuple[str, ...] = (),
    **spec: Any,
) -> StatefulSet:
    """A StatefulSet with the name ``web``.

    With ``has_node``, its Pods have a node, so a deletion waits for the kubelet.
    """
    rolling = apps_v1.RollingUpdateStatefulSetStrategy(partition=partition)
    labels = {"app": WEB}
    return StatefulSet(
        metadata=meta_v1.ObjectMeta(name=WEB, annotations={"kubernetes.io/change-cause": "first"}),
        spec=apps_v1.StatefulSetSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels=labels),
            service_name="web-service",
            update_strategy=apps_v1.StatefulSetUpdateStrategy(
                type=strategy, rolling_update=rolling if partition is not None else None
            ),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(
                    containers=(core_v1.Container(name=WEB, image="web:1", command=("a<b&c>",)),),
                    node_name="nowhere" if has_node else None,
                ),
            ),
            volume_claim_templates=tuple(map(_claim, claims)) or None,
            **spec,
        ),
    )


def _claim(name: str) -> Claim:
    return core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(name=name, labels={"kept": "yes"}),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",),
            resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity("1Gi")}),
        ),
    )


# What users and kubelets do


async def set_image(stage: Stage, image: str) -> None:
    """Change the image in the template."""
    container = {"name": WEB, "image": image, "command": ["a<b&c>"]}
    await stage.patch(
        StatefulSet, WEB, {"spec": {"template": {"spec": {"containers": [container]}}}}
    )


async def change(stage: Stage, **spec: Any) -> None:
    """Change the spec."""
    await stage.patch(StatefulSet, WEB, {"spec": spec})


async def record_state(stage: Stage) -> None:
    """Wait until the controllers are idle, and record the status of the set."""
    await stage.quiet()
    stage.steps.record(StatefulSet, WEB, _status((await stage.get(StatefulSet, WEB)).status))


async def simulate_kubelet(stage: Stage, *, at_most: int = 100) -> None:
    """Delete or make ready one Pod, whenever the controllers are idle."""
    for _ in range(at_most):
        await record_state(stage)
        pods = sorted(await stage.list(Pod), key=lambda each: each.name)
        terminating = [each for each in pods if each.deletion_time is not None]
        waiting = [each for each in pods if not is_ready(each) and each not in terminating]
        if terminating:
            await _delete_pod(stage, terminating[0])
        elif waiting:
            await stage.set_pod_status(waiting[0], "Running", is_ready=True)
        else:
            return
    await record_state(stage)


async def _delete_pod(stage: Stage, pod: Pod) -> None:
    with suppress(NotFound):
        await stage.client.delete(Pod, pod.name, namespace=stage.namespace, grace_seconds=0)


# Scenarios


async def scale(stage: Stage) -> None:
    """Scale up, down, to zero, and up again, one Pod at a time."""
    await stage.create(stateful_set(replicas=2, has_node=True))
    await simulate_kubelet(stage)
    for replicas in (4, 1, 0, 2):
        await change(stage, replicas=replicas)
        await simulate_kubelet(stage)


async def scale_in_parallel(stage: Stage) -> None:
    """Scale with Parallel Pod management."""
    await stage.create(stateful_set(replicas=2, has_node=True, pod_management_policy="Parallel"))
    await simulate_kubelet(stage)
    for replicas in (4, 1):
        await change(stage, replicas=replicas)
        await simulate_kubelet(stage)


async def scale_down_with_an_unready_pod(stage: Stage) -> None:
    """No Pod is deleted while a remaining one is not ready."""
    await stage.create(stateful_set(replicas=3))
    await simulate_kubelet(stage)
    await stage.set_pod_status(await stage.get(Pod, "web-0"), "Running", is_ready=False)
    await stage.set_pod_status(await stage.get(Pod, "web-2"), "Running", is_ready=False)
    await change(stage, replicas=1)
    await record_state(stage)
    await simulate_kubelet(stage)


async def rolling_update_with_partition(stage: Stage) -> None:
    """Update down to the partition, and then without a partition."""
    await stage.create(stateful_set(replicas=4, partition=2, has_node=True))
    await simulate_kubelet(stage)
    await set_image(stage, "web:2")
    await simulate_kubelet(stage)
    await stage.delete(await stage.get(Pod, "web-0"))
    await simulate_kubelet(stage)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    await change(stage, updateStrategy=strategy)
    await simulate_kubelet(stage)


async def update_in_parallel(stage: Stage) -> None:
    """Pods are still replaced one by one."""
    await stage.create(stateful_set(replicas=3, pod_management_policy="Parallel"))
    await simulate_kubelet(stage)
    await set_image(stage, "web:2")
    await simulate_kubelet(stage)


async def update_on_delete(stage: Stage) -> None:
    """A Pod is updated when a client deletes it."""
    await stage.create(stateful_set(replicas=2, strategy="OnDelete"))
    await simulate_kubelet(stage)
    await set_image(stage, "web:2")
    await simulate_kubelet(stage)
    await stage.delete(await stage.get(Pod, "web-1"))
    await simulate_kubelet(stage)


async def undo(stage: Stage) -> None:
    """Roll back a template whose Pod is never ready, and delete that Pod."""
    await stage.create(stateful_set(replicas=2))
    await simulate_kubelet(stage)
    await set_image(stage, "web:broken")
    await record_state(stage)
    await set_image(stage, "web:1")
    await record_state(stage)
    await stage.delete(await stage.get(Pod, "web-1"))
    await simulate_kubelet(stage)


async def pods_that_end(stage: Stage) -> None:
    """Failed and Succeeded Pods are recreated."""
    await stage.create(stateful_set(replicas=2))
    await simulate_kubelet(stage)
    for phase in ("Failed", "Succeeded"):
        await stage.set_pod_status(await stage.get(Pod, "web-0"), phase, is_ready=False)
        await simulate_kubelet(stage)


async def volume_claim_templates(stage: Stage) -> None:
    """Claims are created with Pods, kept without them, and get owners by the retention policy."""
    await stage.create(
        stateful_set(replicas=2, claims=("data", "log"), ordinals=_from(3), has_node=True)
    )
    await simulate_kubelet(stage)
    await change(
        stage,
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Delete"},
    )
    await simulate_kubelet(stage)
    await change(stage, replicas=1)
    await record_state(stage)


async def short_history(stage: Stage) -> None:
    """More templates than the history limit."""
    await stage.create(stateful_set(replicas=1, revision_history_limit=1))
    await simulate_kubelet(stage)
    for number in (2, 3, 4):
        await set_image(stage, f"web:{number}")
        await simulate_kubelet(stage)


def _from(start: int) -> apps_v1.StatefulSetOrdinals:
    return apps_v1.StatefulSetOrdinals(start=start)


SCENARIOS: tuple[Scenario, ...] = (
    scale,
    scale_in_parallel,
    scale_down_with_an_unready_pod,
    rolling_update_with_partition,
    update_in_parallel,
    update_on_delete,
    undo,
    pods_that_end,
    volume_claim_templates,
    short_history,
)


# The final state


async def is_caught_up(stage: Stage) -> bool:
    """Whether the status of the set is up to date."""
    owner = await stage.get(StatefulSet, WEB)
    pods = await stage.list(Pod)
    status = owner.status
    return (
        status is not None
        and status.observed_generation == owner.generation
        and status.replicas == len(pods)
        and (status.ready_replicas or 0) == sum(map(is_ready, pods))
    )


async def final_state(stage: Stage) -> dict[str, Any]:
    """The steps, Pods, claims, revisions and events."""
    return {
        "steps": await _steps(stage),
        "pods": {each.name: _pod_state(each) for each in await stage.list(Pod)},
        "claims": {
            each.name: {"labels": dict(sorted(each.labels.items())), "owners": _owners(each)}
            for each in await stage.list(Claim)
        },
        "revisions": {
            each.name: (
                each.revision,
                each.data,
                dict(sorted(each.labels.items())),
                dict(each.annotations),
                _owners(each),
            )
            for each in await stage.list(Revision)
        },
        "events": sorted(
            f"{reason}: {note}"
            for source, reason, note in await event_counts(stage, ())
            if source == SOURCE and not note.startswith("Update Pod")
        ),
    }


async def _steps(stage: Stage) -> list[str]:
    """The steps of Pods, and the status of the set whenever the controllers were idle."""
    spec = (await stage.get(StatefulSet, WEB)).spec
    is_parallel = spec is not None and spec.pod_management_policy == "Parallel"
    taken: list[str] = []
    pod_steps: list[tuple[str, str]] = []
    for kind, name, value in (*stage.steps.entries, (StatefulSet, WEB, "final")):
        if kind is Pod:
            pod_steps.append((name, f"Pod {name}: {value}"))
            continue
        if is_parallel:
            # The real controller creates them concurrently.
            pod_steps.sort(key=lambda step: step[0])
        taken += [step for _, step in pod_steps]
        taken.append(f"StatefulSet: {value}")
        pod_steps = []
    return taken


def _pod_state(pod: Pod) -> dict[str, Any]:
    spec = pod.spec or core_v1.PodSpec(containers=())
    return {
        "labels": dict(sorted(pod.labels.items())),
        "generate name": pod.metadata.generate_name,
        "dns": (spec.hostname, spec.subdomain),
        "claims": sorted(
            (each.name, each.persistent_volume_claim.claim_name)
            for each in spec.volumes or ()
            if each.persistent_volume_claim is not None
        ),
        "owners": _owners(pod),
    }


def _owners(obj: Resource) -> list[tuple[Any, ...]]:
    return [
        (each.api_version, each.kind, each.name, each.controller, each.block_owner_deletion)
        for each in obj.metadata.owner_references or ()
    ]


def _status(status: apps_v1.StatefulSetStatus | None) -> str:
    if status is None:
        return "nothing"
    return (
        f"{status.replicas} replicas, {status.ready_replicas} ready,"
        f" {status.available_replicas} available,"
        f" {status.current_replicas} of {status.current_revision},"
        f" {status.updated_replicas} of {status.update_revision},"
        f" {status.collision_count} collisions, observed {status.observed_generation}"
    )
