"""Who owns the claims of a StatefulSet, and so what becomes of them when it goes or shrinks. Pure.

                          the set is deleted:  Retain            Delete
    the set is scaled down:
                    Retain                     nobody            the set
                    Delete                     its Pod, once     the set, and its Pod once
                                               that is too many  that is too many

The garbage collector does the rest.
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
    """Whether the claims of Pods that are too many are to go with them."""
    policy = spec_of(owner).persistent_volume_claim_retention_policy
    return policy is not None and policy.when_scaled == _DELETE


def deletes_when_deleted(owner: StatefulSet) -> bool:
    """Whether the claims are to go with the set."""
    policy = spec_of(owner).persistent_volume_claim_retention_policy
    return policy is not None and policy.when_deleted == _DELETE


def references_at_birth(owner: StatefulSet) -> References:
    """Who owns a claim that is made for a Pod which the set should have."""
    return (owner_reference(owner),) if deletes_when_deleted(owner) else ()


def corrected(claim: Claim, owner: StatefulSet, pod: Pod) -> References | None:
    """Who should own the claim of a Pod; ``None`` if that is as it is, or not for us to say."""
    references = claim.metadata.owner_references or ()
    if any(_is_stale(each, owner) or _is_stale(each, pod) for each in references):
        return None
    others = tuple(each for each in references if not (_is(each, owner) or _is(each, pod)))
    if has_other_controller(claim, owner, pod):
        return others if len(others) < len(references) else None
    wanted = _wanted(owner, pod)
    ours = [each for each in references if _is(each, owner) or _is(each, pod)]
    is_right = [each.uid for each in ours] == [each.uid for each in wanted] and all(
        each.controller for each in ours
    )
    return None if is_right else (*others, *wanted)


def has_other_controller(claim: Claim, owner: StatefulSet, pod: Pod) -> bool:
    """Whether somebody else decides about a claim on which the set has a policy."""
    if not (deletes_when_scaled(owner) or deletes_when_deleted(owner)):
        return False
    return any(
        each.controller and not (_is_named(each, owner) or _is_named(each, pod))
        for each in claim.metadata.owner_references or ()
    )


def is_left_over(claim: Claim, pod_name: str) -> bool:
    """Whether a claim goes with a Pod of this name that was there before, and is not to be used."""
    return any(
        each.kind == "Pod" and each.api_version == "v1" and each.name == pod_name
        for each in claim.metadata.owner_references or ()
    )


def _wanted(owner: StatefulSet, pod: Pod) -> References:
    is_too_many = not is_in_range(spec_of(owner), pod)
    if is_too_many and deletes_when_scaled(owner):
        return (owner_reference(pod),)
    return references_at_birth(owner)


def _is(reference: meta_v1.OwnerReference, owner: Resource) -> bool:
    return reference.uid == owner.uid


def _is_stale(reference: meta_v1.OwnerReference, owner: Resource) -> bool:
    """Whether it means one of the same name that is no more."""
    return _is_named(reference, owner) and reference.uid != owner.uid


def _is_named(reference: meta_v1.OwnerReference, owner: Resource) -> bool:
    gvk = owner.resource_type.gvk
    return (
        reference.api_version == gvk.api_version
        and reference.kind == gvk.kind
        and reference.name == owner.name
    )
