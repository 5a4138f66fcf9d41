"""The dispatcher, which chooses the handler of a request by verb and resource."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.registry import deletion, reader, writer
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.registry.subresources import component_statuses
from steersman_cluster.apiserver.registry.subresources.component_statuses import COMPONENT_STATUSES
from steersman_cluster.apiserver.registry.subresources.handlers import (
    BINDINGS,
    SUBRESOURCES,
    bind_by_name,
)
from steersman_cluster.apiserver.registry.watcher import watch
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.delete_options import DeleteOptions
from steersman_cluster.apiserver.request.options import ListOptions
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry
from steersman_cluster.apiserver.webhooks import NeedsWebhook, WebhookCall


def not_allowed() -> StatusError:
    """Return the error for a verb that the resource does not support."""
    return StatusError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        details={},
    )


def is_out_of_scope(info: RequestInfo, served: ServedResource) -> bool:
    """Return whether the path of a request for a custom resource has the wrong scope.

    kube-apiserver's handler of custom resources passes such a request on, and no other handler
    serves it. For a built-in resource, the result is False.
    """
    if not served.custom:
        return False
    if served.namespaced:
        return not info.namespace and info.verb not in ("list", "watch")
    return bool(info.namespace)


def check_scope(info: RequestInfo, served: ServedResource) -> None:
    """Reject a path with the wrong scope, or with an unknown subresource."""
    if info.subresource and info.subresource not in served.subresources:
        if served.custom:
            raise status_errors.not_found(served.group_resource, info.name)
        raise status_errors.no_such_path()
    if info.subresource and info.subresource not in SUBRESOURCES:
        raise not_allowed()  # a proxy to the kubelet or to a container
    if info.rest and not served.custom:
        raise status_errors.no_such_path()
    if info.verb == "watch" and "watch" not in served.verbs and "watch" not in info.query:
        raise status_errors.no_such_path()  # without the verb watch there is no route
    if served.namespaced:
        if info.name and not info.namespace:
            raise status_errors.no_such_path()
        if not info.namespace and info.verb not in ("list", "watch"):
            raise not_allowed()
    elif info.namespace and served.plural != "namespaces":
        raise status_errors.no_such_path()
    if not info.name and info.verb in ("update", "patch"):
        raise status_errors.bad_request("name must be provided") if served.custom else not_allowed()


def dispatch(request: APIRequest, scope: RequestScope) -> APIResponse | AsyncGenerator[bytes, None]:
    """Check the request with ``check_scope``, and run its handler.

    The result is an ``APIResponse``; for a watch, it is a generator of lines.
    """
    info, served = request.info, request.served
    if served.strategy.ttl_seconds is not None:
        scope.store.delete_expired(served.stored_as, strategy=served.strategy)
    if request.http.method == "HEAD" and not served.custom:
        raise not_allowed()
    if info.subresource:
        handler = SUBRESOURCES.get(info.subresource, {}).get(info.verb)
        if handler is None or info.verb not in served.subresources[info.subresource]["verbs"]:
            if served.custom:
                raise status_errors.method_not_allowed(served.group_resource, info.verb)
            raise not_allowed()
        return handler(request, scope)
    if info.verb not in served.verbs:
        if info.verb == "watch" and "list" in served.verbs:
            raise status_errors.method_not_allowed(served.group_resource, info.verb)
        raise not_allowed()
    if info.verb == "watch":
        if request.http.method != "GET":
            raise not_allowed()
        return watch(request, scope)
    if info.verb not in VERBS:
        raise not_allowed()
    if info.verb == "create" and info.name and not served.custom:
        raise not_allowed()  # the name of a new custom resource is in the body, not in the path
    return _NOT_STORED.get(served.group_resource, VERBS)[info.verb](request, scope)


def _get(request: APIRequest, scope: RequestScope) -> APIResponse:
    return APIResponse(200, reader.get(request, scope))


def _list(request: APIRequest, scope: RequestScope) -> APIResponse:
    return APIResponse(200, reader.list_(request, scope))


def _delete(request: APIRequest, scope: RequestScope) -> APIResponse:
    options = scope.delete_options(request)
    _warn_of_orphans(request, options)
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    _check_convertible(request, [entry])
    deletion.admit(request, scope, entry, options)
    deleted = deletion.delete(scope.store, request.served, entry, options)
    accepted = not deleted.is_removed and options.orphan_dependents is False
    return APIResponse(
        202 if accepted else 200, deletion.response_body(deleted, request.served, request.encoder)
    )


def _delete_collection(request: APIRequest, scope: RequestScope) -> APIResponse:
    listed = ListOptions.of(request.info)
    options = scope.delete_options(request)
    reader.selection(request.served, listed)  # an invalid selector is rejected without a warning
    _warn_of_orphans(request, options)
    page = reader.selected_page(scope.store, request.served, request.info, listed)
    about = reader.list_metadata(page, request.served, request.info, listed)
    _check_convertible(request, page.entries)
    # The page may be of an earlier revision than the stored objects.
    entries = [each for entry in page.entries if (each := scope.store.view.get(entry.key))]
    _admit_all(request, scope, entries, options)
    for entry in entries:
        deletion.admit(request, scope, entry, options)
        deletion.delete(scope.store, request.served, entry, options)
    return APIResponse(200, request.encoder.many(page.entries, request.served, metadata=about))


def _check_convertible(request: APIRequest, entries: Sequence[Entry]) -> None:
    """Reject the deletion of objects that cannot be converted to the request's version."""
    if request.served.converts_by_webhook:
        object_encoder.prefetch(entries, request.served)
        for entry in entries:
            request.live(entry)


def _admit_all(
    request: APIRequest, scope: RequestScope, entries: list[Entry], options: DeleteOptions
) -> None:
    """Run admission for the deletion of all objects before the first one is deleted.

    Stops at the first rejection.
    """
    if scope.admission.is_idle:
        return
    missing: list[WebhookCall] = []
    number_of_warnings = len(request.warnings)
    for entry in entries:
        try:
            deletion.admit(request, scope, entry, options)
        except NeedsWebhook as needed:
            missing += needed.calls
        except StatusError:
            break
    if missing:
        raise NeedsWebhook(missing)
    del request.warnings[number_of_warnings:]


def _warn_of_orphans(request: APIRequest, options: DeleteOptions) -> None:
    warning = request.served.strategy.orphan_warning
    if warning and not options.names_policy:
        request.warnings.append(warning)


VERBS: Mapping[str, Callable[[APIRequest, RequestScope], APIResponse]] = {
    "get": _get,
    "list": _list,
    "create": writer.create,
    "update": writer.update,
    "patch": writer.patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}

# Resources without stored objects.
_NOT_STORED: Mapping[
    GroupResource, Mapping[str, Callable[[APIRequest, RequestScope], APIResponse]]
] = {
    BINDINGS: {"create": bind_by_name},
    COMPONENT_STATUSES: {"get": component_statuses.get, "list": component_statuses.list_},
}
