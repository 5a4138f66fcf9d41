"""APIServices: which server serves an API group version."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Final

from steersman.units import format_time
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_1035_label,
    dns_subdomain,
    path_segment,
    port_number,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

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


def _change_errors(api_service: Object, _: Object) -> list[FieldError]:
    name = api_service["metadata"]["name"]
    errors = all_invalid("metadata.name", name, _names(api_service)(name, False))
    return errors + _API_SERVICE(api_service)


def _bundle_errors(bundle: str, path: str) -> Iterator[FieldError]:
    shown = f"{len(b64decode(bundle))} bytes"
    yield invalid(path, shown, "local APIServices may not have a caBundle")


def _port_errors(port: int, path: str) -> Iterator[FieldError]:
    if wrong := port_number(port):
        yield invalid(path, port, f"port is not valid: {', '.join(wrong)}")


def _priority(most: int) -> Check:
    return rule.must(lambda number: 0 < number <= most, f"must be positive and less than {most}")


_SPEC: Final = rule.table(
    rule.optional("group", dns_subdomain),
    rule.when(
        lambda spec: spec.get("version") != "v1",
        rule.required(
            "group", detail="only v1 may have an empty group and it better be legacy kube"
        ),
    ),
    rule.always("version", dns_1035_label),
    rule.always("groupPriorityMinimum", _priority(20000), default=0),
    rule.always("versionPriority", _priority(1000), default=0),
    rule.when(
        lambda spec: spec.get("service") is None,
        rule.optional("caBundle", rule.code(_bundle_errors)),
        rule.optional(
            "insecureSkipTLSVerify",
            rule.must_be_absent("local APIServices may not have insecureSkipTLSVerify"),
        ),
        otherwise=[
            rule.required("service.namespace"),
            rule.required("service.name"),
            rule.given("service.port", rule.code(_port_errors)),
            rule.when(
                lambda spec: spec.get("caBundle"),
                rule.optional(
                    "insecureSkipTLSVerify",
                    rule.must_be_absent("may not be true if caBundle is present"),
                ),
            ),
        ],
    ),
)
_API_SERVICE: Final = rule.always("spec", _SPEC, default={})
_STATUS: Final = rule.given(
    "status.conditions",
    rule.each(rule.always("status", rule.enum("True", "False", "Unknown"))),
)


API_SERVICE = Strategy(
    default=_default,
    prepare_create=_prepare_create,
    prepare_status=_prepare_status,
    validate_create=_API_SERVICE,
    validate_update=_change_errors,
    validate_status=lambda api_service, _: _STATUS(api_service),
    name_errors_of=_names,
    has_status=True,
    allow_unconditional_update=False,
)
