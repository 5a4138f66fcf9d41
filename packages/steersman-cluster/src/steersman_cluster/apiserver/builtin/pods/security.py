"""The rules of security contexts, and of settings that depend on the operating system."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.pods.file_paths import RELATIVE_PATH
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import user_or_group_id
from steersman_cluster.apiserver.meta.strategy import Object

_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SYSCTL: Final = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_is_sysctl: Final = re.compile(_SYSCTL).fullmatch
_MAX_SYSCTL_LENGTH: Final = 253
_MAX_PROFILE_LENGTH: Final = 4095
_IPC_SYSCTLS: Final = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")

# Fields that are invalid for Windows Pods, in kube-apiserver's order of validation.
_NOT_FOR_WINDOWS: Final = {
    "containers": (
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "capabilities",
        "readOnlyRootFilesystem",
        "privileged",
        "allowPrivilegeEscalation",
        "procMount",
        "runAsUser",
        "runAsGroup",
    ),
    "spec": (
        "securityContext.appArmorProfile",
        "securityContext.seLinuxOptions",
        "hostUsers",
        "hostPID",
        "hostIPC",
        "securityContext.seccompProfile",
        "securityContext.fsGroup",
        "securityContext.fsGroupChangePolicy",
        "securityContext.sysctls",
        "shareProcessNamespace",
        "securityContext.runAsUser",
        "securityContext.runAsGroup",
        "securityContext.supplementalGroups",
        "securityContext.supplementalGroupsPolicy",
        "securityContext.seLinuxChangePolicy",
    ),
}


class HasHostUsers(Protocol):
    """The part of a Pod on which the rules of a container's security context depend."""

    @property
    def host_users(self) -> bool: ...


def containers_of(spec: Object, path: str) -> Iterator[tuple[str, Object]]:
    """Yield every container of a Pod with its path, in the order of their start."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield f"{path}.{kind}[{index}]", container


def _proc_mount_errors(mount: str, path: str, pod: HasHostUsers) -> Iterator[FieldError]:
    if pod.host_users and mount == "Unmasked":
        yield invalid(path, mount, "`hostUsers` must be false to use `Unmasked`")


def _escalation_errors(context: Object, path: str) -> Iterator[FieldError]:
    if context.get("allowPrivilegeEscalation") is not False:
        return
    added = context.get("capabilities", {}).get("add") or ()
    reasons = ["`privileged` to true"] if context.get("privileged") else []
    reasons += ["`capabilities.Add` CAP_SYS_ADMIN"] * added.count("CAP_SYS_ADMIN")
    for reason in reasons:
        detail = f"cannot set `allowPrivilegeEscalation` to false and {reason}"
        yield invalid(path, go_form("SecurityContext", context), detail)


def _seccomp_profile_errors(profile: Object, path: str) -> Iterator[FieldError]:
    is_local, local = profile.get("type") == "Localhost", profile.get("localhostProfile")
    path = f"{path}.localhostProfile"
    if not is_local and local is not None:
        detail = "can only be set when seccomp type is Localhost"
        yield invalid(path, go_form("SeccompProfile", profile), detail)
    elif is_local and local is None:
        yield required(path, "must be set when seccomp type is Localhost")
    elif local is not None:
        yield from RELATIVE_PATH(local, path)


_PROFILE: Final = rule.enum("Localhost", "RuntimeDefault", "Unconfined")
_SECCOMP: Final = rule.table(
    rule.required("type", _PROFILE, detail="type is required when seccompProfile is set"),
    rule.code(_seccomp_profile_errors),
)
_APP_ARMOR: Final = rule.when(
    lambda profile: profile.get("type") == "Localhost",
    rule.always(
        "localhostProfile",
        rule.first(
            rule.must(
                lambda profile: profile.strip() == profile, "must not be padded with whitespace"
            ),
            rule.must_be_set("must be set when AppArmor type is Localhost"),
        ),
        rule.max_bytes(_MAX_PROFILE_LENGTH),
    ),
    otherwise=[
        rule.first(
            rule.required("type", _PROFILE, detail="type is required when appArmorProfile is set"),
            rule.given(
                "localhostProfile",
                rule.must_be_absent("can only be set when AppArmor type is Localhost"),
            ),
        )
    ],
)
CONTAINER_SECURITY: Final = rule.table(
    rule.given("runAsUser", user_or_group_id),
    rule.given("runAsGroup", user_or_group_id),
    rule.given("procMount", rule.enum("Default", "Unmasked"), rule.scoped(_proc_mount_errors)),
    rule.given("seccompProfile", _SECCOMP),
    rule.code(_escalation_errors),
    rule.given("appArmorProfile", _APP_ARMOR),
)
_POD_IDS: Final = rule.table(
    rule.given("fsGroup", user_or_group_id),
    rule.given("runAsUser", user_or_group_id),
    rule.given("runAsGroup", user_or_group_id),
    rule.optional("supplementalGroups", rule.each(user_or_group_id)),
)
_POD_SECURITY: Final = rule.table(
    rule.given("fsGroupChangePolicy", rule.enum("Always", "OnRootMismatch")),
    rule.given("seccompProfile", _SECCOMP),
    rule.given("appArmorProfile", _APP_ARMOR),
    rule.given("supplementalGroupsPolicy", rule.enum("Merge", "Strict")),
    rule.given("seLinuxChangePolicy", rule.enum("Recursive")),
)


def pod_security_errors(spec: Object, path: str) -> Iterator[FieldError]:
    """Yield the errors in a Pod's security context."""
    context: Object = spec.get("securityContext") or {}
    path = f"{path}.securityContext"
    yield from _POD_IDS(context, path)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{path}.shareProcessNamespace", True, detail)
    yield from _sysctl_errors(context.get("sysctls") or (), spec, f"{path}.sysctls")
    yield from _POD_SECURITY(context, path)


