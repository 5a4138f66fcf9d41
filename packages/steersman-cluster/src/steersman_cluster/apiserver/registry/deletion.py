"""Deletion: immediately, after a grace period, or when the last finalizer is removed.

``plan_deletion`` is a pure function that decides the effect on an object; the other functions
execute the plan.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from steersman.units import format_time, parse_time
from steersman_cluster.apiserver.meta.strategy import Object
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
    """The effect of a deletion: storing ``updated``, removing the object, both, or neither."""

    updated: Object | None = None
    removes: bool = False
    is_pending: bool = False  # an earlier deletion has a shorter grace period


def plan_deletion(
    obj: Object, options: DeleteOptions, served: ServedResource, *, now: datetime
) -> DeletionPlan:
    """Return the effect on ``obj`` of a deletion with ``options`` at the time ``now``."""
    metadata: dict[str, Any] = obj["metadata"]
    deadline, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    changed: dict[str, Any] = {}
    graceful = False
    if served.strategy.grace_seconds is not None:
        if deadline is not None and grace:
            wanted = options.grace_seconds
            if wanted is None or wanted >= grace:
                return DeletionPlan(is_pending=True)
            moved = parse_time(deadline) + timedelta(seconds=wanted - grace)
            if moved < now:
                moved, wanted = now, min(wanted, 1)
            changed = _deletion_fields(moved, wanted)
            graceful = True
        elif deadline is None:
            wanted = served.strategy.grace_seconds(obj, options.grace_seconds)
            changed = _deletion_fields(now + timedelta(seconds=wanted), wanted)
            graceful = True
    finalizers = metadata.get("finalizers") or []
    pending = finalizers
    if served.strategy.has_dependents:
        pending = options.finalizers(finalizers, orphans=served.strategy.orphan_by_default)
    if pending is not finalizers:
        changed["finalizers"] = pending
    if not graceful and pending:
        if deadline is None or parse_time(deadline) > now:
            changed |= _deletion_fields(now, 0)
        else:
            changed["deletionGracePeriodSeconds"] = 0
    if deadline is None and changed and metadata.get("generation"):
        changed["generation"] = metadata["generation"] + 1
    stays = bool(pending) or bool(graceful and changed.get("deletionGracePeriodSeconds"))
    merged = {**metadata, **changed}
    if not pending:
        merged.pop("finalizers", None)
    if merged == metadata:
        return DeletionPlan(removes=not stays)
    return DeletionPlan(updated={**obj, "metadata": merged}, removes=not stays)


def _deletion_fields(deadline: datetime, grace_seconds: int) -> dict[str, Any]:
    return {
        "deletionTimestamp": format_time(deadline),
        "deletionGracePeriodSeconds": grace_seconds,
    }


def should_delete_during_update(obj: Object, replaced: Object) -> bool:
    """Return whether the update of ``replaced`` to ``obj`` completes a deletion.

    This is the case if ``replaced`` is terminating without a grace period, and ``obj`` has no
    finalizers.
    """
    was = replaced["metadata"]
    return (
        not obj["metadata"].get("finalizers")
        and was.get("deletionTimestamp") is not None
        and not was.get("deletionGracePeriodSeconds")
    )


def _is_terminating(obj: Object) -> bool:
    return obj["metadata"].get("deletionTimestamp") is not None


def admit(request: APIRequest, scope: RequestScope, entry: Entry, options: DeleteOptions) -> None:
    """Run validating admission for the deletion of ``entry``'s object."""
    if scope.admission.is_idle:
        return
    obj, served, store = entry.value or {}, request.served, scope.store
    options.check(obj, served)
    if served.strategy.begin_deletion is not None:
        if not _is_terminating(obj):
            # Namespaces are marked only if the UID is unchanged.
            bound = replace(options, uid=options.uid or obj["metadata"]["uid"])
            _admit(request, scope, obj, bound, grace_seconds=options.grace_seconds)
        elif not served.strategy.blocks_deletion(obj):
            _admit(request, scope, obj, options, grace_seconds=options.grace_seconds)
        return
    plan = plan_deletion(obj, options, served, now=store.clock.now())
    if plan.is_pending:
        return
    if served.strategy.grace_seconds is None:
        _admit(request, scope, obj, options, grace_seconds=options.grace_seconds)
        return
    marked = plan.updated or obj
    grace_seconds = marked["metadata"].get("deletionGracePeriodSeconds", options.grace_seconds)
    _admit(request, scope, obj, options, grace_seconds=grace_seconds)
    if plan.removes and plan.updated is not None:
        # kube-apiserver updates the object first, and runs admission again for its removal. The
        # resourceVersion in that second review is a guess. It is kept for all runs of the request:
        # otherwise each concurrent write would call the webhook again.
        guess = request.webhook_responses.setdefault(
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
    """The result of a deletion: the object to return, and whether the object was removed."""

    obj: Object
    is_removed: bool


def delete(store: Store, served: ServedResource, entry: Entry, options: DeleteOptions) -> Deletion:
    """Delete ``entry``'s object, or mark it as terminating."""
    obj = entry.value or {}
    options.check(obj, served)
    begin_deletion = served.strategy.begin_deletion
    if begin_deletion is not None and (
        served.strategy.blocks_deletion(obj) or not _is_terminating(obj)
    ):
        is_ending = _is_terminating(obj)
        obj = begin_deletion(obj, format_time(store.clock.now()))
        if is_ending:
            return Deletion(obj, is_removed=False)
        current = obj["metadata"].get("finalizers") or []
        wanted = options.finalizers(current, orphans=False, false_means_foreground=True)
        if wanted is not current:
            obj = {**obj, "metadata": {**obj["metadata"], "finalizers": wanted}}
        if obj is not entry.value and not options.dry_run:
            obj = {**obj, "metadata": {**obj["metadata"]}}
            store.write(entry.key, obj, strategy=served.strategy, replacing=entry)
        return Deletion(obj, is_removed=False)
    plan = plan_deletion(obj, options, served, now=store.clock.now())
    if options.dry_run:
        return Deletion(plan.updated or obj, is_removed=plan.removes)
    if plan.updated is not None and not (plan.removes and served.strategy.grace_seconds is None):
        marked = {**plan.updated, "metadata": {**plan.updated["metadata"]}}
        entry = store.write(entry.key, marked, strategy=served.strategy, replacing=entry)
    if not plan.removes:
        return Deletion(entry.value or obj, is_removed=False)
    tombstone = store.delete(entry, strategy=served.strategy)
    return Deletion(object_encoder.last_seen(tombstone), is_removed=True)


def response_body(deletion: Deletion, served: ServedResource, encoder: ResponseEncoder) -> bytes:
    """Return the response body of a deletion.

    The body is the deleted object if it is still stored, or if its kind returns deleted objects.
    Otherwise, the body is a Status.
    """
    if not deletion.is_removed or served.strategy.return_deleted_object:
        return encoder.unstored(deletion.obj, served)
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
