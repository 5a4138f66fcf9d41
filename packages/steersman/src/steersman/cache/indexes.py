"""Index functions: under which values an object is to be found. Pure."""

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import msgspec

from steersman.kinds import Resource, Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)

IndexFunction: TypeAlias = Callable[[Obj], Iterable[str]]


def by_namespace(obj: Resource | Unstructured) -> Iterable[str]:
    """Under its namespace; an object that lives in none is under nothing."""
    namespace = obj.namespace
    return (namespace,) if namespace else ()


def by_owner(obj: Resource | Unstructured) -> Iterable[str]:
    """Under the uid of each of its owners."""
    if isinstance(obj, Unstructured):
        return [owner["uid"] for owner in obj.metadata.get("ownerReferences") or ()]
    return [owner.uid for owner in obj.metadata.owner_references or ()]


def by_controller(obj: Resource | Unstructured) -> Iterable[str]:
    """Under the uid of the owner that controls it, if one does."""
    if isinstance(obj, Unstructured):
        owners = obj.metadata.get("ownerReferences") or ()
        return [owner["uid"] for owner in owners if owner.get("controller")]
    return [owner.uid for owner in obj.metadata.owner_references or () if owner.controller]


def by_label(key: str) -> Callable[[Resource | Unstructured], Iterable[str]]:
    """A function: under its value of the label ``key``; without the label, under nothing."""
    return _ByLabel(key)


# A value, and not a function in a function: two users of one cache who ask for the same index are
# to be understood as such.
class _ByLabel(msgspec.Struct, frozen=True):
    key: str

    def __call__(self, obj: Resource | Unstructured) -> Iterable[str]:
        value = obj.labels.get(self.key)
        return () if value is None else (value,)
