"""Conversion of what an operator author's function returns, keys or objects, to keys. No I/O."""

import inspect
from collections.abc import Iterable

from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ResourceType
from steersman.watch import key_of


def keys_in(returned: object, kind: ResourceType) -> dict[ObjectKey, None]:
    """Return the keys in ``returned``, in its order and without duplicates.

    Raise ``TypeError`` if ``returned`` is not an iterable of keys and of objects of ``kind``. If
    ``returned`` is a generator that raises an exception, the exception is propagated.
    """
    if isinstance(returned, list):  # the usual case, and the fastest check
        return dict.fromkeys([key_in(each, kind) for each in returned])
    if not isinstance(returned, Iterable) or isinstance(returned, ObjectKey | str | Resource):
        if inspect.iscoroutine(returned):
            returned.close()  # avoids Python's warning that it was never awaited
            raise TypeError("it is `async def`; make it a plain function that reads the cache")
        raise TypeError(
            f"it returned {_shown(returned)}; return an iterable of keys, or of objects of"
            f" {kind.gvk.kind}"
        )
    return dict.fromkeys(key_in(each, kind) for each in returned)


def key_in(each: object, kind: ResourceType) -> ObjectKey:
    """Return ``each`` as a key; raise ``TypeError`` if it is neither a key nor an object of
    ``kind``.
    """
    if isinstance(each, ObjectKey):
        key = each
    elif isinstance(each, Resource | Unstructured) and _is_of(each, kind):
        key = key_of(each)
    else:
        raise TypeError(
            f"it returned {_shown(each)}; return ObjectKey(namespace, name), or an object of"
            f" {kind.gvk.kind}"
        )
    if not key.name or bool(key.namespace) != kind.namespaced:
        needs = "a namespace and a name" if kind.namespaced else "a name and no namespace"
        raise TypeError(f"it returned {key!r}; a key of {kind.gvk.kind} needs {needs}")
    return key


def _is_of(obj: Resource | Unstructured, kind: ResourceType) -> bool:
    # Without the version, because all versions are the same object.
    gvk = obj.gvk if isinstance(obj, Unstructured) else obj.resource_type.gvk
    return (gvk.group, gvk.kind) == (kind.gvk.group, kind.gvk.kind)


def _shown(value: object) -> str:
    # The type only: the value may be a Secret.
    return "None" if value is None else f"an object of {type(value).__name__}"
