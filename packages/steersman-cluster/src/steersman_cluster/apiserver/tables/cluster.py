"""The table rows of Nodes, Namespaces, and small objects such as ConfigMaps and Leases."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from steersman_cluster.apiserver.meta.ages import Ages, human_duration
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import CellOf, TableColumn
from steersman_cluster.apiserver.tables.cells import NONE, UNKNOWN, amount, condition
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    at,
    column,
    filled,
    flag,
    name_column,
    name_of,
    number,
    part,
    printer,
    wide_column,
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
    name_column(),
    column("Status", _node_status),
    column("Roles", _roles),
    age_column(),
    column("Version", at("status.nodeInfo.kubeletVersion")),
    wide_column("Internal-IP", _address("InternalIP")),
    wide_column("External-IP", _address("ExternalIP")),
    wide_column("OS-Image", filled("status.nodeInfo.osImage", UNKNOWN)),
    wide_column("Kernel-Version", _kernel),
    wide_column("Container-Runtime", filled("status.nodeInfo.containerRuntimeVersion", UNKNOWN)),
)

NAMESPACE = printer(name_column(), column("Status", at("status.phase")), age_column())


def _entries(*fields: str) -> CellOf:
    def cell(obj: Object, _: Ages) -> int:
        return sum(len(obj.get(each) or ()) for each in fields)

    return cell


CONFIG_MAP = printer(name_column(), column("Data", _entries("data", "binaryData")), age_column())
SECRET = printer(
    name_column(), column("Type", at("type")), column("Data", _entries("data")), age_column()
)
SERVICE_ACCOUNT = printer(name_column(), age_column())


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
    column("Last Seen", _last_seen),
    column("Type", at("type")),
    column("Reason", at("reason")),
    column("Object", _object),
    wide_column("Subobject", at("involvedObject.fieldPath")),
    wide_column("Source", _source),
    column("Message", _message),
    wide_column("First Seen", _first_seen),
    wide_column("Count", _times),
    (TableColumn(name="Name", format="name", priority=1), name_of),
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
    name_column(),
    column("Request", _quotas(limits=False)),
    column("Limit", _quotas(limits=True)),
    age_column(),
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
    name_column(),
    column("Status", _component_status),
    column("Message", _said("message")),
    column("Error", _said("error")),
)

LEASE = printer(name_column(), column("Holder", at("spec.holderIdentity")), age_column())


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
    name_column(),
    age_column(),
    column("SignerName", filled("spec.signerName", NONE)),
    column("Requestor", at("spec.username")),
    column("RequestedDuration", _requested),
    column("Condition", _verdict),
)

PRIORITY_CLASS = printer(
    name_column(),
    column("Value", number("value"), "integer"),
    column("Global-Default", flag("globalDefault"), "boolean"),
    age_column(),
    column("PreemptionPolicy", at("preemptionPolicy")),
)

RUNTIME_CLASS = printer(name_column(), column("Handler", at("handler")), age_column())


def _either(path: str) -> CellOf:
    """Return a cell function for the number or percentage at a dotted path."""
    found = at(path, "N/A")

    def cell(obj: Object, ages: Ages) -> str:
        return str(found(obj, ages))

    return cell


POD_DISRUPTION_BUDGET = printer(
    name_column(),
    column("Min Available", _either("spec.minAvailable")),
    column("Max Unavailable", _either("spec.maxUnavailable")),
    column("Allowed Disruptions", number("status.disruptionsAllowed"), "integer"),
    age_column(),
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


API_SERVICE = printer(
    name_column(), column("Service", _service), column("Available", _available), age_column()
)
