"""What becomes of an object, by what is known of its owners. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from steersman.kinds.meta_v1 import OwnerReference
from steersman_cluster.workloads.garbagecollector.graph import FOREGROUND, ORPHAN

# What becomes of an object's own dependents when it is deleted.
Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]

# ``there``: it exists; ``absent``: it does not; ``waiting``: it goes as soon as its dependents do;
# ``nowhere``: it lives in a namespace, and who names it in none, so that nobody can look for it.
Standing: TypeAlias = Literal["there", "absent", "waiting", "nowhere"]


class Owned(NamedTuple):
    """One owner of an object, and how it stands."""

    owner: OwnerReference
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """It stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlink:
    """It stays, and no longer names owners other than these."""

    left: tuple[OwnerReference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """It goes; first ``unblock`` its owners, so that none of them waits for it."""

    propagation: Propagation
    unblock: bool = False


Verdict: TypeAlias = Keep | Unlink | Delete

KEEP: Final = Keep()


def verdict(
    owned: Sequence[Owned],
    *,
    finalizers: Sequence[str],
    has_dependents: bool,
    is_in_circle: bool,
) -> Verdict:
    """What becomes of an object with these owners.

    ``is_in_circle``: one of its own dependents waits for its dependents, so that it may be waiting
    for this one.
    """
    if not owned or any(each.standing == "nowhere" for each in owned):
        return KEEP
    there = tuple(each.owner for each in owned if each.standing == "there")
    if there:
        return KEEP if len(there) == len(owned) else Unlink(left=there)
    if has_dependents and any(each.standing == "waiting" for each in owned):
        return Delete(propagation="Foreground", unblock=is_in_circle)
    return Delete(propagation=_as_it_wants(finalizers))


def _as_it_wants(finalizers: Sequence[str]) -> Propagation:
    """What somebody has decided for its dependents before; else they go after it."""
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


def unblocked(owners: Sequence[OwnerReference]) -> tuple[OwnerReference, ...]:
    """The same owners, of which none is kept waiting."""
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
