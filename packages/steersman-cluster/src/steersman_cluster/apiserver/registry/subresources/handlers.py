"""The handlers of each subresource, by name and verb."""

from collections.abc import Callable, Mapping

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.pods.pods import bound, check_binding
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry import reader, writer
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.registry.subresources import kubelet_proxy, scale
from steersman_cluster.apiserver.registry.subresources.eviction import evict
from steersman_cluster.apiserver.registry.subresources.posted_body import mutated, read_post
from steersman_cluster.apiserver.registry.subresources.token_requests import request_token
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.options import WriteOptions
from steersman_cluster.apiserver.storage import Entry

BINDINGS = GroupResource("", "bindings")
_NODES = GroupResource("", "nodes")


def _get(request: APIRequest, scope: RequestScope) -> APIResponse:
    return APIResponse(200, reader.get(request, scope))


def _stored_entry(request: APIRequest, scope: RequestScope) -> Entry:
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    return entry


def _bind(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the POST of a Binding, which assigns the Pod to a node."""
    binding, options = read_post(request, scope)
    binding = mutated(request, scope, binding, options)
    check_binding(binding, request.info.name)
    scope.admission.check(request, binding, None)
    return _bound(request, scope, binding, options)


def _bound(
    request: APIRequest, scope: RequestScope, binding: Object, options: WriteOptions
) -> APIResponse:
    entry = _stored_entry(request, scope)
    node = scope.store.find(_NODES, "", binding["target"].get("name", ""))
    pod = bound(request.live(entry), binding, node=node, now=scope.store.clock.now())
    if not options.dry_run:
        scope.store.write(entry.key, pod, strategy=request.served.strategy, replacing=entry)
    return _created(request)


def bind_by_name(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the POST of a Binding to the resource ``bindings``.

    The name of the Binding is the name of the Pod.
    """
    binding, options = read_post(request, scope)
    binding = mutated(request, scope, binding, options)
    if not (name := binding["metadata"].get("name")):
        raise status_errors.bad_request("Name parameter required.")
    pod = msgspec.structs.replace(request.info, resource="pods", name=name, subresource="binding")
    check_binding(binding, name)
    scope.admission.check(request, binding, None)
    return _bound(scope.request_for(request, pod), scope, binding, options)


def _evict(request: APIRequest, scope: RequestScope) -> APIResponse:
    evict(request, scope)
    return _created(request)


def _created(request: APIRequest) -> APIResponse:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
    return APIResponse(201, request.encoder.unchanged(status))


# The handlers of subresources that return the whole object.
_WHOLE_OBJECT: Mapping[str, Callable[[APIRequest, RequestScope], APIResponse]] = {
    "get": _get,
    "update": writer.update,
    "patch": writer.patch,
}
SUBRESOURCES: Mapping[str, Mapping[str, Callable[[APIRequest, RequestScope], APIResponse]]] = {
    "approval": _WHOLE_OBJECT,
    "attach": {"create": kubelet_proxy.attach, "get": kubelet_proxy.attach},
    "binding": {"create": _bind},
    "ephemeralcontainers": _WHOLE_OBJECT,
    "eviction": {"create": _evict},
    "exec": {"create": kubelet_proxy.execute, "get": kubelet_proxy.execute},
    "finalize": {"update": writer.update},
    "log": {"get": kubelet_proxy.log},
    "portforward": {"create": kubelet_proxy.forward_ports, "get": kubelet_proxy.forward_ports},
    "resize": _WHOLE_OBJECT,
    "scale": {"get": scale.get, "update": scale.update, "patch": scale.patch},
    "status": _WHOLE_OBJECT,
    "token": {"create": request_token},
}
