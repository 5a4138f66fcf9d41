"""Detectors of work that never ends: with somebody else, or of a controller with itself. Pure.

Both warn when it has gone on for a while, and then each time it has gone on for twice as long: what
lasts for ever is told a dozen times, and not each second. What has been quiet for longer than the
window is forgotten.
"""

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from steersman.controller.reasons import MOST_PATHS, differences
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import Why

K = TypeVar("K", bound=Hashable)
E = TypeVar("E")

# A person who edits an object a few times in a row, or one slow rollout, stays below this.
WINDOW_SECONDS = 60.0
CORRECTIONS_TO_WARN = 5
LOOPS_TO_WARN = 10

# A reconcile that writes more objects than this has enough to be recognized by.
MOST_WRITES = 64


class Corrected(msgspec.Struct, frozen=True):
    """How often the same has been put back, over how long, and whether to say so now."""

    count: int
    seconds: float
    is_due: bool


class Corrections:
    """The same body applied again and again, because somebody else keeps taking our fields."""

    def __init__(self) -> None:
        self._fights: _Recent[Hashable, _Fight] = _Recent()

    def note(self, ref: Hashable, digest: Hashable, now_at: float) -> Corrected:
        """What we want of the object was put back once more; ``digest`` is of what we want."""
        fight = self._fights.get(ref, now_at)
        # Whoever wants something else by now is not putting anything back.
        if fight is None or fight.digest != digest:
            fight = _Fight(digest, now_at)
        self._fights.put(ref, fight, now_at)
        return Corrected(*fight.streak.note(now_at))

    def forget(self, ref: Hashable) -> None:
        """Keep nothing of this object."""
        self._fights.drop(ref)

    def __len__(self) -> int:
        """How many objects are remembered."""
        return len(self._fights)

    def __repr__(self) -> str:
        return f"<Corrections of {len(self)} objects>"


class Wrote(NamedTuple):
    """A write that changed something: the object's version after it, ``""`` if it is gone."""

    ref: ObjectRef
    version: str
    body: bytes | None = None


class HotLoopFound(msgspec.Struct, frozen=True):
    """So many reconciles in a row were woken by nothing but what they had written themselves.

    ``fields`` differ between the last two writes to one object.
    """

    fields: tuple[str, ...]
    count: int
    seconds: float


class HotLoops:
    """Reconciles of a key, one after the other, each woken by what the one before had written.

    A change that comes from outside has a version that no answer to a write of ours had: one such
    among the reasons, and it is no loop. Nor is it one if nothing is written.
    """

    def __init__(self) -> None:
        self._loops: _Recent[ObjectKey, _Loop] = _Recent()

    def note(
        self, key: ObjectKey, *, whys: Iterable[Why], wrote: Sequence[Wrote], now_at: float
    ) -> HotLoopFound | None:
        """A reconcile of the key has ended: why it began, and what it really changed."""
        if not wrote:
            self._loops.drop(key)
            return None
        loop = self._loops.get(key, now_at) or _Loop()
        is_echo = loop.is_echo(whys)
        warning = loop.note(wrote, is_echo=is_echo, now_at=now_at)
        self._loops.put(key, loop, now_at)
        return warning

    def forget(self, key: ObjectKey) -> None:
        """Keep nothing of this key."""
        self._loops.drop(key)

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._loops)

    def __repr__(self) -> str:
        return f"<HotLoops of {len(self)} keys>"


class _Streak:
    """Counts what happens in a row, and says when to warn."""

    __slots__ = ("_began_at", "_count", "_latest_at", "_warn_at_count")

    def __init__(self, to_warn: int, began_at: float) -> None:
        self._began_at = began_at
        self._count = 0
        self._warn_at_count = to_warn
        self._latest_at: deque[float] = deque(maxlen=to_warn)

    def note(self, now_at: float) -> tuple[int, float, bool]:
        self._count += 1
        self._latest_at.append(now_at)
        is_fast = now_at - self._latest_at[0] <= WINDOW_SECONDS
        is_due = self._count >= self._warn_at_count and is_fast
        if is_due:
            self._warn_at_count = self._count * 2
        return self._count, now_at - self._began_at, is_due


class _Fight:
    __slots__ = ("digest", "streak")

    def __init__(self, digest: Hashable, began_at: float) -> None:
        self.digest = digest
        self.streak = _Streak(CORRECTIONS_TO_WARN, began_at)


class _Loop:
    # Every key that is written for has one for a while, and few of them ever loop: all but the
    # echoes is made when it is needed.
    __slots__ = ("_bodies", "_echoes", "_streak")

    def __init__(self) -> None:
        self._echoes: tuple[tuple[ObjectRef, str], ...] = ()
        self._streak: _Streak | None = None
        self._bodies: dict[ObjectRef, tuple[bytes | None, bytes]] | None = None

    def is_echo(self, whys: Iterable[Why]) -> bool:
        """Whether it was woken, and by nothing but its own writes."""
        is_woken = False
        for why in whys:
            is_woken = True
            # What a deletion's version will be, its answer does not say.
            version = "" if why.event == "deleted" else why.version
            if why.about is None or (why.about, version) not in self._echoes:
                return False
        return is_woken

    def note(self, wrote: Sequence[Wrote], *, is_echo: bool, now_at: float) -> HotLoopFound | None:
        # Not only those of the last reconcile: an echo may come late.
        echoes = (*self._echoes, *[(each.ref, each.version) for each in wrote])
        self._echoes = echoes[-MOST_WRITES:]
        if not is_echo:
            self._streak = self._bodies = None
            return None
        if self._streak is None:
            self._streak = _Streak(LOOPS_TO_WARN, now_at)
        count, seconds, is_due = self._streak.note(now_at)
        # Two are enough to see what differs.
        if count >= LOOPS_TO_WARN - 1:
            self._keep_bodies(wrote)
        return HotLoopFound(self._fields(), count, seconds) if is_due else None

    def _keep_bodies(self, wrote: Sequence[Wrote]) -> None:
        kept = self._bodies = self._bodies or {}
        for ref, _, body in wrote[-MOST_WRITES:]:
            if body is not None:
                _, last = kept.pop(ref, (None, None))
                kept[ref] = (last, body)
        while len(kept) > MOST_WRITES:
            del kept[next(iter(kept))]

    def _fields(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for before, after in (self._bodies or {}).values():
            if before is not None and before != after:
                found |= dict.fromkeys(_differences(before, after))
        return tuple(found)[:MOST_PATHS]


class _Recent(Generic[K, E]):
    """Entries by key, of which those that nobody has touched within the window are dropped."""

    def __init__(self) -> None:
        # The longest untouched first. A plain dict takes ever longer to find that one.
        self._entries: OrderedDict[K, tuple[float, E]] = OrderedDict()

    def get(self, key: K, now_at: float) -> E | None:
        found = self._entries.get(key)
        return None if found is None or _is_old(found[0], now_at) else found[1]

    def put(self, key: K, entry: E, now_at: float) -> None:
        self._entries[key] = (now_at, entry)
        self._entries.move_to_end(key)
        while True:
            first = next(iter(self._entries))
            if not _is_old(self._entries[first][0], now_at):
                return
            del self._entries[first]

    def drop(self, key: K) -> None:
        if self._entries:
            self._entries.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)


def _is_old(touched_at: float, now_at: float) -> bool:
    return now_at - touched_at > WINDOW_SECONDS


def _differences(before: bytes, after: bytes) -> tuple[str, ...]:
    try:
        return differences(msgspec.json.decode(before), msgspec.json.decode(after))
    except msgspec.DecodeError:  # not JSON; that the two differ is all there is to say
        return ()
