"""Create, update, patch and apply: from what was sent to what is kept.

Every write takes the same road. The new object is made (from the body, or from the live object and
a patch), defaulted, given its owners of fields, changed by admission, prepared and checked by the
rules of its kind, judged by admission, and kept if it differs from what is there.
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
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.registry.bodies import (
    applied_body,
    applied_object,
    patch_body,
    patched_object,
    read_body,
    settle_applied,
)
from steersman_cluster.apiserver.registry.call import Answer, Call
from steersman_cluster.apiserver.registry.deletion import may_go
from steersman_cluster.apiserver.registry.quota_charges import charge, charged_quotas_of
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

# How often a name is made up before the server gives up; a million names per prefix are then safe.
NAME_ATTEMPTS = 8

CHANGED_SINCE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def _same(obj: Object) -> Object:
    return obj


def create(call: Call) -> Answer:
    """POST to a collection."""
    content_type = call.content_type
    options = WriteOptions.of(call.asked, kind="CreateOptions")
    obj = read_body(call, options, content_type)
    _set_namespace(call, obj)
    _update_owners(call, None, obj, options)
    return Answer(201, _keep_new(call, obj, options))


def update(call: Call) -> Answer:
    """PUT of an object, or of its status."""
    served, asked = call.served, call.asked
    options = WriteOptions.of(asked, kind="UpdateOptions")
    obj = read_body(call, options, call.content_type)
    _set_namespace(call, obj)
    object_meta.check_name(obj["metadata"], asked.name)
    entry = call.entry()
    if entry is None:
        if not served.rules.create_on_update or asked.subresource:
            raise status_errors.not_found(served.group_resource, asked.name)
        call.may("create")
        _update_owners(call, None, obj, options)
        return Answer(201, _keep_new(call, obj, options))
    check_uid(call, obj, entry)
    _update_owners(call, entry, obj, options)
    return Answer(200, replace(call, entry, _admitted(call, entry, obj), options))


def patch(call: Call) -> Answer:
    """PATCH of an object, or of its status, in any of the four languages."""
    language = patch_type(call.request, custom=call.served.custom)
    options = WriteOptions.of(call.asked, kind="PatchOptions", is_apply=language == APPLY_PATCH)
    if language == APPLY_PATCH:
        return _apply(call, options)
    entry = call.entry()
    if entry is None:
        raise status_errors.not_found(call.served.group_resource, call.asked.name)
    obj = patched(call, call.live(entry), language, options)
    _set_namespace(call, obj)
    object_meta.check_name(obj["metadata"], call.asked.name)
    _update_owners(call, entry, obj, options)
    return Answer(200, replace(call, entry, _admitted(call, entry, obj), options))


def patched(call: Call, live: Object, language: str, options: WriteOptions) -> Object:
    """What the patch in the body makes of ``live``."""
    lenient = options.field_validation == "Ignore"
    document, mistakes = patch_body(call, language, lenient=lenient)
    if language == JSON_PATCH:
        made = apply_json_patch(live, document, lenient=lenient)
    elif language == MERGE_PATCH:
        made = apply_merge_patch(live, document, lenient=lenient)
    else:
        made = apply_strategic_merge_patch(live, document, call.schema)
    return patched_object(
        call, options, patched=made, language=language, patch=document, mistakes=mistakes
    )


def _apply(call: Call, options: WriteOptions) -> Answer:
    applied, complaints = applied_body(call)
    entry = call.entry()
    if entry is None and call.asked.subresource:
        raise status_errors.not_found(call.served.group_resource, call.asked.name)
    live = None if entry is None else call.live(entry)
    obj = call.management.apply(
        live,
        applied,
        manager=options.field_manager,
        force=bool(options.force),
        time=format_time(call.store.clock.now()),
    )
    settle_applied(call, options, complaints)
    if (
        entry is not None
        and obj is live
        and call.admission.is_idle
        and _is_settled(call, entry)
        and _is_kept_as_shown(call, entry, obj)
    ):
        return Answer(200, call.form.one(entry, call.served))
    changes_nothing = obj is live
    obj = applied_object(call, made=copied(obj) if changes_nothing else obj)
    uid = obj["metadata"].get("uid")
    if entry is None and uid:
        raise status_errors.conflict(
            call.served.group_resource,
            call.asked.name,
            f"uid mismatch: the provided object specified uid {uid},"
            " and no existing object was found",
        )
    _set_namespace(call, obj)
    object_meta.check_name(obj["metadata"], call.asked.name)
    if not changes_nothing:
        call.served.rules.default(obj)
    if entry is None:
        call.may("create")
        # Of what is gone; the real server does not mind either.
        obj["metadata"].pop("resourceVersion", None)
        return Answer(201, _keep_new(call, obj, options, is_applied=True))
    made = _admitted(call, entry, obj)
    return Answer(200, replace(call, entry, made, options, is_applied=True))


def _admitted(call: Call, entry: Entry | None, obj: Object) -> Object:
    """What the server's own plugins make of ``obj``, in place, and then the webhooks."""
    if not call.asked.subresource:
        call.served.rules.admit(obj, None if entry is None else entry.value, call.store)
    if call.admission.is_idle:
        return obj
    return call.admission.mutated(call, obj, None if entry is None else call.live(entry))


