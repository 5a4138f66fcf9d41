"""Claims for storage that stand inside other objects."""

from typing import Final

from steersman.apiserver.builtin.label_selectors import (
    annotation_errors,
    label_errors,
    selector_errors,
)
from steersman.apiserver.builtin.resource_amounts import amount_errors
from steersman.apiserver.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman.apiserver.names_rules import dns_subdomain
from steersman.apiserver.rules import Object
from steersman.units import Quantity

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_CLASS_NAMES: Final = ("storageClassName", "volumeAttributesClassName")


def claim_template_errors(template: Object, path: str) -> list[FieldError]:
    """What is wrong with the claim that is made for each pod."""
    metadata: Object = template.get("metadata") or {}
    errors = annotation_errors(metadata.get("annotations") or {}, f"{path}.metadata.annotations")
    errors += label_errors(metadata.get("labels") or {}, f"{path}.metadata.labels")
    errors += [
        forbidden(f"{path}.metadata.{name}", "cannot be set")
        for name in metadata
        if name not in ("annotations", "labels", "creationTimestamp")
    ]
    return errors + claim_spec_errors(template.get("spec") or {}, f"{path}.spec")


def claim_spec_errors(spec: Object, path: str) -> list[FieldError]:
    """What is wrong with what a claim asks for."""
    errors: list[FieldError] = []
    modes = spec.get("accessModes") or ()
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    errors += selector_errors(spec.get("selector"), f"{path}.selector")
    errors += [
        not_supported(f"{path}.accessModes", mode, _ACCESS_MODES)
        for mode in modes
        if mode not in _ACCESS_MODES
    ]
    if "ReadWriteOncePod" in modes and set(modes) & {*_ACCESS_MODES} - {"ReadWriteOncePod"}:
        detail = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(f"{path}.accessModes", detail))
    errors += _storage_errors(spec, f"{path}.resources[storage]")
    for name in _CLASS_NAMES:
        if class_name := spec.get(name):
            errors += all_invalid(f"{path}.{name}", class_name, dns_subdomain(class_name))
    if (mode := spec.get("volumeMode", "Block")) not in _VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, _VOLUME_MODES))
    for name in ("dataSource", "dataSourceRef"):
        if name in spec:
            errors += _data_source_errors(spec[name], f"{path}.{name}")
    return errors


def _storage_errors(spec: Object, path: str) -> list[FieldError]:
    amount = (spec.get("resources", {}).get("requests") or {}).get("storage")
    if amount is None:
        return [required(path)]
    if Quantity(amount) <= Quantity(0):
        return [invalid(path, amount, "must be greater than zero")]
    return amount_errors("storage", amount, path)


def _data_source_errors(source: Object, path: str) -> list[FieldError]:
    errors = [required(f"{path}.{name}") for name in ("name", "kind") if not source.get(name)]
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, detail))
    return errors + (all_invalid(f"{path}.apiGroup", group, dns_subdomain(group)) if group else [])
