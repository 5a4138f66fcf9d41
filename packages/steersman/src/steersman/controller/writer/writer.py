"""``Writer``: every write of a controller, with the preconditions that make the write safe.

- A new object is created by an apply that fails if the name is taken, or by a create.
- A known object is written with its uid as a precondition: a re-created object is another object.
- An apply that would change nothing is not sent.
- An object that another owner controls is not taken over.
- After a write, the caches show the result of the write.
- A child whose owner does not exist any more is not re-created.
"""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from steersman.cache import Caches
from steersman.client import Client, JsonPatch, Patch, Preconditions
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.writes import Kind
from steersman.controller.finalizers import patch_to_add, patch_to_remove
from steersman.controller.ownership.managed_fields import fields_in, held_part
from steersman.controller.ownership.owner_check import OwnerCheck
from steersman.controller.ownership.owner_references import controller_of, owned_by
from steersman.controller.status import (
    has_condition,
    is_progress,
    status_to_apply,
    with_condition,
)
from steersman.controller.writer.applied_state import AppliedState, ApplyTarget, entry_of
from steersman.controller.writer.apply_bodies import status_to_send, to_apply, with_preconditions
from steersman.controller.writer.field_conflicts import FieldConflict, FieldConflicts
from steersman.controller.writer.reports import Report
from steersman.controller.writer.write_errors import (
    as_invalid,
    has_same_name_but_other_uid,
    held_fields,
    is_about,
    is_failed_test,
    is_other_object,
    is_schema_mismatch,
    not_ours,
    other_object,
    owned_by_namesake,
)
from steersman.errors import ApiError, Conflict, Invalid, NotFound
from steersman.kinds import Codec, Condition, Part, Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer, Write
from steersman.watch import key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Object: TypeAlias = Resource | Unstructured

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]

# No object has this resourceVersion, and the server ignores it if the object does not exist: an
# apply with it creates an object, and never changes one.
MUST_NOT_EXIST: Final = "1"


