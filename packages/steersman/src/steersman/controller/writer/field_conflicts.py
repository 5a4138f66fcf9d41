"""``Fights``: who keeps taking the fields that we keep putting back."""

from collections.abc import Hashable
from typing import Any, TypeVar

import msgspec

from steersman.client import Client
from steersman.clock import Clock
from steersman.controller.ownership.managed_fields import differing, fields_in, holds, lost, shown
from steersman.controller.streaks import Recent, Streak
from steersman.controller.writer.last_applied import (
    Applied,
    LastApplied,
    Place,
    digest_of,
    entry_of,
)
from steersman.errors import NotFound
from steersman.kinds import Codec, Resource, Unstructured
from steersman.names import GroupVersionKind, ObjectKey
from steersman.observe import FieldFight, Observer

Obj = TypeVar("Obj", bound=Resource | Unstructured)


CORRECTIONS_TO_WARN = 5


class Corrected(msgspec.Struct, frozen=True):
    """How often the same has been put back, over how long, and whether to say so now."""

    count: int
    seconds: float
    is_due: bool


class Corrections:
    """The same body applied again and again, because somebody else keeps taking our fields."""

    def __init__(self) -> None:
        self._fights: Recent[Hashable, _Fight] = Recent()

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


class _Fight:
    __slots__ = ("digest", "streak")

    def __init__(self, digest: Hashable, began_at: float) -> None:
        self.digest = digest
        self.streak = Streak(CORRECTIONS_TO_WARN, began_at)


class Fight(msgspec.Struct, frozen=True, kw_only=True):
    """What may be one, to be told if the apply that is about to be sent changes something."""

    observation: FieldFight
    version: str


class Fights:
    """Notices when the same is put back again and again, and asks the server who took it."""

    def __init__(
        self,
        client: Client,
        last: LastApplied,
        *,
        controller: str,
        manager: str,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._client = client
        self._last = last
        self._controller = controller
        self._manager = manager
        self._clock = clock
        self._observe = observe
        self._codec = Codec()
        self._corrections = Corrections()

    async def look(
        self, place: Place, kind: type[Obj], live: Obj | None, body: bytes
    ) -> Fight | None:
        """``body`` is about to be applied; ask the server how things stand if that is too often."""
        last = self._last.recall(place)
        if (
            last is None
            or live is None
            or last.obj.uid != live.uid
            or last.digest != digest_of(body)
        ):
            return None
        corrected = self._corrections.note(place, last.digest, self._clock.monotonic())
        if not corrected.is_due:
            return None
        try:
            # The cache keeps no other managers' entries.
            now = await self._client.get(kind, live.name, namespace=live.namespace)
        except NotFound:
            return None
        fields, managers = self._taken(place, last, now, body)
        if not fields:
            return None
        return Fight(
            observation=FieldFight(
                controller=self._controller,
                ref=now.ref,
                fields=fields,
                managers=managers,
                count=corrected.count,
                seconds=corrected.seconds,
            ),
            version=now.resource_version,
        )

    def tell(self, fight: Fight, answer: Resource | Unstructured) -> None:
        """The apply was answered like this: if it changed nothing, there was no fight."""
        if answer.resource_version != fight.version:
            self._observe(fight.observation)

    def forget(self, gvk: GroupVersionKind, key: ObjectKey) -> None:
        """The object is gone."""
        for subresource in ("", "status"):
            self._corrections.forget((gvk, key, subresource))

    def _taken(
        self, place: Place, last: Applied, now: Resource | Unstructured, body: bytes
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The fields that are not as we left them, and who holds them."""
        entry = entry_of(now, self._manager, place[2])
        ours = fields_in(entry.fields) if entry is not None else {}
        before = entry_of(last.obj, self._manager, place[2])
        gone = lost(fields_in(before.fields), ours) if before is not None else ()
        if gone:
            managers = dict.fromkeys(
                str(manager)
                for manager, fields in _entries(now)
                if any(holds(fields, path) for path in gone)
            )
            return shown(gone), tuple(managers)
        there = msgspec.json.decode(self._codec.encode(now))
        # Somebody else goes by our name.
        return shown(differing(ours, there, msgspec.json.decode(body))), (self._manager,)


def _entries(obj: Resource | Unstructured) -> "list[tuple[Any, Any]]":
    if isinstance(obj, Unstructured):
        entries = obj.metadata.get("managedFields") or ()
        return [(each.get("manager"), fields_in(each.get("fieldsV1"))) for each in entries]
    return [(each.manager, fields_in(each.fields_v1)) for each in obj.metadata.managed_fields or ()]
