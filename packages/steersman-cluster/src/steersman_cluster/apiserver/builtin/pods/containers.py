"""The rules of a Pod's containers: regular, init and ephemeral containers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.pods.container_env import ENV, env_from_errors
from steersman_cluster.apiserver.builtin.pods.probes import LIFECYCLE, PROBES
from steersman_cluster.apiserver.builtin.pods.resource_amounts import requirements_errors
from steersman_cluster.apiserver.builtin.pods.security import CONTAINER_SECURITY
from steersman_cluster.apiserver.builtin.pods.volume_mounts import device_errors, mount_errors
from steersman_cluster.apiserver.builtin.pods.volumes import PULL_POLICY
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_found,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, port_name, port_number
from steersman_cluster.apiserver.meta.strategy import Object

_ONLY_SIDE_CARS: Final = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
_MAX_RULES: Final = 20
_MAX_EXIT_CODES: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class PodContext:
    """The fields of a Pod on which the rules of its containers depend."""

    is_template: bool
    volumes: Mapping[str, Object]
    claims: Collection[str]
    restart_policy: str
    grace_seconds: int | None
    host_users: bool


def _resource_errors(container: Object, path: str, pod: PodContext) -> list[FieldError]:
    resources: Object = container.get("resources") or {}
    return requirements_errors(resources, f"{path}.resources", pod.claims)


def _never_restarted_errors(policy: Object, path: str, pod: PodContext) -> Iterator[FieldError]:
    restart = policy.get("restartPolicy", "")
    if pod.restart_policy == "Never" and restart != "NotRequired":
        detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
        yield invalid(path, restart, detail)


def _resize_errors(policies: Sequence[Object], path: str, pod: PodContext) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, policy in enumerate(policies):
        if (name := policy.get("resourceName", "")) in names:
            yield duplicate(f"{path}[{index}]", name)
        names.add(name)
        # kube-apiserver's other errors have the path of the list.
        yield from _RESIZE_POLICY(policy, path, pod)


_PORT: Final = rule.table(
    rule.optional("name", rule.first(port_name, rule.unique())),
    rule.required("containerPort", port_number),
    rule.optional("hostPort", port_number),
    rule.always("protocol", rule.enum("SCTP", "TCP", "UDP")),
)
_RESIZE_POLICY: Final = rule.table(
    rule.required("resourceName", rule.enum("cpu", "memory"), at=""),
    rule.required("restartPolicy", rule.enum("NotRequired", "RestartContainer"), at=""),
    rule.scoped(_never_restarted_errors),
)
_CONTAINER: Final = rule.table(
    rule.required("name", dns_label),
    rule.required("image"),
    rule.always("terminationMessagePolicy", rule.enum("File", "FallbackToLogsOnError")),
    rule.optional("ports", rule.each(_PORT)),
    rule.optional("env", rule.each(ENV)),
    rule.optional("envFrom", rule.code(env_from_errors)),
    rule.scoped(mount_errors, reads="volumeMounts"),
    rule.scoped(device_errors, reads="volumeDevices"),
    rule.optional("imagePullPolicy", PULL_POLICY),
    rule.scoped(_resource_errors, reads="resources"),
    rule.optional("resizePolicy", rule.scoped(_resize_errors)),
    rule.optional("securityContext", CONTAINER_SECURITY),
)
_LIFE: Final = rule.table(rule.given("lifecycle", LIFECYCLE), PROBES)
_RESTART_RULES: Final = rule.given(
    "restartPolicyRules",
    rule.max_items(_MAX_RULES),
    rule.each(
        rule.always("action", rule.enum("Restart", "RestartAllContainers")),
        rule.needed(
            "exitCodes",
            rule.always("operator", rule.enum("In", "NotIn")),
            rule.given("values", rule.max_items(_MAX_EXIT_CODES)),
            detail="must be specified",
        ),
    ),
)
_RESTART: Final = rule.table(
    rule.when(
        lambda container: container.get("restartPolicyRules"),
        rule.needed(
            "restartPolicy", detail="must specify restartPolicy when restart rules are used"
        ),
    ),
    rule.given("restartPolicy", rule.enum("Always", "Never", "OnFailure")),
)
_INIT_RESIZE: Final = rule.must(
    lambda policy: policy != "RestartContainer",
    "must not be set to 'RestartContainer' for non-sidecar initContainers",
)
_INIT: Final = rule.table(
    rule.forbidden(
        "lifecycle", "livenessProbe", "readinessProbe", "startupProbe", detail=_ONLY_SIDE_CARS
    ),
    rule.optional("resizePolicy", rule.each(rule.given("restartPolicy", _INIT_RESIZE))),
)
_EPHEMERAL: Final = rule.table(
    rule.forbidden("ports", detail=_NOT_EPHEMERAL),
    rule.forbidden("resources", detail=_NOT_EPHEMERAL, empty=False),
    rule.forbidden(
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
        detail=_NOT_EPHEMERAL,
    ),
    rule.optional(
        "volumeMounts",
        rule.each(rule.forbidden("subPath", "subPathExpr", detail=_NOT_EPHEMERAL, empty=False)),
    ),
)
# Names with whitespace around them are invalid only in Pods; Pod templates may contain them.
_UNPADDED: Final = rule.must(
    lambda image: image == image.strip(), "must not have leading or trailing whitespace"
)
UNPADDED_IMAGES: Final = rule.each(rule.given("image", _UNPADDED))


def container_errors(
    containers: Sequence[Object], path: str, pod: PodContext
) -> Iterator[FieldError]:
    """Yield the errors in the regular containers, of which there must be at least one."""
    if not containers:
        yield required(path)
    names: set[str] = set()
    for index, container in enumerate(containers):
        field, name = f"{path}[{index}]", container.get("name", "")
        yield from _CONTAINER(container, field, pod)
        if name in names:
            yield duplicate(f"{field}.name", name)
        names.add(name)
        yield from _LIFE(container, field, pod)
        yield from _RESTART(container, field)
        yield from _RESTART_RULES(container, field)
    yield from _host_port_errors(containers, path)


def init_container_errors(
    containers: Sequence[Object], path: str, others: Sequence[Object], pod: PodContext
) -> Iterator[FieldError]:
    """Yield the errors in init containers, including sidecars.

    ``others`` contains the regular containers; an init container must not have the name of one.
    """
    names = {each.get("name", "") for each in others}
    for index, container in enumerate(containers):
        field, name = f"{path}[{index}]", container.get("name", "")
        yield from _CONTAINER(container, field, pod)
        yield from _RESTART(container, field)
        if "restartPolicy" in container:
            yield from _RESTART_RULES(container, field)
        if name in names:
            yield duplicate(f"{field}.name", name)
        elif name:
            names.add(name)
        yield from _host_port_errors([container], path)
        is_side_car = container.get("restartPolicy") == "Always"
        yield from (_LIFE if is_side_car else _INIT)(container, field, pod)


def ephemeral_container_errors(
    containers: Sequence[Object], path: str, others: Sequence[Object], pod: PodContext
) -> Iterator[FieldError]:
    """Yield the errors in ephemeral containers; ``others`` contains all other containers."""
    targets = {each.get("name", "") for each in others}
    names = set(targets)
    for index, container in enumerate(containers):
        field, name = f"{path}[{index}]", container.get("name", "")
        yield from _CONTAINER(container, field, pod)
        yield from UNPADDED_IMAGES([container], path)
        if name in names:
            yield duplicate(f"{field}.name", name)
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in targets:
            yield not_found(f"{field}.targetContainerName", target)
        yield from _EPHEMERAL(container, field)


def _host_port_errors(containers: Sequence[Object], path: str) -> Iterator[FieldError]:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not (host := port.get("hostPort")):
                continue
            address = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{host}"
            if address in taken:
                yield duplicate(f"{path}[{index}].ports[{number}].hostPort", address)
            taken.add(address)
