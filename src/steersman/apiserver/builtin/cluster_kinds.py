"""Kinds that a cluster is run with: nodes, quotas, priorities, certificates."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from steersman.apiserver import metadata
from steersman.apiserver.builtin.common_defaults import fill, fill_empty
from steersman.apiserver.builtin.common_rules import keeps, needs
from steersman.apiserver.builtin.go_forms import go_form
from steersman.apiserver.builtin.label_selectors import selector_errors
from steersman.apiserver.builtin.workload_templates import share_errors, too_large_share_errors
from steersman.apiserver.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    immutable,
    invalid,
    required,
)
from steersman.apiserver.names_rules import (
    NOT_NEGATIVE,
    dns_1035_label,
    dns_subdomain,
    path_segment,
    path_segment_name,
    subdomain_name,
)
from steersman.apiserver.rules import Object, Rules, Surroundings
from steersman.units import format_time

if TYPE_CHECKING:
    from steersman.apiserver.access import User

REQUEST_PEM = b"-----BEGIN CERTIFICATE REQUEST-----"
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


def _node_change_errors(node: Object, old: Object) -> list[FieldError]:
    """What was once assigned to a node stays with it."""
    spec, was = node.get("spec", {}), old.get("spec", {})
    return [
        forbidden(f"spec.{field}", f'node updates may not change {shown} except from "" to valid')
        for field, shown in (("podCIDRs", "podCIDR"), ("providerID", "providerID"))
        if was.get(field) and spec.get(field) != was[field]
    ]


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


def _prepare_limit_range(limit_range: Object, around: Surroundings) -> None:
    if not limit_range["metadata"].get("name"):
        limit_range["metadata"]["name"] = metadata.new_uid(around.rng)


def _quota_change_errors(quota: Object, old: Object) -> list[FieldError]:
    scopes, was = (each.get("spec", {}).get("scopes") for each in (quota, old))
    if set(scopes or ()) == set(was or ()):
        return []
    return [immutable("spec.scopes", scopes)]


def _prepare_account(account: Object, _: Surroundings) -> None:
    if secrets := account.get("secrets"):
        # Of a reference only the name means anything.
        account["secrets"] = [
            {"name": each["name"]} if each.get("name") else {} for each in secrets
        ]


def _prepare_account_update(account: Object, _: Object, around: Surroundings) -> None:
    _prepare_account(account, around)


def _default_priority_class(priority_class: Object) -> None:
    fill(priority_class, preemptionPolicy="PreemptLowerPriority")


def _priority_change_errors(priority_class: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if priority_class.get("value", 0) != old.get("value", 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    return errors + keeps({"preemptionPolicy": None})(priority_class, old)


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


def _sign_request(request: Object, user: "User") -> None:
    said = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    spec = {key: value for key, value in request.get("spec", {}).items() if key not in said}
    request["spec"] = spec | {key: value for key, value in said.items() if value}


def _request_errors(request: Object) -> list[FieldError]:
    errors = needs("spec.usages", "spec.signerName")(request)
    if REQUEST_PEM not in b64decode(request["spec"].get("request") or ""):
        why = "PEM block type must be CERTIFICATE REQUEST"
        errors.insert(0, invalid("spec.request", request["spec"].get("request"), why))
    return errors


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
    return [immutable("data", data)] if data != old.get("data") else []


def _budget_errors(budget: Object) -> list[FieldError]:
    spec = budget.get("spec", {})
    errors: list[FieldError] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "minAvailable and maxUnavailable cannot be both set"
        errors.append(invalid("spec", go_form("PodDisruptionBudgetSpec", spec), why))
    for field in ("minAvailable", "maxUnavailable"):
        if (share := spec.get(field)) is not None:
            path = f"spec.{field}"
            errors += share_errors(share, path) + too_large_share_errors(share, path)
    return errors + selector_errors(spec.get("selector"), "spec.selector")


def _api_service_names(api_service: Object) -> Callable[[str, bool], list[str]]:
    spec = api_service.get("spec", {})
    only = f"{spec.get('version', '')}.{spec.get('group', '')}"

    def errors(name: str, _is_prefix: bool) -> list[str]:
        others = [] if name == only else [f'must be `spec.version+"."+spec.group`: "{only}"']
        return path_segment(name) or others

    return errors


def _api_service_errors(api_service: Object) -> list[FieldError]:
    spec = api_service.get("spec", {})
    group, version = spec.get("group", ""), spec.get("version", "")
    errors: list[FieldError] = []
    if group:
        errors += all_invalid("spec.group", group, dns_subdomain(group))
    elif version != "v1":
        why = "only v1 may have an empty group and it better be legacy kube"
        errors.append(required("spec.group", why))
    errors += all_invalid("spec.version", version, dns_1035_label(version))
    for field, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        if not 0 < (priority := spec.get(field, 0)) <= most:
            why = f"must be positive and less than {most}"
            errors.append(invalid(f"spec.{field}", priority, why))
    return errors


def _default_api_service(api_service: Object) -> None:
    if service := api_service.get("spec", {}).get("service"):
        fill(service, port=443)


def _prepare_api_service(api_service: Object, around: Surroundings) -> None:
    if api_service.get("spec", {}).get("service") is None:
        available = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": format_time(around.clock.now()),
            "reason": "Local",
            "message": "Local APIServices are always available",
        }
        api_service["status"] = {"conditions": [available]}


NODE = Rules(
    default=_default_node,
    prepare_create=_prepare_node,
    validate_update=_node_change_errors,
    name_errors=subdomain_name,
    selectable=_selectable_node,
    has_status=True,
    status_on_create=True,
)
LIMIT_RANGE = Rules(
    default=_default_limit_range,
    prepare_create=_prepare_limit_range,
    name_errors=subdomain_name,
    create_on_update=True,
)
RESOURCE_QUOTA = Rules(
    validate_update=_quota_change_errors,
    name_errors=subdomain_name,
    has_status=True,
    returns_deleted=True,
)
SERVICE_ACCOUNT = Rules(
    prepare_create=_prepare_account,
    prepare_update=_prepare_account_update,
    name_errors=subdomain_name,
    returns_deleted=True,
)
PRIORITY_CLASS = Rules(
    default=_default_priority_class,
    validate_update=_priority_change_errors,
    name_errors=subdomain_name,
    generation_of=("value",),  # which nobody may change: it stays the first
)
RUNTIME_CLASS = Rules(
    validate=needs("handler"),
    validate_update=keeps({"handler": ""}),
    name_errors=subdomain_name,
    unconditional_update=False,
    create_on_update=True,
)
POD_DISRUPTION_BUDGET = Rules(
    validate=_budget_errors,
    name_errors=path_segment_name,
    metadata_turn="last",
    generation_of=("spec",),
    has_status=True,
    unconditional_update=False,
)
FLOW_SCHEMA = Rules(
    default=_default_flow_schema,
    validate=needs("spec.priorityLevelConfiguration.name", name="must reference a priority level"),
    name_errors=subdomain_name,
    generation_of=("spec",),
    has_status=True,
)
PRIORITY_LEVEL = Rules(
    default=_default_priority_level,
    validate=needs("spec.type"),
    name_errors=subdomain_name,
    generation_of=("spec",),
    has_status=True,
)
CERTIFICATE_SIGNING_REQUEST = Rules(
    sign=_sign_request,
    prepare_update=_prepare_request_update,
    validate_create=_request_errors,
    name_errors=path_segment_name,
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
    prepare_create=_prepare_api_service,
    validate=_api_service_errors,
    name_errors_of=_api_service_names,
    has_status=True,
    unconditional_update=False,
)
