"""Why an object is looked at: what has woken it, and which fields are different. Pure.

Paths are those of the wire, ``spec.containers[0].image``; what they hold is never said, because it
may be a Secret's.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import repeat
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import Why

# More reasons than this nobody reads, and each holds on to an object as it was.
MOST_WHYS = 8

MOST_PATHS = 10

# They say that something else has changed.
_NO_NEWS: Final = frozenset({"metadata.resourceVersion", "metadata.managedFields"})
_NO_NEWS_BESIDE_OTHERS: Final = "metadata.generation"

# Most of what differs, in the end, is one of these; nothing is inside of them.
_LEAVES: Final = (str, int, datetime)
_LISTS: Final = (list, tuple)


class Taken(NamedTuple):
    """What a key was woken by since it was last taken, and since when it has been waiting."""

    whys: tuple[Why, ...] = ()
    left_out: int = 0
    since_at: float | None = None


class Reasons:
    """Which whys each key has collected: the first few, and how many more there were."""

    def __init__(self) -> None:
        self._collected: dict[ObjectKey, _Collected] = {}

    def note(self, key: ObjectKey, why: Why, now_at: float) -> None:
        """Remember one more."""
        collected = self._collected.get(key)
        if collected is None:
            self._collected[key] = _Collected([why], now_at)
        elif why.about is not None and _is_noted(why, collected.whys):
            return  # one change of an object that is both owned and watched
        elif len(collected.whys) < MOST_WHYS:
            collected.whys.append(why)
        else:
            collected.left_out += 1

    def take(self, key: ObjectKey) -> Taken:
        """All there are, which are then forgotten."""
        collected = self._collected.pop(key, None)
        if collected is None:
            return Taken()
        return Taken(tuple(collected.whys), collected.left_out, collected.since_at)

    def __len__(self) -> int:
        """How many keys have something."""
        return len(self._collected)

    def __repr__(self) -> str:
        return f"<Reasons of {len(self._collected)} keys>"


def _is_noted(why: Why, whys: Iterable[Why]) -> bool:
    version, event, about = why.version, why.event, why.about
    # A loop, which takes half the time of what ``any`` takes; versions nearly always differ.
    for each in whys:
        if each.version == version and each.event == event and each.about == about:
            return True
    return False


class _Collected:
    __slots__ = ("left_out", "since_at", "whys")

    def __init__(self, whys: list[Why], since_at: float) -> None:
        self.whys = whys
        self.since_at = since_at
        self.left_out = 0


def is_only_status(whys: Iterable[Why], ref: ObjectRef) -> bool:
    """Whether nothing has happened but that the status of this object says something else."""
    return all(
        why.about == ref
        and why.event == "updated"
        and all(path.partition(".")[0] == "status" for path in why.changed_fields)
        for why in whys
    )


def changes(
    old: Resource | Unstructured | None, new: Resource | Unstructured | None
) -> tuple[str, ...]:
    """The fields in which the two differ, the first few; none if one of them is missing."""
    if old is None or new is None or old is new:
        return ()
    return differences(
        old.body if isinstance(old, Unstructured) else old,
        new.body if isinstance(new, Unstructured) else new,
    )


def differences(old: Any, new: Any) -> tuple[str, ...]:
    """The same for two pieces of JSON, or parts of an object."""
    found: list[str] = []
    _find_paths(old, new, "", found)
    if len(found) > 1:
        found = [path for path in found if path != _NO_NEWS_BESIDE_OTHERS]
    return tuple(found[:MOST_PATHS])


def _find_paths(old: Any, new: Any, path: str, found: list[str]) -> None:
    """Add to ``found`` where two that differ do, below ``path``, until there are enough."""
    is_named = False
    for step, before, after in _inside(old, new):
        if before is not after and before != after:
            is_named = True
            below = _joined(path, step)
            if below in _NO_NEWS:
                continue
            if isinstance(before, _LEAVES) or isinstance(after, _LEAVES):
                found.append(below)
            else:
                _find_paths(before, after, below, found)
            if len(found) > MOST_PATHS:
                return
    # Such as an empty map where there was none.
    if path and not is_named:
        found.append(path)


def _inside(old: Any, new: Any) -> Iterable[tuple[str | int, Any, Any]]:
    """Each piece of the two that may differ; nothing if they are to be taken as they are.

    What is not there is an empty one of whatever the other is.
    """
    # Not whether it is a Struct: what its class is asked about costs more than all the rest.
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