class Writer:
    """The writer of one controller. Methods that return an object return it after the write.

    Each method except ``delete`` and ``prune`` raises ``Conflict`` if the object's name now belongs
    to another object. The reconcile is then retried with that other object.
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
        self._last = AppliedState(field_manager)
        self.owner_check = OwnerCheck(client)
        self._conflicts = FieldConflicts(
            client,
            self._last,
            controller=controller,
            manager=field_manager,
            clock=clock,
            observe=observe,
        )

    def __len__(self) -> int:
        """The number of objects and subresources whose last apply is stored."""
        return len(self._last)

    def __repr__(self) -> str:
        return f"<Writer {self._manager}, {len(self)} applied>"

    # Creating

    async def create(self, obj: Obj, *, report: Report) -> Obj:
        """Create ``obj`` under its name, or under a name that the API server generates.

        Raise ``AlreadyExists`` if an object with this name exists.
        """
        body = self._codec.encode(obj)
        write = self._client.create(obj, field_manager=self._manager)
        answer = await self._send(write, obj, uid="", verb="create")
        _report_write(report, "create", None, answer, body)
        return answer

    async def create_owned(self, child: Obj, owner: Object, *, report: Report) -> Obj:
        """Create ``child``, with ``owner`` as its controlling owner."""
        await self.owner_check.check(owner, child)
        return await self.create(owned_by(child, owner), report=report)

    # Applying

    async def apply(self, obj: Obj, *, force: bool = False, report: Report) -> Obj:
        """Apply ``obj``: the controller then owns exactly the fields in ``obj``."""
        live = self._cached_object(obj)
        wanted = to_apply(obj, finalizer=self._finalizer)
        uid = obj.uid or (live.uid if live is not None else "")
        target = _target(wanted, "")
        return await self._apply(wanted, target, live, uid=uid, force=force, report=report)

    async def apply_owned(
        self, child: Obj, owner: Object, *, adopt: bool = False, report: Report
    ) -> Obj:
        """Apply ``child``, with ``owner`` as its controlling owner.

        Raise ``NotOurs`` if another owner controls the existing object. If no owner controls it,
        raise ``NotOurs`` as well, unless ``adopt`` is true or this controller has applied the
        object before.
        """
        wanted = to_apply(owned_by(child, owner), finalizer=self._finalizer)
        target = _target(wanted, "")
        namespace, name = target[1]
        # Raises if the namespace is not cached: changes of the child would not trigger a reconcile.
        live = self._cached.get(type(wanted), name, namespace=namespace)
        uid = child.uid
        if uid and (live is None or live.uid != uid):
            return await self._apply(wanted, target, live, uid=uid, force=False, report=report)
        if live is not None:
            return await self._apply_to(live, wanted, target, owner, adopt=adopt, report=report)
        await self.owner_check.check(owner, wanted)
        try:
            return await self._apply(
                wanted, target, None, uid="", version=MUST_NOT_EXIST, force=False, report=report
            )
        except Conflict as refusal:
            # It exists, and the cache is behind, or its selector excludes the object.
            live = await self._fetched(wanted)
            if live is None:
                raise
            fields = held_fields(refusal)
        return await self._apply_to(
            live, wanted, target, owner, adopt=adopt, report=report, fields=fields
        )

    async def _apply_to(
        self,
        live: Obj,
        wanted: Obj,
        target: ApplyTarget,
        owner: Object,
        *,
        adopt: bool,
        report: Report,
        fields: tuple[str, ...] = (),
    ) -> Obj:
        """Apply to an existing object, if the owner controls it or may adopt it."""
        holder = controller_of(live)
        is_ours = holder is not None and holder.uid == owner.uid
        if not is_ours:
            if has_same_name_but_other_uid(holder, owner):
                # The garbage collector will delete it, or the cache is behind: retry.
                raise owned_by_namesake(live, owner)
            if holder is not None or not (adopt or self._last.holds(live)):
                raise not_ours(live, owner, holder=holder, fields=fields)
        try:
            return await self._apply(
                wanted, target, live, uid=live.uid, force=is_ours, report=report
            )
        except (Conflict, Invalid) as refusal:
            fields = held_fields(refusal)
            if not fields and not is_about(refusal, "metadata.ownerReferences"):
                raise
            now = await self._fetched(wanted)
            holder = controller_of(now) if now is not None else None
            if holder is not None and holder.uid == owner.uid:
                raise
            raise not_ours(live, owner, holder=holder, fields=fields) from refusal

    async def apply_status(
        self, obj: Obj, status: Part | Mapping[str, Any], *, report: Report
    ) -> Obj:
        """Apply ``status`` to ``obj``; status fields of other field managers do not change."""
        request = self._status_request(obj, status)
        if request.live is not None and self._last.is_settled(
            request.target, request.live, request.body
        ):
            return request.live
        return await self._send_status(obj, request, report)

    async def report_status(
        self, obj: Object, status: Part | Mapping[str, Any], *, can_wait: bool, report: Report
    ) -> bool:
        """Apply ``status`` to ``obj``, unless ``can_wait`` is true and it only shows progress.

        Return whether the object's status is up to date afterwards.
        """
        request = self._status_request(obj, status)
        live = request.live
        if live is None or not self._last.is_settled(request.target, live, request.body):
            if can_wait and live is not None and is_progress(obj, status, before=live):
                return False
            await self._send_status(obj, request, report)
        return True

    def _status_request(self, obj: Obj, status: Part | Mapping[str, Any]) -> "_StatusRequest[Obj]":
        kind, uid = type(obj), obj.uid
        target = _target(obj, "status")
        namespace, name = target[1]
        live = self._cached.find(kind, name, namespace=namespace)
        if live is not None and live is not obj and uid and live.uid != uid:
            # The server does not check the uid when it writes the status of a custom resource.
            raise other_object(f"apply the status of {obj.ref}", live.uid)
        to_apply = status_to_apply(obj, status, now=self._clock.now(), before=live)
        to_send = status_to_send(obj, to_apply)
        return _StatusRequest(target, live, to_send, self._codec.encode(to_send))

    async def _send_status(self, obj: Obj, request: "_StatusRequest[Obj]", report: Report) -> Obj:
        target, live, to_send, body = request
        kind, uid = type(obj), obj.uid
        namespace, name = target[1]
        if live is not None:
            self._last.mark_uncertain(target)
        conflict = await self._conflicts.check(target, kind, live, body)
        if uid:
            to_send["metadata"]["uid"] = uid
        # Sent unstructured; the response is decoded as the kind.
        sent: Any = Unstructured(to_send)
        subresource = self._client.status(kind, name, namespace=namespace)
        write = subresource.apply(sent, field_manager=self._manager, force=True)
        answer: Obj = await self._send(write, obj, uid=uid, verb="apply the status of")
        self._remember(target, answer, body, conflict)
        _report_write(report, "apply status", live, answer, body)
        return answer

    async def apply_condition(self, obj: Obj, condition: Condition, *, report: Report) -> Obj:
        """Apply ``condition``, together with the status fields that the controller already owns."""
        live = self._cached_object(obj)
        if live is not None and has_condition(obj, self._status_of(live), condition):
            return live
        # Reads the latest version: the previously applied fields are applied again, with force.
        now = await self._client.get(type(obj), obj.name, namespace=obj.namespace)
        if now.uid != obj.uid:
            raise other_object(f"apply the status of {obj.ref}", now.uid)
        entry = entry_of(now, self._manager, "status")
        managed = fields_in(entry.fields).get("f:status") if entry is not None else None
        applied = held_part(managed, self._status_of(now)) if managed else {}
        return await self.apply_status(obj, with_condition(obj, applied, condition), report=report)

    def _status_of(self, obj: Object) -> Mapping[str, Any]:
        status = msgspec.json.decode(self._codec.encode(obj)).get("status")
        return status if isinstance(status, dict) else {}

    async def _apply(
        self,
        wanted: Obj,
        target: ApplyTarget,
        live: Obj | None,
        *,
        uid: str,
        force: bool,
        report: Report,
        version: str = "",
    ) -> Obj:
        body = self._codec.encode(wanted)
        if live is not None:
            if live.uid == uid and self._last.is_settled(target, live, body):
                return live
            self._last.mark_uncertain(target)
        conflict = await self._conflicts.check(target, type(wanted), live, body)
        sent = with_preconditions(wanted, uid=uid, version=version)
        write = self._client.apply(sent, field_manager=self._manager, force=force)
        answer = await self._send(write, wanted, uid=uid, verb="apply")
        self._remember(target, answer, body, conflict)
        _report_write(report, "apply", live, answer, body)
        return answer

    def _remember(
        self, target: ApplyTarget, answer: Object, body: bytes, conflict: FieldConflict | None
    ) -> None:
        # The cached object may have fewer fields than the response. If it is not cached, no
        # deletion will be received for it, so nothing is stored.
        gvk, key, _ = target
        kept = self._cached.find(type(answer), key.name, namespace=key.namespace)
        if kept is None:
            self._last.forget(gvk, key)
        else:
            is_it = kept.resource_version == answer.resource_version
            self._last.remember(target, kept if is_it else answer, body)
        if conflict is not None:
            self._conflicts.confirm(conflict, answer)

    # Patching

    async def patch(
        self, obj: Obj, patch: Patch, *, subresource: str | None = None, report: Report
    ) -> Obj:
        """Patch ``obj`` and return the patched object.

        If ``subresource`` is given and is not the status, return ``obj`` itself.
        """
        kind, key = type(obj), key_of(obj)
        live = self._cached_object(obj)
        uid = obj.uid or (live.uid if live is not None else "")
        meant = _for_uid(patch, uid) if uid else patch
        body = self._codec.encode(meant.body)
        verb = f"patch the {subresource} of" if subresource else "patch"
        if subresource in (None, "status"):
            if subresource is None:
                write = self._client.patch(
                    kind, key.name, meant, namespace=key.namespace, field_manager=self._manager
                )
            else:
                status = self._client.status(kind, key.name, namespace=key.namespace)
                write = status.patch(meant, field_manager=self._manager)
            answer = await self._send(write, obj, uid=uid, verb=verb)
            _report_write(report, "patch", live if live is not None else obj, answer, body)
            return answer
        other = self._client.subresource(
            kind, key.name, subresource, of=Unstructured, namespace=key.namespace
        )
        beside = await self._send_unnoted(
            other.patch(meant, field_manager=self._manager), obj, uid=uid, verb=verb
        )
        # The response has another kind, but the object's resourceVersion.
        is_change = live is None or live.resource_version != beside.resource_version
        version = beside.resource_version
        report(Write(verb="patch", ref=obj.ref, is_change=is_change, version=version), body)
        return obj

    async def add_finalizer(self, obj: Obj, *, report: Report) -> Obj:
        """Add the controller's finalizer to ``obj``, unless ``obj`` is being deleted."""
        return await self._patch_finalizers(obj, patch_to_add, report)

    async def remove_finalizer(self, obj: Obj, *, report: Report) -> Obj | None:
        """Remove the controller's finalizer from ``obj``; ``None`` if the object does not exist."""
        try:
            return await self._patch_finalizers(obj, patch_to_remove, report)
        except NotFound:
            return None

    async def _patch_finalizers(
        self, obj: Obj, patch_for: Callable[[Object, str], Patch | None], report: Report
    ) -> Obj:
        live = self._cached_object(obj)
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
                # Any other field may have changed: read the object once, and retry.
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
        """Delete ``obj``.

        Do nothing if the object does not exist or its name now belongs to another object.
        """
        kind, key = type(obj), key_of(obj)
        uid = obj.uid
        if not uid and (live := self._cached_object(obj)) is not None:
            uid = live.uid
        try:
            await self._caches.record_write(
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
        """Delete the objects of ``kinds`` that ``owner`` controls, except those in ``keep``."""
        kept = {(kind.resource_type.gvk, key) for kind, key in keep}
        for kind in kinds:
            controlled: list[Object] = self._cached.controlled(kind, owner.uid)
            for child in controlled:
                is_kept = (kind.resource_type.gvk, key_of(child)) in kept
                if not is_kept and child.deletion_time is None:
                    await self.delete(child, report=report)

    def forget(self, kind: type[Any], key: ObjectKey) -> None:
        """Drop the stored state about the object of ``key``, because it was deleted."""
        self._last.forget(kind.resource_type.gvk, key)
        self._conflicts.forget(kind.resource_type.gvk, key)

    # Internals

    def _cached_object(self, obj: Obj) -> Obj | None:
        """Return the cached object with the name of ``obj``; ``None`` if there is none."""
        return self._cached.find(type(obj), obj.name, namespace=obj.namespace)

    async def _fetched(self, obj: Obj) -> Obj | None:
        try:
            return await self._client.get(type(obj), obj.name, namespace=obj.namespace)
        except NotFound:
            return None

    def _send(
        self, write: Awaitable[Obj], obj: Object, *, uid: str, verb: str
    ) -> Coroutine[Any, Any, Obj]:
        return self._send_unnoted(self._caches.record_write(write), obj, uid=uid, verb=verb)

    async def _send_unnoted(
        self, write: Awaitable[Obj], obj: Object, *, uid: str, verb: str
    ) -> Obj:
        try:
            answer = await write
        except ApiError as error:
            if uid and (is_other_object(error) or await self._is_other_object_now(error, obj, uid)):
                raise other_object(f"{verb} {obj.ref}", uid) from error
            if is_schema_mismatch(error):
                raise as_invalid(error) from error
            raise
        # If the server does not check the uid, the write was carried out, and can only be reported.
        if uid and answer.uid != uid:
            raise other_object(f"{verb} {obj.ref}", answer.uid)
        return answer

    async def _is_other_object_now(self, error: ApiError, obj: Object, uid: str) -> bool:
        if not is_failed_test(error):
            return False
        now = await self._fetched(obj)
        return now is None or now.uid != uid


class _StatusRequest(NamedTuple, Generic[Obj]):
    """A status to apply: its target, the cached object and the body."""

    target: ApplyTarget
    live: Obj | None
    to_send: dict[str, Any]
    body: bytes


def _target(obj: Object, subresource: str) -> ApplyTarget:
    return obj.resource_type.gvk, key_of(obj), subresource


def _for_uid(patch: Patch, uid: str) -> Patch:
    """Return the same patch with the uid as a precondition."""
    if isinstance(patch, JsonPatch):
        return JsonPatch(JsonPatch.test("/metadata/uid", uid), *patch.body)
    metadata = patch.body.get("metadata") or {}
    return type(patch)({**patch.body, "metadata": {**metadata, "uid": uid}})


def _report_write(
    report: Report,
    verb: str,
    before: Object | None,
    answer: Object,
    body: bytes,
) -> None:
    version = answer.resource_version
    is_change = before is None or before.resource_version != version
    report(Write(verb=verb, ref=answer.ref, is_change=is_change, version=version), body)
