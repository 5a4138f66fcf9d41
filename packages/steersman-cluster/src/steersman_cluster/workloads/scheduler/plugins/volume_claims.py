"""VolumeBinding: the PersistentVolumeClaims that must be bound before their Pod. No I/O."""

from collections.abc import Callable
from typing import Final, TypeAlias

from steersman.controller import controller_of
from steersman.kinds import core_v1
from steersman.names import ObjectKey

UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"

_IS_BOUND: Final = "pv.kubernetes.io/bind-completed"

Find: TypeAlias = Callable[[ObjectKey], core_v1.PersistentVolumeClaim | None]


def missing_claim(pod: core_v1.Pod, find: Find) -> tuple[ObjectKey, str] | None:
    """Return the key of a PersistentVolumeClaim that prevents the binding of ``pod``.

    The second part of the result is the reason as kube-scheduler words it. Return ``None`` if no
    claim prevents the binding.
    """
    unbound: ObjectKey | None = None
    for volume in (pod.spec.volumes if pod.spec is not None else None) or ():
        is_its_own = volume.ephemeral is not None
        if volume.persistent_volume_claim is not None:
            key = ObjectKey(pod.namespace, volume.persistent_volume_claim.claim_name)
        elif is_its_own:
            key = ObjectKey(pod.namespace, f"{pod.name}-{volume.name}")
        else:
            continue
        claim = find(key)
        problem = _problem(pod, key.name, claim, is_its_own=is_its_own)
        if problem is not None:
            return key, problem
        if unbound is None and not _is_bound(claim):
            unbound = key
    return (unbound, UNBOUND) if unbound is not None else None


def _problem(
    pod: core_v1.Pod,
    name: str,
    claim: core_v1.PersistentVolumeClaim | None,
    *,
    is_its_own: bool,
) -> str | None:
    if claim is None:
        if is_its_own:
            who = "waiting for ephemeral volume controller"
            return f'{who} to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if claim.status is not None and claim.status.phase == "Lost":
        volume = claim.spec.volume_name if claim.spec is not None else None
        lost = f'bound to non-existent persistentvolume "{volume or ""}"'
        return f'persistentvolumeclaim "{name}" {lost}'
    if claim.deletion_time is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    controller = controller_of(claim)
    if is_its_own and (controller is None or controller.uid != pod.uid):
        place, whose = f"{pod.namespace}/{name}", f"{pod.namespace}/{pod.name}"
        return f"PVC {place} was not created for pod {whose} (pod is not owner)"
    return None


def _is_bound(claim: core_v1.PersistentVolumeClaim | None) -> bool:
    return (
        claim is not None
        and claim.spec is not None
        and bool(claim.spec.volume_name)
        and _IS_BOUND in claim.annotations
    )
