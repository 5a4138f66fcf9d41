"""StatefulSets and claims in a simulated cluster, and their events."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from steersman.cache import handler_funcs
from steersman.client import MergePatch
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman.manager import Runnable, Services
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings

Pod = core_v1.Pod
Claim = core_v1.PersistentVolumeClaim
Volume = core_v1.PersistentVolume
StatefulSet = apps_v1.StatefulSet
Revision = apps_v1.ControllerRevision

# The parts that create and delete StatefulSets with claims.
PARTS = ("garbagecollector", "nodes", "scheduler", "volumes", "statefulsets")


def run_steps(
    steps: Callable[[SimulatedCluster], Awaitable[None]],
    *,
    parts: tuple[str, ...] = PARTS,
    seed: int = 0,
) -> None:
    """Run the steps in a new cluster."""
    simulate(steps, seed=seed, settings=WorkloadSettings(parts=parts, nodes=2))


def stateful_set(
    replicas: int = 3,
    *,
    image: str = "web:1",
    name: str = "web",
    claims: tuple[Claim, ...] = (),
    pod_annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> StatefulSet:
    """A StatefulSet as it is applied."""
    return apps_v1.StatefulSet(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=apps_v1.StatefulSetSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels={"app": name}),
            service_name=name,
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels={"app": name}, annotations=pod_annotations),
                spec=core_v1.PodSpec(
                    containers=(core_v1.Container(name="main", image=image),),
                    termination_grace_period_seconds=5,
                ),
            ),
            volume_claim_templates=claims or None,
            **spec,
        ),
    )


def claim(name: str = "data", size: str = "1Gi", **spec: Any) -> Claim:
    """A claim, or a claim template of a set."""
    spec.setdefault("access_modes", ("ReadWriteOnce",))
    return core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=core_v1.PersistentVolumeClaimSpec(
            resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity(size)}),
            **spec,
        ),
    )


def rolling(*, partition: int) -> apps_v1.StatefulSetUpdateStrategy:
    """A rolling update from the highest ordinal down to the partition."""
    return apps_v1.StatefulSetUpdateStrategy(
        type="RollingUpdate",
        rolling_update=apps_v1.RollingUpdateStatefulSetStrategy(partition=partition),
    )


def retention(
    *, when_deleted: str = "Retain", when_scaled: str = "Retain"
) -> apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy:
    """A retention policy for claims."""
    return apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy(
        when_deleted=when_deleted, when_scaled=when_scaled
    )


async def scale(cluster: SimulatedCluster, replicas: int, name: str = "web") -> None:
    """Set the replicas."""
    await cluster.patch(StatefulSet, name, MergePatch({"spec": {"replicas": replicas}}))


async def names(cluster: SimulatedCluster, kind: type[Any]) -> list[str]:
    """The names of all objects of a kind."""
    return sorted(each.name for each in await cluster.list(kind))


async def images(cluster: SimulatedCluster) -> dict[str, str | None]:
    """The image of each Pod."""
    pods = sorted(await cluster.list(Pod), key=lambda each: each.name)
    return {each.name: each.spec.containers[0].image for each in pods if each.spec is not None}


async def status(cluster: SimulatedCluster, name: str = "web") -> apps_v1.StatefulSetStatus:
    """The status of the set."""
    found = (await cluster.get(StatefulSet, name)).status
    assert found is not None
    return found


async def phase_of(cluster: SimulatedCluster, kind: type[Any], name: str) -> str | None:
    """The phase of an object."""
    found = await cluster.get(kind, name)
    return None if found.status is None else found.status.phase


async def said(cluster: SimulatedCluster, kind: str = "StatefulSet") -> list[str]:
    """The events of objects of a kind, in order."""
    events = [
        each
        for each in await cluster.list(events_v1.Event)
        if each.regarding is not None and each.regarding.kind == kind
    ]
    events.sort(key=lambda each: str(each.event_time))
    return [f"{each.reason}: {each.note}" for each in events]


class PodEvents:
    """Records the events of Pods: ``+0`` added, ``-0`` terminating, ``0`` deleted."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    async def start(self, cluster: SimulatedCluster) -> "PodEvents":
        """Record from now on."""
        runnable = Runnable(self._watch, needs_leadership=False, name="pod-events")
        await cluster.run_operator(runnables=(runnable,), name="pod-events")
        return self

    async def _watch(self, services: Services) -> None:
        async with services.caches.informer(Pod) as informer:
            handler = handler_funcs(added=self._added, updated=self._updated, deleted=self._deleted)
            informer.add_handler(handler)
            await services.clock.sleep(1e9)

    def _added(self, pod: Pod) -> None:
        self.steps.append(f"+{_number(pod)}")

    def _updated(self, old: Pod, new: Pod) -> None:
        if old.deletion_time is None and new.deletion_time is not None:
            self.steps.append(f"-{_number(new)}")

    def _deleted(self, pod: Pod) -> None:
        self.steps.append(_number(pod))


def _number(pod: Pod) -> str:
    return pod.name.rpartition("-")[2]
