"""The containers of a Pod: regular, init and ephemeral containers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from steersman_cluster.apiserver.builtin.pods.container_env import env_errors, env_from_errors
from steersman_cluster.apiserver.builtin.pods.probes import lifecycle_errors, probe_errors
from steersman_cluster.apiserver.builtin.pods.resource_amounts import requirements_errors
from steersman_cluster.apiserver.builtin.pods.security import container_security_errors
from steersman_cluster.apiserver.builtin.pods.volume_mounts import device_errors, mount_errors
from steersman_cluster.apiserver.builtin.pods.volumes import pull_policy_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, port_name, port_number
from steersman_cluster.apiserver.meta.strategy import Object

PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS: Final = ("Restart", "RestartAllContainers")
_RESIZE_POLICIES: Final = ("NotRequired", "RestartContainer")
_ONLY_SIDE_CARS: Final = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
_NOT_EPHEMERAL_FIELDS: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
_MAX_RULES: Final = 20
_MAX_EXIT_CODES: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class PodContext:
    """The fields of a Pod on which the rules of its containers depend."""

    volumes: Mapping[str, Object]
    claims: Collection[str]
    restart_policy: str
    grace_seconds: int | None
    host_users: bool


def container_errors(
    containers: Sequence[Object], path: str, around: PodContext
) -> list[FieldError]:
    """Return the errors in the regular containers, of which there must be at least one."""
    if not containers:
        return [required(path)]
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, container in enumerate(containers):
        field = f"{path}[{index}]"
        errors += _common_errors(container, field, around)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{field}.name", name))
        names.add(name)
        errors += _run_errors(container, field, around)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            errors += _restart_errors(container, field)
    return errors + _host_port_errors(containers, path)


def init_container_errors(
    containers: Sequence[Object], path: str, others: Sequence[Object], around: PodContext
) -> list[FieldError]:
    """Return the errors in init containers, including sidecars.

    ``others`` contains the regular containers; an init container must not have the name of one.
    """
    errors: list[FieldError] = []
    names = {each.get("name", "") for each in others}
    for index, container in enumerate(containers):
        field = f"{path}[{index}]"
        errors += _common_errors(container, field, around)
        errors += _restart_errors(container, field, is_init=True)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{field}.name", name))
        elif name:
            names.add(name)
        errors += _host_port_errors([container], path)
        if container.get("restartPolicy") == "Always":
            errors += _run_errors(container, field, around)
            continue
        errors += [
            forbidden(f"{field}.{each}", _ONLY_SIDE_CARS)
            for each in ("lifecycle", *PROBES)
            if each in container
        ]
        for number, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                where = f"{field}.resizePolicy[{number}].restartPolicy"
                detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                errors.append(invalid(where, "RestartContainer", detail))
    return errors


def ephemeral_container_errors(
    containers: Sequence[Object], path: str, others: Sequence[Object], around: PodContext
) -> list[FieldError]:
    """Return the errors in ephemeral containers; ``others`` contains all other containers."""
    errors: list[FieldError] = []
    targets = {each.get("name", "") for each in others}
    names = set(targets)
    for index, container in enumerate(containers):
        field, name = f"{path}[{index}]", container.get("name", "")
        errors += _common_errors(container, field, around)
        errors += padded_image_errors([container], path)
        if name in names:
            errors.append(duplicate(f"{field}.name", name))
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in targets:
            errors.append(not_found(f"{field}.targetContainerName", target))
        errors += [
            forbidden(f"{field}.{each}", _NOT_EPHEMERAL)
            for each in _NOT_EPHEMERAL_FIELDS
            if each in container and (each != "resources" or container[each])
        ]
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            errors += [
                forbidden(f"{field}.volumeMounts[{number}].{each}", _NOT_EPHEMERAL)
                for each in ("subPath", "subPathExpr")
                if mount.get(each)
            ]
    return errors


def padded_image_errors(containers: Sequence[Object], path: str) -> list[FieldError]:
    """Return the errors for image names with leading or trailing whitespace.

    Such names are invalid only in Pods; Pod templates may contain them.
    """
    detail = "must not have leading or trailing whitespace"
    return [
        invalid(f"{path}[{index}].image", image, detail)
        for index, container in enumerate(containers)
        if (image := container.get("image", "")) != image.strip()
    ]


def _common_errors(container: Object, path: str, around: PodContext) -> list[FieldError]:
    errors: list[FieldError] = []
    if not (name := container.get("name", "")):
        errors.append(required(f"{path}.name"))
    elif wrong := dns_label(name):
        errors += all_invalid(f"{path}.name", name, wrong)
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "")
    if policy not in _MESSAGE_POLICIES:
        errors.append(not_supported(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    if ports := container.get("ports"):
        errors += _port_errors(ports, f"{path}.ports")
    if variables := container.get("env"):
        errors += env_errors(variables, f"{path}.env")
    if sources := container.get("envFrom"):
        errors += env_from_errors(sources, f"{path}.envFrom")
    if "volumeMounts" in container:
        errors += mount_errors(container, around.volumes, f"{path}.volumeMounts")
    if "volumeDevices" in container:
        errors += device_errors(container, around.volumes, f"{path}.volumeDevices")
    errors += pull_policy_errors(container.get("imagePullPolicy", ""), f"{path}.imagePullPolicy")
    if resources := container.get("resources"):
        errors += requirements_errors(resources, f"{path}.resources", around.claims)
    if policies := container.get("resizePolicy"):
        errors += _resize_errors(policies, around.restart_policy, f"{path}.resizePolicy")
    if context := container.get("securityContext"):
        field = f"{path}.securityContext"
        errors += container_security_errors(context, field, host_users=around.host_users)
    return errors


def _run_errors(container: Object, path: str, around: PodContext) -> list[FieldError]:
    errors: list[FieldError] = []
    if (lifecycle := container.get("lifecycle")) is not None:
        errors += lifecycle_errors(lifecycle, f"{path}.lifecycle", around.grace_seconds)
    for name in PROBES:
        if name in container:
            errors += probe_errors(container, name, path, around.grace_seconds)
    return errors


def _port_errors(ports: Sequence[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        if name := port.get("name"):
            if wrong := port_name(name):
                errors += all_invalid(f"{path}[{index}].name", name, wrong)
            elif name in names:
                errors.append(duplicate(f"{path}[{index}].name", name))
            names.add(name)
        number = port.get("containerPort", 0)
        if not number:
            errors.append(required(f"{path}[{index}].containerPort"))
        elif wrong := port_number(number):
            errors += all_invalid(f"{path}[{index}].containerPort", number, wrong)
        if (host := port.get("hostPort")) and (wrong := port_number(host)):
            errors += all_invalid(f"{path}[{index}].hostPort", host, wrong)
        if (protocol := port.get("protocol", "")) not in _PROTOCOLS:
            errors.append(not_supported(f"{path}[{index}].protocol", protocol, _PROTOCOLS))
    return errors


def _host_port_errors(containers: Sequence[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not (host := port.get("hostPort")):
                continue
            address = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{host}"
            if address in taken:
                field = f"{path}[{index}].ports[{number}].hostPort"
                errors.append(duplicate(field, address))
            taken.add(address)
    return errors


def _resize_errors(policies: Sequence[Object], restart_policy: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)
        for value, choices in ((name, ("cpu", "memory")), (restart, _RESIZE_POLICIES)):
            if not value:
                errors.append(required(path))
            elif value not in choices:
                errors.append(not_supported(path, value, choices))
        if restart_policy == "Never" and restart != "NotRequired":
            detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(invalid(path, restart, detail))
    return errors


def _restart_errors(container: Object, path: str, *, is_init: bool = False) -> list[FieldError]:
    errors: list[FieldError] = []
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        if rules:
            detail = "must specify restartPolicy when restart rules are used"
            errors.append(required(f"{path}.restartPolicy", detail))
        if is_init:
            return errors
    elif policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > _MAX_RULES:
        errors.append(too_many(f"{path}.restartPolicyRules", len(rules), _MAX_RULES))
    for index, rule in enumerate(rules):
        errors += _restart_rule_errors(rule, f"{path}.restartPolicyRules[{index}]")
    return errors


def _restart_rule_errors(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if (action := rule.get("action", "")) not in _RESTART_ACTIONS:
        errors.append(not_supported(f"{path}.action", action, _RESTART_ACTIONS))
    if (codes := rule.get("exitCodes")) is None:
        errors.append(required(f"{path}.exitCodes", "must be specified"))
        return errors
    if (operator := codes.get("operator", "")) not in ("In", "NotIn"):
        errors.append(not_supported(f"{path}.exitCodes.operator", operator, ("In", "NotIn")))
    if (count := len(codes.get("values") or ())) > _MAX_EXIT_CODES:
        errors.append(too_many(f"{path}.exitCodes.values", count, _MAX_EXIT_CODES))
    return errors
