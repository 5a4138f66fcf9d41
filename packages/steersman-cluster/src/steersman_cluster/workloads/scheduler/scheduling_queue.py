"""Pods that have no node yet: whose turn it is, and who fits nowhere for now. Pure.

Pods that fit in the same places are blocked together: when something changes, one of them is tried,
and only if it fits the next. Five thousand of one sort cost one try.
"""

from heapq import heappop, heappush
from itertools import count

from steersman_cluster.workloads.scheduler.schedule_one import Wish


class Waiting:
    """Those who wait, by their uids."""

    def __init__(self) -> None:
        self._wishes: dict[str, Wish] = {}
        self._turns: list[tuple[int, float, int, str]] = []
        self._has_turn: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._groups: dict[bytes, _Group] = {}
        self._group_of: dict[str, bytes] = {}
        self._next_number = count()
        self._social = 0  # of the groups, how many have neighbours

    def __len__(self) -> int:
        """How many wait."""
        return len(self._wishes)

    def __contains__(self, uid: str) -> bool:
        return uid in self._wishes

    def __repr__(self) -> str:
        return (
            f"<Waiting {len(self)}, {len(self._has_turn)} to be tried, {len(self._groups)} sorts>"
        )

    @property
    def sorts(self) -> int:
        """How many sorts of Pods fit nowhere."""
        return len(self._groups)

    @property
    def has_neighbours(self) -> bool:
        """Whether one of them fits nowhere because of where others are, or are not."""
        return self._social > 0

    def wish(self, uid: str) -> Wish:
        """What it needs."""
        return self._wishes[uid]

    def is_known(self, wish: Wish) -> bool:
        """Whether it waits with the same wish."""
        known = self._wishes.get(wish.pod.uid)
        return known is not None and (known.shape, known.priority) == (wish.shape, wish.priority)

    def add(self, wish: Wish) -> None:
        """It waits for its turn; one that waits already and has changed has a turn, too."""
        uid = wish.pod.uid
        self._leave_group(uid)
        self._wishes[uid] = wish
        self._numbers.setdefault(uid, next(self._next_number))
        self._give_turn(uid)

    def try_again(self, uid: str) -> None:
        """It has another turn, if it waits."""
        if uid in self._wishes:
            self._give_turn(uid)

    def remove(self, uid: str) -> None:
        """It waits no longer."""
        self._leave_group(uid)
        self._wishes.pop(uid, None)
        self._numbers.pop(uid, None)
        self._has_turn.discard(uid)

    def next(self) -> Wish | None:
        """Whose turn it is: the highest priority first, and then who has waited longest."""
        while self._turns:
            *_, uid = heappop(self._turns)
            if uid in self._has_turn:
                self._has_turn.remove(uid)
                return self._wishes[uid]
        return None

    def message(self, sort: bytes) -> str | None:
        """Why none of this sort fits anywhere; ``None`` if nobody knows."""
        group = self._groups.get(sort)
        return None if group is None or group.is_in_doubt else group.message

    def block(self, wish: Wish, sort: bytes, message: str) -> None:
        """It fits nowhere, and so does nobody of its sort until something changes."""
        uid = wish.pod.uid
        self._leave_group(uid, goes_to=sort)
        group = self._groups.get(sort)
        if group is None:
            group = self._groups[sort] = _Group(has_neighbours=wish.has_neighbours)
            self._social += group.has_neighbours
        group.message = message
        group.is_in_doubt = False
        group.members[uid] = None
        self._group_of[uid] = sort

    def reconsider(self, *, only_neighbours: bool = False) -> None:
        """Something has changed: one of each sort has a turn, if it is a change for its sort."""
        for group in self._groups.values():
            if group.has_neighbours or not only_neighbours:
                self._try_first(group)

    def _try_first(self, group: "_Group") -> None:
        group.is_in_doubt = True
        self._give_turn(next(iter(group.members)))

    def _give_turn(self, uid: str) -> None:
        if uid not in self._has_turn:
            self._has_turn.add(uid)
            wish = self._wishes[uid]
            made = wish.pod.metadata.creation_timestamp
            since = made.timestamp() if made is not None else 0.0
            heappush(self._turns, (-wish.priority, since, self._numbers[uid], uid))

    def _leave_group(self, uid: str, *, goes_to: bytes | None = None) -> None:
        sort = self._group_of.pop(uid, None)
        if sort is None:
            return
        group = self._groups[sort]
        del group.members[uid]
        if not group.members:
            if sort != goes_to:
                del self._groups[sort]
                self._social -= group.has_neighbours
        elif sort != goes_to and group.is_in_doubt:
            # It was the one to be tried: now it is the next one's turn.
            self._try_first(group)


class _Group:
    __slots__ = ("has_neighbours", "is_in_doubt", "members", "message")

    def __init__(self, *, has_neighbours: bool) -> None:
        self.has_neighbours = has_neighbours
        self.message = ""
        # Whether one of them is to be tried: until then nobody knows whether they fit.
        self.is_in_doubt = False
        self.members: dict[str, None] = {}
