"""Ingresses and IngressClasses: the routing of traffic from outside the cluster."""

from collections.abc import Iterator
from typing import Final

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.network.address_forms import address_warnings, is_address
from steersman_cluster.apiserver.builtin.plugins.default_classes import newest_default
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    http_path,
    ip,
    path_segment,
    port_name,
    port_number,
    subdomain_name,
    wildcard_subdomain,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
DEFAULT_CLASS: Final = "ingressclass.kubernetes.io/is-default-class"
_CLASSES: Final = GroupResource("networking.k8s.io", "ingressclasses")
_MAX_CONTROLLER_LENGTH: Final = 250
_NO_ADDRESS: Final = "must be a DNS name, not an IP address"
_NOT_INSIDE: Final = ("//", "/./", "/../", "%2f", "%2F")
_NOT_LAST: Final = ("/..", "/.")


def _admit(ingress: Object, old: Object | None, around: StrategyContext) -> None:
    """Set the newest default class on a new Ingress that names no class."""
    if old is not None:
        return
    spec = ingress.setdefault("spec", {})
    annotations = ingress["metadata"].get("annotations") or {}
    if spec.get("ingressClassName") is not None or CLASS_ANNOTATION in annotations:
        return
    if (chosen := newest_default(around.every(_CLASSES), DEFAULT_CLASS)) is not None:
        spec["ingressClassName"] = chosen


def _host_messages(host: str) -> list[str]:
    return (wildcard_subdomain if "*" in host else dns_subdomain)(host)


def _no_rule_errors(spec: Object, path: str) -> Iterator[FieldError]:
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        why = "either `defaultBackend` or `rules` must be specified"
        yield invalid(path, spec.get("rules"), why)


def _path_messages(text: str) -> list[str]:
    wrong = [f"must not contain '{each}'" for each in _NOT_INSIDE if each in text]
    return wrong + [f"cannot end with '{each}'" for each in _NOT_LAST if text.endswith(each)]


def _port_errors(backend: Object, path: str) -> Iterator[FieldError]:
    port = backend["service"].get("port") or {}
    if port.get("name") and port.get("number"):
        yield invalid(path, "", "cannot set both port name & port number")
    elif not port.get("name") and not port.get("number"):
        yield required(path, "port name or number is required")
    else:
        yield from _PORT(port, f"{path}.service.port")


