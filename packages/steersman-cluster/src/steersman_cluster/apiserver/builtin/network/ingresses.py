"""Ingresses and IngressClasses: the routing of traffic from outside the cluster."""

from collections.abc import Mapping
from typing import Any, Final

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.common_defaults import fill
from steersman_cluster.apiserver.builtin.common_rules import keeps, segment_errors
from steersman_cluster.apiserver.builtin.network.address_forms import address_warnings, is_address
from steersman_cluster.apiserver.builtin.plugins.default_classes import newest_default
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    http_path,
    ip,
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
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_SCOPES: Final = ("Cluster", "Namespace")
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


def _errors(ingress: Object) -> list[FieldError]:
    spec = ingress.get("spec") or {}
    rules, backend = spec.get("rules"), spec.get("defaultBackend")
    errors: list[FieldError] = []
    if not rules and backend is None:
        why = "either `defaultBackend` or `rules` must be specified"
        errors.append(invalid("spec", rules, why))
    if backend is not None:
        errors += _backend_errors(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules or ()):
        errors += _rule_errors(rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls") or ()):
        errors += _tls_errors(tls, f"spec.tls[{index}]")
    if (name := spec.get("ingressClassName")) is not None:
        errors += all_invalid("spec.ingressClassName", name, dns_subdomain(name))
    return errors


def _create_errors(ingress: Object) -> list[FieldError]:
    annotated = (ingress["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    named = ingress.get("spec", {}).get("ingressClassName")
    if annotated is None or named is None or annotated == named:
        return []
    why = "must match `ingressClassName` when both are specified"
    return [invalid(f"annotations.{CLASS_ANNOTATION}", annotated, why)]


def _host_errors(host: str, path: str) -> list[FieldError]:
    check = wildcard_subdomain if "*" in host else dns_subdomain
    return all_invalid(path, host, check(host))


def _tls_errors(tls: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, host in enumerate(tls.get("hosts") or ()):
        errors += _host_errors(host, f"{path}.hosts[{index}]")
    if secret := tls.get("secretName"):
        errors += all_invalid(f"{path}.secretName", secret, dns_subdomain(secret))
    return errors


def _rule_errors(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if host := rule.get("host"):
        if is_address(host):
            errors.append(invalid(f"{path}.host", host, _NO_ADDRESS))
        errors += _host_errors(host, f"{path}.host")
    if (http := rule.get("http")) is not None:
        paths = http.get("paths")
        if not paths:
            errors.append(required(f"{path}.http.paths"))
        for index, each in enumerate(paths or ()):
            errors += _path_errors(each, f"{path}.http.paths[{index}]")
    return errors


def _path_errors(path: Object, at: str) -> list[FieldError]:
    kind, text = path.get("pathType"), path.get("path", "")
    if kind is None:
        return [required(f"{at}.pathType", "pathType must be specified")]
    errors: list[FieldError] = []
    if kind not in _PATH_TYPES:
        errors.append(not_supported(f"{at}.pathType", kind, _PATH_TYPES))
    else:
        is_exact = kind != "ImplementationSpecific"
        if not text.startswith("/") and (text or is_exact):
            errors.append(invalid(f"{at}.path", text, "must be an absolute path"))
        if is_exact:
            wrong = [f"must not contain '{each}'" for each in _NOT_INSIDE if each in text]
            wrong += [f"cannot end with '{each}'" for each in _NOT_LAST if text.endswith(each)]
            errors += all_invalid(f"{at}.path", text, wrong)
    return errors + _backend_errors(path.get("backend") or {}, f"{at}.backend")


def _backend_errors(backend: Object, path: str) -> list[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _reference_errors(resource, f"{path}.resource")
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    errors: list[FieldError] = []
    if name := service.get("name"):
        errors += all_invalid(f"{path}.service.name", name, dns_label(name))
    else:
        errors.append(required(f"{path}.service.name"))
    port = service.get("port") or {}
    named, number = port.get("name"), port.get("number")
    if named and number:
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif named:
        errors += all_invalid(f"{path}.service.port.name", named, port_name(named))
    elif number:
        errors += all_invalid(f"{path}.service.port.number", number, port_number(number))
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


def _reference_errors(reference: Mapping[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if (group := reference.get("apiGroup")) is not None:
        errors += all_invalid(f"{path}.apiGroup", group, dns_subdomain(group))
    for field in ("kind", "name"):
        errors += segment_errors(reference.get(field), f"{path}.{field}")
    return errors


def _points(ingress: Object) -> list[Object]:
    status: Object = ingress.get("status") or {}
    return (status.get("loadBalancer") or {}).get("ingress") or []


def _status_errors(ingress: Object, old: Object) -> list[FieldError]:
    known = {each.get("ip") for each in _points(old)}
    errors: list[FieldError] = []
    for index, point in enumerate(_points(ingress)):
        path = f"status.loadBalancer.ingress[{index}]"
        if (address := point.get("ip")) and address not in known:
            errors += all_invalid(f"{path}.ip", address, ip(address))
        if name := point.get("hostname"):
            errors += all_invalid(f"{path}.hostname", name, dns_subdomain(name))
            if is_address(name):
                errors.append(invalid(f"{path}.hostname", name, _NO_ADDRESS))
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


def _class_errors(ingress_class: Object) -> list[FieldError]:
    spec = ingress_class.get("spec") or {}
    path, controller = "spec.controller", spec.get("controller", "")
    errors: list[FieldError] = []
    if len(controller.encode()) > _MAX_CONTROLLER_LENGTH:
        errors.append(too_long(path, controller, _MAX_CONTROLLER_LENGTH))
    host, _, rest = controller.partition("/")
    if not controller:
        errors.append(required(path))
    elif not host or not rest:
        why = 'must be a domain-prefixed path (such as "acme.io/foo")'
        errors.append(invalid(path, controller, why))
    else:
        errors += all_invalid(path, host, dns_subdomain(host))
        errors += all_invalid(path, rest, http_path(rest))
    if (parameters := spec.get("parameters")) is not None:
        errors += _parameters_errors(parameters, "spec.parameters")
    return errors


def _parameters_errors(parameters: Object, path: str) -> list[FieldError]:
    errors = _reference_errors(parameters, path)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope not in _SCOPES:
        errors.append(not_supported(f"{path}.scope", scope, _SCOPES))
    elif scope == "Cluster" and namespace is not None:
        errors.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif scope == "Namespace" and namespace is None:
        errors.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif namespace is not None:
        errors += all_invalid(f"{path}.namespace", namespace, dns_label(namespace))
    return errors


INGRESS = Strategy(
    admit=_admit,
    validate=_errors,
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
    validate=_class_errors,
    validate_update=keeps({"spec.controller": ""}),
    update_first=True,
    name_errors=subdomain_name,
    generation_fields=("spec",),
)