def _check(
    call: Call, kept: Object, old: Object | None, *, seen_as: Callable[[Object], Object]
) -> list[str]:
    """Have ``kept`` judged, and prune what webhooks have added; gives the unknown fields."""
    if not call.admission.is_idle:
        call.admission.check(call, kept, old, seen_as=seen_as)
        if call.is_pruned:
            return accept(kept, call.schema)
    return []


def _set_namespace(call: Call, obj: Object) -> None:
    object_meta.set_namespace(
        obj["metadata"], call.asked.namespace if call.served.namespaced else ""
    )


def check_uid(call: Call, obj: Object, entry: Entry) -> None:
    """Refuse to write to another object of the name than the one that was meant."""
    wanted, actual = obj["metadata"].get("uid"), (entry.value or {})["metadata"]["uid"]
    if wanted and wanted != actual:
        key = f"/registry/{call.served.registry}/{entry.key.place}"
        raise status_errors.conflict(
            call.served.group_resource,
            call.asked.name,
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0,"
            f" AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted},"
            f" UID in object meta: {actual}",
        )


def _update_owners(call: Call, entry: Entry | None, obj: Object, options: WriteOptions) -> None:
    """Default ``obj``, and have its fields belong to whoever wrote them."""
    call.served.rules.default(obj)
    if entry is None:
        object_meta.wipe(obj["metadata"])
    call.warnings += object_meta.drop_repeated_owners(obj["metadata"])
    call.management.update(
        None if entry is None else call.live(entry),
        obj,
        manager=options.field_manager or call.agent,
        time=format_time(call.store.clock.now()),
    )


def _make_up_name(call: Call, obj: Object) -> None:
    """Where only the beginning of a name was given, one that nobody has."""
    about = obj["metadata"]
    if about.get("name") or not about.get("generateName"):
        return
    if not call.served.rules.makes_up_names:
        about["name"] = about["generateName"]
        return
    for _ in range(NAME_ATTEMPTS):
        about["name"] = object_meta.generate_name(about["generateName"], call.store.rng)
        if call.store.entry(call.served, call.asked.namespace, about["name"]) is None:
            return


def _keep_new(call: Call, obj: Object, options: WriteOptions, *, is_applied: bool = False) -> bytes:
    served, store, rules = call.served, call.store, call.served.rules
    about = obj["metadata"]
    name = about.get("name") or about.get("generateName", "")
    if served.ending:
        why = "create not allowed while custom resource definition is terminating"
        raise status_errors.forbidden(served.group_resource, name, why)
    if served.namespaced:
        check_namespace(
            store, call.asked.namespace, resource=served.group_resource, name=name, creating=True
        )
    obj = _admitted(call, None, obj)
    _set_namespace(call, obj)
    _make_up_name(call, obj)
    call.check_grant(obj, None)
    kept = served.ruled(obj)
    about = kept["metadata"]
    object_meta.prepare_create(about, rng=store.rng, time=format_time(store.clock.now()))
    if rules.has_status and not rules.status_on_create:
        served.forget_status(kept)
    rules.prepare_create(kept, store)
    rules.sign(kept, call.user)
    name = about.get("name", "")  # some kinds have made one up
    if rules.generation_of or served.custom:
        about["generation"] = 1
    errors = _errors_of_create(call, kept)
    if errors:
        raise status_errors.invalid(served.group_kind, name, errors)
    call.warnings += rules.warnings(kept, None)
    call.warnings += rules.judge(kept, None, store)
    unknown = _check(call, kept, None, seen_as=_same)
    charged = charged_quotas_of(call, kept, None)
    key = Key(served.stored_as, served.place(call.asked.namespace, name))
    if (current := store.view.get(key)) is not None:
        raise _taken(call, obj, current)
    if not options.dry_run:
        object_meta.refuse_resource_version(about)
    if is_applied and call.is_pruned:
        unknown += prune(kept, call.schema)
    return _written(
        call,
        key,
        served.finished(kept),
        options,
        replacing=None,
        charged=charged,
        is_unpruned=_keeps_unknown(call, unknown),
    )


