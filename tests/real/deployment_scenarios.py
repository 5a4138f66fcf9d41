"""Changes of Deployments, and the resulting state."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from steersman.client import MergePatch
from steersman.controller import controller_of
from steersman.kinds import Resource, apps_v1, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.pods import is_active, is_ready
from tests.real.workload_steps import Read, Stage, event_counts, in_order, numbered

Deployment = apps_v1.Deployment
ReplicaSet = apps_v1.ReplicaSet
Scenario: TypeAlias = Callable[[Stage], Awaitable[None]]

WEB = "web"
SCALING = "ScalingReplicaSet"
SOURCES = ("deployment-controller", "replicaset-controller")
# The real controllers aggregate similar events after this many events about one object.
MAX_EQUAL = 9
COMBINED = "(combined from similar events): "


def size(rs: ReplicaSet) -> int | None:
    """The desired replicas of a ReplicaSet."""
    return rs.spec.replicas if rs.spec is not None else None


KINDS: dict[type[Resource], Read | None] = {ReplicaSet: size, Deployment: None}


def deployment(
    *,
    replicas: int = 4,
    surge: int | str = 1,
    unavailable: int | str = 1,
    strategy: str = "RollingUpdate",
    **spec: Any,
) -> Deployment:
    """A Deployment with the name ``web``."""
    rolling = apps_v1.RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    labels = {"app": WEB}
    return Deployment(
        metadata=meta_v1.ObjectMeta(name=WEB, annotations={"kubernetes.io/change-cause": "first"}),
        spec=apps_v1.DeploymentSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels=labels),
            strategy=apps_v1.DeploymentStrategy(
                type=strategy, rolling_update=rolling if strategy == "RollingUpdate" else None
            ),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(containers=(core_v1.Container(name=WEB, image="web:1"),)),
            ),
            **spec,
        ),
    )


async def set_image(stage: Stage, image: str, cause: str | None = None) -> None:
    """Change the image in the template."""
    patch: dict[str, Any] = {
        "spec": {"template": {"spec": {"containers": [{"name": WEB, "image": image}]}}}
    }
    if cause is not None:
        patch["metadata"] = {"annotations": {"kubernetes.io/change-cause": cause}}
    await stage.patch(Deployment, WEB, patch)


async def change(stage: Stage, **spec: Any) -> None:
    """Change the spec."""
    await stage.patch(Deployment, WEB, {"spec": spec})


async def rolling_update(stage: Stage) -> None:
    """A new template, rolled out one Pod at a time."""
    await stage.create(deployment())
    await stage.make_pods_ready()
    await set_image(stage, "web:2", "second")
    await stage.make_pods_ready()


async def rolling_update_in_percents(stage: Stage) -> None:
    """A rolling update with the default limits, which are percentages."""
    await stage.create(deployment(replicas=6, surge="25%", unavailable="25%"))
    await stage.make_pods_ready()
    await set_image(stage, "web:2")
    await stage.make_pods_ready()


async def rollover(stage: Stage) -> None:
    """A third template during the rollout of the second, some of whose Pods never become ready."""
    await stage.create(deployment(replicas=5, surge=2, unavailable=1))
    await stage.make_pods_ready()
    await set_image(stage, "web:2")
    await stage.make_pods_ready(at_most=2)
    await set_image(stage, "web:3")
    await stage.make_pods_ready()


async def recreate(stage: Stage) -> None:
    """A new template, with all Pods replaced at once."""
    await stage.create(deployment(strategy="Recreate", replicas=3))
    await stage.make_pods_ready()
    await set_image(stage, "web:2")
    await stage.make_pods_ready()


async def scale(stage: Stage) -> None:
    """Scale up, down, to zero, and up again."""
    await stage.create(deployment(replicas=2))
    await stage.make_pods_ready()
    for replicas in (5, 1, 0, 2):
        await change(stage, replicas=replicas)
        await stage.make_pods_ready()


async def scale_in_the_middle(stage: Stage) -> None:
    """Scale up and down during a rollout."""
    await stage.create(deployment(replicas=4, surge=2, unavailable=0))
    await stage.make_pods_ready()
    await set_image(stage, "web:2")
    await stage.make_pods_ready(at_most=1)
    await change(stage, replicas=9)
    await stage.quiet()
    await change(stage, replicas=3)
    await stage.make_pods_ready()


async def undo(stage: Stage) -> None:
    """Roll back to the first template, and to the second again."""
    await stage.create(deployment(replicas=2))
    await stage.make_pods_ready()
    for image, cause in (("web:2", "second"), ("web:1", "first"), ("web:2", "second")):
        await set_image(stage, image, cause)
        await stage.make_pods_ready()


async def undo_with_one_replica(stage: Stage) -> None:
    """Roll back a Deployment with one Pod, which is deleted when its replacement is created."""
    await stage.create(deployment(replicas=1))
    await stage.make_pods_ready()
    for image in ("web:2", "web:1"):
        await set_image(stage, image)
        await stage.make_pods_ready()


async def undo_an_unready_rollout(stage: Stage) -> None:
    """Roll back from a template whose Pods never become ready."""
    await stage.create(deployment(replicas=4, surge=1, unavailable=1))
    await stage.make_pods_ready()
    await set_image(stage, "web:broken")
    await stage.quiet()
    await set_image(stage, "web:1")
    await stage.make_pods_ready()


async def pause(stage: Stage) -> None:
    """Change and scale a paused Deployment, and then resume it."""
    await stage.create(deployment(replicas=3))
    await stage.make_pods_ready()
    await change(stage, paused=True)
    await stage.quiet()
    await set_image(stage, "web:2")
    await stage.make_pods_ready()
    await change(stage, replicas=4)
    await stage.make_pods_ready()
    await change(stage, paused=False)
    await stage.make_pods_ready()


async def short_history(stage: Stage) -> None:
    """More templates than the history limit."""
    await stage.create(deployment(replicas=1, revision_history_limit=1))
    await stage.make_pods_ready()
    for number in (2, 3, 4):
        await set_image(stage, f"web:{number}")
        await stage.make_pods_ready()


async def adoption(stage: Stage) -> None:
    """Adopt an existing ReplicaSet with the same template."""
    wanted = deployment(replicas=3, surge=1, unavailable=0)
    assert wanted.spec is not None
    await stage.create(
        ReplicaSet(
            metadata=meta_v1.ObjectMeta(name="before", labels={"app": WEB}),
            spec=apps_v1.ReplicaSetSpec(
                replicas=2, selector=wanted.spec.selector, template=wanted.spec.template
            ),
        )
    )
    await stage.make_pods_ready()
    await stage.create(wanted)
    await stage.make_pods_ready()
    await set_image(stage, "web:2")
    await stage.make_pods_ready()


async def min_ready_seconds(stage: Stage) -> None:
    """Pods that become available only after ``minReadySeconds``."""
    await stage.create(deployment(replicas=2, min_ready_seconds=1))
    await stage.make_pods_ready()
    await set_image(stage, "web:2")
    await stage.make_pods_ready()


async def deadline(stage: Stage) -> None:
    """A template whose Pods do not become ready within the progress deadline."""
    await stage.create(deployment(replicas=2, progress_deadline_seconds=2))
    await stage.make_pods_ready()
    await set_image(stage, "web:broken")
    await stage.quiet()
    await stage.client.clock.sleep(5.0)
    await stage.quiet()


async def over_quota(stage: Stage) -> None:
    """More Pods than the quota allows."""
    quota = core_v1.ResourceQuota(
        metadata=meta_v1.ObjectMeta(name="few"),
        spec=core_v1.ResourceQuotaSpec(hard={"pods": Quantity("2")}),
    )
    await stage.create(quota)
    # In place of the quota controller, which does not run.
    status = {"hard": {"pods": "2"}, "used": {"pods": "0"}}
    target = stage.client.status(core_v1.ResourceQuota, "few", namespace=stage.namespace)
    await target.patch(MergePatch({"status": status}))
    await stage.create(deployment(replicas=4))
    await stage.make_pods_ready()


SCENARIOS: tuple[Scenario, ...] = (
    rolling_update,
    rolling_update_in_percents,
    rollover,
    recreate,
    scale,
    scale_in_the_middle,
    undo,
    undo_with_one_replica,
    undo_an_unready_rollout,
    pause,
    short_history,
    adoption,
    min_ready_seconds,
    deadline,
    over_quota,
)


async def is_caught_up(stage: Stage) -> bool:
    """Whether the statuses of the Deployment and of its ReplicaSets are up to date."""
    sets = await stage.list(ReplicaSet)
    pods = [each for each in await stage.list(core_v1.Pod) if is_active(each)]
    if not all(_is_observed(rs, pods) for rs in sets):
        return False
    deployments = await stage.list(Deployment)
    return all(_status_equals_sum(each, sets) for each in deployments)


def _is_observed(rs: ReplicaSet, pods: list[core_v1.Pod]) -> bool:
    own = [each for each in pods if _owner(each) == rs.uid]
    counts = _counts(rs.status)
    if rs.status is None or rs.status.observed_generation != rs.generation:
        return False
    ready = sum(map(is_ready, own)) or None
    return (counts[0], counts[2], counts[3]) == (len(own), ready, ready)


def _owner(obj: Resource) -> str:
    owner = controller_of(obj)
    return "" if owner is None else owner.uid


def _status_equals_sum(deployment: Deployment, sets: list[ReplicaSet]) -> bool:
    own = [_counts(rs.status) for rs in sets if _owner(rs) == deployment.uid]
    status = deployment.status or apps_v1.DeploymentStatus()
    counts = (status.replicas, status.ready_replicas, status.available_replicas)
    return status.observed_generation == deployment.generation and counts == tuple(
        sum(each[place] or 0 for each in own) or None for place in (0, 2, 3)
    )


async def final_state(stage: Stage) -> dict[str, Any]:
    """The final state of a scenario, with names that do not depend on the cluster."""
    names = list(dict.fromkeys(name for name, _ in stage.steps.of(ReplicaSet)))
    deployment = await stage.get(Deployment, WEB)
    sets = {each.name: each for each in await stage.list(ReplicaSet)}
    status = deployment.status or apps_v1.DeploymentStatus()
    return {
        "steps": in_order(stage.steps.of(ReplicaSet)),
        "events": _events(await event_counts(stage, names)),
        "conditions": [
            (each.type, each.status, each.reason, numbered(each.message or "", names))
            for each in status.conditions or ()
        ],
        "counts": {
            field: getattr(status, field)
            for field in (
                "available_replicas",
                "collision_count",
                "observed_generation",
                "ready_replicas",
                "replicas",
                "terminating_replicas",
                "unavailable_replicas",
                "updated_replicas",
            )
        },
        "annotations": dict(sorted(deployment.annotations.items())),
        "sets": {
            place: _set_state(sets[name]) for place, name in enumerate(names, 1) if name in sets
        },
    }


def _events(found: Counter[tuple[str, str, str]]) -> dict[str, Any]:
    scaled = {note: count for (_, reason, note), count in found.items() if reason == SCALING}
    if len(scaled) > MAX_EQUAL or any(note.startswith(COMBINED) for note in scaled):
        scaled = {"in all": sum(scaled.values())}
    return {
        "others": sorted(
            {
                f"{source} {reason}: {note.removeprefix(COMBINED)}"
                for source, reason, note in found
                if reason != SCALING and source in SOURCES
            }
        ),
        SCALING: dict(sorted(scaled.items())),
    }


def _set_state(rs: ReplicaSet) -> dict[str, Any]:
    selector = rs.spec.selector if rs.spec is not None else meta_v1.LabelSelector()
    # The hash of a template differs between implementations.
    hashed = rs.labels.get("pod-template-hash", "?")
    return {
        "annotations": dict(sorted(rs.annotations.items())),
        "name": rs.name.replace(hashed, "<hash>"),
        "selector": {
            key: "<hash>" if value == hashed else value
            for key, value in sorted((selector.match_labels or {}).items())
        },
        "owner": [
            (each.kind, each.name, each.controller, each.block_owner_deletion)
            for each in rs.metadata.owner_references or ()
        ],
        "status": _counts(rs.status),
        "generation is observed": rs.status is not None
        and rs.status.observed_generation == rs.generation,
        "hash is valid": bool(re.fullmatch(r"[bcdf456789]{5,10}", hashed)),
    }


# ReplicaSets alone


def replica_set(replicas: int, name: str = WEB) -> ReplicaSet:
    """A ReplicaSet of Pods with ``app: web``."""
    wanted = deployment()
    assert wanted.spec is not None
    return ReplicaSet(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=apps_v1.ReplicaSetSpec(
            replicas=replicas, selector=wanted.spec.selector, template=wanted.spec.template
        ),
    )


def pod(name: str, **labels: str) -> core_v1.Pod:
    """A Pod without a controller."""
    spec = core_v1.PodSpec(containers=(core_v1.Container(name=WEB, image="web:1"),))
    return core_v1.Pod(metadata=meta_v1.ObjectMeta(name=name, labels=labels), spec=spec)


async def adopting_and_releasing(stage: Stage) -> None:
    """Pods are adopted and released by their labels."""
    await stage.create(pod("adopted", app=WEB))
    await stage.create(pod("strange", app="else"))
    await stage.create(replica_set(2))
    await stage.make_pods_ready()
    relabeled = {"metadata": {"labels": {"app": "debug"}}}
    await stage.patch(core_v1.Pod, "adopted", relabeled)
    await stage.make_pods_ready()


async def failing_and_overlapping(stage: Stage) -> None:
    """Pods fail, and another controller has the same selector."""
    await stage.create(replica_set(2))
    await stage.make_pods_ready()
    await stage.create(replica_set(1, "other"))
    await stage.make_pods_ready()
    pods = await stage.list(core_v1.Pod)
    failed = next(each for each in pods if each.name.startswith(WEB))
    await stage.set_pod_status(failed, "Failed", is_ready=False)
    await stage.make_pods_ready()


async def shrinking(stage: Stage) -> None:
    """Unready Pods are deleted first."""
    await stage.create(replica_set(4))
    await stage.make_pods_ready(at_most=2)
    await stage.patch(ReplicaSet, WEB, {"spec": {"replicas": 2}})
    await stage.quiet()


SET_SCENARIOS: tuple[Scenario, ...] = (adopting_and_releasing, failing_and_overlapping, shrinking)


async def final_state_of_sets(stage: Stage) -> dict[str, Any]:
    """The final state of a scenario of ReplicaSets."""
    sets = await stage.list(ReplicaSet)
    pods = await stage.list(core_v1.Pod)
    names = [each.name for each in sets]
    owners = {each.uid: each.name for each in sets}
    return {
        "sets": {each.name: _set_state(each) for each in sets},
        "pods": sorted(
            (
                numbered(each.name, names),
                owners.get(_owner(each), ""),
                sorted(each.labels.items()),
                each.status.phase or "" if each.status is not None else "",
                is_ready(each),
            )
            for each in pods
        ),
        "events": _events(await event_counts(stage, names)),
    }


def _counts(status: apps_v1.ReplicaSetStatus | None) -> tuple[int | None, ...]:
    if status is None:
        return (None,) * 5
    return (
        status.replicas,
        status.fully_labeled_replicas,
        status.ready_replicas,
        status.available_replicas,
        status.terminating_replicas,
    )
