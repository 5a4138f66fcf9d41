"""The rules of the spec of a Pod, or of a Pod template."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
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
    AFFINITY,
    READINESS_GATES,
    SCHEDULING_GATES,
    TOLERATIONS,
    spread_errors,
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
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    dns_subdomain_with_underscores,
    ip,
)
from steersman_cluster.apiserver.meta.strategy import Object

MIRROR_POD: Final = "kubernetes.io/config.mirror"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
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
    volumes, errors = volume_errors(
        spec.get("volumes") or (), f"{path}.volumes", metadata.get("name", "")
    )
    claims = spec.get("resourceClaims") or ()
    if claims and MIRROR_POD in (metadata.get("annotations") or {}):
        errors += [forbidden("[]", "static pods do not support resource claims")] * len(claims)
    else:
        errors += _CLAIMS(claims, f"{path}.resourceClaims")
    context = PodContext(
        is_template=pod is None,
        volumes=volumes,
        claims={each["name"] for each in claims if each.get("name")},
        restart_policy=spec.get("restartPolicy", ""),
        grace_seconds=spec.get("terminationGracePeriodSeconds"),
        host_users=spec.get("hostUsers") is not False,
    )
    return errors + _SPEC(spec, path, context)


def _all_container_errors(spec: Object, path: str, pod: PodContext) -> Iterator[FieldError]:
    containers, before = spec.get("containers") or (), spec.get("initContainers") or ()
    yield from container_errors(containers, f"{path}.containers", pod)
    yield from init_container_errors(before, f"{path}.initContainers", containers, pod)
    if ephemeral := spec.get("ephemeralContainers"):
        others = [*containers, *before]
        yield from ephemeral_container_errors(ephemeral, f"{path}.ephemeralContainers", others, pod)


def _claim_source_errors(claim: Object, path: str) -> Iterator[FieldError]:
    one, other = "resourceClaimName", "resourceClaimTemplateName"
    if one in claim and other in claim:
        detail = f"at most one of `{one}` or `{other}` may be specified"
        yield invalid(path, go_form("PodResourceClaim", claim), detail)
    elif one not in claim and other not in claim:
        detail = f"must specify one of: `{one}`, `{other}`"
        yield invalid(path, go_form("PodResourceClaim", claim), detail)


_CLAIMS: Final = rule.each(
    rule.required("name", rule.first(rule.unique(), dns_label)),
    rule.code(_claim_source_errors),
    rule.given("resourceClaimName", dns_subdomain),
    rule.given("resourceClaimTemplateName", dns_subdomain),
)


def _pod_resource_errors(spec: Object, path: str, pod: PodContext) -> list[FieldError]:
    return pod_level_errors(spec, pod.claims, f"{path}.resources")


def _host_port_errors(spec: Object, path: str, pod: PodContext) -> Iterator[FieldError]:
    if not spec.get("hostNetwork"):
        return
    detail = "must match `containerPort` when `hostNetwork` is true"
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort", 0)
            if host != port.get("containerPort", 0) and (host or not pod.is_template):
                field = f"{path}.containers[{index}].ports[{number}].hostPort"
                yield invalid(field, host, detail)


def _dns_errors(spec: Object, path: str) -> Iterator[FieldError]:
    config: Object | None = spec.get("dnsConfig")
    path = f"{path}.dnsConfig"
    if spec.get("dnsPolicy") == "None" and not (config or {}).get("nameservers"):
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        else:
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", detail)
    elif config:
        yield from _DNS_CONFIG(config, path)


_DNS_CONFIG: Final = rule.table(
    rule.optional(
        "nameservers",
        rule.must(
            lambda servers: len(servers) <= _MAX_NAMESERVERS,
            f"must not have more than {_MAX_NAMESERVERS} nameservers",
        ),
        rule.each(ip),
    ),
    rule.optional(
        "searches",
        rule.must(
            lambda searches: len(searches) <= _MAX_SEARCHES,
            f"must not have more than {_MAX_SEARCHES} search paths",
        ),
        rule.must(
            lambda searches: len(" ".join(searches)) <= _MAX_SEARCHES_LENGTH,
            f"must not have more than {_MAX_SEARCHES_LENGTH} characters (including spaces) in the"
            " search list",
        ),
        rule.each(
            rule.when(
                lambda search: search != ".",
                rule.code(
                    lambda search, path: all_invalid(
                        path,
                        search.removesuffix("."),
                        dns_subdomain_with_underscores(search.removesuffix(".")),
                    )
                ),
            )
        ),
    ),
    rule.optional("options", rule.each(rule.required("name", detail="must not be empty", at=""))),
)


def _host_user_errors(spec: Object, path: str) -> Iterator[FieldError]:
    if spec.get("hostUsers") is not False:
        return
    detail = "when `hostUsers` is false"
    # kube-apiserver's errors spell the last two with a capital letter.
    for name, shown in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(name):
            yield forbidden(f"{path}.{shown}", detail)
    for field, container in containers_of(spec, path):
        if container.get("volumeDevices"):
            yield forbidden(f"{field}.volumeDevices", detail)


def _hostname_override_errors(spec: Object, path: str) -> Iterator[FieldError]:
    if "hostnameOverride" in spec:
        for name in ("setHostnameAsFQDN", "hostNetwork"):
            if spec.get(name):
                detail = f"may not be specified when {name} is true"
                yield forbidden(f"{path}.hostnameOverride", detail)


def _overhead_errors(overhead: Object, path: str) -> list[FieldError]:
    return requirements_errors({"limits": overhead}, path)


def _file_variable_errors(spec: Object, path: str) -> Iterator[FieldError]:
    volumes = {each.get("name", ""): each for each in spec.get("volumes") or ()}
    for field, container in containers_of(spec, path):
        if variables := container.get("env"):
            yield from file_volume_errors(variables, volumes, f"{field}.env")


_SPEC: Final = rule.table(
    rule.scoped(_all_container_errors),
    rule.scoped(_pod_resource_errors, reads="resources"),
    rule.scoped(_host_port_errors, reads="hostNetwork"),
    rule.optional("restartPolicy", rule.enum("Always", "OnFailure", "Never")),
    rule.optional(
        "dnsPolicy", rule.enum("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
    ),
    rule.given("nodeSelector", rule.code(label_errors)),
    rule.code(pod_security_errors),
    rule.given("affinity", AFFINITY),
    rule.code(_dns_errors),
    rule.given("readinessGates", READINESS_GATES),
    rule.given("schedulingGates", SCHEDULING_GATES),
    rule.given("topologySpreadConstraints", rule.code(spread_errors)),
    rule.code(host_process_errors),
    rule.code(_host_user_errors, reads="hostUsers"),
    rule.code(_hostname_override_errors, reads="hostnameOverride"),
    rule.given(
        "hostnameOverride",
        rule.max_bytes(_MAX_HOSTNAME_LENGTH),
        dns_subdomain,
    ),
    rule.optional("serviceAccountName", dns_subdomain),
    rule.optional("nodeName", dns_subdomain),
    rule.given("activeDeadlineSeconds", rule.between(1, _MAX_SECONDS)),
    rule.optional("hostname", dns_label),
    rule.optional("subdomain", dns_label),
    rule.given("tolerations", TOLERATIONS),
    rule.given(
        "hostAliases",
        rule.each(
            rule.always("ip", ip),
            rule.given("hostnames", rule.each(dns_subdomain)),
        ),
    ),
    rule.given("priorityClassName", dns_subdomain),
    rule.given("runtimeClassName", dns_subdomain),
    rule.given("preemptionPolicy", rule.must_be_set()),
    rule.optional("preemptionPolicy", rule.enum("PreemptLowerPriority", "Never")),
    rule.given("overhead", rule.code(_overhead_errors)),
    rule.code(system_errors, reads="os"),
    rule.code(_file_variable_errors),
)
