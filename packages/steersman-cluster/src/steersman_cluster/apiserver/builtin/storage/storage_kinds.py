"""StorageClasses and VolumeAttachments."""

from collections.abc import Mapping
from typing import Final

from steersman_cluster.apiserver.builtin.cluster.node_labels import label_warning
from steersman_cluster.apiserver.builtin.common_defaults import fill, protected_by
from steersman_cluster.apiserver.builtin.common_rules import keeps
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.pods.volume_sources import driver_errors
from steersman_cluster.apiserver.builtin.storage.persistent_volumes import (
    default_volume_spec,
    volume_spec_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_subdomain,
    label_key,
    subdomain_name,
    within,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_MAX_PARAMETERS: Final = 512
_LARGEST: Final = 256 * 1024  # of parameters, and of an attachment's metadata
_MAX_MESSAGE_LENGTH: Final = 1024
_RECLAIMING: Final = ("Delete", "Retain")
_BINDING: Final = ("Immediate", "WaitForFirstConsumer")


def _default_class(storage_class: Object) -> None:
    fill(storage_class, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _class_errors(storage_class: Object) -> list[FieldError]:
    errors = _provisioner_errors(storage_class.get("provisioner", ""), "provisioner")
    errors += _parameter_errors(storage_class.get("parameters") or {})
    policy, mode = storage_class.get("reclaimPolicy"), storage_class.get("volumeBindingMode")
    if policy and policy not in _RECLAIMING:
        errors.append(not_supported("reclaimPolicy", policy, _RECLAIMING))
    if mode not in _BINDING:
        errors.append(not_supported("volumeBindingMode", mode, _BINDING))
    return errors + _topology_errors(storage_class.get("allowedTopologies") or [])


def _provisioner_errors(name: str, path: str) -> list[FieldError]:
    return all_invalid(path, name.lower(), label_key(name.lower())) if name else [required(path)]


def _parameter_errors(parameters: Mapping[str, str]) -> list[FieldError]:
    path = "parameters"
    if len(parameters) > _MAX_PARAMETERS:
        return [too_long(path, "", _MAX_PARAMETERS)]
    errors = [invalid(path, key, "field can not be empty.") for key in parameters if not key]
    return errors + ([too_long(path, "", _LARGEST)] if _size(parameters) > _LARGEST else [])


def _size(texts: Mapping[str, str]) -> int:
    return sum(len(key.encode()) + len(value.encode()) for key, value in texts.items())


def _topology_errors(topologies: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: list[dict[str, set[str]]] = []
    for index, topology in enumerate(topologies):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        term: dict[str, set[str]] = {}
        for at, rule in enumerate(topology.get("matchLabelExpressions") or ()):
            key, values = rule.get("key", ""), rule.get("values") or []
            errors += _topology_rule_errors(key, values, f"{path}[{at}]")
            if key in term:
                errors.append(duplicate(f"{path}[{at}].key", key))
            term[key] = set(values)
        errors += [duplicate(path, "") for each in seen if each == term]
        if not term:
            # kube-apiserver preallocates as many empty terms as there are topologies, and compares
            # with all of them.
            errors += [duplicate(path, "")] * len(topologies)
        seen.append(term)
    return errors


def _topology_rule_errors(key: str, values: list[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not values:
        errors.append(required(f"{path}.values"))
    known: set[str] = set()
    for index, value in enumerate(values):
        at = f"{path}.values[{index}]"
        if value in known:
            errors.append(duplicate(at, value))
        known.add(value)
    return errors + all_invalid(f"{path}.key", key, label_key(key))


def _class_change_errors(storage_class: Object, old: Object) -> list[FieldError]:
    return keeps({"parameters": None, "provisioner": ""})(storage_class, old) + [
        immutable(field, storage_class.get(field))
        for field in ("reclaimPolicy", "volumeBindingMode")
        if storage_class.get(field) != old.get(field)
    ]


def _class_warnings(storage_class: Object, _: Object | None) -> list[str]:
    return [
        f"allowedTopologies[{index}].matchLabelExpressions[{at}].key: {warning}"
        for index, topology in enumerate(storage_class.get("allowedTopologies") or ())
        for at, rule in enumerate(topology.get("matchLabelExpressions") or ())
        if (warning := label_warning(rule.get("key", "")))
    ]


def _default_attachment(attachment: Object) -> None:
    inline = (attachment.get("spec", {}).get("source") or {}).get("inlineVolumeSpec")
    if inline is not None:
        default_volume_spec(inline)


def _attachment_errors(attachment: Object) -> list[FieldError]:
    spec, status = attachment.get("spec", {}), attachment.get("status") or {}
    node, source = spec.get("nodeName", ""), spec.get("source") or {}
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    errors = driver_errors(spec.get("attacher", ""), "spec.attacher")
    why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if name is None and inline is None:
        errors.append(required("spec.source", why))
    elif name is not None and inline is not None:
        errors.append(forbidden("spec.source", why))
    elif name == "":
        why = "must specify non empty persistentVolumeName"
        errors.append(required("spec.source.persistentVolumeName", why))
    elif inline is not None:
        path = "spec.source.inlineVolumeSpec"
        errors += volume_spec_errors(inline, path, name="", inline=True)
    errors += all_invalid("spec.nodeName", node, dns_subdomain(node))
    if _size(status.get("attachmentMetadata") or {}) > _LARGEST:
        errors.append(too_long("status.attachmentMetadata", "", _LARGEST))
    for field in ("attachError", "detachError"):
        errors += _failure_errors(status.get(field) or {}, f"status.{field}")
    if name is not None:
        errors += all_invalid("spec.source.persistentVolumeName", name, dns_subdomain(name))
    return errors


def _failure_errors(failure: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(failure.get("message", "").encode()) > _MAX_MESSAGE_LENGTH:
        # Kube-apiserver's message has the wrong limit.
        errors.append(too_long(f"{path}.message", "", _LARGEST))
    code = failure.get("errorCode")
    if code is not None and code < 0:
        errors += all_invalid(f"{path}.errorCode", code, within(code, 0, 2**31 - 1))
    return errors


def _attachment_change_errors(attachment: Object, old: Object) -> list[FieldError]:
    spec = attachment.get("spec", {})
    if spec == old.get("spec", {}):
        return []
    return [immutable("spec", go_form("VolumeAttachmentSpec", spec))]


def _attachment_status_errors(attachment: Object, _: Object) -> list[FieldError]:
    return _attachment_errors(attachment)


def _attributes_errors(attributes: Object) -> list[FieldError]:
    parameters = attributes.get("parameters") or {}
    errors = _provisioner_errors(attributes.get("driverName", ""), "driverName")
    errors += _parameter_errors(parameters)
    if not parameters:
        errors.append(required("parameters", "must contain at least one key/value pair"))
    return errors


def _attributes_change_errors(attributes: Object, old: Object) -> list[FieldError]:
    return [
        forbidden(field, f"updates to {field} are forbidden.")
        for field in ("driverName", "parameters")
        if attributes.get(field) != old.get(field)
    ]


STORAGE_CLASS = Strategy(
    default=_default_class,
    validate=_class_errors,
    validate_update=_class_change_errors,
    warnings=_class_warnings,
    name_errors=subdomain_name,
    return_deleted_object=True,
)
VOLUME_ATTACHMENT = Strategy(
    default=_default_attachment,
    validate=_attachment_errors,
    validate_update=_attachment_change_errors,
    validate_status=_attachment_status_errors,
    name_errors=subdomain_name,
    has_status=True,
    allow_unconditional_update=False,
    return_deleted_object=True,
)
VOLUME_ATTRIBUTES_CLASS = Strategy(
    admit=protected_by("kubernetes.io/vac-protection"),
    validate=_attributes_errors,
    validate_update=_attributes_change_errors,
    update_first=True,
    name_errors=subdomain_name,
    return_deleted_object=True,
)
