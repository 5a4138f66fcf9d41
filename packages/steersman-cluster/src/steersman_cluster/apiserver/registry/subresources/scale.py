"""The scale subresource: clients read and write a Scale, which represents another object.

The server stores only the other object, and no Scale.
"""

import msgspec

from steersman.names import GroupResource
from steersman.units import format_time
from steersman_cluster.apiserver.apply.scale_entries import entries_after_scale, scale_entries
from steersman_cluster.apiserver.custom.scale import scale_of, with_replicas
from steersman_cluster.apiserver.meta import object_meta, status_errors
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry import writer
from steersman_cluster.apiserver.registry.bodies import applied_body, read_body, settle_applied
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.negotiation import APPLY_PATCH, patch_type
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.request.resources import ScalePaths
from steersman_cluster.apiserver.request.response_encoders import WHOLE
from steersman_cluster.apiserver.storage import Entry


def get(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the GET of a Scale."""
    entry, paths = _found(request, scope)
    shown = scale_of(request.live(entry), paths)
    return APIResponse(200, request.encoder.other(shown, custom=request.served.custom))


def update(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the PUT of a Scale."""
    options = WriteOptions.of(request.info, kind="UpdateOptions")
    scale = read_body(request, scope, options, request.content_type)
    object_meta.set_namespace(scale["metadata"], request.info.namespace)
    object_meta.check_name(scale["metadata"], request.info.name)
    entry, _ = _found(request, scope)
    writer.check_uid(request, scale, entry)
    return _update(request, scope, entry, scale, options)


def patch(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the PATCH of a Scale, with any patch type that its kind supports."""
    language = patch_type(request.http, custom=request.served.custom)
    options = WriteOptions.of(request.info, kind="PatchOptions", is_apply=language == APPLY_PATCH)
    entry, _ = _found(request, scope)
    live = _live(request, scope, entry, to_patch=True)
    if language != APPLY_PATCH:
        scale = writer.patched(request, scope, live, language, options)
        return _update(request, scope, entry, scale, options)
    applied, complaints = applied_body(request)
    scale = scope.field_manager(request).apply(
        live,
        applied,
        manager=options.field_manager,
        force=bool(options.force),
        time=_now(scope),
    )
    settle_applied(request, options, complaints)
    if request.served.custom:
        raise _inapplicable(applied)
    return _write(request, scope, entry, _admitted(request, scope, entry, scale), options)


def _inapplicable(applied: Object) -> status_errors.StatusError:
    """Return the error for an apply to a custom resource's scale.

    kube-apiserver does not support such an apply.
    """
    about = applied["metadata"]
    shown = f"{about.get('namespace', '')}/{about.get('name', '')}; autoscaling/v1, Kind=Scale"
    return status_errors.StatusError(
        500,
        "",
        f"failed to convert new object ({shown}) to proper version:"
        " request to convert CR to an invalid group/version: autoscaling/v1",
    )


def _admitted(request: APIRequest, scope: RequestScope, entry: Entry, scale: Object) -> Object:
    if scope.admission.is_idle:
        return scale
    return scope.admission.mutated(request, scale, _live(request, scope, entry))


def _found(request: APIRequest, scope: RequestScope) -> tuple[Entry, ScalePaths]:
    if request.served.scale is None:
        raise status_errors.no_such_path()
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    return entry, request.served.scale


def _now(scope: RequestScope) -> str:
    return format_time(scope.store.clock.now())


def _live(
    request: APIRequest, scope: RequestScope, entry: Entry, *, to_patch: bool = False
) -> Object:
    """Return the current Scale, with the field managers of its replicas."""
    _, paths = _found(request, scope)
    obj = request.live(entry)
    scale = scale_of(obj, paths, to_patch=to_patch)
    entries = scale_entries(obj["metadata"].get("managedFields"), _replicas(request, scope))
    if entries:
        scale["metadata"]["managedFields"] = entries
    return scale


def _replicas(request: APIRequest, scope: RequestScope) -> dict[str, tuple[str, ...]]:
    """Return the path of the replicas in each version."""
    return {
        each.gvk.api_version: each.scale.spec_replicas
        for each in scope.versions(request)
        if each.scale is not None
    }


def _update(
    request: APIRequest, scope: RequestScope, entry: Entry, scale: Object, options: WriteOptions
) -> APIResponse:
    manager = options.field_manager or request.agent
    scope.field_manager(request).update(
        _live(request, scope, entry), scale, manager=manager, time=_now(scope)
    )
    return _write(request, scope, entry, _admitted(request, scope, entry, scale), options)


def _write(
    request: APIRequest, scope: RequestScope, entry: Entry, scale: Object, options: WriteOptions
) -> APIResponse:
    _, paths = _found(request, scope)
    live = request.live(entry)
    made = with_replicas(live, scale, paths)
    if not request.served.custom:
        _check_uid(request, live, scale)
    obj: Object = msgspec.json.decode(msgspec.json.encode(made))
    entries = entries_after_scale(
        live["metadata"].get("managedFields"),
        scale["metadata"].get("managedFields"),
        _replicas(request, scope),
        api_version=request.served.gvk.api_version,
    )
    if entries:
        obj["metadata"]["managedFields"] = entries
    else:
        obj["metadata"].pop("managedFields", None)
    whole = msgspec.structs.replace(request, encoder=WHOLE)
    body = writer.replace(
        whole, scope, entry, obj, options, admission_view=lambda each: scale_of(each, paths)
    )
    kept = msgspec.json.decode(body)
    return APIResponse(
        200, request.encoder.other(scale_of(kept, paths), custom=request.served.custom)
    )


def _check_uid(request: APIRequest, live: Object, scale: Object) -> None:
    """Raise a conflict if a patch has changed the UID in the Scale."""
    wanted, actual = scale["metadata"].get("uid"), live["metadata"]["uid"]
    if wanted and wanted != actual:
        resource = GroupResource(request.info.group, f"{request.info.resource}/scale")
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {actual}"
        raise status_errors.conflict(resource, request.info.name, why)
