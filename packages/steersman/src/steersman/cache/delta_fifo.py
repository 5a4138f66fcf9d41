"""The delta FIFO: turns watch events into deltas, in order. No I/O.

The reflector adds events, and the informer pops deltas. The delta FIFO stores the last received
state of every object, and uses it as follows:

- an event that is duplicate, late or out of order results in no delta, and does not bring back a
  deleted object;
- a list results in one ``Replaced`` delta, which contains every object that differs from the known
  ones, and a tombstone for each object that was deleted while no watch was open;
- the other deltas of one key are always Added, then Updated any number of times, then Deleted. An
  object that was deleted and created again under the same name is Deleted and Added, never Updated.

The *position* is the resourceVersion up to which all events have been received. The ``version`` of
a delta is the position after the delta; it is ``""`` if the delta does not move the position.
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

# Structs: every object and event needs one, and creating a dataclass takes ten times as long.


class Added(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """A delta for a new object; ``is_initial`` is true if the initial list contained it."""

    obj: Obj
    key: ObjectKey
    is_initial: bool = False

    @property
    def version(self) -> str:
        """The object's resourceVersion, which this delta makes the position of the watch."""
        return self.obj.resource_version


class Updated(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """A delta for a changed object; ``old`` is the object's state in its previous delta."""

    old: Obj
    obj: Obj
    key: ObjectKey

    @property
    def version(self) -> str:
        """The object's resourceVersion, which this delta makes the position of the watch."""
        return self.obj.resource_version


class Deleted(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """A delta for a deleted object.

    ``obj`` is the object's last state. If ``is_missed``, the deletion event was missed, and ``obj``
    is the last known state.
    """

    obj: Obj
    key: ObjectKey
    version: str = ""
    is_missed: bool = False


class Sync(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """A delta that delivers an unchanged object again, for a periodic resync."""

    obj: Obj
    key: ObjectKey

    @property
    def version(self) -> str:
        """Always ``""``, because a resync does not change the position in the watch."""
        return ""


Delta: TypeAlias = Added[Obj] | Updated[Obj] | Deleted[Obj] | Sync[Obj]


# Unlike the client's ``DecodeFailure``, which is a watch event, this is a delta with the object's
# key, and a list results in such deltas as well. It is tracked by the garbage collector (no
# ``gc=False``), because an error has a traceback, and so perhaps a reference cycle.
class NotDecoded(msgspec.Struct, frozen=True):
    """A delta for an object that cannot be decoded; ``is_gone`` is true if the object was deleted.

    Once the object can be decoded again, the next delta is Added or Updated. The last known state
    of an object stays in the cache until the object is deleted.
    """

    key: ObjectKey
    error: InvalidObject
    version: str
    is_gone: bool = False


class Replaced(msgspec.Struct, Generic[Obj], frozen=True):
    """A delta for a list: the differences between the list and the known objects.

    ``rewound`` is true if the server's history was reset, for example by a restore of a backup:
    resource versions from before the reset must not be compared with later ones.
    """

    deltas: list[Delta[Obj]]
    decode_failures: list[NotDecoded]
    version: str
    rewound: bool = False
    is_first: bool = False


class Progress(msgspec.Struct, frozen=True, gc=False):
    """A delta without an object: all events up to ``version`` have been received."""

    version: str


Popped: TypeAlias = (
    Added[Obj] | Updated[Obj] | Deleted[Obj] | Sync[Obj] | NotDecoded | Replaced[Obj] | Progress
)


class DeltaFifo(Generic[Obj]):
    """A queue that receives a reflector's events and returns deltas in the events' order."""

    def __init__(self) -> None:
        self._queue: deque[Popped[Obj]] = deque()
        self._arrived = asyncio.Event()
        self._known: dict[ObjectKey, Obj] = {}
        self._decode_failures: dict[ObjectKey, NotDecoded] = {}
        self._warmed: set[ObjectKey] = set()
        self._position = ""
        # The uids deleted at exactly this position, where the version does not distinguish a late
        # event from a new one.
        self._deleted_at_position: set[str] = set()
        self._has_list = False
        self._dropped = 0

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj],
        decode_failures: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """Replace all known objects by ``objects``, from a list at resourceVersion ``version``.

        A list that is older than ``position`` is dropped, unless ``rewound`` is true, which means
        that the server's history was reset, for example by a restore of a backup.
        """
        if not rewound and self._is_past(version):
            self._dropped += 1
            return
        fresh, changes = self._compared(objects, rewound=rewound)
        failures = self._set_aside(decode_failures, fresh, version)
        gone: list[Delta[Obj]] = [
            Deleted(old, key, is_missed=True)
            for key, old in self._known.items()
            if key not in fresh
        ]
        is_first, self._has_list = not self._has_list, True
        self._known = fresh
        self._warmed.intersection_update(self._decode_failures)
        if rewound:
            self._position = ""
        self._move_to(version)
        self._push(Replaced([*gone, *changes], failures, version, rewound, is_first))

    def upsert(self, obj: Obj) -> None:
        """Queue a delta for an object that was created or changed."""
        key, uid, version = identity_of(obj)
        old = self._known.get(key)
        if self._is_past(version, uid) or (old is not None and self._is_known(old, key, version)):
            self._dropped += 1
            return
        self._known[key] = obj
        if self._warmed:
            self._warmed.discard(key)
        if self._decode_failures:
            self._decode_failures.pop(key, None)
        self._move_to(version)
        if old is None:
            self._push(Added(obj, key))
        elif _is_other(old, uid):
            self._push(Deleted(old, key, is_missed=True))
            self._push(Added(obj, key))
        else:
            self._push(Updated(old, obj, key))

    def delete(self, obj: Obj) -> None:
        """Queue a delta for a deleted object; ``obj`` is the object's last state."""
        key, uid, version = identity_of(obj)
        old = self._known.get(key)
        is_other = old is not None and _is_other(old, uid)
        if self._is_past(version):
            # An aggregated API server may send a deletion without a new version: an object that is
            # deleted in exactly its known state is gone, however old that state is.
            if old is None or is_other or old.resource_version != version:
                self._dropped += 1
                return
            version = ""
        self._move_to(version)
        if version:
            self._deleted_at_position.add(uid)
        kept = self._decode_failures.pop(key, None)
        if old is not None:
            del self._known[key]
            self._warmed.discard(key)
            last = old if is_other else obj
            self._push(Deleted(last, key, version, is_missed=is_other))
        if kept is not None:
            self._push(NotDecoded(key, kept.error, version, is_gone=True))
        elif old is None:
            self._reach(version)

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """Queue a delta for an object that cannot be decoded.

        The object was deleted if ``is_gone`` is true, and otherwise created or changed.
        """
        key, uid, _ = identity_in(error.body)
        old = self._known.get(key)
        kept = self._decode_failures.get(key)
        is_past = self._is_past(version, uid)
        is_kept = kept is not None and kept.version == version
        if is_gone and is_kept and is_past:
            version = ""  # a deletion without a new version, as in ``delete``
        elif is_past or (is_kept and not is_gone):
            self._dropped += 1
            return
        self._move_to(version)
        if old is not None and (is_gone or _is_other(old, uid)):
            del self._known[key]
            self._warmed.discard(key)
            self._push(Deleted(old, key, is_missed=True))
        if is_gone and version:
            self._deleted_at_position.add(uid)
        if not is_gone:
            self._decode_failures[key] = NotDecoded(key, error, version)
            self._push(self._decode_failures[key])
        elif old is not None or kept is not None:
            self._decode_failures.pop(key, None)
            self._push(NotDecoded(key, error, version, is_gone=True))
        else:
            self._reach(version)

    def progress(self, version: str) -> None:
        """Record that all events up to resourceVersion ``version`` have been received."""
        if version != self._position and not self._is_past(version):
            self._move_to(version)
            self._reach(version)

    def warm_up(self, objects: Iterable[Obj]) -> None:
        """Store ``objects`` as known, without queueing a delta, before the initial list.

        The first event of such an object results in Updated, whatever the event's version. If the
        initial list does not contain the object, the list results in Deleted.
        """
        for obj in objects:
            key = key_of(obj)
            if key not in self._known:
                self._known[key] = obj
                self._warmed.add(key)

    def sync(self, keys: Iterable[ObjectKey] | None = None) -> None:
        """Queue a ``Sync`` delta for each known object, or for those in ``keys`` if given."""
        chosen = self._known if keys is None else keys
        deltas = [Sync(self._known[key], key) for key in chosen if key in self._known]
        self._queue.extend(deltas)
        if deltas:
            self._arrived.set()

    def pop(self) -> Popped[Obj] | None:
        """Remove and return the next delta; ``None`` if the queue is empty."""
        return self._queue.popleft() if self._queue else None

    def drain(self) -> list[Popped[Obj]]:
        """Remove and return all queued deltas."""
        everything = list(self._queue)
        self._queue.clear()
        return everything

    async def wait_for_delta(self) -> None:
        """Wait until a delta is queued."""
        while not self._queue:
            self._arrived.clear()
            await self._arrived.wait()

    @property
    def known(self) -> Mapping[ObjectKey, Obj]:
        """All existing objects in their last received state, even if its delta is still queued."""
        return MappingProxyType(self._known)

    @property
    def decode_failures(self) -> Mapping[ObjectKey, NotDecoded]:
        """The objects whose last received state cannot be decoded, with the delta for each."""
        return MappingProxyType(self._decode_failures)

    @property
    def position(self) -> str:
        """The resourceVersion up to which all events have been received."""
        return self._position

    @property
    def dropped(self) -> int:
        """The number of duplicate or late events, which were dropped."""
        return self._dropped

    def __len__(self) -> int:
        return len(self._queue)

    def __repr__(self) -> str:
        failures = f", {len(self._decode_failures)} not decoded" if self._decode_failures else ""
        return (
            f"<DeltaFifo {len(self._queue)} waiting, {len(self._known)} known{failures},"
            f" at {self._position or 'no version'}>"
        )

    def _compared(
        self, objects: Mapping[ObjectKey, Obj], *, rewound: bool
    ) -> tuple[dict[ObjectKey, Obj], list[Delta[Obj]]]:
        """Return the objects known after a list, and the deltas since the previous state."""
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
                or key in self._decode_failures
                # After a rewind, the same version may be a different state.
                or (rewound and obj != old)
            ):
                changes.append(Updated(old, obj, key))
            else:
                # The known object is kept; a second copy would double the memory.
                fresh[key] = old
        return fresh, changes

    def _set_aside(
        self, decode_failures: Sequence[InvalidObject], fresh: dict[ObjectKey, Obj], version: str
    ) -> list[NotDecoded]:
        """Return the decode failures of a list that are new, and those whose object was deleted.

        An object that was known before is stored in ``fresh`` again.
        """
        aside: dict[ObjectKey, NotDecoded] = {}
        failures: list[NotDecoded] = []
        for error in decode_failures:
            key, uid, own_version = identity_in(error.body)
            if key in fresh or key in aside:
                continue
            aside[key] = NotDecoded(key, error, own_version or version)
            kept = self._decode_failures.get(key)
            if kept is None or kept.version != aside[key].version:
                failures.append(aside[key])
            old = self._known.get(key)
            if old is not None and not _is_other(old, uid):
                fresh[key] = old
        for key, kept in self._decode_failures.items():
            if key not in fresh and key not in aside:
                failures.append(NotDecoded(key, kept.error, version, is_gone=True))
        self._decode_failures = aside
        return failures

    def _is_past(self, version: str, uid: str = "") -> bool:
        # An event with the position's own version is not past: when a lease of etcd expires, as
        # with Events, many objects are deleted at one version.
        if version == self._position:
            return bool(uid) and uid in self._deleted_at_position
        return is_older(version, than=self._position)

    def _is_known(self, old: Obj, key: ObjectKey, version: str) -> bool:
        if self._warmed and key in self._warmed:
            return False
        old_version = old.resource_version
        if version == old_version:
            return True
        # A listed object may have a version that is not in the history; later events still apply.
        return is_older(version, than=old_version) and not is_far_ahead(
            old_version, of=self._position
        )

    def _move_to(self, version: str) -> None:
        if version and version != self._position:
            self._position = version
            if self._deleted_at_position:
                self._deleted_at_position.clear()

    def _reach(self, version: str) -> None:
        if not version:
            return
        if self._queue and isinstance(self._queue[-1], Progress):
            self._queue.pop()
        self._push(Progress(version))

    def _push(self, popped: Popped[Obj]) -> None:
        self._queue.append(popped)
        self._arrived.set()


def _is_other(old: Resource | Unstructured, uid: str) -> bool:
    """Whether ``uid`` belongs to another object than ``old``; an empty uid matches any object."""
    old_uid = old.uid
    return old_uid != uid and bool(old_uid and uid)
