"""Read-your-own-writes: responses to the operator's own writes, laid over the watch events.

    watch event ────────▶ under ───┐
                                   ├──▶ shown ──▶ readers
    write response ──▶ overlay ────┘

The response to a write is treated as an event that arrives early: it is shown until the watch has
reached the response's version. A deletion has no own version, so the uid of the deleted object is
hidden until the watch has passed the deletion. Readers use one indexer without extra cost. Only
keys with a recent own write are checked.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final, Generic, TypeVar

from steersman.cache.inflight_writes import InflightWrites, WriteToken
from steersman.cache.store.indexer import Indexer
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.watch import identity_of, is_far_ahead, is_older

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# Older than every version.
BEGINNING: Final = "0"

# These stand for the unknown version of an object's last state. Its deletion is still to be
# received; or a list may have skipped it; or there was one list since. That list may be older than
# the object, so that all its events are still to come. The next list was requested when the object
# was already deleted.
_TO_COME: Final = ""
_TO_COME_OR_PAST: Final = "to come, or past"
_LISTED_ONCE: Final = "listed once"
_UNKNOWN: Final = frozenset((_TO_COME, _TO_COME_OR_PAST, _LISTED_ONCE))

# A cache with selectors may never receive the deletion of an object that the operator deleted. This
# is the limit of unconfirmed deletions, which exceeds the number that is ever in flight.
UNCONFIRMED_LIMIT: Final = 1000


class _Overlay(Generic[Obj]):
    """The operator's own writes to one key, until the watch has reached all of them."""

    __slots__ = ("hidden", "obj", "under", "version")

    def __init__(self, under: Obj | None) -> None:
        self.under = under  # the state of the last watch event
        self.version = ""  # of the last own write; empty if no own write is shown
        self.obj: Obj | None = None  # its result; None if the cache does not select it
        # The uids that we deleted, each with the version of its last state. Once the watch has
        # reached that version, no event of an absent uid is still to come.
        self.hidden: dict[str, str] = {}


