"""ComponentStatuses, with fixed content: the server does not probe the components.

The scheduler and the controller manager are always unhealthy. etcd, which represents the log of
this process, is always healthy.
"""

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.registry.reader import selection
from steersman_cluster.apiserver.registry.request_scope import APIResponse, RequestScope
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.options import ListOptions
from steersman_cluster.apiserver.storage import Entry, Key

COMPONENT_STATUSES = GroupResource("", "componentstatuses")

_PORTS = {"scheduler": 10259, "controller-manager": 10257}
_ETCD = "etcd-0"


def get(request: APIRequest, _: RequestScope) -> APIResponse:
    """Handle the GET of one ComponentStatus."""
    for entry in _entries():
        if entry.key.place == request.info.name:
            return APIResponse(200, request.encoder.one(entry, request.served))
    raise status_errors.not_found(GroupResource("", "componentstatus"), request.info.name)


def list_(request: APIRequest, _: RequestScope) -> APIResponse:
    """Return the list of all selected ComponentStatuses, without a resourceVersion."""
    selects = selection(request.served, ListOptions.of(request.info))
    entries = [each for each in _entries() if selects is None or selects(each)]
    return APIResponse(200, request.encoder.many(entries, request.served, metadata={}))


def _entries() -> list[Entry]:
    found = [(name, False, _refused(port)) for name, port in _PORTS.items()]
    return [
        Entry(0, Key(str(COMPONENT_STATUSES), name), _status(name, healthy, message), None)
        for name, healthy, message in (*found, (_ETCD, True, "ok"))
    ]


def _status(name: str, healthy: bool, message: str) -> Object:
    condition = {"type": "Healthy", "status": str(healthy), "message": message}
    return {
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "conditions": [condition],
    }


def _refused(port: int) -> str:
    at = f"127.0.0.1:{port}"
    return f'Get "https://{at}/healthz": dial tcp {at}: connect: connection refused'
