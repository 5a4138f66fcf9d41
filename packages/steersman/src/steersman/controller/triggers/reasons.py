"""Reasons for a reconcile: the changes that enqueued the object, and the fields that differ. No
I/O.

The paths of these fields consist of wire names: ``spec.containers[0].image``. Values are never
included, because they may come from a Secret.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import repeat
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ReconcileReason

# More reasons are not useful, and each keeps an old version of an object in memory.
MAX_REASONS = 8

MAX_PATHS = 10

# These change with every other field.
_IMPLIED: Final = frozenset({"metadata.resourceVersion", "metadata.managedFields"})
_IMPLIED_BY_OTHERS: Final = "metadata.generation"

# Most changed values are of these types, which have no fields.
_LEAVES: Final = (str, int, datetime)
_LISTS: Final = (list, tuple)


class CollectedReasons(NamedTuple):
    """The reasons that were collected for a key since ``Reasons.take`` was last called for it.

    ``left_out`` is the number of further reasons. ``since_at`` is the time of the first reason.
    """

    reasons: tuple[ReconcileReason, ...] = ()
    left_out: int = 0
    since_at: float | None = None


class Reasons:
    """The reasons for the next reconcile of each key: the first few, and the number of others."""

    def __init__(self) -> None:
        self._collected: dict[ObjectKey, _CollectedReasons] = {}

    def note(self, key: ObjectKey, why: ReconcileReason, now_at: float) -> None:
        """Add the reason ``why`` for a reconcile of ``key``."""
        collected = self._collected.get(key)
        if collected is None:
            self._collected[key] = _CollectedReasons([why], now_at)
        elif why.about is not None and _is_noted(why, collected.reasons):
            return  # one change, of an object that is both owned and watched
        elif len(collected.reasons) < MAX_REASONS:
            collected.reasons.append(why)
        else:
            collected.left_out += 1

    def take(self, key: ObjectKey) -> CollectedReasons:
        """Remove and return the reasons for a reconcile of ``key``."""
        collected = self._collected.pop(key, None)
        if collected is None:
            return CollectedReasons()
        return CollectedReasons(tuple(collected.reasons), collected.left_out, collected.since_at)

    def __len__(self) -> int:
        """The number of keys for which there are reasons."""
        return len(self._collected)

    def __repr__(self) -> str:
        return f"<Reasons of {len(self._collected)} keys>"


def _is_noted(why: ReconcileReason, reasons: Iterable[ReconcileReason]) -> bool:
    version, event, about = why.version, why.event, why.about
    # A loop takes half the time of ``any``; versions nearly always differ.
    for each in reasons:
        if each.version == version and each.event == event and each.about == about:
            return True
    return False


class _CollectedReasons:
    __slots__ = ("left_out", "reasons", "since_at")

    def __init__(self, reasons: list[ReconcileReason], since_at: float) -> None:
        self.reasons = reasons
        self.since_at = since_at
        self.left_out = 0


def is_only_status(reasons: Iterable[ReconcileReason], ref: ObjectRef) -> bool:
    """Return whether all ``reasons`` are changes of nothing but the status of object ``ref``."""
    return all(
        why.about == ref
        and why.event == "updated"
        and all(path.partition(".")[0] == "status" for path in why.changed_fields)
        for why in reasons
    )


def changes(
    old: Resource | Unstructured | None, new: Resource | Unstructured | None
) -> tuple[str, ...]:
    """Return the paths of the first few fields in which ``old`` and ``new`` differ.

    If ``old`` or ``new`` is ``None``, return no path.
    """
    if old is None or new is None or old is new:
        return ()
    return differences(
        old.body if isinstance(old, Unstructured) else old,
        new.body if isinstance(new, Unstructured) else new,
    )


def differences(old: Any, new: Any) -> tuple[str, ...]:
    """Return the paths of the first few fields in which ``old`` and ``new`` differ.

    ``old`` and ``new`` are JSON values or parts of typed objects.
    """
    found: list[str] = []
    _find_paths(old, new, "", found)
    if len(found) > 1:
        found = [path for path in found if path != _IMPLIED_BY_OTHERS]
    return tuple(found[:MAX_PATHS])


def _find_paths(old: Any, new: Any, path: str, found: list[str]) -> None:
    """Add the paths below ``path`` at which ``old`` and ``new`` differ to ``found``, up to its
    limit.
    """
    is_named = False
    for step, before, after in _inside(old, new):
        if before is not after and before != after:
            is_named = True
            below = _joined(path, step)
            if below in _IMPLIED:
                continue
            if isinstance(before, _LEAVES) or isinstance(after, _LEAVES):
                found.append(below)
            else:
                _find_paths(before, after, below, found)
            if len(found) > MAX_PATHS:
                return
    # For example, a new empty map.
    if path and not is_named:
        found.append(path)


def _inside(old: Any, new: Any) -> Iterable[tuple[str | int, Any, Any]]:
    """Return each pair of corresponding fields or items of ``old`` and ``new``, with its step.

    The result is empty if the two have nothing in common. A missing value counts as an empty value
    of the other's type.
    """
    # isinstance(new, Struct) would cost more than the rest of this function.
    names = getattr(new if old is None else old, "__struct_encode_fields__", None)
    if names is not None:
        if old is None or new is None or type(old) is type(new):
            return zip(names, _fields(old), _fields(new), strict=False)
    elif isinstance(old, _LISTS) or isinstance(new, _LISTS):
        if isinstance(old, _LISTS) and isinstance(new, _LISTS) and len(old) == len(new):
            return zip(range(len(old)), old, new, strict=True)
    elif _is_map(old) and _is_map(new):
        before, after = old or {}, new or {}
        return [(str(key), before.get(key), after.get(key)) for key in {**before, **after}]
    return ()


def _fields(struct: Struct | None) -> Iterable[Any]:
    return repeat(None) if struct is None else astuple(struct)


def _is_map(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _joined(path: str, step: str | int) -> str:
    if isinstance(step, int) or "." in step:
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step
