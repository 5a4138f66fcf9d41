"""The scale subresource: an object seen as a number of replicas.

What is read, written, patched and applied is a Scale; what is kept is the object.
"""

import msgspec

from steersman.names import GroupResource
from steersman.units import format_time
from steersman_cluster.apiserver.apply.scale_entries import entries_after_scale, scale_entries
from steersman_cluster.apiserver.custom.scale import scale_of, scaled
from steersman_cluster.apiserver.meta import object_meta, status_errors
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.registry import writer
from steersman_cluster.apiserver.registry.bodies import applied_body, read_body, settle_applied
from steersman_cluster.apiserver.registry.call import Answer, Call
from steersman_cluster.apiserver.request.negotiation import APPLY_PATCH, patch_type
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.request.resources import ScalePaths
from steersman_cluster.apiserver.request.response_encoders import WHOLE
from steersman_cluster.apiserver.storage import Entry


def get(call: Call) -> Answer:
    """How many there are, and should be."""
    entry, paths = _found(call)
    shown = scale_of(call.live(entry), paths)
    return Answer(200, call.form.other(shown, custom=call.served.custom))


def update(call: Call) -> Answer:
    """PUT of a Scale."""
    options = WriteOptions.of(call.asked, kind="UpdateOptions")
    scale = read_body(call, options, call.content_type)
    object_meta.set_namespace(scale["metadata"], call.asked.namespace)
    object_meta.check_name(scale["metadata"], call.asked.name)
    entry, _ = _found(call)
    writer.check_uid(call, scale, entry)
    return _update(call, entry, scale, options)


def patch(call: Call) -> Answer:
    """PATCH of a Scale, in any language that its kind speaks."""
    language = patch_type(call.request, custom=call.served.custom)
    options = WriteOptions.of(call.asked, kind="PatchOptions", is_apply=language == APPLY_PATCH)
    entry, _ = _found(call)
    live = _live(call, entry, to_patch=True)
    if language != APPLY_PATCH:
        scale = writer.patched(call, live, language, options)
        return _update(call, entry, scale, options)
    applied, complaints = applied_body(call)
    scale = call.management.apply(
        live,
        applied,
        manager=options.field_manager,
        force=bool(options.force),
        time=_now(call),
    )
    settle_applied(call, options, complaints)
    if call.served.custom:
        raise _inapplicable(applied)
    return _write(call, entry, _admitted(call, entry, scale), options)


def _inapplicable(applied: Object) -> status_errors.Refusal:
    """The real server fails to apply the scale of a custom resource, conflicts apart."""
    about = applied["metadata"]
    shown = f"{about.get('namespace', '')}/{about.get('name', '')}; autoscaling/v1, Kind=Scale"
    return status_errors.Refusal(
        500,
        "",
        f"failed to convert new object ({shown}) to proper version:"
        " request to convert CR to an invalid group/version: autoscaling/v1",
    )


def _admitted(call: Call, entry: Entry, scale: Object) -> Object:
    if call.admission.is_idle:
        return scale
    return call.admission.mutated(call, scale, _live(call, entry))


def _found(call: Call) -> tuple[Entry, ScalePaths]:
    if call.served.scale is None:
        raise status_errors.no_such_path()
    entry = call.entry()
    if entry is None:
        raise status_errors.not_found(call.served.group_resource, call.asked.name)
    return entry, call.served.scale


def _now(call: Call) -> str:
    return format_time(call.store.clock.now())


def _live(call: Call, entry: Entry, *, to_patch: bool = False) -> Object:
    """The Scale as it stands, with those who own the number."""
    _, paths = _found(call)
    obj = call.live(entry)
    scale = scale_of(obj, paths, to_patch=to_patch)
    entries = scale_entries(obj["metadata"].get("managedFields"), _replicas(call))
    if entries:
        scale["metadata"]["managedFields"] = entries
    return scale


def _replicas(call: Call) -> dict[str, tuple[str, ...]]:
    """Where each version keeps the number."""
    return {
        each.gvk.api_version: each.scale.spec_replicas
        for each in call.versions()
        if each.scale is not None
    }


def _update(call: Call, entry: Entry, scale: Object, options: WriteOptions) -> Answer:
    manager = options.field_manager or call.agent
    call.management.update(_live(call, entry), scale, manager=manager, time=_now(call))
    return _write(call, entry, _admitted(call, entry, scale), options)


def _write(call: Call, entry: Entry, scale: Object, options: WriteOptions) -> Answer:
    _, paths = _found(call)
    live = call.live(entry)
    made = scaled(live, scale, paths)
    if not call.served.custom:
        _check_uid(call, live, scale)
    obj: Object = msgspec.json.decode(msgspec.json.encode(made))
    entries = entries_after_scale(
        live["metadata"].get("managedFields"),
        scale["metadata"].get("managedFields"),
        _replicas(call),
        api_version=call.served.gvk.api_version,
    )
    if entries:
        obj["metadata"]["managedFields"] = entries
    else:
        obj["metadata"].pop("managedFields", None)
    whole = msgspec.structs.replace(call, form=WHOLE)
    answer = writer.replace(whole, entry, obj, options, seen_as=lambda each: scale_of(each, paths))
    kept = msgspec.json.decode(answer)
    return Answer(200, call.form.other(scale_of(kept, paths), custom=call.served.custom))


def _check_uid(call: Call, live: Object, scale: Object) -> None:
    """Built-in kinds look at it once more: a patch may have changed it."""
    wanted, actual = scale["metadata"].get("uid"), live["metadata"]["uid"]
    if wanted and wanted != actual:
        resource = GroupResource(call.asked.group, f"{call.asked.resource}/scale")
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {actual}"
        raise status_errors.conflict(resource, call.asked.name, why)
