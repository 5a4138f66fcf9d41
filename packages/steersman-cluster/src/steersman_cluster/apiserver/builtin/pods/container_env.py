"""Environment variables, and their references to fields, resources and keys of objects."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.pods.file_paths import NO_BACKSTEPS
from steersman_cluster.apiserver.builtin.rule import Check
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
_ONLY_ONE: Final = "may not have more than one field specified at a time"


def _value_from_errors(source: Reference, path: str) -> Iterator[FieldError]:
    given = [name for name in _SOURCES if name in source]
    for name in given:
        yield from _SOURCES[name](source[name], f"{path}.{name}")
    if not given:
        yield invalid(path, "", _ONE_OF)


def _one_source_errors(variable: Reference, path: str) -> Iterator[FieldError]:
    given = [name for name in _SOURCES if name in (variable.get("valueFrom") or ())]
    if given and variable.get("value"):
        detail = "may not be specified when `value` is not empty"
        yield invalid(f"{path}.valueFrom", "", detail)
    elif len(given) > 1:
        yield invalid(f"{path}.valueFrom", "", _ONLY_ONE)


def field_ref_errors(
    reference: Reference, path: str, supported: Sequence[str] = ENV_FIELDS
) -> list[FieldError]:
    """Return the errors in a reference to a field of the Pod."""
    version, field = reference.get("apiVersion", ""), reference.get("fieldPath", "")
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


_KEY: Final = rule.table(rule.always("name", dns_subdomain), rule.required("key", config_key))
# In kube-apiserver's order of validation.
_SOURCES: Final[Mapping[str, Check]] = {
    "fieldRef": rule.code(field_ref_errors),
    "resourceFieldRef": rule.code(resource_ref_errors),
    "configMapKeyRef": _KEY,
    "secretKeyRef": _KEY,
    "fileKeyRef": rule.table(
        rule.required("key", env_name),
        rule.required("volumeName", dns_label),
        rule.required("path", NO_BACKSTEPS),
    ),
}
ENV: Final = rule.table(
    rule.required("name", env_name),
    rule.given("valueFrom", rule.code(_value_from_errors)),
    rule.code(_one_source_errors, reads="valueFrom"),
)


def _prefix_messages(name: str) -> list[str]:
    return subdomain_name(name, True)


def env_from_errors(sources: Sequence[Reference], path: str) -> Iterator[FieldError]:
    """Yield the errors in ``sources``, the ``envFrom`` of a container."""
    for index, source in enumerate(sources):
        yield from _ENV_FROM(source, f"{path}[{index}]")
        given = [each for each in ("configMapRef", "secretRef") if each in source]
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid(path, "", _ONLY_ONE)


_ENV_FROM: Final = rule.table(
    rule.optional("prefix", env_name),
    rule.given("configMapRef", rule.required("name", _prefix_messages)),
    rule.given("secretRef", rule.required("name", _prefix_messages)),
)


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
