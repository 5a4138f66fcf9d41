"""Functions that read the identity of an object: its key, uid and resourceVersion."""

from typing import Any

from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey

# The class that NamedTuple creates has a constructor in Python, which takes twice as long as the
# tuple's own. Every object and every event needs a key.
_new_key = tuple.__new__


def key_of(obj: Resource | Unstructured) -> ObjectKey:
    """The key of ``obj``: its namespace and its name."""
    if isinstance(obj, Unstructured):
        fields = obj.metadata
        return _new_key(ObjectKey, (fields.get("namespace") or None, str(fields.get("name") or "")))
    metadata = obj.metadata
    return _new_key(ObjectKey, (metadata.namespace or None, metadata.name or ""))


def identity_of(obj: Resource | Unstructured) -> tuple[ObjectKey, str, str]:
    """Return the key, the uid and the resourceVersion of ``obj``.

    A value that ``obj`` does not contain is empty.
    """
    if isinstance(obj, Unstructured):
        fields = obj.metadata
        return (
            _new_key(ObjectKey, (fields.get("namespace") or None, str(fields.get("name") or ""))),
            str(fields.get("uid") or ""),
            str(fields.get("resourceVersion") or ""),
        )
    metadata = obj.metadata
    return (
        _new_key(ObjectKey, (metadata.namespace or None, metadata.name or "")),
        metadata.uid or "",
        metadata.resource_version or "",
    )


def identity_in(body: Any) -> tuple[ObjectKey, str, str]:
    """Return the key, the uid and the resourceVersion in ``body``, an undecodable object.

    A value that ``body`` does not contain is empty.
    """
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict):
        return ObjectKey(None, ""), "", ""

    def text(field: str) -> str:
        value = metadata.get(field)
        return value if isinstance(value, str) else ""

    return ObjectKey(text("namespace") or None, text("name")), text("uid"), text("resourceVersion")