def _backend_errors(backend: Object, path: str) -> Iterator[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _REFERENCE(resource, f"{path}.resource")
    elif service is not None:
        yield from _SERVICE(backend, path)
    else:
        yield invalid(path, "", "resource or service backend is required")


_REFERENCE: Final = rule.table(
    rule.given("apiGroup", dns_subdomain),
    rule.required("kind", path_segment),
    rule.required("name", path_segment),
)
_PORT: Final = rule.table(rule.optional("name", port_name), rule.optional("number", port_number))
_SERVICE: Final = rule.table(rule.required("service.name", dns_label), rule.code(_port_errors))
_BACKEND: Final = rule.code(_backend_errors)
_ABSOLUTE: Final = rule.must(lambda text: text.startswith("/"), "must be an absolute path")
_PATH: Final = rule.first(
    rule.needed("pathType", detail="pathType must be specified"),
    rule.table(
        rule.given("pathType", rule.enum("Exact", "ImplementationSpecific", "Prefix")),
        rule.when(
            lambda path: path["pathType"] == "ImplementationSpecific",
            rule.optional("path", _ABSOLUTE),
        ),
        rule.when(
            lambda path: path["pathType"] in ("Exact", "Prefix"),
            rule.always("path", _ABSOLUTE, _path_messages),
        ),
        rule.always("backend", _BACKEND, default={}),
    ),
)
_DNS_NAME: Final = rule.must(lambda host: not is_address(host), _NO_ADDRESS)
_INGRESS: Final = rule.always(
    "spec",
    rule.code(_no_rule_errors),
    rule.given("defaultBackend", _BACKEND),
    rule.given(
        "rules",
        rule.each(
            rule.optional("host", _DNS_NAME, _host_messages),
            rule.given("http", rule.required("paths", rule.each(_PATH))),
        ),
    ),
    rule.given(
        "tls",
        rule.each(
            rule.given("hosts", rule.each(_host_messages)),
            rule.optional("secretName", dns_subdomain),
        ),
    ),
    rule.given("ingressClassName", dns_subdomain),
    default={},
)


def _create_errors(ingress: Object) -> list[FieldError]:
    annotated = (ingress["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    named = ingress.get("spec", {}).get("ingressClassName")
    if annotated is None or named is None or annotated == named:
        return []
    why = "must match `ingressClassName` when both are specified"
    return [invalid(f"annotations.{CLASS_ANNOTATION}", annotated, why)]


def _points(ingress: Object) -> list[Object]:
    status: Object = ingress.get("status") or {}
    return (status.get("loadBalancer") or {}).get("ingress") or []


_HOSTNAME: Final = rule.optional("hostname", dns_subdomain, _DNS_NAME)


def _status_errors(ingress: Object, old: Object) -> list[FieldError]:
    known = {each.get("ip") for each in _points(old)}
    errors: list[FieldError] = []
    for index, point in enumerate(_points(ingress)):
        path = f"status.loadBalancer.ingress[{index}]"
        if (address := point.get("ip")) and address not in known:
            errors += all_invalid(f"{path}.ip", address, ip(address))
        errors += _HOSTNAME(point, path)
    return errors


def _warnings(ingress: Object, old: Object | None) -> list[str]:
    annotations = ingress["metadata"].get("annotations") or {}
    if old is not None or CLASS_ANNOTATION not in annotations:
        return []
    if ingress["spec"].get("ingressClassName") is not None:
        return []
    return [
        f'annotation "{CLASS_ANNOTATION}" is deprecated, please use'
        " 'spec.ingressClassName' instead"
    ]


def _status_warnings(ingress: Object, _: Object) -> list[str]:
    return [
        warning
        for index, point in enumerate(_points(ingress))
        if point.get("ip")
        for warning in address_warnings(f"status.loadBalancer.ingress[{index}]", point["ip"])
    ]


def _default_class(ingress_class: Object) -> None:
    if parameters := ingress_class.get("spec", {}).get("parameters"):
        fill(parameters, scope="Cluster")


def _controller_errors(controller: str, path: str) -> Iterator[FieldError]:
    host, _, rest = controller.partition("/")
    if not host or not rest:
        why = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid(path, controller, why)
    else:
        yield from all_invalid(path, host, dns_subdomain(host))
        yield from all_invalid(path, rest, http_path(rest))


def _scope_errors(parameters: Object, path: str) -> Iterator[FieldError]:
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope not in ("Cluster", "Namespace"):
        yield not_supported(f"{path}.scope", scope, ("Cluster", "Namespace"))
    elif scope == "Cluster" and namespace is not None:
        yield forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")
    elif scope == "Namespace" and namespace is None:
        yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif namespace is not None:
        yield from all_invalid(f"{path}.namespace", namespace, dns_label(namespace))


_CLASS: Final = rule.table(
    rule.given("spec.controller", rule.max_bytes(_MAX_CONTROLLER_LENGTH)),
    rule.required("spec.controller", rule.code(_controller_errors)),
    rule.given("spec.parameters", _REFERENCE, rule.code(_scope_errors)),
)


INGRESS = Strategy(
    admit=_admit,
    validate=_INGRESS,
    validate_create=_create_errors,
    validate_status=_status_errors,
    warnings=_warnings,
    status_warnings=_status_warnings,
    name_errors=subdomain_name,
    generation_fields=("spec",),
    has_status=True,
)
INGRESS_CLASS = Strategy(
    default=_default_class,
    validate=_CLASS,
    validate_update=keeps({"spec.controller": ""}),
    update_first=True,
    name_errors=subdomain_name,
    generation_fields=("spec",),
)