def _errors_of_create(call: Call, kept: Object) -> list[FieldError]:
    """What is wrong with a new object."""
    served, rules = call.served, call.served.rules
    name_rule = rules.name_errors_of

    def metadata_errors(*, standard_finalizers: bool) -> list[FieldError]:
        return object_meta.validate_create(
            kept["metadata"],
            namespaced=served.namespaced,
            name_errors=rules.name_errors if name_rule is None else name_rule(kept),
            standard_finalizers=standard_finalizers,
        )

    errors = rules.validate(kept)
    if rules.metadata_turn == "last":
        errors += rules.validate_create(kept)
        return errors or metadata_errors(standard_finalizers=False)
    about = metadata_errors(standard_finalizers=served.has_standard_finalizers)
    errors = about + errors if rules.metadata_turn == "first" else errors + about
    return errors + rules.validate_create(kept)


def _taken(call: Call, obj: Object, current: Entry) -> status_errors.Refusal:
    about = obj["metadata"]
    refusal = status_errors.already_exists(call.served.group_resource, about["name"])
    if about.get("generateName"):
        refusal.message += ", the server was not able to generate a unique name for the object"
        refusal.details = {**(refusal.details or {}), "retryAfterSeconds": 1}
    if (current.value or {})["metadata"].get("deletionTimestamp"):
        refusal.message = f"object is being deleted: {refusal.message}"
    return refusal


def replace(
    call: Call,
    entry: Entry,
    obj: Object,
    options: WriteOptions,
    *,
    seen_as: Callable[[Object], Object] = _same,
    is_applied: bool = False,
) -> bytes:
    """Keep ``obj``, complete with the owners of its fields, in place of what ``entry`` holds.

    Who judges it sees what ``seen_as`` makes of it. What ``is_applied`` is pruned only now.
    """
    served, store, rules = call.served, call.store, call.served.rules
    stored = entry.value or {}
    old = call.live(entry) if served.custom else stored
    call.check_grant(obj, old)
    _check_version(call, obj, old)
    kept = served.ruled(obj)
    if call.asked.subresource == "status":
        served.keep_all_but_status(kept, old)
    about, was = kept["metadata"], old["metadata"]
    if call.asked.subresource == "status":
        object_meta.prepare_update(about, was)
        rules.prepare_status(kept, old, store)
        errors = _metadata_errors(call, about, was)
        errors += rules.validate_status(kept, _to_ratchet(call, old))
    else:
        if rules.has_status:
            served.keep_status(kept, old)
        object_meta.prepare_update(about, was)
        rules.prepare_update(kept, old, store)
        if served.is_new_generation(kept, old) or _turns_into_float(call, old):
            about["generation"] = was.get("generation", 0) + 1
        errors = _errors_of_update(call, kept, _to_ratchet(call, old))
    call.warnings += rules.let_through(kept)
    if errors:
        raise status_errors.invalid(served.group_kind, call.asked.name, errors)
    is_status = call.asked.subresource == "status"
    call.warnings += (rules.status_warnings if is_status else rules.warnings)(kept, old)
    if not is_status:
        call.warnings += rules.judge(kept, old, store)
    keep_times(old, kept)
    about["resourceVersion"] = was["resourceVersion"]
    unknown = _check(call, kept, old, seen_as=seen_as)
    charged = [] if call.asked.subresource else charged_quotas_of(call, kept, old)
    if is_applied and call.is_pruned:
        unknown += prune(kept, call.schema)
    is_unpruned = _keeps_unknown(call, unknown)
    kept = served.finished(kept)
    if not is_unpruned and same_json(kept, stored) and _is_settled(call, entry):
        return call.form.one(entry, served)
    if may_go(kept, stored) and not rules.is_held(kept):
        answer = call.form.unkept(kept, served)
        if not options.dry_run:
            store.delete(entry, rules=rules)
        return answer
    return _written(
        call,
        entry.key,
        kept,
        options,
        replacing=entry,
        charged=charged,
        is_unpruned=is_unpruned,
    )


