"""APIServices: which server serves an API group version."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Final

from steersman.units import format_time
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_1035_label,
    dns_subdomain,
    path_segment,
    port_number,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_STATUSES: Final = ("True", "False", "Unknown")
# Metadata that a write of the status does not change.
_METADATA_KEPT_BY_STATUS: Final = ("labels", "annotations", "finalizers", "ownerReferences")


def _default(api_service: Object) -> None:
    if (service := api_service.get("spec", {}).get("service")) is not None:
        fill(service, port=443)


def _prepare_create(api_service: Object, around: StrategyContext) -> None:
    if api_service.get("spec", {}).get("service") is None:
        available = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": format_time(around.clock.now()),
            "reason": "Local",
            "message": "Local APIServices are always available",
        }
        api_service["status"] = {"conditions": [available]}


def _prepare_status(api_service: Object, old: Object, _: StrategyContext) -> None:
    metadata, before = api_service["metadata"], old["metadata"]
    for name in _METADATA_KEPT_BY_STATUS:
        metadata.pop(name, None)
        if name in before:
            metadata[name] = before[name]


def _names(api_service: Object) -> Callable[[str, bool], list[str]]:
    spec = api_service.get("spec", {})
    only = f"{spec.get('version', '')}.{spec.get('group', '')}"

    def errors(name: str, _is_prefix: bool) -> list[str]:
        others = [] if name == only else [f'must be `spec.version+"."+spec.group`: "{only}"']
        return path_segment(name) or others

    return errors


def _validate(api_service: Object) -> list[FieldError]:
    return [*_spec_errors(api_service.get("spec", {}))]


def _validate_change(api_service: Object, _: Object) -> list[FieldError]:
    name = api_service["metadata"]["name"]
    errors = all_invalid("metadata.name", name, _names(api_service)(name, False))
    return errors + _validate(api_service)


def _spec_errors(spec: Object) -> Iterator[FieldError]:
    group, version = spec.get("group", ""), spec.get("version", "")
    if group:
        yield from all_invalid("spec.group", group, dns_subdomain(group))
    elif version != "v1":
        why = "only v1 may have an empty group and it better be legacy kube"
        yield required("spec.group", why)
    yield from all_invalid("spec.version", version, dns_1035_label(version))
    for field, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        if not 0 < (priority := spec.get(field, 0)) <= most:
            yield invalid(f"spec.{field}", priority, f"must be positive and less than {most}")
    service: Object | None = spec.get("service")
    bundle, skips = spec.get("caBundle") or "", spec.get("insecureSkipTLSVerify", False)
    if service is None:
        if bundle:
            shown = f"{len(b64decode(bundle))} bytes"
            yield invalid("spec.caBundle", shown, "local APIServices may not have a caBundle")
        if skips:
            why = "local APIServices may not have insecureSkipTLSVerify"
            yield invalid("spec.insecureSkipTLSVerify", True, why)
        return
    for name in ("namespace", "name"):
        if not service.get(name):
            yield required(f"spec.service.{name}")
    if wrong := port_number(service["port"]):
        yield invalid(
            "spec.service.port", service["port"], f"port is not valid: {', '.join(wrong)}"
        )
    if skips and bundle:
        why = "may not be true if caBundle is present"
        yield invalid("spec.insecureSkipTLSVerify", True, why)


def _validate_status(api_service: Object, _: Object) -> list[FieldError]:
    conditions = (api_service.get("status") or {}).get("conditions") or ()
    return [
        not_supported(f"status.conditions[{index}].status", status, _STATUSES)
        for index, condition in enumerate(conditions)
        if (status := condition.get("status", "")) not in _STATUSES
    ]


API_SERVICE = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    prepare_status=_prepare_status,
    validate_create=_validate,
    validate_update=_validate_change,
    validate_status=_validate_status,
    name_errors_of=_names,
    has_status=True,
    allow_unconditional_update=False,
)
