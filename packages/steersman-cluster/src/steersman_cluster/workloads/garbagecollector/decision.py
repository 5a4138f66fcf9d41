"""The decision whether to delete an object, or to remove owner references from it. No I/O.

The decision depends on the states of the object's owners.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from steersman.kinds.meta_v1 import OwnerReference
from steersman_cluster.workloads.garbagecollector.graph import FOREGROUND, ORPHAN

# How an object's own dependents are deleted.
Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]

# ``solid``: it exists; ``absent``: it does not; ``waiting``: it is in foreground deletion;
# ``unresolvable``: its kind is namespaced, and the object that names it is not.
OwnerState: TypeAlias = Literal["solid", "absent", "waiting", "unresolvable"]


class ClassifiedOwner(NamedTuple):
    """One owner reference of an object, and the state of the owner to which it points."""

    owner: OwnerReference
    state: OwnerState


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepObject:
    """The decision to leave the object unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlink:
    """The decision to keep the object, but of its owner references only those in ``left``."""

    left: tuple[OwnerReference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteObject:
    """The decision to delete the object with the propagation policy ``propagation``.

    If ``unblock`` is true, the object's owner references are first changed so that they do not
    block the deletion of its owners.
    """

    propagation: Propagation
    unblock: bool = False


CollectionDecision: TypeAlias = KeepObject | Unlink | DeleteObject

KEEP: Final = KeepObject()


def decide(
    classified: Sequence[ClassifiedOwner],
    *,
    finalizers: Sequence[str],
    has_dependents: bool,
    has_circle: bool,
) -> CollectionDecision:
    """Return the decision about an object whose owners are ``classified``.

    ``finalizers`` are the object's finalizers. ``has_circle`` is true if a dependent of the object
    is in foreground deletion, and may itself wait for the deletion of the object.
    """
    if not classified or any(each.state == "unresolvable" for each in classified):
        return KEEP
    there = tuple(each.owner for each in classified if each.state == "solid")
    if there:
        return KEEP if len(there) == len(classified) else Unlink(left=there)
    if has_dependents and any(each.state == "waiting" for each in classified):
        return DeleteObject(propagation="Foreground", unblock=has_circle)
    return DeleteObject(propagation=_propagation_of(finalizers))


def _propagation_of(finalizers: Sequence[str]) -> Propagation:
    """Return the propagation policy that the object's finalizers imply;
    the default is background.
    """
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


def unblock_owner_references(owners: Sequence[OwnerReference]) -> tuple[OwnerReference, ...]:
    """Return ``owners`` with ``blockOwnerDeletion`` set to false wherever it was true."""
    return tuple(
        OwnerReference(
            api_version=each.api_version,
            kind=each.kind,
            name=each.name,
            uid=each.uid,
            controller=each.controller,
            block_owner_deletion=False if each.block_owner_deletion else each.block_owner_deletion,
        )
        for each in owners
    )
