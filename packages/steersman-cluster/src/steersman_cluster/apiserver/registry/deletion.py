"""Delete: at once, after a grace period, or when the last finalizer is gone.

What becomes of an object is decided by a pure function; the rest asks it and does what it says.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from steersman.units import format_time, parse_time
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.registry.request_scope import RequestScope
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.response_encoders import ResponseEncoder
from steersman_cluster.apiserver.storage import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPlan:
    """What a deletion makes of an object: it may stay a while (``marked``), and it may go."""

    marked: Object | None = None
    goes: bool = False
    is_pending: bool = False  # it was to go sooner all along


def plan_deletion(
    obj: Object, options: DeleteOptions, served: ServedResource, *, now: datetime
) -> DeletionPlan:
    """What becomes of ``obj``."""
    metadata: dict[str, Any] = obj["metadata"]
    deadline, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    changed: dict[str, Any] = {}
    graceful = False
    if served.rules.grace_seconds is not None:
        if deadline is not None and grace:
            wanted = options.grace_seconds
            if wanted is None or wanted >= grace:
                return DeletionPlan(is_pending=True)
            moved = parse_time(deadline) + timedelta(seconds=wanted - grace)
            if moved < now:
                moved, wanted = now, min(wanted, 1)
            changed = _marks(moved, wanted)
            graceful = True
        elif deadline is None:
            wanted = served.rules.grace_seconds(obj, options.grace_seconds)
            changed = _marks(now + timedelta(seconds=wanted), wanted)
            graceful = True
    finalizers = metadata.get("finalizers") or []
    pending = finalizers
    if served.rules.has_dependents:
        pending = options.finalizers(finalizers, orphans=served.rules.orphans)
    if pending is not finalizers:
        changed["finalizers"] = pending
    if not graceful and pending:
        if deadline is None or parse_time(deadline) > now:
            changed |= _marks(now, 0)
        else:
            changed["deletionGracePeriodSeconds"] = 0
    if deadline is None and changed and metadata.get("generation"):
        changed["generation"] = metadata["generation"] + 1
    stays = bool(pending) or bool(graceful and changed.get("deletionGracePeriodSeconds"))
    merged = {**metadata, **changed}
    if not pending:
        merged.pop("finalizers", None)
    if merged == metadata:
        return DeletionPlan(goes=not stays)
    return DeletionPlan(marked={**obj, "metadata": merged}, goes=not stays)


def _marks(deadline: datetime, grace_seconds: int) -> dict[str, Any]:
    return {
        "deletionTimestamp": format_time(deadline),
        "deletionGracePeriodSeconds": grace_seconds,
    }


def may_go(obj: Object, replaced: Object) -> bool:
    """Whether an update has taken the last finalizer from something that is being deleted."""
    was = replaced["metadata"]
    return (
        not obj["metadata"].get("finalizers")
        and was.get("deletionTimestamp") is not None
        and not was.get("deletionGracePeriodSeconds")
    )


def _is_ending(obj: Object) -> bool:
    return obj["metadata"].get("deletionTimestamp") is not None


def admit(request: APIRequest, scope: RequestScope, entry: Entry, options: DeleteOptions) -> None:
    """Have the deletion of what ``entry`` holds judged, if it is one."""
    if scope.admission.is_idle:
        return
    obj, served, store = entry.value or {}, request.served, scope.store
    options.check(obj, served)
    if served.rules.begin_end is not None:
        if not _is_ending(obj):
            # The kind marks the object only if it is still the same one.
            bound = replace(options, uid=options.uid or obj["metadata"]["uid"])
            _admit(request, scope, obj, bound, grace_seconds=options.grace_seconds)
        elif not served.rules.is_held(obj):
            _admit(request, scope, obj, options, grace_seconds=options.grace_seconds)
        return
    fate = plan_deletion(obj, options, served, now=store.clock.now())
    if fate.is_pending:
        return
    if served.rules.grace_seconds is None:
        _admit(request, scope, obj, options, grace_seconds=options.grace_seconds)
        return
    marked = fate.marked or obj
    grace_seconds = marked["metadata"].get("deletionGracePeriodSeconds", options.grace_seconds)
    _admit(request, scope, obj, options, grace_seconds=grace_seconds)
    if fate.goes and fate.marked is not None:
        # Marked, it is deleted in a second step, and looked at again. The first guess at its
        # version stands, or else every other write would need the webhook again.
        guess = request.webhook_answers.setdefault(
            (entry.key, entry.revision), str(store.log.revision + 1)
        )
        about = {**marked["metadata"], "resourceVersion": guess}
        step = {**marked, "metadata": about}
        _admit(request, scope, step, options, grace_seconds=grace_seconds)


def _admit(
    request: APIRequest,
    scope: RequestScope,
    obj: Object,
    options: DeleteOptions,
    *,
    grace_seconds: int | None,
) -> None:
    shown = options.shown(grace_seconds=grace_seconds)
    scope.admission.check_delete(
        request, request.served.from_stored(obj), shown, dry_run=options.dry_run
    )


class Deletion(NamedTuple):
    """What was done, and what to answer."""

    obj: Object
    gone: bool


def delete(store: Store, served: ServedResource, entry: Entry, options: DeleteOptions) -> Deletion:
    """Delete what ``entry`` holds, as far as it can be done now."""
    obj = entry.value or {}
    options.check(obj, served)
    begin_end = served.rules.begin_end
    if begin_end is not None and (served.rules.is_held(obj) or not _is_ending(obj)):
        is_ending = _is_ending(obj)
        obj = begin_end(obj, format_time(store.clock.now()))
        if is_ending:
            return Deletion(obj, gone=False)
        current = obj["metadata"].get("finalizers") or []
        wanted = options.finalizers(current, orphans=False, either_way=True)
        if wanted is not current:
            obj = {**obj, "metadata": {**obj["metadata"], "finalizers": wanted}}
        if obj is not entry.value and not options.dry_run:
            obj = {**obj, "metadata": {**obj["metadata"]}}
            store.write(entry.key, obj, rules=served.rules, replacing=entry)
        return Deletion(obj, gone=False)
    fate = plan_deletion(obj, options, served, now=store.clock.now())
    if options.dry_run:
        return Deletion(fate.marked or obj, gone=fate.goes)
    if fate.marked is not None and not (fate.goes and served.rules.grace_seconds is None):
        marked = {**fate.marked, "metadata": {**fate.marked["metadata"]}}
        entry = store.write(entry.key, marked, rules=served.rules, replacing=entry)
    if not fate.goes:
        return Deletion(entry.value or obj, gone=False)
    tombstone = store.delete(entry, rules=served.rules)
    return Deletion(object_encoder.last_seen(tombstone), gone=True)


def answer(deletion: Deletion, served: ServedResource, encoder: ResponseEncoder) -> bytes:
    """The object where its kind answers with that, or where it is still there; else a Status."""
    if not deletion.gone or served.rules.returns_deleted:
        return encoder.unkept(deletion.obj, served)
    metadata = deletion.obj["metadata"]
    details = {"name": metadata["name"], "group": served.gvk.group, "kind": served.plural}
    if not served.gvk.group:
        del details["group"]
    details["uid"] = metadata["uid"]
    return encoder.unchanged(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
    )
