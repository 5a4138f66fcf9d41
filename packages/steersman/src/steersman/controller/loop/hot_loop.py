"""``HotLoops``: detects a controller whose own writes trigger its next reconcile. No I/O."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import msgspec

from steersman.controller.streaks import ExpiringEntries, Streak
from steersman.controller.triggers.reasons import MAX_PATHS, differences
from steersman.controller.writer.reports import EffectiveWrite
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ReconcileReason

K = TypeVar("K", bound=Hashable)
E = TypeVar("E")

LOOPS_TO_WARN = 10

# The number of writes that are stored for each key.
MAX_WRITES = 64


class HotLoopFound(msgspec.Struct, frozen=True):
    """A report of ``count`` successive reconciles, each caused only by the previous one's writes.

    ``fields`` are the fields in which the last two writes to one object differ.
    """

    fields: tuple[str, ...]
    count: int
    seconds: float


class HotLoops:
    """For each key, the number of successive reconciles that the controller's writes caused.

    A reconcile belongs to a hot loop if all of its reasons are writes of the previous reconcile. A
    change by another client is recognized by its resourceVersion, which no write of the controller
    returned. A reconcile that writes nothing ends the hot loop.
    """

    def __init__(self) -> None:
        self._loops: ExpiringEntries[ObjectKey, _Loop] = ExpiringEntries()

    def note(
        self,
        key: ObjectKey,
        *,
        reasons: Iterable[ReconcileReason],
        wrote: Sequence[EffectiveWrite],
        now_at: float,
    ) -> HotLoopFound | None:
        """Record a finished reconcile of ``key``.

        ``reasons`` are the reasons for the reconcile, and ``wrote`` its writes that changed
        something. Return a ``HotLoopFound`` if a warning is due.
        """
        if not wrote:
            self._loops.drop(key)
            return None
        loop = self._loops.get(key, now_at) or _Loop()
        is_echo = loop.is_echo(reasons)
        warning = loop.note(wrote, is_echo=is_echo, now_at=now_at)
        self._loops.put(key, loop, now_at)
        return warning

    def forget(self, key: ObjectKey) -> None:
        """Drop the stored state about this key."""
        self._loops.drop(key)

    def __len__(self) -> int:
        """The number of remembered keys."""
        return len(self._loops)

    def __repr__(self) -> str:
        return f"<HotLoops of {len(self)} keys>"


class _Loop:
    # Every key with writes has an instance for a while, and few keys ever loop: all fields but the
    # echoes are created when they are needed.
    __slots__ = ("_bodies", "_echoes", "_streak")

    def __init__(self) -> None:
        self._echoes: tuple[tuple[ObjectRef, str], ...] = ()
        self._streak: Streak | None = None
        self._bodies: dict[ObjectRef, tuple[bytes | None, bytes]] | None = None

    def is_echo(self, reasons: Iterable[ReconcileReason]) -> bool:
        """Return whether ``reasons`` is not empty and consists of the controller's own writes
        only.
        """
        has_reasons = False
        for why in reasons:
            has_reasons = True
            # The answer to a delete does not have the resourceVersion of the deletion.
            version = "" if why.event == "deleted" else why.version
            if why.about is None or (why.about, version) not in self._echoes:
                return False
        return has_reasons

    def note(
        self, wrote: Sequence[EffectiveWrite], *, is_echo: bool, now_at: float
    ) -> HotLoopFound | None:
        # Includes those of earlier reconciles: an echo may be late.
        echoes = (*self._echoes, *[(each.ref, each.version) for each in wrote])
        self._echoes = echoes[-MAX_WRITES:]
        if not is_echo:
            self._streak = self._bodies = None
            return None
        if self._streak is None:
            self._streak = Streak(LOOPS_TO_WARN, now_at)
        count, seconds, is_due = self._streak.note(now_at)
        # The last two bodies are enough to find what differs.
        if count >= LOOPS_TO_WARN - 1:
            self._keep_bodies(wrote)
        return HotLoopFound(self._fields(), count, seconds) if is_due else None

    def _keep_bodies(self, wrote: Sequence[EffectiveWrite]) -> None:
        kept = self._bodies = self._bodies or {}
        for ref, _, body in wrote[-MAX_WRITES:]:
            if body is not None:
                _, last = kept.pop(ref, (None, None))
                kept[ref] = (last, body)
        while len(kept) > MAX_WRITES:
            del kept[next(iter(kept))]

    def _fields(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for before, after in (self._bodies or {}).values():
            if before is not None and before != after:
                found |= dict.fromkeys(_differences(before, after))
        return tuple(found)[:MAX_PATHS]


def _differences(before: bytes, after: bytes) -> tuple[str, ...]:
    try:
        return differences(msgspec.json.decode(before), msgspec.json.decode(after))
    except msgspec.DecodeError:  # not JSON: the fields cannot be named
        return ()
