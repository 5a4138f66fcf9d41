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
    """What a Pod runs, and whether it is wanted."""
    image = pod.spec.containers[0].image if pod.spec is not None else None
    return f"{image} ending" if pod.deletion_time is not None else f"{image}"


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
    """A StatefulSet called web; its Pods wait for a kubelet to let go of them if they have a node.

    Without one, the server deletes them at once.
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


async def rest(stage: Stage) -> None:
    """Wait until nothing changes, and record the state of the set."""
    await stage.quiet()
    stage.steps.record(StatefulSet, WEB, _status((await stage.get(StatefulSet, WEB)).status))


async def kubelets(stage: Stage, *, at_most: int = 100) -> None:
    """One Pod after the other is ready, or gone, whenever all is quiet."""
    for _ in range(at_most):
        await rest(stage)
        pods = sorted(await stage.list(Pod), key=lambda each: each.name)
        ending = [each for each in pods if each.deletion_time is not None]
        waiting = [each for each in pods if not is_ready(each) and each not in ending]
        if ending:
            await _let_go(stage, ending[0])
        elif waiting:
            await stage.set_pod_status(waiting[0], "Running", is_ready=True)
        else:
            return
    await rest(stage)


async def _let_go(stage: Stage, pod: Pod) -> None:
    with suppress(NotFound):
        await stage.client.delete(Pod, pod.name, namespace=stage.namespace, grace_seconds=0)


# Scenarios


async def scale(stage: Stage) -> None:
    """Up, down one by one, to nothing, and up again."""
    await stage.create(stateful_set(replicas=2, has_node=True))
    await kubelets(stage)
    for replicas in (4, 1, 0, 2):
        await change(stage, replicas=replicas)
        await kubelets(stage)


async def scale_in_parallel(stage: Stage) -> None:
    """The same, all at once."""
    await stage.create(stateful_set(replicas=2, has_node=True, pod_management_policy="Parallel"))
    await kubelets(stage)
    for replicas in (4, 1):
        await change(stage, replicas=replicas)
        await kubelets(stage)


async def scale_down_with_an_unwell_pod(stage: Stage) -> None:
    """No Pod is deleted while a remaining one is not ready."""
    await stage.create(stateful_set(replicas=3))
    await kubelets(stage)
    await stage.set_pod_status(await stage.get(Pod, "web-0"), "Running", is_ready=False)
    await stage.set_pod_status(await stage.get(Pod, "web-2"), "Running", is_ready=False)
    await change(stage, replicas=1)
    await rest(stage)
    await kubelets(stage)


async def rolling_update_with_partition(stage: Stage) -> None:
    """Down to the partition, and then to the end of it."""
    await stage.create(stateful_set(replicas=4, partition=2, has_node=True))
    await kubelets(stage)
    await set_image(stage, "web:2")
    await kubelets(stage)
    await stage.delete(await stage.get(Pod, "web-0"))
    await kubelets(stage)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    await change(stage, updateStrategy=strategy)
    await kubelets(stage)


async def update_in_parallel(stage: Stage) -> None:
    """Pods are still replaced one by one."""
    await stage.create(stateful_set(replicas=3, pod_management_policy="Parallel"))
    await kubelets(stage)
    await set_image(stage, "web:2")
    await kubelets(stage)


async def update_on_delete(stage: Stage) -> None:
    """When a client deletes a Pod."""
    await stage.create(stateful_set(replicas=2, strategy="OnDelete"))
    await kubelets(stage)
    await set_image(stage, "web:2")
    await kubelets(stage)
    await stage.delete(await stage.get(Pod, "web-1"))
    await kubelets(stage)


async def undo(stage: Stage) -> None:
    """Back to the first template, after one that never came up was taken back by hand."""
    await stage.create(stateful_set(replicas=2))
    await kubelets(stage)
    await set_image(stage, "web:broken")
    await rest(stage)
    await set_image(stage, "web:1")
    await rest(stage)
    await stage.delete(await stage.get(Pod, "web-1"))
    await kubelets(stage)


async def pods_that_end(stage: Stage) -> None:
    """Failed and Succeeded Pods are recreated."""
    await stage.create(stateful_set(replicas=2))
    await kubelets(stage)
    for phase in ("Failed", "Succeeded"):
        await stage.set_pod_status(await stage.get(Pod, "web-0"), phase, is_ready=False)
        await kubelets(stage)


async def claims_of_their_own(stage: Stage) -> None:
    """Made with the Pods, kept when they go, and given an owner when the policy changes."""
    await stage.create(
        stateful_set(replicas=2, claims=("data", "log"), ordinals=_from(3), has_node=True)
    )
    await kubelets(stage)
    await change(
        stage,
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Delete"},
    )
    await kubelets(stage)
    await change(stage, replicas=1)
    await rest(stage)


async def short_history(stage: Stage) -> None:
    """More templates than the history limit."""
    await stage.create(stateful_set(replicas=1, revision_history_limit=1))
    await kubelets(stage)
    for number in (2, 3, 4):
        await set_image(stage, f"web:{number}")
        await kubelets(stage)


def _from(start: int) -> apps_v1.StatefulSetOrdinals:
    return apps_v1.StatefulSetOrdinals(start=start)


SCENARIOS: tuple[Scenario, ...] = (
    scale,
    scale_in_parallel,
    scale_down_with_an_unwell_pod,
    rolling_update_with_partition,
    update_in_parallel,
    update_on_delete,
    undo,
    pods_that_end,
    claims_of_their_own,
    short_history,
)


# What there is to see


async def is_caught_up(stage: Stage) -> bool:
    """Whether the set says of its Pods how they are."""
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
    """All that controllers have to do with: revisions have the same names everywhere."""
    return {
        "steps": await _steps(stage),
        "pods": {each.name: _looks(each) for each in await stage.list(Pod)},
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
    """What was done about Pods, and how the set stood whenever all was quiet."""
    spec = (await stage.get(StatefulSet, WEB)).spec
    is_parallel = spec is not None and spec.pod_management_policy == "Parallel"
    taken: list[str] = []
    between: list[tuple[str, str]] = []
    for kind, name, value in (*stage.steps.entries, (StatefulSet, WEB, "at the end")):
        if kind is Pod:
            between.append((name, f"Pod {name}: {value}"))
            continue
        if is_parallel:
            between.sort(key=lambda step: step[0])  # the real one does them all at once
        taken += [step for _, step in between]
        taken.append(f"StatefulSet: {value}")
        between = []
    return taken


def _looks(pod: Pod) -> dict[str, Any]:
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
        f" {status.collision_count} collisions, seen {status.observed_generation}"
    )
