"""Changes of ReplicationControllers, and the resulting state."""

from typing import Any

from steersman.controller import controller_of
from steersman.kinds import Resource, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.pods import is_active, is_ready
from tests.real.controller_comparison import Scenario
from tests.real.deployment_scenarios import pod
from tests.real.workload_steps import Read, Stage, event_counts, numbered

ReplicationController = core_v1.ReplicationController

WEB = "web"
SOURCE = "replication-controller"
COMBINED = "(combined from similar events): "


def size(rc: ReplicationController) -> int | None:
    """The desired replicas of a ReplicationController."""
    return rc.spec.replicas if rc.spec is not None else None


KINDS: dict[type[Resource], Read | None] = {ReplicationController: size}


def replication_controller(replicas: int, name: str = WEB, cpu: str = "") -> ReplicationController:
    """A ReplicationController of Pods with ``app: web``; its selector is its template's labels."""
    limits = core_v1.ResourceRequirements(limits={"cpu": Quantity(cpu)}) if cpu else None
    container = core_v1.Container(name=WEB, image="web:1", resources=limits)
    return ReplicationController(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.ReplicationControllerSpec(
            replicas=replicas,
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels={"app": WEB}),
                spec=core_v1.PodSpec(containers=(container,)),
            ),
        ),
    )


def limit_range() -> core_v1.LimitRange:
    """A LimitRange of one CPU per container."""
    most = core_v1.LimitRangeItem(type="Container", max={"cpu": Quantity("1")})
    return core_v1.LimitRange(
        metadata=meta_v1.ObjectMeta(name="small"), spec=core_v1.LimitRangeSpec(limits=(most,))
    )


async def resize(stage: Stage, replicas: int) -> None:
    """Set the desired replicas."""
    await stage.patch(ReplicationController, WEB, {"spec": {"replicas": replicas}})


async def scale(stage: Stage) -> None:
    """Scale up, down, to zero, and up again."""
    await stage.create(replication_controller(2))
    await stage.make_pods_ready()
    for replicas in (5, 1, 0, 2):
        await resize(stage, replicas)
        await stage.make_pods_ready()


async def adopting_and_releasing(stage: Stage) -> None:
    """Pods are adopted and released by their labels."""
    await stage.create(pod("adopted", app=WEB))
    await stage.create(pod("strange", app="else"))
    await stage.create(replication_controller(2))
    await stage.make_pods_ready()
    await stage.patch(core_v1.Pod, "adopted", {"metadata": {"labels": {"app": "debug"}}})
    await stage.make_pods_ready()


async def failing_and_overlapping(stage: Stage) -> None:
    """Pods fail, and another controller has the same selector."""
    await stage.create(replication_controller(2))
    await stage.make_pods_ready()
    await stage.create(replication_controller(1, "other"))
    await stage.make_pods_ready()
    pods = await stage.list(core_v1.Pod)
    failed = next(each for each in pods if each.name.startswith(WEB))
    await stage.set_pod_status(failed, "Failed", is_ready=False)
    await stage.make_pods_ready()


async def shrinking(stage: Stage) -> None:
    """Unready Pods are deleted first."""
    await stage.create(replication_controller(4))
    await stage.make_pods_ready(at_most=2)
    await resize(stage, 2)
    await stage.quiet()


async def failing_to_create(stage: Stage) -> None:
    """The server rejects the Pods, so the status has the condition ReplicaFailure."""
    await stage.create(limit_range())
    await stage.create(replication_controller(2, cpu="2"))
    await stage.quiet()


SCENARIOS: tuple[Scenario, ...] = (
    scale,
    adopting_and_releasing,
    failing_and_overlapping,
    shrinking,
    failing_to_create,
)


async def is_caught_up(stage: Stage) -> bool:
    """Whether the statuses are up to date."""
    pods = [each for each in await stage.list(core_v1.Pod) if is_active(each)]
    return all(_is_observed(rc, pods) for rc in await stage.list(ReplicationController))


def _is_observed(rc: ReplicationController, pods: list[core_v1.Pod]) -> bool:
    own = [each for each in pods if _owner(each) == rc.uid]
    if rc.status is None or rc.status.observed_generation != rc.generation:
        return False
    ready = sum(map(is_ready, own)) or None
    counts = rc.status.replicas, rc.status.ready_replicas, rc.status.available_replicas
    if not own and (size(rc) or 0) > 0:
        return bool(rc.status.conditions)
    return counts == (len(own), ready, ready)


def _owner(obj: Resource) -> str:
    owner = controller_of(obj)
    return "" if owner is None else owner.uid


async def final_state(stage: Stage) -> dict[str, Any]:
    """The final state of a scenario."""
    found = await stage.list(ReplicationController)
    names = [each.name for each in found]
    owners = {each.uid: each.name for each in found}
    return {
        "controllers": {each.name: _controller_state(each, names) for each in found},
        "pods": sorted(
            (
                numbered(each.name, names),
                owners.get(_owner(each), ""),
                [
                    (ref.api_version, ref.kind, ref.controller, ref.block_owner_deletion)
                    for ref in each.metadata.owner_references or ()
                ],
                sorted(each.labels.items()),
                each.status.phase or "" if each.status is not None else "",
                is_ready(each),
            )
            for each in await stage.list(core_v1.Pod)
        ),
        "events": sorted(
            {
                f"{source} {reason}: {note.removeprefix(COMBINED)}"
                for source, reason, note in await event_counts(stage, names)
                if source == SOURCE
            }
        ),
    }


def _controller_state(rc: ReplicationController, names: list[str]) -> dict[str, Any]:
    status = rc.status or core_v1.ReplicationControllerStatus(replicas=-1)
    return {
        "selector": dict((rc.spec.selector if rc.spec is not None else None) or {}),
        "counts": (
            status.replicas,
            status.fully_labeled_replicas,
            status.ready_replicas,
            status.available_replicas,
        ),
        "generation is observed": status.observed_generation == rc.generation,
        "conditions": [
            (each.type, each.status, each.reason, numbered(each.message or "", names))
            for each in status.conditions or ()
        ],
    }
