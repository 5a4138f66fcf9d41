"""Rows of nodes, namespaces, and the small things in them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from steersman_cluster.apiserver.meta.ages import Ages, human_duration
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.table_columns import CellOf, Column
from steersman_cluster.apiserver.tables.cells import NONE, UNKNOWN, amount, condition
from steersman_cluster.apiserver.tables.printers import (
    aged,
    at,
    filled,
    flag,
    name_of,
    named,
    number,
    part,
    printer,
    told,
    wide,
)

_ROLE_LABEL = "kubernetes.io/role"
_ROLE_PREFIX = "node-role.kubernetes.io/"


def _node_status(node: Object, _: Ages) -> str:
    # Of conditions of one type, the last counts.
    conditions: Iterable[Object] = part(node, "status", "conditions")
    ready = {each.get("type"): each.get("status") for each in conditions}.get("Ready")
    words = ["Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"]
    if part(node, "spec").get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(node: Object, _: Ages) -> str:
    labels: Mapping[str, str] = node["metadata"].get("labels") or {}
    roles = {label.removeprefix(_ROLE_PREFIX) for label in labels if label.startswith(_ROLE_PREFIX)}
    roles.add(labels.get(_ROLE_LABEL, ""))
    return ",".join(sorted(roles - {""})) or NONE


def _address(kind: str) -> CellOf:
    def cell(node: Object, _: Ages) -> str:
        addresses: Iterable[Object] = part(node, "status", "addresses")
        found = (each.get("address", "") for each in addresses if each.get("type") == kind)
        return next(found, NONE)

    return cell


def _kernel(node: Object, _: Ages) -> str:
    info = part(node, "status", "nodeInfo")
    kernel, architecture = info.get("kernelVersion") or UNKNOWN, info.get("architecture")
    return f"{kernel} ({architecture})" if architecture else kernel


NODE = printer(
    named(),
    told("Status", _node_status),
    told("Roles", _roles),
    aged(),
    told("Version", at("status.nodeInfo.kubeletVersion")),
    wide("Internal-IP", _address("InternalIP")),
    wide("External-IP", _address("ExternalIP")),
    wide("OS-Image", filled("status.nodeInfo.osImage", UNKNOWN)),
    wide("Kernel-Version", _kernel),
    wide("Container-Runtime", filled("status.nodeInfo.containerRuntimeVersion", UNKNOWN)),
)

NAMESPACE = printer(named(), told("Status", at("status.phase")), aged())


def _entries(*fields: str) -> CellOf:
    def cell(obj: Object, _: Ages) -> int:
        return sum(len(obj.get(each) or ()) for each in fields)

    return cell


CONFIG_MAP = printer(named(), told("Data", _entries("data", "binaryData")), aged())
SECRET = printer(named(), told("Type", at("type")), told("Data", _entries("data")), aged())
SERVICE_ACCOUNT = printer(named(), aged())


def _first_seen(event: Object, ages: Ages) -> str:
    return ages.since(event.get("firstTimestamp") or event.get("eventTime"))


def _last_seen(event: Object, ages: Ages) -> str:
    if event.get("series") is not None:
        return ages.since(event["series"].get("lastObservedTime"))
    last = event.get("lastTimestamp")
    return ages.since(last) if last else _first_seen(event, ages)


def _times(event: Object, _: Ages) -> int:
    series = event.get("series")
    return series.get("count", 0) if series is not None else event.get("count") or 1


def _object(event: Object, _: Ages) -> str:
    about = event.get("involvedObject") or {}
    kind, name = about.get("kind", "").lower(), about.get("name")
    return f"{kind}/{name}" if name else str(kind)


def _source(event: Object, _: Ages) -> str:
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    host = source.get("host") or event.get("reportingInstance")
    return f"{component}, {host}" if host else str(component)


def _message(event: Object, _: Ages) -> str:
    return str(event.get("message", "")).strip()


EVENT = printer(
    told("Last Seen", _last_seen),
    told("Type", at("type")),
    told("Reason", at("reason")),
    told("Object", _object),
    wide("Subobject", at("involvedObject.fieldPath")),
    wide("Source", _source),
    told("Message", _message),
    wide("First Seen", _first_seen),
    wide("Count", _times),
    (Column(name="Name", format="name", priority=1), name_of),
)


def _quotas(*, limits: bool) -> CellOf:
    def cell(quota: Object, _: Ages) -> str:
        hard, used = part(quota, "status", "hard"), part(quota, "status", "used")
        return ", ".join(
            f"{name}: {amount(used.get(name))}/{amount(hard[name])}"
            for name in sorted(hard)
            if name.startswith("limits.") == limits
        )

    return cell


RESOURCE_QUOTA = printer(
    named(),
    told("Request", _quotas(limits=False)),
    told("Limit", _quotas(limits=True)),
    aged(),
)


def _healthy(component: Object) -> Object:
    conditions: Iterable[Object] = component.get("conditions") or ()
    return next((each for each in conditions if each.get("type") == "Healthy"), {})


def _component_status(component: Object, _: Ages) -> str:
    status = _healthy(component).get("status")
    return "Unknown" if status is None else "Healthy" if status == "True" else "Unhealthy"


def _said(field: str) -> CellOf:
    def cell(component: Object, _: Ages) -> str:
        return str(_healthy(component).get(field, ""))

    return cell


COMPONENT_STATUS = printer(
    named(),
    told("Status", _component_status),
    told("Message", _said("message")),
    told("Error", _said("error")),
)

LEASE = printer(named(), told("Holder", at("spec.holderIdentity")), aged())


def _requested(request: Object, _: Ages) -> str:
    seconds = part(request, "spec").get("expirationSeconds")
    return NONE if seconds is None else human_duration(timedelta(seconds=seconds))


def _verdict(request: Object, _: Ages) -> str:
    status = part(request, "status")
    conditions: Sequence[Object] = status.get("conditions") or ()
    found = {each.get("type") for each in conditions}
    words = [next((each for each in ("Denied", "Approved") if each in found), "Pending")]
    if "Failed" in found:
        words.append("Failed")
    if status.get("certificate"):
        words.append("Issued")
    return ",".join(words)


CERTIFICATE_SIGNING_REQUEST = printer(
    named(),
    aged(),
    told("SignerName", filled("spec.signerName", NONE)),
    told("Requestor", at("spec.username")),
    told("RequestedDuration", _requested),
    told("Condition", _verdict),
)

PRIORITY_CLASS = printer(
    named(),
    told("Value", number("value"), "integer"),
    told("Global-Default", flag("globalDefault"), "boolean"),
    aged(),
    told("PreemptionPolicy", at("preemptionPolicy")),
)

RUNTIME_CLASS = printer(named(), told("Handler", at("handler")), aged())


def _either(path: str) -> CellOf:
    """A number or a percentage."""
    found = at(path, "N/A")

    def cell(obj: Object, ages: Ages) -> str:
        return str(found(obj, ages))

    return cell


POD_DISRUPTION_BUDGET = printer(
    named(),
    told("Min Available", _either("spec.minAvailable")),
    told("Max Unavailable", _either("spec.maxUnavailable")),
    told("Allowed Disruptions", number("status.disruptionsAllowed"), "integer"),
    aged(),
)


def _service(api_service: Object, _: Ages) -> str:
    service = part(api_service, "spec", "service")
    return f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"


def _available(api_service: Object, _: Ages) -> str:
    found = condition(api_service, "Available")
    if found is None:
        return "Unknown"
    status, reason = str(found.get("status", "")), found.get("reason")
    return f"{status} ({reason})" if reason and status != "True" else status


API_SERVICE = printer(named(), told("Service", _service), told("Available", _available), aged())
