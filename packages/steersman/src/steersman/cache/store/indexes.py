"""Index functions: the values by which an object is indexed. No I/O."""

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import msgspec

from steersman.kinds import Resource, Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)

IndexFunction: TypeAlias = Callable[[Obj], Iterable[str]]


def by_namespace(obj: Resource | Unstructured) -> Iterable[str]:
    """Return the namespace of ``obj``; nothing for a cluster-scoped object."""
    namespace = obj.namespace
    return (namespace,) if namespace else ()


def by_owner(obj: Resource | Unstructured) -> Iterable[str]:
    """Return the uid of each owner of ``obj``."""
    if isinstance(obj, Unstructured):
        return [owner["uid"] for owner in obj.metadata.get("ownerReferences") or ()]
    return [owner.uid for owner in obj.metadata.owner_references or ()]


def by_controller(obj: Resource | Unstructured) -> Iterable[str]:
    """Return the uid of the controlling owner of ``obj``, if ``obj`` has one."""
    if isinstance(obj, Unstructured):
        owners = obj.metadata.get("ownerReferences") or ()
        return [owner["uid"] for owner in owners if owner.get("controller")]
    return [owner.uid for owner in obj.metadata.owner_references or () if owner.controller]


def by_label(key: str) -> Callable[[Resource | Unstructured], Iterable[str]]:
    """Return an index function for the label ``key``.

    The function returns the value of the label, or nothing for an object without that label.
    """
    return _ByLabel(key)


# A comparable value, not a nested function, so that two users of a cache share the same index.
class _ByLabel(msgspec.Struct, frozen=True):
    key: str

    def __call__(self, obj: Resource | Unstructured) -> Iterable[str]:
        value = obj.labels.get(self.key)
        return () if value is None else (value,)
