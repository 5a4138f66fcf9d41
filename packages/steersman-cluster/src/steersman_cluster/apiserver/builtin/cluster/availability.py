"""The ``Available`` condition of an APIService, derived from stored objects."""

from typing import NamedTuple

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.field_errors import shown
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

SERVICES = GroupResource("", "services")
SLICES = GroupResource("discovery.k8s.io", "endpointslices")

_SERVICE_NAME = "kubernetes.io/service-name"


class Availability(NamedTuple):
    """The status, reason and message of an ``Available`` condition."""

    status: str
    reason: str
    message: str


LOCAL = Availability("True", "Local", "Local APIServices are always available")


def availability(api_service: Object, around: StrategyContext) -> Availability:
    """Return the status, reason and message of the ``Available`` condition of ``api_service``.

    This server serves its own API groups, but forwards no requests to other servers.
    """
    spec = api_service["spec"]
    service: Object | None = spec.get("service")
    if service is None:
        return LOCAL
    namespace, name, port = service["namespace"], service["name"], service["port"]
    called = f"service/{name} in {shown(namespace)}"
    found = around.find(SERVICES, namespace, name)
    if found is None:
        return _no("ServiceNotFound", f"{called} is not present")
    if found["spec"].get("type") == "ClusterIP":
        names = [each.get("name", "") for each in found["spec"]["ports"] if each["port"] == port]
        if not names:
            return _no("ServicePortError", f"{called} is not listening on port {port}")
        slices = [
            each
            for each in around.every(SLICES, namespace=namespace)
            if (each["metadata"].get("labels") or {}).get(_SERVICE_NAME) == name
        ]
        if not slices:
            return _no("EndpointsNotFound", f"cannot find endpointslices for {called}")
        if not any(_is_ready(each, names[0]) for each in slices):
            why = f"endpointslices for {called} have no addresses with port name {shown(names[0])}"
            return _no("MissingEndpoints", why)
    where = f"https://{name}.{namespace}.svc:{port}/apis/{spec.get('group', '')}/{spec['version']}"
    why = f"failing or missing response from {where}: this server forwards no requests"
    return _no("FailedDiscoveryCheck", why)


def _no(reason: str, message: str) -> Availability:
    return Availability("False", reason, message)


def _is_ready(endpoint_slice: Object, port: str) -> bool:
    endpoints = endpoint_slice.get("endpoints") or ()
    ports = endpoint_slice.get("ports") or ()
    return any(
        (each.get("conditions") or {}).get("ready") is not False for each in endpoints
    ) and any(each.get("name") == port and each.get("port") is not None for each in ports)


def with_condition(api_service: Object, found: Availability, *, now: str) -> Object:
    """Return ``api_service`` with ``found`` as its ``Available`` condition.

    If the condition is unchanged, the result is ``api_service`` itself.
    """
    conditions: list[Object] = (api_service.get("status") or {}).get("conditions") or []
    old = next((each for each in conditions if each.get("type") == "Available"), None)
    since = now
    if old is not None and old.get("status") == found.status:
        since = old.get("lastTransitionTime", now)
    condition = {
        "type": "Available",
        "status": found.status,
        "lastTransitionTime": since,
        "reason": found.reason,
        "message": found.message,
    }
    if old == condition:
        return api_service
    others = [condition if each is old else each for each in conditions]
    return {**api_service, "status": {"conditions": others if old else [*others, condition]}}
