"""The PersistentVolumeClaims that Pods use. No I/O."""

from collections.abc import Iterable
from typing import Final

from steersman.controller import Context, controller_of
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.pods import is_ended

#: The index of Pods by the claims that they use.
CLAIM_INDEX: Final = "claims"


def claims_of(pod: core_v1.Pod) -> list[str]:
    """Return the names of the PersistentVolumeClaims of ``pod``, including ephemeral ones."""
    names: list[str] = []
    for volume in (pod.spec.volumes if pod.spec is not None else None) or ():
        if volume.persistent_volume_claim is not None:
            names.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            names.append(f"{pod.name}-{volume.name}")
    return names


def by_claim(pod: core_v1.Pod) -> Iterable[str]:
    """Return the index keys of ``pod``: namespace and name of each claim that the Pod uses."""
    return [f"{pod.namespace}/{name}" for name in claims_of(pod)]


def keys_of_claims(pod: core_v1.Pod, _cached: object) -> list[ObjectKey]:
    """Return the keys of the PersistentVolumeClaims that ``pod`` uses."""
    return [ObjectKey(pod.namespace, name) for name in claims_of(pod)]


def matters_to_claims(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    """Return whether a Pod's change from ``old`` to ``new`` affects which claims are in use."""
    if new.spec is None or not new.spec.volumes:
        return False
    return (
        old is None
        or old.spec is None
        or old.uid != new.uid
        or old.spec.node_name != new.spec.node_name
        or is_ended(old) != is_ended(new)
    )


def has_consumer(ctx: Context, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return whether a Pod that has not ended uses ``claim``."""
    return any(not is_ended(pod) for pod in _users(ctx, claim))


def is_in_use(ctx: Context, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return whether a Pod that is bound to a node uses ``claim``.

    Even a Pod that has ended counts until it is deleted.
    """
    return any(
        pod.spec is not None and pod.spec.node_name and not _has_released(pod, claim)
        for pod in _users(ctx, claim)
    )


def _users(ctx: Context, claim: core_v1.PersistentVolumeClaim) -> list[core_v1.Pod]:
    return ctx.by_index(core_v1.Pod, CLAIM_INDEX, f"{claim.namespace}/{claim.name}")


def _has_released(pod: core_v1.Pod, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return whether a Pod no longer needs its ephemeral claim."""
    controller = controller_of(claim)
    is_its_own = controller is not None and controller.uid == pod.uid
    grace = pod.metadata.deletion_grace_period_seconds
    return is_its_own and pod.deletion_time is not None and grace == 0
