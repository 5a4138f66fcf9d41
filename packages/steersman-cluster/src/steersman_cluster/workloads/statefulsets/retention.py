"""The owners of a StatefulSet's claims, by its retention policy. No I/O.

                          whenDeleted:  Retain                Delete
    whenScaled:
                    Retain              none                  the set
                    Delete              the Pod, once         the set, and the Pod once
                                        it is surplus         it is surplus

The garbage collector deletes the claims after their owners.
"""

from typing import Final, TypeAlias

from steersman.controller import owner_reference
from steersman.kinds import Resource, meta_v1
from steersman_cluster.workloads.statefulsets.identity import (
    Claim,
    Pod,
    StatefulSet,
    is_in_range,
    spec_of,
)

References: TypeAlias = tuple[meta_v1.OwnerReference, ...]

_DELETE: Final = "Delete"


def deletes_when_scaled(owner: StatefulSet) -> bool:
    """Return whether the PersistentVolumeClaims of surplus Pods of ``owner`` are deleted."""
    policy = spec_of(owner).persistent_volume_claim_retention_policy
    return policy is not None and policy.when_scaled == _DELETE


def deletes_when_deleted(owner: StatefulSet) -> bool:
    """Return whether the PersistentVolumeClaims of ``owner`` are deleted together with it."""
    policy = spec_of(owner).persistent_volume_claim_retention_policy
    return policy is not None and policy.when_deleted == _DELETE


def initial_references(owner: StatefulSet) -> References:
    """Return the owner references of a new PersistentVolumeClaim of ``owner``, a StatefulSet."""
    return (owner_reference(owner),) if deletes_when_deleted(owner) else ()


def corrected_references(claim: Claim, owner: StatefulSet, pod: Pod) -> References | None:
    """Return the owner references that ``claim``, the claim of ``pod``, should have.

    Return ``None`` if the references are already correct, or if the StatefulSet ``owner`` does not
    manage them.
    """
    references = claim.metadata.owner_references or ()
    if any(_is_stale(each, owner) or _is_stale(each, pod) for each in references):
        return None
    others = tuple(each for each in references if not (_is(each, owner) or _is(each, pod)))
    if has_other_controller(claim, owner, pod):
        return others if len(others) < len(references) else None
    wanted = _wanted_references(owner, pod)
    ours = [each for each in references if _is(each, owner) or _is(each, pod)]
    is_right = [each.uid for each in ours] == [each.uid for each in wanted] and all(
        each.controller for each in ours
    )
    return None if is_right else (*others, *wanted)


def has_other_controller(claim: Claim, owner: StatefulSet, pod: Pod) -> bool:
    """Return whether another controller prevents the retention policy from deleting ``claim``.

    This is the case if the policy would delete the claim, but the claim is controlled by an object
    other than ``owner`` or ``pod``.
    """
    if not (deletes_when_scaled(owner) or deletes_when_deleted(owner)):
        return False
    return any(
        each.controller and not (_is_named(each, owner) or _is_named(each, pod))
        for each in claim.metadata.owner_references or ()
    )


def belongs_to_earlier_pod(claim: Claim, pod_name: str) -> bool:
    """Return whether ``claim`` is owned by an earlier Pod with the name ``pod_name``.

    A new Pod must not use such a claim, because the claim is going to be deleted.
    """
    return any(
        each.kind == "Pod" and each.api_version == "v1" and each.name == pod_name
        for each in claim.metadata.owner_references or ()
    )


def _wanted_references(owner: StatefulSet, pod: Pod) -> References:
    is_too_many = not is_in_range(spec_of(owner), pod)
    if is_too_many and deletes_when_scaled(owner):
        return (owner_reference(pod),)
    return initial_references(owner)


def _is(reference: meta_v1.OwnerReference, owner: Resource) -> bool:
    return reference.uid == owner.uid


def _is_stale(reference: meta_v1.OwnerReference, owner: Resource) -> bool:
    """Return whether the reference points to an earlier object of the same name."""
    return _is_named(reference, owner) and reference.uid != owner.uid


def _is_named(reference: meta_v1.OwnerReference, owner: Resource) -> bool:
    gvk = owner.resource_type.gvk
    return (
        reference.api_version == gvk.api_version
        and reference.kind == gvk.kind
        and reference.name == owner.name
    )
