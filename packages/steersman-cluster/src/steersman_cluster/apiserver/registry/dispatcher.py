"""From a request to the handler of its verb and resource."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.registry import deletion, reader, writer
from steersman_cluster.apiserver.registry.request_scope import Answer, RequestScope
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
    """The resource is there, and cannot do that."""
    return StatusError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        details={},
    )


def is_out_of_scope(info: RequestInfo, served: ServedResource) -> bool:
    """Whether a custom resource is asked for in a namespace and has none, or the other way around.

    The handler of custom resources then passes the request on, and no other takes it.
    """
    if not served.custom:
        return False
    if served.namespaced:
        return not info.namespace and info.verb not in ("list", "watch")
    return bool(info.namespace)


def check_place(info: RequestInfo, served: ServedResource) -> None:
    """A resource is served in namespaces or outside of them, and a subresource where it is one."""
    if info.subresource and info.subresource not in served.subresources:
        if served.custom:
            raise status_errors.not_found(served.group_resource, info.name)
        raise status_errors.no_such_path()
    if info.subresource and info.subresource not in SUBRESOURCES:
        raise not_allowed()  # what only a kubelet, or a program in a container, could answer
    if info.rest and not served.custom:
        raise status_errors.no_such_path()
    if info.verb == "watch" and "watch" not in served.verbs and "watch" not in info.query:
        raise status_errors.no_such_path()  # what cannot be watched has no path for it
    if served.namespaced:
        if info.name and not info.namespace:
            raise status_errors.no_such_path()
        if not info.namespace and info.verb not in ("list", "watch"):
            raise not_allowed()
    elif info.namespace and served.plural != "namespaces":
        raise status_errors.no_such_path()
    if not info.name and info.verb in ("update", "patch"):
        raise status_errors.bad_request("name must be provided") if served.custom else not_allowed()


def dispatch(request: APIRequest, scope: RequestScope) -> Answer | AsyncGenerator[bytes, None]:
    """Answer a request whose place has been checked; a watch answers with its lines."""
    info, served = request.info, request.served
    if served.rules.kept_seconds is not None:
        scope.store.delete_expired(served.stored_as, rules=served.rules)
    if request.http.method == "HEAD" and not served.custom:
        raise not_allowed()
    if info.subresource:
        answering = SUBRESOURCES.get(info.subresource, {}).get(info.verb)
        if answering is None or info.verb not in served.subresources[info.subresource]["verbs"]:
            if served.custom:
                raise status_errors.method_not_allowed(served.group_resource, info.verb)
            raise not_allowed()
        return answering(request, scope)
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
        raise not_allowed()  # a custom resource is created by the name in its body
    return _UNKEPT.get(served.group_resource, VERBS)[info.verb](request, scope)


def _get(request: APIRequest, scope: RequestScope) -> Answer:
    return Answer(200, reader.get(request, scope))


def _list(request: APIRequest, scope: RequestScope) -> Answer:
    return Answer(200, reader.list_(request, scope))


def _delete(request: APIRequest, scope: RequestScope) -> Answer:
    options = scope.delete_options(request)
    _warn_of_orphans(request, options)
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    _check_convertible(request, [entry])
    deletion.admit(request, scope, entry, options)
    deleted = deletion.delete(scope.store, request.served, entry, options)
    accepted = not deleted.gone and options.orphan_dependents is False
    return Answer(
        202 if accepted else 200, deletion.answer(deleted, request.served, request.encoder)
    )


def _delete_collection(request: APIRequest, scope: RequestScope) -> Answer:
    listed = ListOptions.of(request.info)
    options = scope.delete_options(request)
    reader.selection(request.served, listed)  # what is wrong with it is said without a warning
    _warn_of_orphans(request, options)
    page = reader.selected_page(scope.store, request.served, request.info, listed)
    about = reader.list_metadata(page, request.served, request.info, listed)
    _check_convertible(request, page.entries)
    # The page may be of another moment, and what it lists be changed or gone by now.
    entries = [each for entry in page.entries if (each := scope.store.view.get(entry.key))]
    _ask_about(request, scope, entries, options)
    for entry in entries:
        deletion.admit(request, scope, entry, options)
        deletion.delete(scope.store, request.served, entry, options)
    return Answer(200, request.encoder.many(page.entries, request.served, metadata=about))


def _check_convertible(request: APIRequest, entries: Sequence[Entry]) -> None:
    """Refuse to delete what cannot be shown in the version of the request."""
    if request.served.converts_by_webhook:
        object_encoder.prefetch(entries, request.served)
        for entry in entries:
            request.live(entry)


def _ask_about(
    request: APIRequest, scope: RequestScope, entries: list[Entry], options: DeleteOptions
) -> None:
    """Have all deletions judged before the first is made; up to the first that is refused."""
    if scope.admission.is_idle:
        return
    missing: list[WebhookCall] = []
    said = len(request.warnings)
    for entry in entries:
        try:
            deletion.admit(request, scope, entry, options)
        except NeedsWebhook as unanswered:
            missing += unanswered.inquiries
        except StatusError:
            break
    if missing:
        raise NeedsWebhook(missing)
    del request.warnings[said:]


def _warn_of_orphans(request: APIRequest, options: DeleteOptions) -> None:
    warning = request.served.rules.orphan_warning
    if warning and not options.names_policy:
        request.warnings.append(warning)


VERBS: Mapping[str, Callable[[APIRequest, RequestScope], Answer]] = {
    "get": _get,
    "list": _list,
    "create": writer.create,
    "update": writer.update,
    "patch": writer.patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}

# What is answered from no store.
_UNKEPT: Mapping[GroupResource, Mapping[str, Callable[[APIRequest, RequestScope], Answer]]] = {
    BINDINGS: {"create": bind_by_name},
    COMPONENT_STATUSES: {"get": component_statuses.get, "list": component_statuses.list_},
}
