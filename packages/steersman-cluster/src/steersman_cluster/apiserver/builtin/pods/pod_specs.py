"""Validation of the spec of a Pod, or of a Pod template."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import annotation_errors, label_errors
from steersman_cluster.apiserver.builtin.pods.container_env import file_volume_errors
from steersman_cluster.apiserver.builtin.pods.containers import (
    PodContext,
    container_errors,
    ephemeral_container_errors,
    init_container_errors,
)
from steersman_cluster.apiserver.builtin.pods.host_processes import host_process_errors
from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    pod_level_errors,
    requirements_errors,
)
from steersman_cluster.apiserver.builtin.pods.scheduling_constraints import (
    affinity_errors,
    readiness_gate_errors,
    scheduling_gate_errors,
    spread_errors,
    toleration_errors,
)
from steersman_cluster.apiserver.builtin.pods.security import (
    annotation_conflicts,
    annotation_value_errors,
    containers_of,
    pod_security_errors,
    system_errors,
)
from steersman_cluster.apiserver.builtin.pods.volumes import volume_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    dns_subdomain_with_underscores,
    ip,
    within,
)
from steersman_cluster.apiserver.meta.strategy import Object

MIRROR_POD: Final = "kubernetes.io/config.mirror"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_MAX_NAMESERVERS: Final = 3
_MAX_SEARCHES: Final = 32
_MAX_SEARCHES_LENGTH: Final = 2048
_MAX_HOSTNAME_LENGTH: Final = 64
_MAX_SECONDS: Final = 2**31 - 1


def template_errors(template: Object, path: str) -> list[FieldError]:
    """Return the errors in a Pod template."""
    spec: Object = template.get("spec") or {}
    errors = template_metadata_errors(template, path) + spec_errors(spec, f"{path}.spec")
    if annotations := (template.get("metadata") or {}).get("annotations"):
        errors += annotation_conflicts(annotations, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", detail))
    return errors


def template_metadata_errors(template: Object, path: str) -> list[FieldError]:
    """Return the errors in the labels and annotations of a Pod template."""
    metadata: Object = template.get("metadata") or {}
    errors = label_errors(metadata.get("labels") or {}, f"{path}.labels")
    if annotations := metadata.get("annotations"):
        errors += annotation_errors(annotations, f"{path}.annotations")
        spec: Object = template.get("spec") or {}
        errors += pod_annotation_errors(annotations, spec, f"{path}.annotations")
    return errors


def pod_annotation_errors(
    annotations: Mapping[str, str], spec: Object, path: str
) -> list[FieldError]:
    """Return the errors in those annotations that have a meaning for Pods."""
    errors: list[FieldError] = []
    if MIRROR_POD in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{MIRROR_POD}]", annotations[MIRROR_POD], detail))
    if (cost := annotations.get(DELETION_COST)) is not None and not _is_int32(cost):
        errors.append(invalid(f"{path}[{DELETION_COST}]", cost, "must be a 32bit integer"))
    return errors + annotation_value_errors(annotations, spec, path)


def _is_int32(text: str) -> bool:
    # Leading zeros and plus signs are invalid, because parsers interpret them differently.
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and (digits[0] != "0" or text == "0")
    return is_number and -(2**31) <= int(text) < 2**31


def spec_errors(spec: Object, path: str, *, pod: Object | None = None) -> list[FieldError]:
    """Return the errors in the spec of ``pod``, or of a Pod template if ``pod`` is None."""
    metadata: Object = pod["metadata"] if pod else {}
    found, errors = volume_errors(
        spec.get("volumes") or (), f"{path}.volumes", metadata.get("name", "")
    )
    claims = spec.get("resourceClaims") or ()
    if claims:
        errors += _claim_errors(claims, metadata, f"{path}.resourceClaims")
    around = PodContext(
        volumes=found,
        claims={each["name"] for each in claims if each.get("name")},
        restart_policy=spec.get("restartPolicy", ""),
        grace_seconds=spec.get("terminationGracePeriodSeconds"),
        host_users=spec.get("hostUsers") is not False,
    )
    errors += _all_container_errors(spec, path, around)
    if "resources" in spec:
        errors += pod_level_errors(spec, around.claims, f"{path}.resources")
    if spec.get("hostNetwork"):
        errors += _host_network_errors(spec, f"{path}.containers", is_pod=pod is not None)
    errors += _policy_errors(spec, "restartPolicy", _RESTART_POLICIES, path)
    errors += _policy_errors(spec, "dnsPolicy", _DNS_POLICIES, path)
    if selector := spec.get("nodeSelector"):
        errors += label_errors(selector, f"{path}.nodeSelector")
    errors += pod_security_errors(spec, f"{path}.securityContext")
    if affinity := spec.get("affinity"):
        errors += affinity_errors(affinity, f"{path}.affinity")
    errors += _dns_errors(spec, f"{path}.dnsConfig")
    for name, check in _LISTS.items():
        if name in spec:
            errors += check(spec[name], f"{path}.{name}")
    errors += host_process_errors(spec, path)
    if spec.get("hostUsers") is False:
        errors += _host_users_errors(spec, path)
    if "hostnameOverride" in spec:
        errors += _hostname_override_errors(spec, f"{path}.hostnameOverride")
    errors += _scalar_errors(spec, path)
    errors += system_errors(spec, path)
    for field, container in containers_of(spec, path):
        if variables := container.get("env"):
            volumes = {each.get("name", ""): each for each in spec.get("volumes") or ()}
            errors += file_volume_errors(variables, volumes, f"{field}.env")
    return errors


def _all_container_errors(spec: Object, path: str, around: PodContext) -> list[FieldError]:
    containers = spec.get("containers") or ()
    errors = container_errors(containers, f"{path}.containers", around)
    if before := spec.get("initContainers"):
        errors += init_container_errors(before, f"{path}.initContainers", containers, around)
    if ephemeral := spec.get("ephemeralContainers"):
        others = [*containers, *(before or ())]
        errors += ephemeral_container_errors(
            ephemeral, f"{path}.ephemeralContainers", others, around
        )
    return errors


def _claim_errors(claims: Sequence[Object], metadata: Object, path: str) -> list[FieldError]:
    if MIRROR_POD in (metadata.get("annotations") or {}):
        return [forbidden("", "static pods do not support resource claims")] * len(claims)
    errors: list[FieldError] = []
    seen: set[str] = set()
    ways = ("resourceClaimName", "resourceClaimTemplateName")
    for index, claim in enumerate(claims):
        field, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            errors.append(required(f"{field}.name"))
        elif name in seen:
            errors.append(duplicate(f"{field}.name", name))
        else:
            errors += all_invalid(f"{field}.name", name, dns_label(name))
            seen.add(name)
        given = [way for way in ways if way in claim]
        if len(given) == 2:
            detail = f"at most one of `{ways[0]}` or `{ways[1]}` may be specified"
            errors.append(invalid(field, go_form("PodResourceClaim", claim), detail))
        elif not given:
            detail = f"must specify one of: `{ways[0]}`, `{ways[1]}`"
            errors.append(invalid(field, go_form("PodResourceClaim", claim), detail))
        for way in given:
            errors += all_invalid(f"{field}.{way}", claim[way], dns_subdomain(claim[way]))
    return errors


def _host_network_errors(spec: Object, path: str, *, is_pod: bool) -> list[FieldError]:
    detail = "must match `containerPort` when `hostNetwork` is true"
    return [
        invalid(f"{path}[{index}].ports[{number}].hostPort", host, detail)
        for index, container in enumerate(spec.get("containers") or ())
        for number, port in enumerate(container.get("ports") or ())
        if (is_pod or port.get("hostPort"))
        and (host := port.get("hostPort", 0)) != port.get("containerPort", 0)
    ]


def _policy_errors(spec: Object, name: str, policies: Sequence[str], path: str) -> list[FieldError]:
    policy = spec.get(name, "")
    if policy in policies:
        return []
    field = f"{path}.{name}"
    return [not_supported(field, policy, policies) if policy else required(field)]


def _dns_errors(spec: Object, path: str) -> list[FieldError]:
    config: Object | None = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers") or ()
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not servers:
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", detail)]
    if not config:
        return []
    errors: list[FieldError] = []
    if len(servers) > _MAX_NAMESERVERS:
        detail = f"must not have more than {_MAX_NAMESERVERS} nameservers"
        errors.append(invalid(f"{path}.nameservers", servers, detail))
    for index, server in enumerate(servers):
        errors += all_invalid(f"{path}.nameservers[{index}]", server, ip(server))
    errors += _search_errors(config.get("searches") or (), f"{path}.searches")
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{index}]", "must not be empty"))
    return errors


def _search_errors(searches: Sequence[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(searches) > _MAX_SEARCHES:
        detail = f"must not have more than {_MAX_SEARCHES} search paths"
        errors.append(invalid(path, searches, detail))
    if len(" ".join(searches)) > _MAX_SEARCHES_LENGTH:
        detail = (
            f"must not have more than {_MAX_SEARCHES_LENGTH} characters (including spaces) in the"
            " search list"
        )
        errors.append(invalid(path, searches, detail))
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            wrong = dns_subdomain_with_underscores(name)
            errors += all_invalid(f"{path}[{index}]", name, wrong)
    return errors


def _host_users_errors(spec: Object, path: str) -> list[FieldError]:
    detail = "when `hostUsers` is false"
    named = {"hostNetwork": "hostNetwork", "hostPID": "HostPID", "hostIPC": "HostIPC"}
    errors = [forbidden(f"{path}.{named[name]}", detail) for name in named if spec.get(name)]
    return errors + [
        forbidden(f"{field}.volumeDevices", detail)
        for field, container in containers_of(spec, path)
        if container.get("volumeDevices")
    ]


def _hostname_override_errors(spec: Object, path: str) -> list[FieldError]:
    name = spec["hostnameOverride"]
    errors = [
        forbidden(path, f"may not be specified when {each} is true")
        for each in ("setHostnameAsFQDN", "hostNetwork")
        if spec.get(each)
    ]
    if len(name) > _MAX_HOSTNAME_LENGTH:
        errors.append(too_long(path, name, _MAX_HOSTNAME_LENGTH))
    return errors + all_invalid(path, name, dns_subdomain(name))


def _scalar_errors(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in ("serviceAccountName", "nodeName"):
        if value := spec.get(name):
            errors += all_invalid(f"{path}.{name}", value, dns_subdomain(value))
    if (seconds := spec.get("activeDeadlineSeconds")) is not None:
        wrong = within(seconds, 1, _MAX_SECONDS)
        errors += all_invalid(f"{path}.activeDeadlineSeconds", seconds, wrong)
    for name in ("hostname", "subdomain"):
        if value := spec.get(name):
            errors += all_invalid(f"{path}.{name}", value, dns_label(value))
    if tolerations := spec.get("tolerations"):
        errors += toleration_errors(tolerations, f"{path}.tolerations")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        field, address = f"{path}.hostAliases[{index}]", alias.get("ip", "")
        errors += all_invalid(f"{field}.ip", address, ip(address))
        for number, name in enumerate(alias.get("hostnames") or ()):
            errors += all_invalid(f"{field}.hostnames[{number}]", name, dns_subdomain(name))
    for name in ("priorityClassName", "runtimeClassName"):
        if (value := spec.get(name)) is not None:
            errors += all_invalid(f"{path}.{name}", value, dns_subdomain(value))
    if "preemptionPolicy" in spec:
        errors += _policy_errors(spec, "preemptionPolicy", _PREEMPTION_POLICIES, path)
    if overhead := spec.get("overhead"):
        errors += requirements_errors({"limits": overhead}, f"{path}.overhead")
    return errors


# Lists with their own checks, in kube-apiserver's order of validation.
_LISTS: Final[Mapping[str, Callable[[Sequence[Object], str], list[FieldError]]]] = {
    "readinessGates": readiness_gate_errors,
    "schedulingGates": scheduling_gate_errors,
    "topologySpreadConstraints": spread_errors,
}
