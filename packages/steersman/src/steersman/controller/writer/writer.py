"""``Writer``: all that a controller writes, each write in such a way that it can do no harm.

- What it makes is born by apply, and only if nothing of that name is there; or created, which the
  server refuses then.
- What it has seen is written by its uid: an object that was made anew under the name is another.
- What would change nothing is not sent.
- What somebody else has is not taken over.
- What it wrote is what the caches show from then on.
- What has lost its owner is not made again.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from steersman.cache import Caches, key_of
from steersman.client import Client, JsonPatch, Patch, Preconditions
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.writes import Kind
from steersman.controller.finalizers import patch_to_add, patch_to_remove
from steersman.controller.ownership.managed_fields import fields_in, only_held
from steersman.controller.ownership.owner_check import Bereaved
from steersman.controller.ownership.owner_references import controller_of, owned_by
from steersman.controller.status.conditions import (
    has_said,
    is_progress,
    status_to_apply,
    with_condition,
)
from steersman.controller.writer.apply_bodies import identified, status_to_send, to_apply
from steersman.controller.writer.field_conflicts import Fight, Fights
from steersman.controller.writer.last_applied import LastApplied, Place, entry_of
from steersman.controller.writer.reports import Report
from steersman.controller.writer.write_errors import (
    held_fields,
    invalid,
    is_about,
    is_failed_test,
    is_misfit,
    is_namesake,
    is_other_object,
    not_ours,
    of_namesake,
    other_object,
)
from steersman.errors import ApiError, Conflict, Invalid, NotFound
from steersman.kinds import Codec, Condition, Part, Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer, Write

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Object: TypeAlias = Resource | Unstructured

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]

# No object has this version, and where there is no object the server does not look at it: an apply
# that carries it makes a new object, and never touches one that is there.
NOT_THERE: Final = "1"


class Writer:
    """Writes for one controller. Each method gives the object as it is after the write.

    ``Conflict`` where the object that was meant is another by now: who is called again with what
    is there then will do the right thing.
    """

    def __init__(
        self,
        client: Client,
        caches: Caches,
        cached: CacheReader,
        *,
        controller: str,
        field_manager: str,
        finalizer: str,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._client = client
        self._caches = caches
        self._cached = cached
        self._manager = field_manager
        self._finalizer = finalizer
        self._clock = clock
        self._codec = Codec()
        self._last = LastApplied(field_manager)
        self.bereaved = Bereaved(client)
        self._fights = Fights(
            client,
            self._last,
            controller=controller,
            manager=field_manager,
            clock=clock,
            observe=observe,
        )

    def __len__(self) -> int:
        """To how many places it remembers to have applied something."""
        return len(self._last)

    def __repr__(self) -> str:
        return f"<Writer {self._manager}, {len(self)} applied>"

    # Creating

    async def create(self, obj: Obj, *, report: Report) -> Obj:
        """A new object, under its name or one that the server gives it.

        ``AlreadyExists`` if there is one of its name.
        """
        body = self._codec.encode(obj)
        write = self._client.create(obj, field_manager=self._manager)
        answer = await self._sent(write, obj, uid="", verb="create")
        _tell(report, "create", None, answer, body)
        return answer

    async def create_owned(self, child: Obj, owner: Object, *, report: Report) -> Obj:
        """The same for an object that ``owner`` controls from the start."""
        await self.bereaved.check(owner, child)
        return await self.create(owned_by(child, owner), report=report)

    # Applying

    async def apply(self, obj: Obj, *, force: bool = False, report: Report) -> Obj:
        """Exactly these fields of it are ours, with these values."""
        live = self._seen(obj)
        wanted = to_apply(obj, finalizer=self._finalizer)
        uid = obj.uid or (live.uid if live is not None else "")
        place = _place(wanted, "")
        return await self._apply(wanted, place, live, uid=uid, force=force, report=report)

    async def apply_owned(
        self, child: Obj, owner: Object, *, adopt: bool = False, report: Report
    ) -> Obj:
        """The same for an object that ``owner`` controls, or will.

        ``NotOurs`` if somebody else does; or nobody, unless ``adopt`` or we applied it before.
        """
        wanted = to_apply(owned_by(child, owner), finalizer=self._finalizer)
        place = _place(wanted, "")
        namespace, name = place[1]
        # Not what may be out of scope: a child that nobody hears of is never looked after.
        live = self._cached.get(type(wanted), name, namespace=namespace)
        uid = child.uid
        if uid and (live is None or live.uid != uid):
            return await self._apply(wanted, place, live, uid=uid, force=False, report=report)
        if live is not None:
            return await self._apply_to(live, wanted, place, owner, adopt=adopt, report=report)
        await self.bereaved.check(owner, wanted)
        try:
            return await self._apply(
                wanted, place, None, uid="", version=NOT_THERE, force=False, report=report
            )
        except Conflict as refusal:
            # It is there, and our cache has not heard of it, or never will.
            live = await self._asked_for(wanted)
            if live is None:
                raise
            fields = held_fields(refusal)
        return await self._apply_to(
            live, wanted, place, owner, adopt=adopt, report=report, fields=fields
        )

    async def _apply_to(
        self,
        live: Obj,
        wanted: Obj,
        place: Place,
        owner: Object,
        *,
        adopt: bool,
        report: Report,
        fields: tuple[str, ...] = (),
    ) -> Obj:
        """Apply to what is there, if it is ours or may become so."""
        holder = controller_of(live)
        is_ours = holder is not None and holder.uid == owner.uid
        if not is_ours:
            if is_namesake(holder, owner):
                # No stranger: it will be collected, or we are late. Trying again helps with both.
                raise of_namesake(live, owner)
            if holder is not None or not (adopt or self._last.holds(live)):
                raise not_ours(live, owner, holder=holder, fields=fields)
        try:
            return await self._apply(
                wanted, place, live, uid=live.uid, force=is_ours, report=report
            )
        except (Conflict, Invalid) as refusal:
            fields = held_fields(refusal)
            if not fields and not is_about(refusal, "metadata.ownerReferences"):
                raise
            now = await self._asked_for(wanted)
            holder = controller_of(now) if now is not None else None
            if holder is not None and holder.uid == owner.uid:
                raise
            raise not_ours(live, owner, holder=holder, fields=fields) from refusal

    async def apply_status(
        self, obj: Obj, status: Part | Mapping[str, Any], *, report: Report
    ) -> Obj:
        """How things stand with the object; fields of its status that others hold stay theirs."""
        word = self._word_of(obj, status)
        if word.live is not None and self._last.is_settled(word.place, word.live, word.body):
            return word.live
        return await self._say(obj, word, report)

    async def report_status(
        self, obj: Object, status: Part | Mapping[str, Any], *, can_wait: bool, report: Report
    ) -> bool:
        """The same, unless that ``can_wait`` and tells of progress only; whether all is said."""
        word = self._word_of(obj, status)
        live = word.live
        if live is None or not self._last.is_settled(word.place, live, word.body):
            if can_wait and live is not None and is_progress(obj, status, before=live):
                return False
            await self._say(obj, word, report)
        return True

    def _word_of(self, obj: Obj, status: Part | Mapping[str, Any]) -> "_Word[Obj]":
        kind, uid = type(obj), obj.uid
        place = _place(obj, "status")
        namespace, name = place[1]
        live = self._cached.find(kind, name, namespace=namespace)
        if live is not None and live is not obj and uid and live.uid != uid:
            # Not left to the server: that of a custom resource it writes whatever the uid.
            raise other_object(f"apply the status of {obj.ref}", live.uid)
        said = status_to_apply(obj, status, now=self._clock.now(), before=live)
        to_send = status_to_send(obj, said)
        return _Word(place, live, to_send, self._codec.encode(to_send))

    async def _say(self, obj: Obj, word: "_Word[Obj]", report: Report) -> Obj:
        place, live, to_send, body = word
        kind, uid = type(obj), obj.uid
        namespace, name = place[1]
        if live is not None:
            self._last.doubt(place)
        fight = await self._fights.look(place, kind, live, body)
        if uid:
            to_send["metadata"]["uid"] = uid
        # Decoded as the kind, whatever is sent.
        sent: Any = Unstructured(to_send)
        target = self._client.status(kind, name, namespace=namespace)
        write = target.apply(sent, field_manager=self._manager, force=True)
        answer: Obj = await self._sent(write, obj, uid=uid, verb="apply the status of")
        self._remember(place, answer, body, fight)
        _tell(report, "apply status", live, answer, body)
        return answer

    async def apply_condition(self, obj: Obj, condition: Condition, *, report: Report) -> Obj:
        """One condition of the object, beside all that we have said of its status before."""
        live = self._seen(obj)
        if live is not None and has_said(obj, self._status_of(live), condition):
            return live
        # As it is now: what was said before is said again, and by force.
        now = await self._client.get(type(obj), obj.name, namespace=obj.namespace)
        if now.uid != obj.uid:
            raise other_object(f"apply the status of {obj.ref}", now.uid)
        entry = entry_of(now, self._manager, "status")
        held = fields_in(entry.fields).get("f:status") if entry is not None else None
        said = only_held(held, self._status_of(now)) if held else {}
        return await self.apply_status(obj, with_condition(obj, said, condition), report=report)

    def _status_of(self, obj: Object) -> Mapping[str, Any]:
        status = msgspec.json.decode(self._codec.encode(obj)).get("status")
        return status if isinstance(status, dict) else {}

    async def _apply(
        self,
        wanted: Obj,
        place: Place,
        live: Obj | None,
        *,
        uid: str,
        force: bool,
        report: Report,
        version: str = "",
    ) -> Obj:
        body = self._codec.encode(wanted)
        if live is not None:
            if live.uid == uid and self._last.is_settled(place, live, body):
                return live
            self._last.doubt(place)
        fight = await self._fights.look(place, type(wanted), live, body)
        sent = identified(wanted, uid=uid, version=version)
        write = self._client.apply(sent, field_manager=self._manager, force=force)
        answer = await self._sent(write, wanted, uid=uid, verb="apply")
        self._remember(place, answer, body, fight)
        _tell(report, "apply", live, answer, body)
        return answer

    def _remember(self, place: Place, answer: Object, body: bytes, fight: Fight | None) -> None:
        # As the cache keeps it, which may be less than the answer. What it does not keep it will
        # never say the end of.
        gvk, key, _ = place
        kept = self._cached.find(type(answer), key.name, namespace=key.namespace)
        if kept is None:
            self._last.forget(gvk, key)
        else:
            is_it = kept.resource_version == answer.resource_version
            self._last.remember(place, kept if is_it else answer, body)
        if fight is not None:
            self._fights.tell(fight, answer)

    # Patching

    async def patch(
        self, obj: Obj, patch: Patch, *, subresource: str | None = None, report: Report
    ) -> Obj:
        """Some fields changed. Of a subresource other than the status: the object as it was."""
        kind, key = type(obj), key_of(obj)
        live = self._seen(obj)
        uid = obj.uid or (live.uid if live is not None else "")
        meant = _meant_for(patch, uid) if uid else patch
        body = self._codec.encode(meant.body)
        verb = f"patch the {subresource} of" if subresource else "patch"
        if subresource in (None, "status"):
            if subresource is None:
                write = self._client.patch(
                    kind, key.name, meant, namespace=key.namespace, field_manager=self._manager
                )
            else:
                target = self._client.status(kind, key.name, namespace=key.namespace)
                write = target.patch(meant, field_manager=self._manager)
            answer = await self._sent(write, obj, uid=uid, verb=verb)
            _tell(report, "patch", live if live is not None else obj, answer, body)
            return answer
        other = self._client.subresource(
            kind, key.name, subresource, of=Unstructured, namespace=key.namespace
        )
        beside = await self._checked(
            other.patch(meant, field_manager=self._manager), obj, uid=uid, verb=verb
        )
        # What was answered is no object of the kind, but has the object's version.
        is_change = live is None or live.resource_version != beside.resource_version
        version = beside.resource_version
        report(Write(verb="patch", ref=obj.ref, is_change=is_change, version=version), body)
        return obj

    async def add_finalizer(self, obj: Obj, *, report: Report) -> Obj:
        """Our finalizer is on it; unless it is being deleted, when it is too late for that."""
        return await self._refinalized(obj, patch_to_add, report)

    async def remove_finalizer(self, obj: Obj, *, report: Report) -> Obj | None:
        """Our finalizer is not on it; ``None`` if the object is gone."""
        try:
            return await self._refinalized(obj, patch_to_remove, report)
        except NotFound:
            return None

    async def _refinalized(
        self, obj: Obj, patch_for: Callable[[Object, str], Patch | None], report: Report
    ) -> Obj:
        live = self._seen(obj)
        if live is not None and live.uid == obj.uid:
            obj = live
        is_second = False
        while True:
            patch = patch_for(obj, self._finalizer)
            if patch is None:
                return obj
            try:
                return await self.patch(obj, patch, report=report)
            except Conflict:
                # Anybody may have changed anything about it: look once more, and try again.
                now = await self._client.get(type(obj), obj.name, namespace=obj.namespace)
                if is_second or now.uid != obj.uid:
                    raise
                obj, is_second = now, True

    # Deleting

    async def delete(
        self,
        obj: Object,
        *,
        propagation: Propagation = "Background",
        grace_seconds: int | None = None,
        report: Report,
    ) -> None:
        """Its end was asked for, or it is gone already, or another by now."""
        kind, key = type(obj), key_of(obj)
        uid = obj.uid
        if not uid and (live := self._seen(obj)) is not None:
            uid = live.uid
        try:
            await self._caches.noting(
                self._client.delete(
                    kind,
                    key.name,
                    namespace=key.namespace,
                    preconditions=Preconditions(uid=uid) if uid else None,
                    propagation=propagation,
                    grace_seconds=grace_seconds,
                )
            )
        except (NotFound, Conflict):
            return
        report(Write(verb="delete", ref=obj.ref, is_change=True), None)

    async def prune(
        self,
        owner: Object,
        kinds: Iterable[Kind],
        *,
        keep: Collection[tuple[type[Any], ObjectKey]],
        report: Report,
    ) -> None:
        """What ``owner`` controls and is not to be kept is being deleted."""
        kept = {(kind.resource_type.gvk, key) for kind, key in keep}
        for kind in kinds:
            controlled: list[Object] = self._cached.controlled(kind, owner.uid)
            for child in controlled:
                is_kept = (kind.resource_type.gvk, key_of(child)) in kept
                if not is_kept and child.deletion_time is None:
                    await self.delete(child, report=report)

    def forget(self, kind: type[Any], key: ObjectKey) -> None:
        """The object is gone: keep nothing of it in mind."""
        self._last.forget(kind.resource_type.gvk, key)
        self._fights.forget(kind.resource_type.gvk, key)

    # Inside

    def _seen(self, obj: Obj) -> Obj | None:
        """The object as the cache shows it; ``None`` if it does not, or holds no such objects."""
        return self._cached.find(type(obj), obj.name, namespace=obj.namespace)

    async def _asked_for(self, obj: Obj) -> Obj | None:
        try:
            return await self._client.get(type(obj), obj.name, namespace=obj.namespace)
        except NotFound:
            return None

    def _sent(
        self, write: Awaitable[Obj], obj: Object, *, uid: str, verb: str
    ) -> Coroutine[Any, Any, Obj]:
        return self._checked(self._caches.noting(write), obj, uid=uid, verb=verb)

    async def _checked(self, write: Awaitable[Obj], obj: Object, *, uid: str, verb: str) -> Obj:
        try:
            answer = await write
        except ApiError as error:
            if uid and (is_other_object(error) or await self._is_other_now(error, obj, uid)):
                raise other_object(f"{verb} {obj.ref}", uid) from error
            if is_misfit(error):
                raise invalid(error) from error
            raise
        # Where the server does not look at the uid, it is too late to refuse, but not to say so.
        if uid and answer.uid != uid:
            raise other_object(f"{verb} {obj.ref}", answer.uid)
        return answer

    async def _is_other_now(self, error: ApiError, obj: Object, uid: str) -> bool:
        if not is_failed_test(error):
            return False
        now = await self._asked_for(obj)
        return now is None or now.uid != uid


class _Word(NamedTuple, Generic[Obj]):
    """A status that is to be applied, and where, and the object as it is known."""

    place: Place
    live: Obj | None
    to_send: dict[str, Any]
    body: bytes


def _place(obj: Object, subresource: str) -> Place:
    return obj.resource_type.gvk, key_of(obj), subresource


def _meant_for(patch: Patch, uid: str) -> Patch:
    """The same patch, for the object with this uid only."""
    if isinstance(patch, JsonPatch):
        return JsonPatch(JsonPatch.test("/metadata/uid", uid), *patch.body)
    metadata = patch.body.get("metadata") or {}
    return type(patch)({**patch.body, "metadata": {**metadata, "uid": uid}})


def _tell(
    report: Report,
    verb: str,
    before: Object | None,
    answer: Object,
    body: bytes,
) -> None:
    version = answer.resource_version
    is_change = before is None or before.resource_version != version
    report(Write(verb=verb, ref=answer.ref, is_change=is_change, version=version), body)
