"""What was applied last, so that an apply which would change nothing is not sent. Pure.

An apply changes nothing if the object still has all that the same body gave it. That shows in two
places, and both are looked at:

- Our own entry in its ``managedFields``. It is different as soon as another manager takes a field
  of ours or removes it, whatever value it has now; and an object of the same name that was made
  anew has another uid. Others' fields, and the status, leave the entry as it is.
- The values. Whoever writes under our own name (the leader before us, an older version of the
  operator) changes what our fields have and nothing in the entry but its time, which counts in
  seconds and is sometimes not there at all; and whoever changes the order of a list leaves no trace
  whatever. So a version that we have not seen before is compared: cheaply, whether all but the
  status is as it was; and if not, field by field where the entry says that it is ours.

What a transform of the cache drops can be compared by nobody, and is left to the entry alone.

Of an object that nobody here has applied to yet, our entry says what an earlier life of ours did.
If the body says just that, and it is so, it is settled as well: an operator that starts again, or
takes over from another replica, has nothing to send.

``resourceVersion`` says only that nothing at all has happened: a child's status moves it at every
step of a rollout.

An apply that was sent and has no answer may have been carried out, and the cache may not have heard
of it: until one there is answered, nothing is settled at that place.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import astuple

from steersman.controller.ownership.managed_fields import (
    Fields,
    differing,
    fields_in,
    is_just_so,
    stated,
)
from steersman.kinds import Codec, Resource, Unstructured, meta_v1, stored_field
from steersman.names import GroupVersionKind, ObjectKey
from steersman.units import same_json

# An object, and the subresource that is applied to; ``""`` for the object itself.
Place: TypeAlias = tuple[GroupVersionKind, ObjectKey, str]

_LOOKED_AT: Final = ("labels", "annotations", "ownerReferences", "finalizers")

# A read-only view would be made for each comparison, and would hide the map in it.
_labels: Final = stored_field(meta_v1.ObjectMeta, "labels")
_annotations: Final = stored_field(meta_v1.ObjectMeta, "annotations")


class Entry(msgspec.Struct, frozen=True, gc=False):
    """What one manager holds by apply, as its object says."""

    api_version: str | None
    fields: msgspec.Raw | Fields | None


class Applied(msgspec.Struct, frozen=True):
    """What came of an apply: the digest of its body, and the object as it was after it.

    Or as it was seen last, with all still as it should be.
    """

    digest: int
    obj: Resource | Unstructured


class LastApplied:
    """Remembers for one field manager what it applied to each object."""

    def __init__(self, manager: str) -> None:
        self._manager = manager
        self._codec = Codec()
        self._last: dict[Place, Applied] = {}
        self._doubtful: set[Place] = set()

    def __len__(self) -> int:
        return len(self._last.keys() | self._doubtful)

    def __repr__(self) -> str:
        return f"<LastApplied to {len(self._last)} places by {self._manager}>"

    def doubt(self, place: Place) -> None:
        """Something is about to be applied: before it is remembered, nobody knows what is there."""
        self._doubtful.add(place)

    def remember(self, place: Place, obj: Resource | Unstructured, body: bytes) -> None:
        """``body`` was applied, and the object is like this after it."""
        self._doubtful.discard(place)
        entry = entry_of(obj, self._manager, place[2])
        if entry is None:
            # The author's transform has dropped it, or there was nothing to hold.
            self._last.pop(place, None)
            return
        self._last[place] = Applied(digest_of(body), obj)

    def recall(self, place: Place) -> Applied | None:
        """What was applied there last."""
        return self._last.get(place)

    def holds(self, obj: Resource | Unstructured) -> bool:
        """Whether the manager applied it, now or in an earlier life."""
        return entry_of(obj, self._manager, "") is not None

    def forget(self, gvk: GroupVersionKind, key: ObjectKey) -> None:
        """The object is gone."""
        if self._last or self._doubtful:
            for subresource in ("", "status"):
                self._last.pop((gvk, key, subresource), None)
                self._doubtful.discard((gvk, key, subresource))

    def is_settled(self, place: Place, live: Resource | Unstructured, body: bytes) -> bool:
        """Whether applying ``body`` to the object as it is would change nothing."""
        if self._doubtful and place in self._doubtful:
            return False
        last = self._last.get(place)
        if last is None:
            return self._is_settled_already(place, live, body)
        if last.obj is live:  # as most often: nothing has happened to it
            return last.digest == digest_of(body)
        if last.obj.uid != live.uid:
            del self._last[place]
            return self._is_settled_already(place, live, body)
        if last.digest != digest_of(body):
            return False
        if last.obj.resource_version != live.resource_version and not self._is_still_so(
            place[2], last.obj, live, body
        ):
            return False
        # The cache may hold a copy, and then there are not to be two of it.
        self._last[place] = Applied(last.digest, live)
        return True

    def _is_still_so(
        self,
        subresource: str,
        old: Resource | Unstructured,
        live: Resource | Unstructured,
        body: bytes,
    ) -> bool:
        """Whether all that the body gave to the object is there in a later version of it."""
        entry = entry_of(live, self._manager, subresource)
        if entry is None or entry != entry_of(old, self._manager, subresource):
            return False
        return _is_alike(old, live, subresource, entry) or self._is_as_applied(entry, live, body)

    def _is_settled_already(self, place: Place, live: Resource | Unstructured, body: bytes) -> bool:
        """The same for an object that we know nothing of, but somebody before us applied to."""
        entry = entry_of(live, self._manager, place[2])
        # In another version, the same fields may have other names.
        if entry is None or entry.api_version != place[0].api_version:
            return False
        there = msgspec.json.decode(self._codec.encode(live))
        wanted = stated(msgspec.json.decode(body))
        is_settled = is_just_so(fields_in(entry.fields), there, wanted)
        if is_settled:
            self.remember(place, live, body)
        return is_settled

    def _is_as_applied(self, entry: Entry, live: Resource | Unstructured, body: bytes) -> bool:
        there, wanted = msgspec.json.decode(self._codec.encode(live)), msgspec.json.decode(body)
        return next(differing(fields_in(entry.fields), there, wanted), None) is None


_APART: Final = frozenset(("status", "metadata"))


def _is_alike(
    old: Resource | Unstructured, new: Resource | Unstructured, subresource: str, entry: Entry
) -> bool:
    """Whether the status is as it was, or all but it that may be ours.

    Cheap, because objects share what has not changed.
    """
    if subresource:
        return same_json(_content(old, subresource), _content(new, subresource))
    if not same_json(_contents(old), _contents(new)):
        return False
    before, after = _metadata(old), _metadata(new)
    if before == after:
        return True
    # Somebody has annotated it, say; what is that to us, who hold no annotation?
    held = fields_in(entry.fields).get("f:metadata") or {}
    return not any(
        one != other and f"f:{name}" in held
        for name, one, other in zip(_LOOKED_AT, before, after, strict=True)
    )


def _content(obj: Resource | Unstructured, name: str) -> Any:
    if isinstance(obj, Unstructured):
        return obj.body.get(name)
    fields: tuple[str, ...] = obj.__struct_fields__  # type: ignore[attr-defined]
    return stored_field(type(obj), name)(obj) if name in fields else None


def _contents(obj: Resource | Unstructured) -> Any:
    if isinstance(obj, Unstructured):
        return {name: value for name, value in obj.body.items() if name not in _APART}
    fields: tuple[str, ...] = obj.__struct_fields__  # type: ignore[attr-defined]
    values = zip(fields, astuple(obj), strict=True)  # type: ignore[arg-type]
    return [value for name, value in values if name not in _APART]


def _metadata(obj: Resource | Unstructured) -> Sequence[Any]:
    if isinstance(obj, Unstructured):
        return [obj.metadata.get(name) for name in _LOOKED_AT]
    meta = obj.metadata
    return _labels(meta), _annotations(meta), meta.owner_references, meta.finalizers


def entry_of(obj: Resource | Unstructured, manager: str, subresource: str) -> Entry | None:
    """What the manager holds of the object, or of one of its subresources, by apply."""
    if isinstance(obj, Unstructured):
        for each in obj.metadata.get("managedFields") or ():
            if (
                each.get("manager") == manager
                and each.get("operation") == "Apply"
                and (each.get("subresource") or "") == subresource
            ):
                return Entry(each.get("apiVersion"), each.get("fieldsV1"))
        return None
    for entry in obj.metadata.managed_fields or ():
        if (
            entry.manager == manager
            and entry.operation == "Apply"
            and (entry.subresource or "") == subresource
        ):
            return Entry(entry.api_version, entry.fields_v1)
    return None


def digest_of(body: bytes) -> int:
    """What stands for a body, in this process.

    Python's own hash: as wide as its pointers, and by a key that nobody outside knows unless
    ``PYTHONHASHSEED`` tells it. A body keeps it, so that it is found out once however often
    somebody asks.
    """
    return hash(body)
