"""Read-your-own-writes: what we wrote and have not heard of yet, laid over what we have heard.

    heard ──▶ under ──┐
                      ├──▶ shown ──▶ readers
    wrote ──▶ laid ───┘

The answer to a write is an event that came early, and is shown until the story has got as far. A
deletion has no version of its own, so its uid is hidden until the story is past its end. Readers
see one indexer and pay nothing for this; only keys that we wrote to lately are looked at twice.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final, Generic, TypeVar

from steersman.cache.flights import Flights, Ticket
from steersman.cache.indexer import Indexer
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.watch import identity_of, is_far_ahead, is_older

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# Older than any version there is.
BEGINNING: Final = "0"

# In place of the version of an object's last state, where nobody knows it. Its end is still to be
# heard; or a list may have left that out; or the story has begun anew since. That list may be from
# before the object began, with its whole story still to come; the one after it was asked for when
# all was over.
_TO_COME: Final = ""
_TO_COME_OR_PAST: Final = "to come, or past"
_LISTED_ONCE: Final = "listed once"
_UNKNOWN: Final = frozenset((_TO_COME, _TO_COME_OR_PAST, _LISTED_ONCE))

# A cache of some objects may never hear of one that we saw the end of. So many of which it cannot
# know are kept in mind between two lists: more than are ever on their way at once.
UNSURE_LIMIT: Final = 1000


class _Laid(Generic[Obj]):
    """One key that we wrote to, until everything we know of it was heard as well."""

    __slots__ = ("hidden", "obj", "under", "version")

    def __init__(self, under: Obj | None) -> None:
        self.under = under  # as it was heard last
        self.version = ""  # of our own last write; empty where none is on top
        self.obj: Obj | None = None  # what that write left; none, if it does not belong here
        # The uids we saw the end of. Once the story has got to this version, which is that of its
        # last state, nothing of a uid that is not there then is still to come.
        self.hidden: dict[str, str] = {}


class OwnWrites(Generic[Obj]):
    """Keeps ``shown`` at what was heard and what we wrote ourselves, whichever is newer.

    ``is_limited``: not all objects are heard of. Where only the server can say which
    (``lays_new=False``), just objects that are there already are laid over, and others are shown
    no earlier than our last write to them is heard.
    """

    def __init__(
        self,
        shown: Indexer[Obj],
        *,
        is_limited: bool,
        lays_new: bool,
        flights: Flights,
    ) -> None:
        self._shown = shown
        self._flights = flights
        self._is_limited = is_limited
        self._lays_new = lays_new
        self._laid: dict[ObjectKey, _Laid[Obj]] = {}
        self._by_version: list[tuple[tuple[int, str], ObjectKey]] = []  # a heap
        self._unsure: deque[tuple[ObjectKey, str]] = deque()
        self.position = BEGINNING

    def __repr__(self) -> str:
        return f"<OwnWrites {len(self._laid)} laid over, at {self.position}>"

    def __len__(self) -> int:
        return len(self._laid)

    # What is heard

    def heard(self, obj: Obj, key: ObjectKey, *, version: str) -> None:
        """It was created or changed; ``version`` is up to where all has been heard by that."""
        # A limited story may not tell of what was before it.
        self._hear(obj, key, version, may_be_late=self._is_limited)

    def heard_in_list(self, objects: Iterable[tuple[ObjectKey, Obj]]) -> None:
        """These are there in a list."""
        if not self._laid and not self._flights:
            # As it mostly is with the first list, which may be of a hundred thousand.
            self._shown.put_all(objects)
            return
        for key, obj in objects:
            # A list may leave out what was before it.
            self._hear(obj, key, "", may_be_late=True)

    def _hear(self, obj: Obj, key: ObjectKey, version: str, *, may_be_late: bool) -> None:
        shown = self._shown
        if may_be_late and self._flights and not _is(shown.get(key), obj.uid):
            self._flights.hear_beginning(self, obj.uid)
        laid = self._laid.get(key)
        if laid is None:
            shown.put(obj, key)
            self.reached(version)
            return
        laid.under = obj
        # Which mostly is where our own write is old news, and the object shown as it was heard.
        self.reached(version)
        if self._laid.get(key) is laid:
            self._show(key, laid)

    def heard_end(self, key: ObjectKey, uid: str) -> None:
        """It is gone, or no longer belongs here."""
        self._flights.hear_end(self, uid)
        laid = self._laid.get(key)
        if laid is None:
            self._shown.remove(key)
            return
        laid.under = None
        if not self._is_limited:  # Where it is, it may have left, and come back before its end.
            laid.hidden.pop(uid, None)
        self._show(key, laid)

    def heard_misfit(self, key: ObjectKey, uid: str) -> None:
        """It was created or changed, and nobody can read what it is now.

        It stays as it was seen last, even where that is what we wrote ourselves.
        """
        laid = self._laid.get(key)
        if laid is None:
            if _is_other(self._shown.get(key), uid):
                self._shown.remove(key)
            return
        if laid.obj is not None and not _is_other(laid.obj, uid):
            laid.under = laid.obj
        elif _is_other(laid.under, uid):
            laid.under = None
        self._show(key, laid)

    def reached(self, version: str) -> None:
        """Everything up to this version has been heard: what we wrote before it is old news."""
        if not version or is_older(version, than=self.position):
            return
        self.position = version
        by_version = self._by_version
        if not by_version:
            return
        here = len(version), version  # which sorts versions as the numbers they are
        while by_version and by_version[0][0] <= here:
            _, key = heappop(by_version)
            laid = self._laid.get(key)
            if laid is not None:
                self._show(key, laid)

    def replaced(self, version: str, *, rewound: bool) -> None:
        """All that there is at this version has been heard, every end included."""
        self._flights.hear_list(self, rewound=rewound)
        if rewound:
            self._forget_all()
            self.position = version
            return
        self.reached(version)
        for key, laid in list(self._laid.items()):
            for uid, last in list(laid.hidden.items()):
                if last in (_TO_COME, _TO_COME_OR_PAST):
                    laid.hidden[uid] = _LISTED_ONCE
                elif last == _LISTED_ONCE and not _is(laid.under, uid):
                    del laid.hidden[uid]
            self._show(key, laid)

    # What we write

    def wrote(self, obj: Obj, ticket: Ticket, *, belongs: bool) -> None:
        """The server answered a write of ours with this, which ``belongs`` here or does not."""
        key, uid, version = identity_of(obj)
        if ticket.is_void(self) or not is_older(self.position, than=version):
            return  # It was heard already, and perhaps more; or its version says nothing.
        if self._is_no_history(version):
            return  # It would be shown for ever, whatever happens to the object.
        now = self._shown.get(key)
        is_there = _is(now, uid)
        if not is_there:
            self._flights.hear_beginning(self, uid)
        laid = self._laid.get(key)
        if laid is None:
            laid = self._laid[key] = _Laid(now)
        elif uid in laid.hidden or (laid.version and not is_older(laid.version, than=version)):
            # Of two writes on their way, this is the older one: its answer was overtaken.
            return
        is_shown = belongs and (self._lays_new or is_there)
        laid.version, laid.obj = version, obj if is_shown else None
        heappush(self._by_version, ((len(version), version), key))
        self._show(key, laid)

    def ended(self, key: ObjectKey, uid: str, version: str, ticket: Ticket) -> None:
        """A write of ours was the end of this object.

        ``version`` is that of its last state, or empty where the answer did not say.
        """
        if ticket.is_void(self) or not uid:
            return
        if not self._is_limited and ticket.has_heard_end(self, uid):
            return
        if self._is_no_history(version):
            version = ""
        laid = self._laid.get(key)
        if laid is None:
            laid = self._laid[key] = _Laid(self._shown.get(key))
        if version:
            if is_older(laid.version or BEGINNING, than=version):
                # Whatever had the name before is over as well.
                laid.version, laid.obj = version, None
        else:
            self._hide_earlier(key, laid, uid, ticket)
            if _is(laid.obj, uid):
                laid.obj = None
                version = self._sure(laid.version)
            if not version and ticket.has_heard_list(self):
                version = _TO_COME_OR_PAST
        self._hide(key, laid, uid, version)
        self._show(key, laid)

    # Inside

    def _is_no_history(self, version: str) -> bool:
        """Whether nothing that is heard will ever get as far as this version."""
        return self.position != BEGINNING and is_far_ahead(version, of=self.position)

    def _hide_earlier(self, key: ObjectKey, laid: _Laid[Obj], uid: str, ticket: Ticket) -> None:
        """What was known before the end of another of its name was asked for is over as well."""
        for other in (laid.under, laid.obj):
            if other is None or other.uid == uid or ticket.has_heard_beginning(self, other.uid):
                continue
            self._hide(key, laid, other.uid, self._sure(other.resource_version))

    def _hide(self, key: ObjectKey, laid: _Laid[Obj], uid: str, version: str) -> None:
        laid.hidden[uid] = version
        if version not in _UNKNOWN:
            heappush(self._by_version, ((len(version), version), key))
        elif self._is_limited:
            self._unsure.append((key, uid))
            if len(self._unsure) > UNSURE_LIMIT:
                self._give_up(*self._unsure.popleft())

    def _give_up(self, key: ObjectKey, uid: str) -> None:
        laid = self._laid.get(key)
        if laid is not None and laid.hidden.get(uid) in _UNKNOWN:
            del laid.hidden[uid]
            self._show(key, laid)

    def _sure(self, version: str) -> str:
        """A version that an object once had, if that is as good as that of its last state."""
        # Where all are heard of, whoever is not there afterwards is gone. Where not, it may have
        # come to belong later.
        return _TO_COME if self._is_limited else version

    def _show(self, key: ObjectKey, laid: _Laid[Obj]) -> None:
        """Forget what is old news, and show what is left."""
        under = laid.under
        if laid.version and not is_older(self.position, than=laid.version):
            laid.version, laid.obj = "", None
        if laid.hidden:
            for uid, last in list(laid.hidden.items()):
                if last in _UNKNOWN or _is(under, uid):
                    continue
                if not is_older(self.position, than=last):
                    del laid.hidden[uid]
        top = laid.obj if laid.version else under
        hidden = laid.hidden
        if top is None or (hidden and self._is_hidden(top, laid)):
            self._shown.remove(key)
        else:
            self._shown.put(top, key)
        if not laid.version and not hidden:
            self._laid.pop(key, None)

    def _is_hidden(self, top: Obj, laid: _Laid[Obj]) -> bool:
        """Whether we saw its end, or all that is heard under its name was before such an end."""
        if top.uid in laid.hidden:
            return True
        # Where all are heard of, so is that end, unless a list leaves it out.
        return top is laid.under and not self._is_limited and _TO_COME in laid.hidden.values()

    def _forget_all(self) -> None:
        # The versions of another history say nothing in this one.
        self._by_version.clear()
        self._unsure.clear()
        for key, laid in list(self._laid.items()):
            laid.version, laid.obj = "", None
            laid.hidden.clear()
            self._show(key, laid)


def _is(obj: Resource | Unstructured | None, uid: str) -> bool:
    return obj is not None and obj.uid == uid


def _is_other(obj: Resource | Unstructured | None, uid: str) -> bool:
    return bool(uid) and obj is not None and obj.uid != uid
