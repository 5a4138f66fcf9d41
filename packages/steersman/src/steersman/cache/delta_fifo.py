"""The delta FIFO: what was heard becomes what has changed, in order. Pure.

It stands between the reflector, which tells it what it hears, and the informer, which takes the
changes out. It knows every object as of what it heard last, and from that:

- what is heard twice, late or in the wrong order makes no change, and what was deleted does not
  come back by it;
- a list is one change, however many objects differ from what was known; what was deleted in a gap
  is in it as a tombstone;
- the changes of one key are always Added, then Updated any number of times, then Deleted. An object
  that was deleted and made anew under its name is Deleted and Added, never Updated.

Every change says in ``version`` to where it moves the position, that is, up to where everything has
been told; ``""`` if it does not move it.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

import msgspec

from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.watch import identity_in, identity_of, is_far_ahead, is_older, key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# Structs: every object and event takes one, and a frozen dataclass takes ten times as long to make.


class Added(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """The object is new; ``is_initial`` if it was there when the first list was made."""

    obj: Obj
    key: ObjectKey
    is_initial: bool = False

    @property
    def version(self) -> str:
        """To where it moves the position."""
        return self.obj.resource_version


class Updated(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """The object has changed; ``old`` is the state that was told last."""

    old: Obj
    obj: Obj
    key: ObjectKey

    @property
    def version(self) -> str:
        """To where it moves the position."""
        return self.obj.resource_version


class Deleted(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """The object is gone: ``obj`` is its last state or, if ``is_missed``, the last one told."""

    obj: Obj
    key: ObjectKey
    version: str = ""
    is_missed: bool = False


class Sync(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """Nothing has changed: somebody asked to be told again."""

    obj: Obj
    key: ObjectKey

    @property
    def version(self) -> str:
        """It does not move the position."""
        return ""


Delta: TypeAlias = Added[Obj] | Updated[Obj] | Deleted[Obj] | Sync[Obj]


# The collector looks at this one and at what contains it: an error has a traceback, and so perhaps
# a way back to whoever holds the error.
class Refused(msgspec.Struct, frozen=True):
    """An object does not fit its class and is kept aside, or is gone from there if ``is_gone``.

    Once it fits again, it is Added or Updated. An object that was known before stays known as it
    was last told, until it is gone.
    """

    key: ObjectKey
    error: InvalidObject
    version: str
    is_gone: bool = False


class Replaced(msgspec.Struct, Generic[Obj], frozen=True):
    """A list was made: all at once, this is how it differs from what was known.

    ``rewound``: it is from an earlier time, and true all the same, because the server's own history
    has become shorter.
    """

    deltas: list[Delta[Obj]]
    refused: list[Refused]
    version: str
    rewound: bool = False
    is_first: bool = False


class Reached(msgspec.Struct, frozen=True, gc=False):
    """Everything up to ``version`` has been told."""

    version: str


Popped: TypeAlias = (
    Added[Obj] | Updated[Obj] | Deleted[Obj] | Sync[Obj] | Refused | Replaced[Obj] | Reached
)


class DeltaFifo(Generic[Obj]):
    """Takes what a reflector hears, and gives changes in the same order."""

    def __init__(self) -> None:
        self._queue: deque[Popped[Obj]] = deque()
        self._arrived = asyncio.Event()
        self._known: dict[ObjectKey, Obj] = {}
        self._misfits: dict[ObjectKey, Refused] = {}
        self._warmed: set[ObjectKey] = set()
        self._position = ""
        # The uids of what was removed at the position itself: there, no version tells an event that
        # comes late from a new one.
        self._just_gone: set[str] = set()
        self._has_list = False
        self._dropped = 0

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj],
        misfits: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """These are all objects there are, as of ``version``.

        A list from before the position is dropped, unless the server's history was ``rewound``.
        """
        if not rewound and self._is_past(version):
            self._dropped += 1
            return
        fresh, changes = self._compared(objects, rewound=rewound)
        refused = self._set_aside(misfits, fresh, version)
        gone: list[Delta[Obj]] = [
            Deleted(old, key, is_missed=True)
            for key, old in self._known.items()
            if key not in fresh
        ]
        is_first, self._has_list = not self._has_list, True
        self._known = fresh
        self._warmed.intersection_update(self._misfits)
        if rewound:
            self._position = ""
        self._move_to(version)
        self._push(Replaced([*gone, *changes], refused, version, rewound, is_first))

    def wrote(self, obj: Obj) -> None:
        """The object was created or changed."""
        key, uid, version = identity_of(obj)
        old = self._known.get(key)
        if self._is_past(version, uid) or (old is not None and self._is_told(old, key, version)):
            self._dropped += 1
            return
        self._known[key] = obj
        if self._warmed:
            self._warmed.discard(key)
        if self._misfits:
            self._misfits.pop(key, None)
        self._move_to(version)
        if old is None:
            self._push(Added(obj, key))
        elif _is_other(old, uid):
            self._push(Deleted(old, key, is_missed=True))
            self._push(Added(obj, key))
        else:
            self._push(Updated(old, obj, key))

    def removed(self, obj: Obj) -> None:
        """The object is gone; this was its last state."""
        key, uid, version = identity_of(obj)
        old = self._known.get(key)
        is_other = old is not None and _is_other(old, uid)
        if self._is_past(version):
            # An aggregated API server may give a deletion no version of its own: what is deleted in
            # exactly the state that is known is gone, however old that state.
            if old is None or is_other or old.resource_version != version:
                self._dropped += 1
                return
            version = ""
        self._move_to(version)
        if version:
            self._just_gone.add(uid)
        kept = self._misfits.pop(key, None)
        if old is not None:
            del self._known[key]
            self._warmed.discard(key)
            last = old if is_other else obj
            self._push(Deleted(last, key, version, is_missed=is_other))
        if kept is not None:
            self._push(Refused(key, kept.error, version, is_gone=True))
        elif old is None:
            self._reach(version)

    def misfit(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """An object was written that does not fit its class, or is gone."""
        key, uid, _ = identity_in(error.body)
        old = self._known.get(key)
        kept = self._misfits.get(key)
        is_past = self._is_past(version, uid)
        is_kept = kept is not None and kept.version == version
        if is_gone and is_kept and is_past:
            version = ""  # a deletion without a version of its own, as in ``removed``
        elif is_past or (is_kept and not is_gone):
            self._dropped += 1
            return
        self._move_to(version)
        if old is not None and (is_gone or _is_other(old, uid)):
            del self._known[key]
            self._warmed.discard(key)
            self._push(Deleted(old, key, is_missed=True))
        if is_gone and version:
            self._just_gone.add(uid)
        if not is_gone:
            self._misfits[key] = Refused(key, error, version)
            self._push(self._misfits[key])
        elif old is not None or kept is not None:
            self._misfits.pop(key, None)
            self._push(Refused(key, error, version, is_gone=True))
        else:
            self._reach(version)

    def reached(self, version: str) -> None:
        """Everything up to ``version`` has been told."""
        if version != self._position and not self._is_past(version):
            self._move_to(version)
            self._reach(version)

    def warm(self, objects: Iterable[Obj]) -> None:
        """Take these for known, without a change.

        When one is heard of it is Updated, whatever its version, and Deleted if the first list does
        not have it.
        """
        for obj in objects:
            key = key_of(obj)
            if key not in self._known:
                self._known[key] = obj
                self._warmed.add(key)

    def sync(self, keys: Iterable[ObjectKey] | None = None) -> None:
        """Tell what is known again: of these keys, or all of it."""
        chosen = self._known if keys is None else keys
        told = [Sync(self._known[key], key) for key in chosen if key in self._known]
        self._queue.extend(told)
        if told:
            self._arrived.set()

    def pop(self) -> Popped[Obj] | None:
        """The next change, if there is one."""
        return self._queue.popleft() if self._queue else None

    def drain(self) -> list[Popped[Obj]]:
        """All changes there are."""
        everything = list(self._queue)
        self._queue.clear()
        return everything

    async def arrived(self) -> None:
        """Wait until there is a change."""
        while not self._queue:
            self._arrived.clear()
            await self._arrived.wait()

    @property
    def known(self) -> Mapping[ObjectKey, Obj]:
        """All objects, as of what was heard last; some of it may not have been taken out yet."""
        return MappingProxyType(self._known)

    @property
    def misfits(self) -> Mapping[ObjectKey, Refused]:
        """What is kept aside, as of what was heard last."""
        return MappingProxyType(self._misfits)

    @property
    def position(self) -> str:
        """Up to where everything was heard."""
        return self._position

    @property
    def dropped(self) -> int:
        """How many times something was heard that was no news: a duplicate, or late."""
        return self._dropped

    def __len__(self) -> int:
        return len(self._queue)

    def __repr__(self) -> str:
        misfits = f", {len(self._misfits)} kept aside" if self._misfits else ""
        return (
            f"<DeltaFifo {len(self._queue)} waiting, {len(self._known)} known{misfits},"
            f" at {self._position or 'no version'}>"
        )

    def _compared(
        self, objects: Mapping[ObjectKey, Obj], *, rewound: bool
    ) -> tuple[dict[ObjectKey, Obj], list[Delta[Obj]]]:
        """What is known from now on, and how the list differs from what was."""
        known, is_initial = self._known, not self._has_list
        fresh = dict(objects)
        if not known:
            return fresh, [Added(obj, key, is_initial) for key, obj in objects.items()]
        changes: list[Delta[Obj]] = []
        for key, obj in objects.items():
            old = known.get(key)
            if old is None:
                changes.append(Added(obj, key, is_initial))
            elif _is_other(old, obj.uid):
                changes.append(Deleted(old, key, is_missed=True))
                changes.append(Added(obj, key, is_initial))
            elif (
                obj.resource_version != old.resource_version
                or key in self._warmed
                or key in self._misfits
                # In another history the same version may be another state.
                or (rewound and obj != old)
            ):
                changes.append(Updated(old, obj, key))
            else:
                # The cache has this very object already; a second one would be memory twice.
                fresh[key] = old
        return fresh, changes

    def _set_aside(
        self, misfits: Sequence[InvalidObject], fresh: dict[ObjectKey, Obj], version: str
    ) -> list[Refused]:
        """Which of a list's misfits are news, and which are gone; those known stay in ``fresh``."""
        aside: dict[ObjectKey, Refused] = {}
        refused: list[Refused] = []
        for error in misfits:
            key, uid, own_version = identity_in(error.body)
            if key in fresh or key in aside:
                continue
            aside[key] = Refused(key, error, own_version or version)
            kept = self._misfits.get(key)
            if kept is None or kept.version != aside[key].version:
                refused.append(aside[key])
            old = self._known.get(key)
            if old is not None and not _is_other(old, uid):
                fresh[key] = old
        for key, kept in self._misfits.items():
            if key not in fresh and key not in aside:
                refused.append(Refused(key, kept.error, version, is_gone=True))
        self._misfits = aside
        return refused

    def _is_past(self, version: str, uid: str = "") -> bool:
        # What has the position's own version is not past: when etcd lets a lease run out, as it
        # does with Events, many objects are deleted at one version.
        if version == self._position:
            return bool(uid) and uid in self._just_gone
        return is_older(version, than=self._position)

    def _is_told(self, old: Obj, key: ObjectKey, version: str) -> bool:
        if self._warmed and key in self._warmed:
            return False
        old_version = old.resource_version
        if version == old_version:
            return True
        # A listed object may claim a version from no history; later events of it still apply.
        return is_older(version, than=old_version) and not is_far_ahead(
            old_version, of=self._position
        )

    def _move_to(self, version: str) -> None:
        if version and version != self._position:
            self._position = version
            if self._just_gone:
                self._just_gone.clear()

    def _reach(self, version: str) -> None:
        if not version:
            return
        if self._queue and isinstance(self._queue[-1], Reached):
            self._queue.pop()
        self._push(Reached(version))

    def _push(self, popped: Popped[Obj]) -> None:
        self._queue.append(popped)
        self._arrived.set()


def _is_other(old: Resource | Unstructured, uid: str) -> bool:
    """Whether ``uid`` is not the old object's; no uid is nobody's in particular."""
    old_uid = old.uid
    return old_uid != uid and bool(old_uid and uid)
