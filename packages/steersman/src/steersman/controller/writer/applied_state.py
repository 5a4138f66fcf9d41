"""The last apply to each object, so that an apply that would change nothing is not sent. No I/O.

A target is *settled* for a body if applying the body would change nothing. Two things are compared:

- This manager's entry in ``managedFields``. It changes when another manager takes or removes one of
  its fields, whatever the value. Changes of the status and of other managers' fields do not change
  it. An object that was deleted and re-created is not settled, because it has another uid.
- The values. A client that writes under the same manager name (an earlier leader, an older version
  of the operator) changes values. In the entry, such a write changes only the time, which has a
  resolution of one second and may be missing. A change of order in a list does not change the entry
  at all. So each new resourceVersion is compared. The first comparison is cheap and covers
  everything but the status. If it finds a difference, the fields in the entry are compared one by
  one.

Fields that a transform of the cache drops cannot be compared: for these fields, only the entry is
compared.

For a target without a stored apply, the entry shows what an earlier process applied. If the body
has exactly these fields and values, the target is settled: an operator that restarts, or takes over
from another replica, sends nothing.

``resourceVersion`` alone is not enough: a child's status changes it at each step of a rollout.

An apply without a response may have been carried out, and the cache may be behind: the target is
not settled until an apply to it receives a response.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import astuple

from steersman.controller.ownership.managed_fields import (
    Fields,
    body_fields,
    differing_paths,
    fields_in,
    matches_exactly,
)
from steersman.kinds import Codec, Resource, Unstructured, meta_v1, stored_field
from steersman.names import GroupVersionKind, ObjectKey
from steersman.units import same_json

# An object and a subresource of it; ``""`` for the object itself.
ApplyTarget: TypeAlias = tuple[GroupVersionKind, ObjectKey, str]

_COMPARED_METADATA: Final = ("labels", "annotations", "ownerReferences", "finalizers")

# The public attribute creates a new read-only view for each access, so identical maps differ.
_labels: Final = stored_field(meta_v1.ObjectMeta, "labels")
_annotations: Final = stored_field(meta_v1.ObjectMeta, "annotations")


class ManagerEntry(msgspec.Struct, frozen=True, gc=False):
    """The fields that one field manager owns by apply, from its entry in ``managedFields``."""

    api_version: str | None
    fields: msgspec.Raw | Fields | None


class LastApply(msgspec.Struct, frozen=True):
    """The digest of an applied body, and the latest known object that matches the body."""

    digest: int
    obj: Resource | Unstructured


class AppliedState:
    """The last apply of one field manager to each target: an object or its subresource."""

    def __init__(self, manager: str) -> None:
        self._manager = manager
        self._codec = Codec()
        self._last: dict[ApplyTarget, LastApply] = {}
        self._uncertain: set[ApplyTarget] = set()

    def __len__(self) -> int:
        return len(self._last.keys() | self._uncertain)

    def __repr__(self) -> str:
        return f"<AppliedState to {len(self._last)} targets by {self._manager}>"

    def mark_uncertain(self, target: ApplyTarget) -> None:
        """Record that an apply to ``target`` is about to be sent.

        ``target`` is not settled until ``remember`` is called after the response.
        """
        self._uncertain.add(target)

    def remember(self, target: ApplyTarget, obj: Resource | Unstructured, body: bytes) -> None:
        """Record that ``body`` was applied to ``target``; ``obj`` is the object after the apply."""
        self._uncertain.discard(target)
        entry = entry_of(obj, self._manager, target[2])
        if entry is None:
            # A transform of the cache has dropped it, or the body has no fields.
            self._last.pop(target, None)
            return
        self._last[target] = LastApply(digest_of(body), obj)

    def recall(self, target: ApplyTarget) -> LastApply | None:
        """Return the last apply to ``target``; ``None`` if none is stored."""
        return self._last.get(target)

    def holds(self, obj: Resource | Unstructured) -> bool:
        """Return whether this field manager has applied ``obj``, even in an earlier process."""
        return entry_of(obj, self._manager, "") is not None

    def forget(self, gvk: GroupVersionKind, key: ObjectKey) -> None:
        """Drop the stored state about the object of ``key``, because it was deleted."""
        if self._last or self._uncertain:
            for subresource in ("", "status"):
                self._last.pop((gvk, key, subresource), None)
                self._uncertain.discard((gvk, key, subresource))

    def is_settled(self, target: ApplyTarget, live: Resource | Unstructured, body: bytes) -> bool:
        """Return whether applying ``body`` to ``live``, the cached object, would change nothing."""
        if self._uncertain and target in self._uncertain:
            return False
        last = self._last.get(target)
        if last is None:
            return self._was_settled_by_predecessor(target, live, body)
        if last.obj is live:  # the usual case: it has not changed
            return last.digest == digest_of(body)
        if last.obj.uid != live.uid:
            del self._last[target]
            return self._was_settled_by_predecessor(target, live, body)
        if last.digest != digest_of(body):
            return False
        if last.obj.resource_version != live.resource_version and not self._is_unchanged(
            target[2], last.obj, live, body
        ):
            return False
        # Store the cache's copy, so that memory does not contain two.
        self._last[target] = LastApply(last.digest, live)
        return True

    def _is_unchanged(
        self,
        subresource: str,
        old: Resource | Unstructured,
        live: Resource | Unstructured,
        body: bytes,
    ) -> bool:
        """Return whether ``live``, a later version of ``old``, still has all fields and values of
        ``body``.
        """
        entry = entry_of(live, self._manager, subresource)
        if entry is None or entry != entry_of(old, self._manager, subresource):
            return False
        return _looks_unchanged(old, live, subresource, entry) or self._has_applied_values(
            entry, live, body
        )

    def _was_settled_by_predecessor(
        self, target: ApplyTarget, live: Resource | Unstructured, body: bytes
    ) -> bool:
        """Return whether an earlier process has applied exactly ``body`` and nothing has changed
        since.
        """
        entry = entry_of(live, self._manager, target[2])
        # In another API version, the same fields may have other names.
        if entry is None or entry.api_version != target[0].api_version:
            return False
        there = msgspec.json.decode(self._codec.encode(live))
        wanted = body_fields(msgspec.json.decode(body))
        is_settled = matches_exactly(fields_in(entry.fields), there, wanted)
        if is_settled:
            self.remember(target, live, body)
        return is_settled

    def _has_applied_values(
        self, entry: ManagerEntry, live: Resource | Unstructured, body: bytes
    ) -> bool:
        there, wanted = msgspec.json.decode(self._codec.encode(live)), msgspec.json.decode(body)
        return next(differing_paths(fields_in(entry.fields), there, wanted), None) is None


_COMPARED_SEPARATELY: Final = frozenset(("status", "metadata"))


def _looks_unchanged(
    old: Resource | Unstructured,
    new: Resource | Unstructured,
    subresource: str,
    entry: ManagerEntry,
) -> bool:
    """Return whether the part of the object that this manager may hold is unchanged.

    The part is the status, or everything but the status. The comparison is cheap, because versions
    of an object share what has not changed.
    """
    if subresource:
        return same_json(_content(old, subresource), _content(new, subresource))
    if not same_json(_contents(old), _contents(new)):
        return False
    before, after = _metadata(old), _metadata(new)
    if before == after:
        return True
    # Changes of labels, annotations and the like do not matter to a manager that owns none of them.
    held = fields_in(entry.fields).get("f:metadata") or {}
    return not any(
        one != other and f"f:{name}" in held
        for name, one, other in zip(_COMPARED_METADATA, before, after, strict=True)
    )


def _content(obj: Resource | Unstructured, name: str) -> Any:
    if isinstance(obj, Unstructured):
        return obj.body.get(name)
    fields: tuple[str, ...] = obj.__struct_fields__  # type: ignore[attr-defined]
    return stored_field(type(obj), name)(obj) if name in fields else None


def _contents(obj: Resource | Unstructured) -> Any:
    if isinstance(obj, Unstructured):
        return {name: value for name, value in obj.body.items() if name not in _COMPARED_SEPARATELY}
    fields: tuple[str, ...] = obj.__struct_fields__  # type: ignore[attr-defined]
    values = zip(fields, astuple(obj), strict=True)  # type: ignore[arg-type]
    return [value for name, value in values if name not in _COMPARED_SEPARATELY]


def _metadata(obj: Resource | Unstructured) -> Sequence[Any]:
    if isinstance(obj, Unstructured):
        return [obj.metadata.get(name) for name in _COMPARED_METADATA]
    meta = obj.metadata
    return _labels(meta), _annotations(meta), meta.owner_references, meta.finalizers


def entry_of(obj: Resource | Unstructured, manager: str, subresource: str) -> ManagerEntry | None:
    """Return the entry for applies of field manager ``manager`` in ``managedFields``.

    ``subresource`` is ``""`` for the object itself. Return ``None`` if there is no such entry.
    """
    if isinstance(obj, Unstructured):
        for each in obj.metadata.get("managedFields") or ():
            if (
                each.get("manager") == manager
                and each.get("operation") == "Apply"
                and (each.get("subresource") or "") == subresource
            ):
                return ManagerEntry(each.get("apiVersion"), each.get("fieldsV1"))
        return None
    for entry in obj.metadata.managed_fields or ():
        if (
            entry.manager == manager
            and entry.operation == "Apply"
            and (entry.subresource or "") == subresource
        ):
            return ManagerEntry(entry.api_version, entry.fields_v1)
    return None


def digest_of(body: bytes) -> int:
    """Return a digest of ``body``, which is valid in this process only.

    The digest is Python's own hash, whose key is random unless ``PYTHONHASHSEED`` sets it. A
    ``bytes`` object caches its hash, so the hash is computed only once for each body.
    """
    return hash(body)
