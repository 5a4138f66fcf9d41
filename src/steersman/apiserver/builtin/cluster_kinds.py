"""Kinds that a cluster is run with: nodes, quotas, permissions, priorities, devices."""

from collections.abc import Iterator, Mapping

from steersman.apiserver.builtin.filling import fill, fill_empty
from steersman.apiserver.field_errors import FieldError, invalid, required
from steersman.apiserver.names_rules import NOT_NEGATIVE, path_segment_name, subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings

RBAC = "rbac.authorization.k8s.io"
NOT_READY: Mapping[str, str] = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def _default_node(node: Object) -> None:
    status = node.get("status", {})
    if "capacity" in status:
        fill(status, allocatable=dict(status["capacity"]))


def _prepare_node(node: Object, _: Surroundings) -> None:
    # A node that has not yet said that it is ready gets no pods.
    taints = node.setdefault("spec", {}).get("taints", [])
    if not any(each.items() >= NOT_READY.items() for each in taints):
        node["spec"]["taints"] = [*taints, dict(NOT_READY)]


def _selectable_node(node: Object) -> Mapping[str, str]:
    unschedulable = node.get("spec", {}).get("unschedulable", False)
    return {
        "metadata.name": node["metadata"].get("name", ""),
        "spec.unschedulable": "true" if unschedulable else "false",
    }


def _default_limit_range(limit_range: Object) -> None:
    """A container's limit is the most there may be, and it asks for its limit."""
    for item in limit_range.get("spec", {}).get("limits") or ():
        if item.get("type") == "Container":
            limits = {**item.get("max", {}), **item.get("default", {})}
            requests = {**item.get("min", {}), **limits, **item.get("defaultRequest", {})}
            for field, value in (("default", limits), ("defaultRequest", requests)):
                if value:
                    item[field] = value


def _prepare_account(account: Object, _: Surroundings) -> None:
    if secrets := account.get("secrets"):
        # Of a reference only the name means anything.
        account["secrets"] = [
            {"name": each["name"]} if each.get("name") else {} for each in secrets
        ]


def _prepare_account_update(account: Object, _: Object, around: Surroundings) -> None:
    _prepare_account(account, around)


def _default_binding(binding: Object) -> None:
    fill_empty(binding.setdefault("roleRef", {}), apiGroup=RBAC)
    for subject in binding.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            fill_empty(subject, apiGroup=RBAC)


def _default_priority_class(priority_class: Object) -> None:
    fill(priority_class, preemptionPolicy="PreemptLowerPriority")


def _default_flow_schema(flow_schema: Object) -> None:
    fill_empty(flow_schema.setdefault("spec", {}), matchingPrecedence=1000)


def _default_priority_level(level: Object) -> None:
    spec = level.get("spec", {})
    if (exempt := spec.get("exempt")) is not None:
        fill(exempt, nominalConcurrencyShares=0, lendablePercent=0)
    if (limited := spec.get("limited")) is not None:
        fill(limited, nominalConcurrencyShares=30, lendablePercent=0)
        if (queuing := limited.get("limitResponse", {}).get("queuing")) is not None:
            fill_empty(queuing, handSize=8, queues=64, queueLengthLimit=50)


def _default_claim(claim: Object) -> None:
    for request in _device_requests(claim.get("spec", {})):
        fill_empty(request, allocationMode="ExactCount")
        if request["allocationMode"] == "ExactCount":
            fill_empty(request, count=1)


def _default_claim_template(template: Object) -> None:
    _default_claim(template.get("spec", {}))


def _device_requests(spec: Object) -> Iterator[Object]:
    for request in spec.get("devices", {}).get("requests", ()):
        yield from request.get("firstAvailable", ())
        if (exact := request.get("exactly")) is not None:
            yield exact


def _selectable_slice(resource_slice: Object) -> Mapping[str, str]:
    spec = resource_slice.get("spec", {})
    return {
        "metadata.name": resource_slice["metadata"].get("name", ""),
        "spec.driver": spec.get("driver", ""),
        "spec.nodeName": spec.get("nodeName", ""),
    }


