"""Create, update, patch and apply: from a request body to a stored object.

Every write has the same steps. The new object is decoded: from the body, or from the live object
and a patch. It is then defaulted, gets its managedFields, and passes mutating admission. The
strategy of its kind prepares and validates it. After validating admission, it is stored if it
differs from the stored object.
"""

from collections.abc import Callable, Sequence
from typing import Any

from steersman.units import format_time, same_json
from steersman_cluster.apiserver.apply.field_manager import keep_times
from steersman_cluster.apiserver.apply.patches import (
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_merge_patch,
)
from steersman_cluster.apiserver.builtin.cluster.namespaces import check_namespace
from steersman_cluster.apiserver.meta import field_errors, object_meta, status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.bodies import (
    applied_body,
    applied_object,
    patch_body,
    patched_object,
    read_body,
    settle_applied,
)
from steersman_cluster.apiserver.registry.deletion import should_delete_during_update
from steersman_cluster.apiserver.registry.quota_charges import charge, charged_quotas_of
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.negotiation import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    patch_type,
)
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.schema.defaults import copied
from steersman_cluster.apiserver.schema.pruner import Path, accept, prune
from steersman_cluster.apiserver.storage import Entry, Key

# How many names the server tries for a generateName; kube-apiserver's value.
NAME_ATTEMPTS = 8

CHANGED_SINCE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def _identity(obj: Object) -> Object:
    return obj


