"""The subresources that kube-apiserver proxies to the kubelet, such as log and exec.

They are log, exec, attach and portforward. steersman runs no kubelet that listens on a port. The
client therefore receives kube-apiserver's error for a Pod without a node, a node without an
address, or a closed port.
"""

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest

_NODES = GroupResource("", "nodes")

# kube-apiserver's --kubelet-preferred-address-types.
_PREFERRED = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_KUBELET_PORT = 10250
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def log(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle the GET of a Pod's log, which is empty as long as the Pod is not scheduled."""
    pod = _pod(request, scope)
    container = _container(request, pod)
    if not pod["spec"].get("nodeName"):
        return APIResponse(204, b"")
    raise _unreachable(scope, pod, f"containerLogs/{_named(pod)}/{container}", method="Get")


def execute(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle a request to run a command in a container."""
    return _connect(request, scope, "exec")


def attach(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle a request to attach to the input and output of a container."""
    return _connect(request, scope, "attach")


def forward_ports(request: APIRequest, scope: RequestScope) -> APIResponse:
    """Handle a request to forward ports of a Pod."""
    pod = _pod(request, scope)
    raise _unreachable(scope, _placed(pod), f"portForward/{_named(pod)}", method=_method(request))


def _connect(request: APIRequest, scope: RequestScope, how: str) -> APIResponse:
    pod = _pod(request, scope)
    container = _container(request, pod)
    path = f"{how}/{_named(pod)}/{container}"
    raise _unreachable(scope, _placed(pod), path, method=_method(request))


def _pod(request: APIRequest, scope: RequestScope) -> Object:
    entry = scope.entry(request)
    if entry is None:
        raise status_errors.not_found(request.served.group_resource, request.info.name)
    return request.live(entry)


def _placed(pod: Object) -> Object:
    if not pod["spec"].get("nodeName"):
        name = pod["metadata"]["name"]
        raise status_errors.bad_request(f"pod {name} does not have a host assigned")
    return pod


def _container(request: APIRequest, pod: Object) -> str:
    spec, name = pod["spec"], pod["metadata"]["name"]
    names = [each["name"] for part in _CONTAINERS for each in spec.get(part) or ()]
    wanted = request.info.option("container")
    if wanted:
        if wanted not in names:
            raise status_errors.bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    if len(spec["containers"]) != 1:
        raise status_errors.bad_request(
            f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
        )
    first: str = spec["containers"][0]["name"]
    return first


def _unreachable(scope: RequestScope, pod: Object, path: str, *, method: str) -> StatusError:
    name = pod["spec"]["nodeName"]
    node = scope.store.find(_NODES, "", name)
    if node is None:
        return status_errors.not_found(_NODES, name)
    status = node.get("status") or {}
    addresses = status.get("addresses") or []
    by_type = {each["type"]: each["address"] for each in reversed(addresses)}
    host = next((by_type[each] for each in _PREFERRED if by_type.get(each)), None)
    if host is None:
        known = " ".join(f"{{{each['type']} {each['address']}}}" for each in addresses)
        return StatusError(500, "", f"no preferred addresses found; known addresses: [{known}]")
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    at = f"{host}:{endpoint.get('Port') or _KUBELET_PORT}"
    return StatusError(
        500, "", f'{method} "https://{at}/{path}": dial tcp {at}: connect: connection refused'
    )


def _named(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _method(request: APIRequest) -> str:
    return request.http.method.capitalize()
