"""Changes of claims and volumes, and the resulting state."""

from collections.abc import Mapping
from typing import Any

from steersman.kinds import Resource, core_v1, meta_v1, storage_v1
from steersman.units import Quantity
from tests.real.controller_comparison import Scenario
from tests.real.workload_steps import Read, Stage, event_counts, numbered

Claim = core_v1.PersistentVolumeClaim
Volume = core_v1.PersistentVolume
Pod = core_v1.Pod

SOURCE = "persistentvolume-controller"


def state(claim: Claim) -> str:
    """The phase of a claim, and whether it is being deleted."""
    phase = claim.status.phase if claim.status is not None else None
    return f"{phase} ending" if claim.deletion_time is not None else f"{phase}"


KINDS: dict[type[Resource], Read | None] = {Claim: state}


# Volumes are cluster-scoped, so each scenario has its own storage class, named like its namespace.


async def volume(
    stage: Stage, name: str, size: str, *, labels: Mapping[str, str] | None = None, **spec: Any
) -> None:
    """Create a volume, and wait until the controllers are idle."""
    spec.setdefault("storage_class_name", stage.namespace)
    spec.setdefault("access_modes", ("ReadWriteOnce",))
    await stage.client.create(
        core_v1.PersistentVolume(
            metadata=meta_v1.ObjectMeta(name=f"{stage.namespace}-{name}", labels=labels),
            spec=core_v1.PersistentVolumeSpec(
                capacity={"storage": Quantity(size)},
                host_path=core_v1.HostPathVolumeSource(path="/srv/volume"),
                persistent_volume_reclaim_policy="Retain",
                **spec,
            ),
        )
    )
    await stage.quiet()


async def claim(
    stage: Stage, name: str, size: str = "1Gi", *, volume: str | None = None, **spec: Any
) -> None:
    """Create a claim, and wait until the controllers are idle."""
    spec.setdefault("storage_class_name", stage.namespace)
    spec.setdefault("access_modes", ("ReadWriteOnce",))
    await stage.create(
        core_v1.PersistentVolumeClaim(
            metadata=meta_v1.ObjectMeta(name=name),
            spec=core_v1.PersistentVolumeClaimSpec(
                resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity(size)}),
                volume_name=None if volume is None else f"{stage.namespace}-{volume}",
                **spec,
            ),
        )
    )
    await stage.quiet()


async def delete(stage: Stage, kind: type[Resource], name: str) -> None:
    """Delete an object, and wait until the controllers are idle."""
    is_volume = kind is Volume
    await stage.client.delete(
        kind,
        f"{stage.namespace}-{name}" if is_volume else name,
        namespace=None if is_volume else stage.namespace,
        grace_seconds=0 if kind is Pod else None,
    )
    await stage.quiet()


# Scenarios


async def smallest_matching_volume(stage: Stage) -> None:
    """Claims with sizes, access modes and selectors, and several volumes."""
    await volume(stage, "large", "9Gi")
    await volume(stage, "small", "2Gi")
    await volume(stage, "shared", "2Gi", access_modes=("ReadWriteOnce", "ReadWriteMany"))
    await volume(stage, "labelled", "5Gi", labels={"tier": "db"})
    await volume(stage, "block", "1Gi", volume_mode="Block")
    chosen = meta_v1.LabelSelector(match_labels={"tier": "db"})
    await claim(stage, "with-labels", selector=chosen)
    await claim(stage, "first")
    await claim(stage, "many", access_modes=("ReadWriteMany",))
    await claim(stage, "second")
    await claim(stage, "too-late")


async def by_name(stage: Stage) -> None:
    """Claims that name a volume, and a volume that is reserved for a claim."""
    await volume(stage, "small", "1Gi")
    await volume(stage, "large", "9Gi")
    await claim(stage, "too-large", "2Gi", volume="small")
    await claim(stage, "fits", "2Gi", volume="large")
    await claim(stage, "third", "2Gi", volume="large")
    reserved = core_v1.ObjectReference(namespace=stage.namespace, name="late")
    await volume(stage, "reserved", "1Gi", claim_ref=reserved)
    await claim(stage, "other")
    await claim(stage, "late")