def create(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the POST of a new object to a collection."""
    content_type = request.content_type
    options = WriteOptions.of(request.info, kind="CreateOptions")
    obj = read_body(request, scope, options, content_type)
    _set_namespace(request, obj)
    _record_manager(request, scope, None, obj, options)
    return APIResponse(201, _create(request, scope, obj, options))


def update(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the PUT of an object or of its status."""
    served, info = request.served, request.info
    options = WriteOptions.of(info, kind="UpdateOptions")
    obj = read_body(request, scope, options, request.content_type)
    _set_namespace(request, obj)
    object_meta.check_name(obj["metadata"], info.name)
    entry = scope.entry(request)
    if entry is None:
        if not served.strategy.allow_create_on_update or info.subresource:
            raise status_errors.not_found(served.group_resource, info.name)
        scope.authorize(request, "create")
        _record_manager(request, scope, None, obj, options)
        return APIResponse(201, _create(request, scope, obj, options))
    check_uid(request, obj, entry)
    _record_manager(request, scope, entry, obj, options)
    return APIResponse(
        200, replace(request, scope, entry, _mutated(request, scope, entry, obj), options)
    )


def patch(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the PATCH of an object or of its status, with any of the four patch types."""
    language = patch_type(request.http, custom=request.served.custom)
    options = WriteOptions.of(request.info, kind="PatchOptions", is_apply=language == APPLY_PATCH)
    if language == APPLY_PATCH:
        return _apply(request, scope, options)
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    obj = patched(request, scope, request.live(entry), language, options)
    _set_namespace(request, obj)
    object_meta.check_name(obj["metadata"], request.info.name)
    _record_manager(request, scope, entry, obj, options)
    return APIResponse(
        200, replace(request, scope, entry, _mutated(request, scope, entry, obj), options)
    )


def patched(
    request: APIRequest, scope: RequestScope, live: Object, language: str, options: WriteOptions
) -> Object:
    """Return the result of applying the body's patch, of the type ``language``, to ``live``."""
    lenient = options.field_validation == "Ignore"
    document, mistakes = patch_body(request, language, lenient=lenient)
    if language == JSON_PATCH:
        made = apply_json_patch(live, document, lenient=lenient)
    elif language == MERGE_PATCH:
        made = apply_merge_patch(live, document, lenient=lenient)
    else:
        made = apply_strategic_merge_patch(live, document, scope.schema(request))
    return patched_object(
        request, scope, options, patched=made, language=language, patch=document, mistakes=mistakes
    )


def _apply(request: APIRequest, scope: RequestScope, options: WriteOptions) -> APIResponse:
    applied, complaints = applied_body(request)
    entry = scope.entry(request)
    if entry is None and request.info.subresource:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    live = None if entry is None else request.live(entry)
    obj = scope.field_manager(request).apply(
        live,
        applied,
        manager=options.field_manager,
        force=bool(options.force),
        time=format_time(scope.store.clock.now()),
    )
    settle_applied(request, options, complaints)
    if (
        entry is not None
        and obj is live
        and scope.admission.is_idle
        and _is_settled(request, entry)
        and _is_stored_current(request, entry, obj)
    ):
        stored = entry.value or {}
        request.warnings += _warnings_of_update(request, stored, stored)
        return APIResponse(200, request.encoder.one(entry, request.served))
    changes_nothing = obj is live
    obj = applied_object(request, scope, made=copied(obj) if changes_nothing else obj)
    uid = obj["metadata"].get("uid")
    if entry is None and uid:
        raise status_errors.conflict(
            request.served.group_resource,
            request.info.name,
            f"uid mismatch: the provided object specified uid {uid},"
            " and no existing object was found",
        )
    _set_namespace(request, obj)
    object_meta.check_name(obj["metadata"], request.info.name)
    if not changes_nothing:
        request.served.strategy.default(obj)
    if entry is None:
        scope.authorize(request, "create")
        # The resourceVersion of a deleted object. kube-apiserver ignores it, too.
        obj["metadata"].pop("resourceVersion", None)
        return APIResponse(201, _create(request, scope, obj, options, is_applied=True))
    made = _mutated(request, scope, entry, obj)
    return APIResponse(200, replace(request, scope, entry, made, options, is_applied=True))


def _mutated(request: APIRequest, scope: RequestScope, entry: Entry | None, obj: Object) -> Object:
    """Run mutating admission: built-in plugins, which change ``obj`` in place, then webhooks."""
    if not request.info.subresource:
        request.served.strategy.admit(obj, None if entry is None else entry.value, scope.store)
    if scope.admission.is_idle:
        return obj
    return scope.admission.mutated(request, obj, None if entry is None else request.live(entry))


def _run_validating_admission(
    request: APIRequest,
    scope: RequestScope,
    kept: Object,
    old: Object | None,
    *,
    admission_view: Callable[[Object], Object],
) -> list[str]:
    """Run validating admission, and prune fields that webhooks added.

    Returns the unknown fields.
    """
    if not scope.admission.is_idle:
        scope.admission.check(request, kept, old, admission_view=admission_view)
        if request.is_pruned:
            return accept(kept, scope.schema(request))
    return []


def _set_namespace(request: APIRequest, obj: Object) -> None:
    object_meta.set_namespace(
        obj["metadata"], request.info.namespace if request.served.namespaced else ""
    )


def check_uid(request: APIRequest, obj: Object, entry: Entry) -> None:
    """Raise a conflict if ``obj`` contains a UID that is not that of the stored object."""
    wanted, actual = obj["metadata"].get("uid"), (entry.value or {})["metadata"]["uid"]
    if wanted and wanted != actual:
        key = f"/registry/{request.served.storage_prefix}/{entry.key.place}"
        raise status_errors.conflict(
            request.served.group_resource,
            request.info.name,
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0,"
            f" AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted},"
            f" UID in object meta: {actual}",
        )


def _record_manager(
    request: APIRequest,
    scope: RequestScope,
    entry: Entry | None,
    obj: Object,
    options: WriteOptions,
) -> None:
    """Default ``obj``, and record the manager of its fields."""
    request.served.strategy.default(obj)
    if entry is None:
        object_meta.clear_system_fields(obj["metadata"])
    request.warnings += object_meta.drop_repeated_owners(obj["metadata"])
    scope.field_manager(request).update(
        None if entry is None else request.live(entry),
        obj,
        manager=options.field_manager or request.agent,
        time=format_time(scope.store.clock.now()),
    )


def _generate_name(request: APIRequest, scope: RequestScope, obj: Object) -> None:
    """Set an unused name on an object with a generateName."""
    about = obj["metadata"]
    if about.get("name") or not about.get("generateName"):
        return
    if not request.served.strategy.generates_names:
        about["name"] = about["generateName"]
        return
    for _ in range(NAME_ATTEMPTS):
        about["name"] = object_meta.generate_name(about["generateName"], scope.store.rng)
        if scope.store.entry(request.served, request.info.namespace, about["name"]) is None:
            return


def _create(
    request: APIRequest,
    scope: RequestScope,
    obj: Object,
    options: WriteOptions,
    *,
    is_applied: bool = False,
) -> bytes:
    served, store, strategy = request.served, scope.store, request.served.strategy
    about = obj["metadata"]
    name = about.get("name") or about.get("generateName", "")
    if served.is_terminating:
        why = "create not allowed while custom resource definition is terminating"
        raise status_errors.forbidden(served.group_resource, name, why)
    if served.namespaced:
        check_namespace(
            store, request.info.namespace, resource=served.group_resource, name=name, creating=True
        )
    obj = _mutated(request, scope, None, obj)
    _set_namespace(request, obj)
    _generate_name(request, scope, obj)
    scope.check_grant(request, obj, None)
    kept = served.validated_form(obj)
    about = kept["metadata"]
    object_meta.prepare_create(about, rng=store.rng, time=format_time(store.clock.now()))
    if strategy.has_status and not strategy.status_on_create:
        served.drop_status(kept)
    strategy.prepare_create(kept, store)
    strategy.set_requester(kept, request.user)
    name = about.get("name", "")  # some strategies set the name
    if strategy.generation_fields or served.custom:
        about["generation"] = 1
    errors = _errors_of_create(request, kept)
    if errors:
        raise status_errors.invalid(served.group_kind, name, errors)
    request.warnings += strategy.warnings(kept, None)
    request.warnings += strategy.validate_admission(kept, None, store)
    unknown = _run_validating_admission(request, scope, kept, None, admission_view=_identity)
    charged = charged_quotas_of(request, scope, kept, None)
    key = Key(served.stored_as, served.place(request.info.namespace, name))
    if (current := store.view.get(key)) is not None:
        raise _already_exists(request, obj, current)
    if not options.dry_run:
        object_meta.reject_resource_version(about)
    if is_applied and request.is_pruned:
        unknown += prune(kept, scope.schema(request))
    return _store_object(
        request,
        scope,
        key,
        served.stored_form(kept),
        options,
        replacing=None,
        charged=charged,
        is_unpruned=_stores_unknown_fields(request, unknown),
    )


def _errors_of_create(request: APIRequest, kept: Object) -> list[FieldError]:
    """Return the errors in a new object."""
    served, strategy = request.served, request.served.strategy
    name_errors_of = strategy.name_errors_of

    def metadata_errors(*, standard_finalizers: bool) -> list[FieldError]:
        return object_meta.validate_create(
            kept["metadata"],
            namespaced=served.namespaced,
            name_errors=strategy.name_errors if name_errors_of is None else name_errors_of(kept),
            standard_finalizers=standard_finalizers,
        )

    errors = strategy.validate(kept)
    if strategy.metadata_errors_order == "last":
        errors += strategy.validate_create(kept)
        return errors or metadata_errors(standard_finalizers=False)
    about = metadata_errors(standard_finalizers=served.has_standard_finalizers)
    errors = about + errors if strategy.metadata_errors_order == "first" else errors + about
    return errors + strategy.validate_create(kept)


def _already_exists(request: APIRequest, obj: Object, current: Entry) -> status_errors.StatusError:
    about = obj["metadata"]
    error = status_errors.already_exists(request.served.group_resource, about["name"])
    if about.get("generateName"):
        error.message += ", the server was not able to generate a unique name for the object"
        error.details = {**(error.details or {}), "retryAfterSeconds": 1}
    if (current.value or {})["metadata"].get("deletionTimestamp"):
        error.message = f"object is being deleted: {error.message}"
    return error


def replace(
    request: APIRequest,
    scope: RequestScope,
    entry: Entry,
    obj: Object,
    options: WriteOptions,
    *,
    admission_view: Callable[[Object], Object] = _identity,
    is_applied: bool = False,
) -> bytes:
    """Store ``obj``, which already has its managedFields, in place of ``entry``'s object.

    Validating admission receives the result of ``admission_view``. If ``is_applied`` is true,
    ``obj`` is pruned only after admission.
    """
    served, store, strategy = request.served, scope.store, request.served.strategy
    stored = entry.value or {}
    old = request.live(entry) if served.custom else stored
    scope.check_grant(request, obj, old)
    _check_resource_version(request, obj, old)
    kept = served.validated_form(obj)
    if request.info.subresource == "status":
        served.restore_all_but_status(kept, old)
    about, was = kept["metadata"], old["metadata"]
    if request.info.subresource == "status":
        object_meta.prepare_update(about, was)
        strategy.prepare_status(kept, old, store)
        errors = _metadata_errors(request, about, was)
        errors += strategy.validate_status(kept, _ratchet_base(request, old))
    else:
        if strategy.has_status:
            served.restore_status(kept, old)
        object_meta.prepare_update(about, was)
        strategy.prepare_update(kept, old, store)
        if served.is_new_generation(kept, old) or _turns_into_float(request, old):
            about["generation"] = was.get("generation", 0) + 1
        errors = _errors_of_update(request, kept, _ratchet_base(request, old))
    request.warnings += strategy.ratcheted_errors(kept)
    if errors:
        raise status_errors.invalid(served.group_kind, request.info.name, errors)
    request.warnings += _warnings_of_update(request, kept, old)
    if request.info.subresource != "status":
        request.warnings += strategy.validate_admission(kept, old, store)
    keep_times(old, kept)
    about["resourceVersion"] = was["resourceVersion"]
    unknown = _run_validating_admission(request, scope, kept, old, admission_view=admission_view)
    charged = [] if request.info.subresource else charged_quotas_of(request, scope, kept, old)
    if is_applied and request.is_pruned:
        unknown += prune(kept, scope.schema(request))
    is_unpruned = _stores_unknown_fields(request, unknown)
    kept = served.stored_form(kept)
    if not is_unpruned and same_json(kept, stored) and _is_settled(request, entry):
        return request.encoder.one(entry, served)
    if should_delete_during_update(kept, stored) and not strategy.blocks_deletion(kept):
        body = request.encoder.unstored(kept, served)
        if not options.dry_run:
            store.delete(entry, strategy=strategy)
        return body
    return _store_object(
        request,
        scope,
        entry.key,
        kept,
        options,
        replacing=entry,
        charged=charged,
        is_unpruned=is_unpruned,
    )


def _warnings_of_update(request: APIRequest, new: Object, old: Object) -> list[str]:
    """Return the warnings of a write of ``new``, even if it changes nothing."""
    strategy = request.served.strategy
    if request.info.subresource == "status":
        return strategy.status_warnings(new, old)
    return strategy.warnings(new, old)


def _stores_unknown_fields(request: APIRequest, unknown: Sequence[str]) -> bool:
    """Return whether kube-apiserver would store the fields ``unknown`` of a custom resource.

    kube-apiserver prunes after decoding and after conversion. An object that is merged or mutated
    afterwards is stored unpruned, unless kube-apiserver converts it to another version for storage.
    """
    return bool(unknown) and request.served.gvk.version == request.served.stored_version


def _turns_into_float(request: APIRequest, old: Object) -> bool:
    """Return whether an integer in ``old`` was sent as a float.

    Such a write increments the generation. Metadata is ignored, and so is the status if the kind
    has a status subresource.
    """
    excluded = {"metadata", "status"} if request.served.strategy.has_status else {"metadata"}
    return any(
        path[0] not in excluded and type(_at(old, path)) is int for path in request.whole_floats
    )


def _ratchet_base(request: APIRequest, old: Object) -> Object:
    """Return the old object to which ratcheting compares the new one.

    In the result, integers that the request contains as floats are floats. They therefore count as
    changed, and errors in them are reported.
    """
    if not request.whole_floats:
        return old
    fresh: Object = copied(old)
    for path in request.whole_floats:
        if type(number := _at(fresh, path)) is int:
            _at(fresh, path[:-1])[path[-1]] = float(number)
    return fresh


def _at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (IndexError, KeyError, TypeError):
            return None
    return value


def _is_settled(request: APIRequest, entry: Entry) -> bool:
    """Return whether the server can skip a write that changes nothing.

    It cannot skip the first update of some kinds. It also cannot skip a write if the stored object
    contains unknown fields, because the write removes them.
    """
    if entry.is_unpruned:
        return False
    return not request.served.strategy.stores_unchanged_first_update or entry.previous is not None


def _is_stored_current(request: APIRequest, entry: Entry, live: Object) -> bool:
    """Return whether the stored object equals ``live``.

    They differ if ``live`` contains defaults that were set when it was read.
    """
    served = request.served
    if live is entry.value or not served.custom:
        return True
    kept_in = f"{served.gvk.group}/{served.stored_version}"
    return same_json({**live, "apiVersion": kept_in}, entry.value)


def _store_object(
    request: APIRequest,
    scope: RequestScope,
    key: Key,
    kept: Object,
    options: WriteOptions,
    *,
    replacing: Entry | None,
    charged: Sequence[Object],
    is_unpruned: bool,
) -> bytes:
    """Store ``kept`` unless the request is a dry run, and return it as an encoded response."""
    if options.dry_run:
        return request.encoder.unstored(kept, request.served)
    # Conversion webhooks must have responded before the write.
    request.served.prefetch([kept])
    for quota in charged:
        charge(request, scope, quota)
    entry = scope.store.write(key, kept, strategy=request.served.strategy, replacing=replacing)
    if is_unpruned:
        entry.is_unpruned = True
    return request.encoder.one(entry, request.served)


def _metadata_errors(request: APIRequest, about: Object, was: Object) -> list[FieldError]:
    standard = request.served.has_standard_finalizers
    return object_meta.validate_update(about, was, standard_finalizers=standard)


def _errors_of_update(request: APIRequest, kept: Object, old: Object) -> list[FieldError]:
    """Return the errors in an object that replaces another one."""
    strategy = request.served.strategy
    errors = _metadata_errors(request, kept["metadata"], old["metadata"])
    if strategy.update_first:
        return errors + strategy.validate_update(kept, old) + strategy.validate(kept)
    return errors + strategy.validate(kept) + strategy.validate_update(kept, old)


def _check_resource_version(request: APIRequest, obj: Object, old: Object) -> None:
    """Reject a write whose resourceVersion differs from that of the stored object."""
    wanted = obj["metadata"].get("resourceVersion", "")
    served = request.served
    if not wanted or wanted == "0":
        if served.strategy.allow_unconditional_update:
            return
        error = field_errors.invalid(
            "metadata.resourceVersion", 0, "must be specified for an update"
        )
        qualified = str(served.group_resource)
        raise status_errors.invalid(qualified, request.info.name, [error])
    if not wanted.isdecimal():
        shown = field_errors.shown(wanted)
        raise status_errors.StatusError(
            500, "", f"strconv.ParseUint: parsing {shown}: invalid syntax"
        )
    if wanted != old["metadata"]["resourceVersion"]:
        raise status_errors.conflict(served.group_resource, request.info.name, CHANGED_SINCE)
