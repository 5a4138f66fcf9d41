"""Environment variables, and their references to fields, resources and keys of objects."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.pods.file_paths import backstep_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    config_key,
    dns_label,
    dns_subdomain,
    env_name,
    label_key,
    subdomain_name,
)

Reference: TypeAlias = Mapping[str, Any]

ENV_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_KNOWN_FIELDS: Final = {
    *ENV_FIELDS,
    "metadata.annotations",
    "metadata.labels",
    "spec.host",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
}
_RESOURCES: Final = tuple(
    f"{kind}.{name}"
    for kind in ("limits", "requests")
    for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES: Final = ("requests.hugepages-", "limits.hugepages-")
_SIZES: Final = ("1", *(f"1{each}" for each in "kMGTPE"), *(f"1{each}i" for each in "KMGTPE"))
_DIVISORS: Final[Mapping[str, tuple[Sequence[str], str]]] = {
    "cpu": (("1m", "1"), "cpu"),
    "memory": (_SIZES, "memory"),
    "ephemeral-storage": (_SIZES, "local ephemeral storage"),
    "hugepages": (_SIZES, "hugepages"),
}
_ONE_OF: Final = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or"
    " `fileKeyRef`"
)


def env_errors(variables: Sequence[Reference], path: str) -> list[FieldError]:
    """Return the errors in ``variables``, the ``env`` of a container."""
    errors: list[FieldError] = []
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            errors.append(required(f"{path}[{index}].name"))
        elif wrong := env_name(name):
            errors += all_invalid(f"{path}[{index}].name", name, wrong)
        if (source := variable.get("valueFrom")) is not None:
            has_value = bool(variable.get("value"))
            errors += _value_from_errors(source, f"{path}[{index}].valueFrom", has_value)
    return errors


def _value_from_errors(source: Reference, path: str, has_value: bool) -> list[FieldError]:
    given = [name for name in _SOURCES if name in source]
    errors = [error for name in given for error in _SOURCES[name](source[name], f"{path}.{name}")]
    if not given:
        errors.append(invalid(path, "", _ONE_OF))
    elif has_value:
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        detail = "may not have more than one field specified at a time"
        errors.append(invalid(path, "", detail))
    return errors


def env_from_errors(sources: Sequence[Reference], path: str) -> list[FieldError]:
    """Return the errors in ``sources``, the ``envFrom`` of a container."""
    errors: list[FieldError] = []
    for index, source in enumerate(sources):
        if prefix := source.get("prefix"):
            errors += all_invalid(f"{path}[{index}].prefix", prefix, env_name(prefix))
        given = [each for each in ("configMapRef", "secretRef") if each in source]
        for kind in given:
            field, name = f"{path}[{index}].{kind}.name", source[kind].get("name", "")
            if not name:
                errors.append(required(field))
            else:
                errors += all_invalid(field, name, subdomain_name(name, True))
        if not given:
            detail = "must specify one of: `configMapRef` or `secretRef`"
            errors.append(invalid(path, "", detail))
        elif len(given) > 1:
            detail = "may not have more than one field specified at a time"
            errors.append(invalid(path, "", detail))
    return errors


def field_ref_errors(
    reference: Reference, path: str, supported: Sequence[str] = ENV_FIELDS
) -> list[FieldError]:
    """Return the errors in a reference to a field of the Pod."""
    version, field = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version:
        return [required(f"{path}.apiVersion")]
    if not field:
        return [required(f"{path}.fieldPath")]
    base, opened, key = field.removesuffix("']").partition("['")
    has_key = bool(field.endswith("']") and opened and base)
    if unknown := _unconvertible(version, base if has_key else field, field, has_key):
        return [invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {unknown}")]
    if has_key:
        wrong = label_key(key.lower() if base == "metadata.annotations" else key)
        return all_invalid(path, key.lower() if base == "metadata.annotations" else key, wrong)
    field = "spec.nodeName" if field == "spec.host" else field
    return [] if field in supported else [not_supported(f"{path}.fieldPath", field, supported)]


def _unconvertible(version: str, base: str, field: str, has_key: bool) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if has_key:
        known = base in ("metadata.annotations", "metadata.labels")
        return "" if known else f"field label does not support subscript: {field}"
    return "" if field in _KNOWN_FIELDS else f"field label not supported: {field}"


def resource_ref_errors(
    reference: Reference, path: str, *, in_volume: bool = False
) -> list[FieldError]:
    """Return the errors in a reference to a request or limit of a container."""
    errors: list[FieldError] = []
    name = reference.get("resource", "")
    if in_volume and not reference.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not name:
        errors.append(required(f"{path}.resource"))
    elif name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        errors.append(not_supported(f"{path}.resource", name, _RESOURCES))
    if wrong := _divisor_error(name, str(reference.get("divisor", "0"))):
        errors.append(invalid(f"{path}.divisor", name, wrong))
    return errors


def _divisor_error(name: str, divisor: str) -> str:
    what = "hugepages" if name.startswith(_HUGE_PAGES) else name.partition(".")[2]
    if what not in _DIVISORS or not Quantity(divisor):
        return ""
    supported, called = _DIVISORS[what]
    if divisor in supported:
        return ""
    listed = (" and " if len(supported) == 2 else ", ").join(supported)
    return f"only divisor's values {listed} are supported with the {called} resource"


def _key_errors(reference: Reference, path: str) -> list[FieldError]:
    name, key = reference.get("name", ""), reference.get("key", "")
    errors = all_invalid(f"{path}.name", name, dns_subdomain(name))
    if not key:
        errors.append(required(f"{path}.key"))
    else:
        errors += all_invalid(f"{path}.key", key, config_key(key))
    return errors


def _file_key_errors(reference: Reference, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, check in (("key", env_name), ("volumeName", dns_label)):
        if value := reference.get(name):
            errors += all_invalid(f"{path}.{name}", value, check(value))
        else:
            errors.append(required(f"{path}.{name}"))
    if file := reference.get("path"):
        errors += backstep_errors(file, f"{path}.path")
    else:
        errors.append(required(f"{path}.path"))
    return errors


# In kube-apiserver's order of validation.
_SOURCES: Final[Mapping[str, Callable[[Reference, str], list[FieldError]]]] = {
    "fieldRef": field_ref_errors,
    "resourceFieldRef": resource_ref_errors,
    "configMapKeyRef": _key_errors,
    "secretKeyRef": _key_errors,
    "fileKeyRef": _file_key_errors,
}


def file_volume_errors(
    variables: Sequence[Reference], volumes: Mapping[str, Reference], path: str
) -> list[FieldError]:
    """Return the errors in ``variables`` whose values are read from files in ``volumes``."""
    errors: list[FieldError] = []
    for index, variable in enumerate(variables):
        reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
        if reference is None:
            continue
        field, name = (
            f"{path}[{index}].valueFrom.fileKeyRef.volumeName",
            reference.get("volumeName", ""),
        )
        if name not in volumes:
            errors.append(FieldError("FieldValueNotFound", field, name, ""))
        elif "emptyDir" not in volumes[name]:
            errors.append(invalid(field, name, "referenced volume must be of type emptyDir"))
    return errors


def hidden(variables: Sequence[Reference]) -> Collection[int]:
    """Return the indexes of variables that hide an earlier variable with the same name.

    A variable whose value contains a reference to the earlier variable, and also other text, is not
    included.
    """
    seen: set[str] = set()
    found: list[int] = []
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        own = f"$({name})"
        if name not in seen:
            seen.add(name)
        elif "valueFrom" in variable or value == own or own not in value:
            found.append(index)
    return found