def _sysctl_errors(sysctls: Sequence[Object], spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, each in enumerate(sysctls):
        field, name = f"{path}[{index}].name", each.get("name", "")
        dotted = name.replace("/", ".")
        if not name:
            errors.append(required(field))
        elif len(name) > _MAX_SYSCTL_LENGTH or not _is_sysctl(name):
            detail = (
                f"must have at most {_MAX_SYSCTL_LENGTH} characters and match regex ^{_SYSCTL}$"
            )
            errors.append(invalid(field, name, detail))
        elif name in seen:
            errors.append(duplicate(field, name))
        if spec.get("hostNetwork") and dotted.startswith("net."):
            detail = "may not be specified when 'hostNetwork' is true"
            errors.append(invalid(field, name, detail))
        elif spec.get("hostIPC") and dotted.startswith(_IPC_SYSCTLS):
            errors.append(invalid(field, name, "may not be specified when 'hostIPC' is true"))
        seen.add(name)
    return errors


def system_errors(spec: Object, path: str) -> list[FieldError]:
    """Return the errors in ``os``, and in settings that the named operating system lacks."""
    if (system := spec.get("os")) is None:
        return []
    if not (name := system.get("name")):
        return [required(f"{path}.os.name")]
    if name == "linux":
        detail = "windows options cannot be set for a linux pod"
        owners = [(path, spec), *containers_of(spec, path)]
        return [
            forbidden(f"{field}.securityContext.windowsOptions", detail)
            for field, owner in owners
            if "windowsOptions" in (owner.get("securityContext") or {})
        ]
    if name != "windows":
        return [not_supported(f"{path}.os", name, ("linux", "windows"))]
    fields = [f"{path}.{each}" for each in _NOT_FOR_WINDOWS["spec"] if _is_set(spec, each)]
    for field, container in containers_of(spec, path):
        fields += [
            f"{field}.securityContext.{each}"
            for each in _NOT_FOR_WINDOWS["containers"]
            if each in (container.get("securityContext") or {})
        ]
    return [forbidden(each, "cannot be set for a windows pod") for each in fields]


def _is_set(spec: Object, path: str) -> bool:
    parent, _, name = path.rpartition(".")
    return name in (spec.get(parent) or {}) if parent else name in spec


def annotation_conflicts(
    annotations: Mapping[str, str], spec: Object, path: str
) -> list[FieldError]:
    """Return the errors for deprecated annotations that contradict the fields replacing them."""
    errors: list[FieldError] = []
    context: Object = spec.get("securityContext") or {}
    if _SECCOMP_POD in annotations:
        field = f"{path}.securityContext.seccompProfile"
        errors += _mismatch(
            annotations[_SECCOMP_POD], context.get("seccompProfile"), field, "seccomp"
        )
    for field, container in containers_of(spec, path):
        own: Object = container.get("securityContext") or {}
        name = container.get("name", "")
        if (value := annotations.get(_SECCOMP_CONTAINER + name)) is not None:
            where = f"{field}.securityContext.seccompProfile"
            errors += _mismatch(value, own.get("seccompProfile"), where, "seccomp")
    if spec.get("os", {}).get("name") == "windows":
        return errors
    for field, container in containers_of(spec, path):
        own = container.get("securityContext") or {}
        if (value := annotations.get(APP_ARMOR + container.get("name", ""))) is not None:
            profile = own.get("appArmorProfile") or context.get("appArmorProfile")
            where = f"{field}.securityContext.appArmorProfile"
            errors += _mismatch(value, profile, where, "apparmor")
    return errors


def _mismatch(value: str, profile: Object | None, path: str, kind: str) -> list[FieldError]:
    if profile is None:
        return []
    written = {
        "Unconfined": ("unconfined",),
        "RuntimeDefault": ("runtime/default", "docker/default")[: 2 if kind == "seccomp" else 1],
    }
    type_ = profile.get("type", "")
    by_type = f"{kind} type in annotation and field must match"
    if type_ in written:
        return [] if value in written[type_] else [forbidden(f"{path}.type", by_type)]
    if type_ != "Localhost":
        return []
    if not value.startswith("localhost/"):
        return [forbidden(f"{path}.type", by_type)]
    if value.removeprefix("localhost/") == profile.get("localhostProfile"):
        return []
    detail = f"{kind} profile in annotation and field must match"
    return [forbidden(f"{path}.localhostProfile", detail)]


def app_armor_profile(annotation: str) -> Object | None:
    """Return the ``appArmorProfile`` for a deprecated annotation; None if it is invalid."""
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    local = annotation.removeprefix("localhost/")
    if local and local != annotation:
        return {"type": "Localhost", "localhostProfile": local}
    return None


def annotation_value_errors(
    annotations: Mapping[str, str], spec: Object, path: str
) -> list[FieldError]:
    """Return the errors in annotations with seccomp and AppArmor profiles."""
    errors: list[FieldError] = []
    for key, value in annotations.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER):
            field = f"{path}.{key}"
            if value.startswith("localhost/"):
                errors += RELATIVE_PATH(value.removeprefix("localhost/"), field)
            elif value not in ("runtime/default", "docker/default", "unconfined"):
                errors.append(invalid(field, value, "must be a valid seccomp profile"))
        elif key.startswith(APP_ARMOR):
            field, name = f"{path}[{key}]", key.removeprefix(APP_ARMOR)
            if all(each.get("name") != name for _, each in containers_of(spec, "")):
                errors.append(invalid(field, name, "container not found"))
            known = value in ("", "runtime/default", "unconfined")
            if not known and not value.startswith("localhost/"):
                detail = f'invalid AppArmor profile name: "{value}"'
                errors.append(invalid(field, value, detail))
    return errors
