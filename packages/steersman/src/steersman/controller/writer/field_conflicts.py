"""``FieldConflicts``: detects other managers that repeatedly take fields of a controller."""

from collections.abc import Hashable
from typing import Any, TypeVar

import msgspec

from steersman.client import Client
from steersman.clock import Clock
from steersman.controller.ownership.managed_fields import (
    differing_paths,
    fields_in,
    holds,
    lost_paths,
    readable_paths,
)
from steersman.controller.streaks import ExpiringEntries, Streak
from steersman.controller.writer.applied_state import (
    AppliedState,
    ApplyTarget,
    LastApply,
    digest_of,
    entry_of,
)
from steersman.errors import NotFound
from steersman.kinds import Codec, Resource, Unstructured
from steersman.names import GroupVersionKind, ObjectKey
from steersman.observe import FieldConflictFound, Observer

Obj = TypeVar("Obj", bound=Resource | Unstructured)


REPEATS_TO_WARN = 5


class RepeatedApply(msgspec.Struct, frozen=True):
    """How often a body was applied repeatedly, in how much time, and whether a warning is due."""

    count: int
    seconds: float
    is_due: bool


class RepeatedApplies:
    """Counts, for each object, how often the same body was applied in a row.

    Many repetitions mean that another manager keeps reverting the fields.
    """

    def __init__(self) -> None:
        self._repetitions: ExpiringEntries[Hashable, _Repetition] = ExpiringEntries()

    def note(self, ref: Hashable, digest: Hashable, now_at: float) -> RepeatedApply:
        """Count one more apply to ``ref`` of the body with the digest ``digest``."""
        repetition = self._repetitions.get(ref, now_at)
        # A new body is a change by the controller itself.
        if repetition is None or repetition.digest != digest:
            repetition = _Repetition(digest, now_at)
        self._repetitions.put(ref, repetition, now_at)
        return RepeatedApply(*repetition.streak.note(now_at))

    def forget(self, ref: Hashable) -> None:
        """Drop the stored state about the object ``ref``."""
        self._repetitions.drop(ref)

    def __len__(self) -> int:
        """The number of objects about which state is stored."""
        return len(self._repetitions)

    def __repr__(self) -> str:
        return f"<RepeatedApplies of {len(self)} objects>"


class _Repetition:
    __slots__ = ("digest", "streak")

    def __init__(self, digest: Hashable, began_at: float) -> None:
        self.digest = digest
        self.streak = Streak(REPEATS_TO_WARN, began_at)


class FieldConflict(msgspec.Struct, frozen=True, kw_only=True):
    """A possible field conflict with another field manager.

    The conflict is reported only if the next apply changes something.
    """

    observation: FieldConflictFound
    version: str


class FieldConflicts:
    """A detector of other field managers because of which a controller repeats its applies."""

    def __init__(
        self,
        client: Client,
        last: AppliedState,
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
        self._repeated = RepeatedApplies()

    async def check(
        self, target: ApplyTarget, kind: type[Obj], live: Obj | None, body: bytes
    ) -> FieldConflict | None:
        """Return the conflict if ``body`` was applied too often and is about to be applied again.

        Return ``None`` if there is no conflict.
        """
        last = self._last.recall(target)
        if (
            last is None
            or live is None
            or last.obj.uid != live.uid
            or last.digest != digest_of(body)
        ):
            return None
        repeated = self._repeated.note(target, last.digest, self._clock.monotonic())
        if not repeated.is_due:
            return None
        try:
            # The cache drops the entries of other managers.
            now = await self._client.get(kind, live.name, namespace=live.namespace)
        except NotFound:
            return None
        fields, managers = self._lost_fields(target, last, now, body)
        if not fields:
            return None
        return FieldConflict(
            observation=FieldConflictFound(
                controller=self._controller,
                ref=now.ref,
                fields=fields,
                managers=managers,
                count=repeated.count,
                seconds=repeated.seconds,
            ),
            version=now.resource_version,
        )

    def confirm(self, conflict: FieldConflict, answer: Resource | Unstructured) -> None:
        """Report ``conflict``, unless the following apply changed nothing; ``answer`` is its
        response.
        """
        if answer.resource_version != conflict.version:
            self._observe(conflict.observation)

    def forget(self, gvk: GroupVersionKind, key: ObjectKey) -> None:
        """Drop the stored state about the object of ``key``, because it was deleted."""
        for subresource in ("", "status"):
            self._repeated.forget((gvk, key, subresource))

    def _lost_fields(
        self, target: ApplyTarget, last: LastApply, now: Resource | Unstructured, body: bytes
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the fields that changed since the last apply, and the managers that hold them."""
        entry = entry_of(now, self._manager, target[2])
        ours = fields_in(entry.fields) if entry is not None else {}
        before = entry_of(last.obj, self._manager, target[2])
        gone = lost_paths(fields_in(before.fields), ours) if before is not None else ()
        if gone:
            managers = dict.fromkeys(
                str(manager)
                for manager, fields in _entries(now)
                if any(holds(fields, path) for path in gone)
            )
            return readable_paths(gone), tuple(managers)
        there = msgspec.json.decode(self._codec.encode(now))
        # Another client uses this field manager.
        return readable_paths(differing_paths(ours, there, msgspec.json.decode(body))), (
            self._manager,
        )


def _entries(obj: Resource | Unstructured) -> "list[tuple[Any, Any]]":
    if isinstance(obj, Unstructured):
        entries = obj.metadata.get("managedFields") or ()
        return [(each.get("manager"), fields_in(each.get("fieldsV1"))) for each in entries]
    return [(each.manager, fields_in(each.fields_v1)) for each in obj.metadata.managed_fields or ()]