class OwnWrites(Generic[Obj]):
    """The objects to show in ``shown``: for each key, the watch's state or a newer own write.

    ``is_limited`` is true if the watch has selectors. ``overlays_new`` is false if only the server
    can evaluate these selectors. In that case, a write to a cached object is shown immediately, and
    a write to an object that is not cached is shown only when the watch receives its event.
    """

    def __init__(
        self,
        shown: Indexer[Obj],
        *,
        is_limited: bool,
        overlays_new: bool,
        inflight: InflightWrites,
    ) -> None:
        self._shown = shown
        self._inflight = inflight
        self._is_limited = is_limited
        self._overlays_new = overlays_new
        self._overlays: dict[ObjectKey, _Overlay[Obj]] = {}
        self._by_version: list[tuple[tuple[int, str], ObjectKey]] = []  # a heap
        self._unconfirmed: deque[tuple[ObjectKey, str]] = deque()
        self.position = BEGINNING

    def __repr__(self) -> str:
        return f"<OwnWrites {len(self._overlays)} overlays, at {self.position}>"

    def __len__(self) -> int:
        return len(self._overlays)

    # Events of the watch

    def received(self, obj: Obj, key: ObjectKey, *, version: str) -> None:
        """Store ``obj``, which was created or changed; the event moves the watch to ``version``."""
        # A watch with selectors may skip earlier states.
        self._receive(obj, key, version, may_be_late=self._is_limited)

    def received_list(self, objects: Iterable[tuple[ObjectKey, Obj]]) -> None:
        """Store ``objects``, which a list contains."""
        if not self._overlays and not self._inflight:
            # Usually true for the initial list, which may have 100,000 objects.
            self._shown.put_all(objects)
            return
        for key, obj in objects:
            # A list skips earlier states.
            self._receive(obj, key, "", may_be_late=True)

    def _receive(self, obj: Obj, key: ObjectKey, version: str, *, may_be_late: bool) -> None:
        shown = self._shown
        if may_be_late and self._inflight and not _is(shown.get(key), obj.uid):
            self._inflight.record_added(self, obj.uid)
        overlay = self._overlays.get(key)
        if overlay is None:
            shown.put(obj, key)
            self.advance_to(version)
            return
        overlay.under = obj
        # This usually reaches the own write, so that the event's object is shown.
        self.advance_to(version)
        if self._overlays.get(key) is overlay:
            self._show(key, overlay)

    def received_deletion(self, key: ObjectKey, uid: str) -> None:
        """Remove an object that was deleted, or that no longer matches the selectors."""
        self._inflight.record_deleted(self, uid)
        overlay = self._overlays.get(key)
        if overlay is None:
            self._shown.remove(key)
            return
        overlay.under = None
        if not self._is_limited:  # With selectors, it may be selected again before its deletion.
            overlay.hidden.pop(uid, None)
        self._show(key, overlay)

    def received_decode_failure(self, key: ObjectKey, uid: str) -> None:
        """Record that an object was created or changed, and that its new state cannot be decoded.

        The object's previous state stays in the cache, even if that state is an own write.
        """
        overlay = self._overlays.get(key)
        if overlay is None:
            if _is_other(self._shown.get(key), uid):
                self._shown.remove(key)
            return
        if overlay.obj is not None and not _is_other(overlay.obj, uid):
            overlay.under = overlay.obj
        elif _is_other(overlay.under, uid):
            overlay.under = None
        self._show(key, overlay)

    def advance_to(self, version: str) -> None:
        """Drop the own writes up to ``version``, because the watch has received their events."""
        if not version or is_older(version, than=self.position):
            return
        self.position = version
        by_version = self._by_version
        if not by_version:
            return
        here = len(version), version  # which orders versions as numbers
        while by_version and by_version[0][0] <= here:
            _, key = heappop(by_version)
            overlay = self._overlays.get(key)
            if overlay is not None:
                self._show(key, overlay)

    def finish_list(self, version: str, *, rewound: bool) -> None:
        """Record that all objects and deletions of a list at ``version`` have been stored."""
        self._inflight.record_list(self, rewound=rewound)
        if rewound:
            self._forget_all()
            self.position = version
            return
        self.advance_to(version)
        for key, overlay in list(self._overlays.items()):
            for uid, last in list(overlay.hidden.items()):
                if last in (_TO_COME, _TO_COME_OR_PAST):
                    overlay.hidden[uid] = _LISTED_ONCE
                elif last == _LISTED_ONCE and not _is(overlay.under, uid):
                    del overlay.hidden[uid]
            self._show(key, overlay)

    # Own writes

    def add_write(self, obj: Obj, token: WriteToken, *, belongs: bool) -> None:
        """Show ``obj``, the response to a write, instead of the watch's state.

        ``token`` is the token of the write. ``belongs`` is true if ``obj`` matches the selectors.
        """
        key, uid, version = identity_of(obj)
        if token.is_other_history(self) or not is_older(self.position, than=version):
            return  # The watch has reached it, or it cannot be compared.
        if self._is_no_history(version):
            return  # No event would ever end the overlay.
        now = self._shown.get(key)
        is_there = _is(now, uid)
        if not is_there:
            self._inflight.record_added(self, uid)
        overlay = self._overlays.get(key)
        if overlay is None:
            overlay = self._overlays[key] = _Overlay(now)
        elif uid in overlay.hidden or (
            overlay.version and not is_older(overlay.version, than=version)
        ):
            # The response to a newer write arrived first.
            return
        is_shown = belongs and (self._overlays_new or is_there)
        overlay.version, overlay.obj = version, obj if is_shown else None
        heappush(self._by_version, ((len(version), version), key))
        self._show(key, overlay)

    def add_deletion(self, key: ObjectKey, uid: str, version: str, token: WriteToken) -> None:
        """Hide the object ``uid``, which a write of the operator has deleted.

        ``version`` is the resourceVersion of the object's last state; ``""`` if the response
        contains none.
        """
        if token.is_other_history(self) or not uid:
            return
        if not self._is_limited and token.was_deleted_since(self, uid):
            return
        if self._is_no_history(version):
            version = ""
        overlay = self._overlays.get(key)
        if overlay is None:
            overlay = self._overlays[key] = _Overlay(self._shown.get(key))
        if version:
            if is_older(overlay.version or BEGINNING, than=version):
                # Earlier objects of this name are deleted as well.
                overlay.version, overlay.obj = version, None
        else:
            self._hide_earlier(key, overlay, uid, token)
            if _is(overlay.obj, uid):
                overlay.obj = None
                version = self._deletion_version(overlay.version)
            if not version and token.was_listed_since(self):
                version = _TO_COME_OR_PAST
        self._hide(key, overlay, uid, version)
        self._show(key, overlay)

    # Internals

    def _is_no_history(self, version: str) -> bool:
        """Whether ``version`` is so far ahead of the position that no event will reach it."""
        return self.position != BEGINNING and is_far_ahead(version, of=self.position)

    def _hide_earlier(
        self, key: ObjectKey, overlay: _Overlay[Obj], uid: str, token: WriteToken
    ) -> None:
        """Hide the known objects with the same name that are older than the deleted object."""
        for other in (overlay.under, overlay.obj):
            if other is None or other.uid == uid or token.was_added_since(self, other.uid):
                continue
            self._hide(key, overlay, other.uid, self._deletion_version(other.resource_version))

    def _hide(self, key: ObjectKey, overlay: _Overlay[Obj], uid: str, version: str) -> None:
        overlay.hidden[uid] = version
        if version not in _UNKNOWN:
            heappush(self._by_version, ((len(version), version), key))
        elif self._is_limited:
            self._unconfirmed.append((key, uid))
            if len(self._unconfirmed) > UNCONFIRMED_LIMIT:
                self._unhide(*self._unconfirmed.popleft())

    def _unhide(self, key: ObjectKey, uid: str) -> None:
        overlay = self._overlays.get(key)
        if overlay is not None and overlay.hidden.get(uid) in _UNKNOWN:
            del overlay.hidden[uid]
            self._show(key, overlay)

    def _deletion_version(self, version: str) -> str:
        """Return the version after which an object that is absent from the watch is certainly
        deleted.

        ``version`` is the version of the object's last state. Without selectors, it is returned.
        With selectors, ``_TO_COME`` is returned: an absent object may be selected again later.
        """
        # Without selectors, an object that is absent after this version is deleted. With selectors,
        # it may be selected later.
        return _TO_COME if self._is_limited else version

    def _show(self, key: ObjectKey, overlay: _Overlay[Obj]) -> None:
        """Drop the own writes that the watch has reached, and show the remaining state."""
        under = overlay.under
        if overlay.version and not is_older(self.position, than=overlay.version):
            overlay.version, overlay.obj = "", None
        if overlay.hidden:
            for uid, last in list(overlay.hidden.items()):
                if last in _UNKNOWN or _is(under, uid):
                    continue
                if not is_older(self.position, than=last):
                    del overlay.hidden[uid]
        top = overlay.obj if overlay.version else under
        hidden = overlay.hidden
        if top is None or (hidden and self._is_hidden(top, overlay)):
            self._shown.remove(key)
        else:
            self._shown.put(top, key)
        if not overlay.version and not hidden:
            self._overlays.pop(key, None)

    def _is_hidden(self, top: Obj, overlay: _Overlay[Obj]) -> bool:
        """Whether the operator deleted ``top``, or a newer object of the same name."""
        if top.uid in overlay.hidden:
            return True
        # Without selectors, that deletion will be received, unless a list skips it.
        return top is overlay.under and not self._is_limited and _TO_COME in overlay.hidden.values()

    def _forget_all(self) -> None:
        # Versions of two histories cannot be compared.
        self._by_version.clear()
        self._unconfirmed.clear()
        for key, overlay in list(self._overlays.items()):
            overlay.version, overlay.obj = "", None
            overlay.hidden.clear()
            self._show(key, overlay)


def _is(obj: Resource | Unstructured | None, uid: str) -> bool:
    return obj is not None and obj.uid == uid


def _is_other(obj: Resource | Unstructured | None, uid: str) -> bool:
    return bool(uid) and obj is not None and obj.uid != uid