def _prepare_request(request: Object, _: Surroundings) -> None:
    # Who asks is for the server to say.
    for field in ("username", "uid", "groups", "extra"):
        request["spec"].pop(field, None)


def _prepare_request_update(request: Object, old: Object, _: Surroundings) -> None:
    request["spec"] = old["spec"]


def _selectable_request(request: Object) -> Mapping[str, str]:
    return {
        "metadata.name": request["metadata"].get("name", ""),
        "spec.signerName": request.get("spec", {}).get("signerName", ""),
    }


def _revision_errors(revision: Object) -> list[FieldError]:
    number = revision.get("revision", 0)
    return [invalid("revision", number, NOT_NEGATIVE)] if number < 0 else []


def _new_revision_errors(revision: Object) -> list[FieldError]:
    data = revision.get("data")
    if data is None:
        return [required("data", "data is mandatory")]
    return [] if isinstance(data, dict) else [required("data", "data must be a valid JSON object")]


def _revision_change_errors(revision: Object, old: Object) -> list[FieldError]:
    data = revision.get("data")
    return [invalid("data", data, "field is immutable")] if data != old.get("data") else []


def _default_api_service(api_service: Object) -> None:
    if service := api_service.get("spec", {}).get("service"):
        fill(service, port=443)


NODE = Rules(
    default=_default_node,
    prepare_create=_prepare_node,
    name_errors=subdomain_name,
    selectable=_selectable_node,
    has_status=True,
    status_on_create=True,
)
LIMIT_RANGE = Rules(default=_default_limit_range, name_errors=subdomain_name, create_on_update=True)
RESOURCE_QUOTA = Rules(name_errors=subdomain_name, has_status=True, returns_deleted=True)
SERVICE_ACCOUNT = Rules(
    prepare_create=_prepare_account,
    prepare_update=_prepare_account_update,
    name_errors=subdomain_name,
    returns_deleted=True,
)
ROLE = Rules(name_errors=path_segment_name, create_on_update=True)
ROLE_BINDING = Rules(default=_default_binding, name_errors=path_segment_name, create_on_update=True)
PRIORITY_CLASS = Rules(
    default=_default_priority_class,
    name_errors=subdomain_name,
    generation_of=("value",),  # which nobody may change: it stays the first
)
RUNTIME_CLASS = Rules(name_errors=subdomain_name, unconditional_update=False, create_on_update=True)
POD_DISRUPTION_BUDGET = Rules(
    name_errors=subdomain_name,
    generation_of=("spec",),
    has_status=True,
    unconditional_update=False,
)
FLOW_SCHEMA = Rules(
    default=_default_flow_schema,
    name_errors=subdomain_name,
    generation_of=("spec",),
    has_status=True,
)
PRIORITY_LEVEL = Rules(
    default=_default_priority_level,
    name_errors=subdomain_name,
    generation_of=("spec",),
    has_status=True,
)
RESOURCE_CLAIM = Rules(
    default=_default_claim, name_errors=subdomain_name, has_status=True, returns_deleted=True
)
RESOURCE_CLAIM_TEMPLATE = Rules(
    default=_default_claim_template, name_errors=subdomain_name, returns_deleted=True
)
DEVICE_CLASS = Rules(name_errors=subdomain_name, generation_of=("spec",), returns_deleted=True)
RESOURCE_SLICE = Rules(
    name_errors=subdomain_name,
    selectable=_selectable_slice,
    generation_of=("spec",),
    returns_deleted=True,
)
CERTIFICATE_SIGNING_REQUEST = Rules(
    prepare_create=_prepare_request,
    prepare_update=_prepare_request_update,
    name_errors=subdomain_name,
    selectable=_selectable_request,
    has_status=True,
)
CONTROLLER_REVISION = Rules(
    validate=_revision_errors,
    validate_create=_new_revision_errors,
    validate_update=_revision_change_errors,
    name_errors=subdomain_name,
)
API_SERVICE = Rules(
    default=_default_api_service,
    name_errors=path_segment_name,
    has_status=True,
    unconditional_update=False,
)