async def kept_when_released(stage: Stage) -> None:
    """A volume whose claim was deleted is released and not bound again."""
    await volume(stage, "kept", "1Gi")
    await claim(stage, "first")
    await delete(stage, Claim, "first")
    await claim(stage, "second")


async def protected(stage: Stage) -> None:
    """A volume or claim in use is not deleted."""
    await volume(stage, "disk", "1Gi")
    await claim(stage, "data")
    source = core_v1.PersistentVolumeClaimVolumeSource(claim_name="data")
    await stage.create(
        core_v1.Pod(
            metadata=meta_v1.ObjectMeta(name="user"),
            spec=core_v1.PodSpec(
                containers=(core_v1.Container(name="main", image="main"),),
                node_name="nowhere",
                volumes=(core_v1.Volume(name="data", persistent_volume_claim=source),),
            ),
        )
    )
    await stage.quiet()
    await delete(stage, Volume, "disk")
    await delete(stage, Claim, "data")
    await delete(stage, Pod, "user")


async def without_a_class(stage: Stage) -> None:
    """A claim with an empty storage class."""
    await claim(stage, "plain", storage_class_name="")


async def without_a_provisioner(stage: Stage) -> None:
    """A storage class without dynamic provisioning."""
    # The volume is first, because the real controller retries pending claims only every 15 s.
    await _class(stage, "Immediate")
    await volume(stage, "disk", "1Gi")
    await claim(stage, "first")
    await claim(stage, "second")


async def waiting_for_a_consumer(stage: Stage) -> None:
    """A storage class with delayed binding."""
    await _class(stage, "WaitForFirstConsumer")
    await volume(stage, "disk", "1Gi")
    await claim(stage, "data")


async def _class(stage: Stage, mode: str) -> None:
    await stage.client.create(
        storage_v1.StorageClass(
            metadata=meta_v1.ObjectMeta(name=stage.namespace),
            provisioner="kubernetes.io/no-provisioner",
            volume_binding_mode=mode,
        )
    )


SCENARIOS: tuple[Scenario, ...] = (
    smallest_matching_volume,
    by_name,
    kept_when_released,
    protected,
    without_a_class,
    without_a_provisioner,
    waiting_for_a_consumer,
)


# The final state


async def is_caught_up(_stage: Stage) -> bool:
    """True: no status says what the volume controllers have observed."""
    return True


async def final_state(stage: Stage) -> dict[str, Any]:
    """The steps, claims, volumes and events of a scenario."""
    names = [stage.namespace]
    volumes = [
        each
        for each in (await stage.client.list(Volume)).items
        if each.name.startswith(stage.namespace)
    ]
    return {
        "steps": [f"{name}: {value}" for name, value in stage.steps.of(Claim)],
        "claims": {each.name: _claim_state(each, stage) for each in await stage.list(Claim)},
        "volumes": {
            each.name.removeprefix(stage.namespace): _volume_state(each) for each in volumes
        },
        "events": sorted(
            f"{reason}: {numbered(note, names)}".replace(stage.namespace, "<namespace>")
            for source, reason, note in await event_counts(stage, names)
            if source == SOURCE
        ),
    }


def _claim_state(claim: Claim, stage: Stage) -> dict[str, Any]:
    status = claim.status or core_v1.PersistentVolumeClaimStatus()
    bound = claim.spec.volume_name if claim.spec is not None else None
    return {
        "annotations": dict(sorted(claim.annotations.items())),
        "finalizers": list(claim.metadata.finalizers or ()),
        "volume": (bound or "").removeprefix(stage.namespace),
        "status": (
            status.phase,
            list(status.access_modes or ()),
            {name: str(size) for name, size in (status.capacity or {}).items()},
        ),
    }


def _volume_state(volume: Volume) -> dict[str, Any]:
    reference = volume.spec.claim_ref if volume.spec is not None else None
    return {
        "annotations": dict(sorted(volume.annotations.items())),
        "finalizers": list(volume.metadata.finalizers or ()),
        "phase": volume.status.phase if volume.status is not None else None,
        "claim": None
        if reference is None
        else (reference.api_version, reference.kind, reference.name, bool(reference.uid)),
        "ending": volume.deletion_time is not None,
    }
