"""The mutation detector: finds cached objects that the operator has changed. For tests.

Typed objects are frozen and their maps are read-only views. Lists in fields of type Any, and
Unstructured objects, which are dicts, can be changed. The detector encodes every object once when
the object is received and once at every check, so it is not for production.
"""

from typing import Any

import msgspec

from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey


class Mutation(msgspec.Struct, frozen=True, kw_only=True):
    """An in-memory change of a cached object, which the operator's code must not make.

    ``path`` is the first field that differs; ``""`` means the complete object.
    """

    key: ObjectKey
    ref: str
    path: str


class _Entry(msgspec.Struct, frozen=True):
    obj: Resource | Unstructured
    ref: str
    encoded: bytes


class MutationDetector:
    """A detector that stores the received state of objects, and finds later in-memory changes."""

    def __init__(self) -> None:
        self._entries: dict[ObjectKey, _Entry] = {}
        self._found: list[Mutation] = []

    def remember(self, key: ObjectKey, obj: Resource | Unstructured) -> None:
        """Begin to check ``obj``, the new object under ``key``.

        Before that, the previous object under ``key`` is checked for the last time.
        """
        self.forget(key)
        self._entries[key] = _Entry(obj, str(obj.ref), _encoded(obj))

    def forget(self, key: ObjectKey) -> None:
        """Check the object under ``key`` for the last time, and then stop checking it."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._compare(key, entry)

    def check(self) -> list[Mutation]:
        """Return the mutations since the last check; each one is reported only once."""
        for key, entry in self._entries.items():
            if self._compare(key, entry):
                self._entries[key] = msgspec.structs.replace(entry, encoded=_encoded(entry.obj))
        found, self._found = self._found, []
        return found

    def _compare(self, key: ObjectKey, entry: _Entry) -> bool:
        now = _encoded(entry.obj)
        if now == entry.encoded:
            return False
        path = _first_difference(_decoded(entry.encoded), _decoded(now), "")
        if path is not None:
            self._found.append(Mutation(key=key, ref=entry.ref, path=path))
        return True

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<MutationDetector {len(self._entries)} objects, {len(self._found)} changes found>"


_NOT_JSON = b'"not to be encoded"'


def _encoded(obj: Resource | Unstructured) -> bytes:
    try:
        return _ENCODER.encode(obj)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        # The change put in a value that JSON cannot represent.
        return _NOT_JSON


def _decoded(encoded: bytes) -> Any:
    return msgspec.json.decode(encoded)


def _plain(value: Any) -> Any:
    # Any comparable form will do.
    return value.body if isinstance(value, Unstructured) else f"{type(value).__name__} {value}"


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


def _first_difference(before: Any, now: Any, path: str) -> str | None:
    """Return the path of the first value that differs; ``None`` if only the field order differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in [*before, *(name for name in now if name not in before)]:
            inside = _field_in(path, name)
            if name not in before or name not in now:
                return inside
            found = _first_difference(before[name], now[name], inside)
            if found is not None:
                return found
        return None
    if isinstance(before, list) and isinstance(now, list):
        for index, (one, other) in enumerate(zip(before, now, strict=False)):
            found = _first_difference(one, other, f"{path}[{index}]")
            if found is not None:
                return found
        shorter = min(len(before), len(now))
        return None if len(before) == len(now) else f"{path}[{shorter}]"
    return None if type(before) is type(now) and before == now else path


def _field_in(path: str, name: str) -> str:
    if not name.isidentifier():
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name
