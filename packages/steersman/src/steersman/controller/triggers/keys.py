"""Whom a function of the author's means: keys, or objects, of the controller's own kind. Pure."""

import inspect
from collections.abc import Iterable

from steersman.cache import key_of
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ResourceType


def keys_in(returned: object, kind: ResourceType) -> dict[ObjectKey, None]:
    """The keys that a function returned, each once and in order; ``TypeError`` for anything else.

    An error of the function that comes up when what it returned is gone through is let out.
    """
    if isinstance(returned, list):  # as almost always; the rest takes longer to find out
        return dict.fromkeys([key_in(each, kind) for each in returned])
    if not isinstance(returned, Iterable) or isinstance(returned, ObjectKey | str | Resource):
        if inspect.iscoroutine(returned):
            returned.close()  # else Python complains that nobody has awaited it
            raise TypeError("it is `async def`; make it a plain function that reads what is cached")
        raise TypeError(
            f"it returned {_shown(returned)}, where several may be meant; return an iterable of"
            f" keys, or of objects of {kind.gvk.kind}"
        )
    return dict.fromkeys(key_in(each, kind) for each in returned)


def key_in(each: object, kind: ResourceType) -> ObjectKey:
    """The key that is meant by one of them."""
    if isinstance(each, ObjectKey):
        key = each
    elif isinstance(each, Resource | Unstructured) and _is_of(each, kind):
        key = key_of(each)
    else:
        raise TypeError(
            f"it gave {_shown(each)}; give ObjectKey(namespace, name), or an object of"
            f" {kind.gvk.kind}"
        )
    if not key.name or bool(key.namespace) != kind.namespaced:
        lives = "in a namespace" if kind.namespaced else "in no namespace"
        raise TypeError(f"it gave the key {key!r}, and {kind.gvk.kind} lives {lives} under a name")
    return key


def _is_of(obj: Resource | Unstructured, kind: ResourceType) -> bool:
    # Of whichever version: it is the same object.
    gvk = obj.gvk if isinstance(obj, Unstructured) else obj.resource_type.gvk
    return (gvk.group, gvk.kind) == (kind.gvk.group, kind.gvk.kind)


def _shown(value: object) -> str:
    # Its type, and not what it holds: that may be a Secret.
    return "None" if value is None else f"an object of {type(value).__name__}"