def _keeps_unknown(call: Call, unknown: Sequence[str]) -> bool:
    """Whether the real server would keep the unknown fields of a custom resource.

    It prunes what it decodes, and what it converts. An object that is merged or mutated after that
    goes into etcd as it is, unless it is kept in another version.
    """
    return bool(unknown) and call.served.gvk.version == call.served.stored_version


def _turns_into_float(call: Call, old: Object) -> bool:
    """Whether a number that is kept without a point was sent with one, and the author meant it."""
    apart = {"metadata", "status"} if call.served.rules.has_status else {"metadata"}
    return any(path[0] not in apart and type(_at(old, path)) is int for path in call.whole_floats)


def _to_ratchet(call: Call, old: Object) -> Object:
    """The old object, in which each number that was sent with a point differs from what was sent.

    So an error there is not let through as one that was there before.
    """
    if not call.whole_floats:
        return old
    fresh: Object = copied(old)
    for path in call.whole_floats:
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


def _is_settled(call: Call, entry: Entry) -> bool:
    """Whether a write that changes nothing is none; of some kinds the first update always is.

    Where unknown fields were kept, the next write removes them, which is a change.
    """
    if entry.is_unpruned:
        return False
    return not call.served.rules.settles_late or entry.previous is not None


def _is_kept_as_shown(call: Call, entry: Entry, live: Object) -> bool:
    """Whether a write of ``live`` as it is would leave the entry as it is.

    Defaults that are filled in on read are not kept until the next write.
    """
    served = call.served
    if live is entry.value or not served.custom:
        return True
    kept_in = f"{served.gvk.group}/{served.stored_version}"
    return same_json({**live, "apiVersion": kept_in}, entry.value)


def _written(
    call: Call,
    key: Key,
    kept: Object,
    options: WriteOptions,
    *,
    replacing: Entry | None,
    charged: Sequence[Object],
    is_unpruned: bool,
) -> bytes:
    """Keep ``kept``, unless it is only for show, and answer with it."""
    if options.dry_run:
        return call.form.unkept(kept, call.served)
    # Whoever is needed to show it must have been asked before it is written.
    call.served.ahead([kept])
    for quota in charged:
        charge(call, quota)
    entry = call.store.write(key, kept, rules=call.served.rules, replacing=replacing)
    if is_unpruned:
        entry.is_unpruned = True
    return call.form.one(entry, call.served)


def _metadata_errors(call: Call, about: Object, was: Object) -> list[FieldError]:
    standard = call.served.has_standard_finalizers
    return object_meta.validate_update(about, was, standard_finalizers=standard)


def _errors_of_update(call: Call, kept: Object, old: Object) -> list[FieldError]:
    """What is wrong with an object that replaces another."""
    rules = call.served.rules
    errors = _metadata_errors(call, kept["metadata"], old["metadata"])
    if rules.update_first:
        return errors + rules.validate_update(kept, old) + rules.validate(kept)
    return errors + rules.validate(kept) + rules.validate_update(kept, old)


def _check_version(call: Call, obj: Object, old: Object) -> None:
    """Refuse a write that was made from something older than what is there."""
    wanted = obj["metadata"].get("resourceVersion", "")
    served = call.served
    if not wanted or wanted == "0":
        if served.rules.unconditional_update:
            return
        error = field_errors.invalid(
            "metadata.resourceVersion", 0, "must be specified for an update"
        )
        qualified = str(served.group_resource)
        raise status_errors.invalid(qualified, call.asked.name, [error])
    if not wanted.isdecimal():
        shown = field_errors.shown(wanted)
        raise status_errors.Refusal(500, "", f"strconv.ParseUint: parsing {shown}: invalid syntax")
    if wanted != old["metadata"]["resourceVersion"]:
        raise status_errors.conflict(served.group_resource, call.asked.name, CHANGED_SINCE)
