"""Validation of PersistentVolumeClaims, and of their templates in other objects."""

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.label_selectors import (
    annotation_errors,
    label_errors,
    selector_errors,
)
from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    amount_errors,
    may_be_fractional,
)
from steersman_cluster.apiserver.builtin.storage.access_modes import (
    VOLUME_MODES,
    access_mode_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain
from steersman_cluster.apiserver.meta.strategy import Object


def claim_template_errors(template: Object, path: str) -> list[FieldError]:
    """Return the errors in a template from which PersistentVolumeClaims are created for Pods."""
    metadata: Object = template.get("metadata") or {}
    errors = annotation_errors(metadata.get("annotations") or {}, f"{path}.metadata.annotations")
    errors += label_errors(metadata.get("labels") or {}, f"{path}.metadata.labels")
    errors += [
        forbidden(f"{path}.metadata.{'uID' if name == 'uid' else name}", "cannot be set")
        for name, value in metadata.items()
        if name not in ("annotations", "labels") and value is not None
    ]
    return errors + claim_spec_errors(template.get("spec") or {}, f"{path}.spec")


def claim_spec_errors(spec: Object, path: str, *, any_group: bool = False) -> list[FieldError]:
    """Return the errors in the spec of a PersistentVolumeClaim.

    ``any_group``: whether the API group of the data source is not validated. This is the case in an
    update of a claim that already has such a group.
    """
    errors: list[FieldError] = []
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    errors += selector_errors(spec.get("selector"), f"{path}.selector")
    errors += access_mode_errors(modes, f"{path}.accessModes")
    errors += _storage_errors(spec, f"{path}.resources[storage]")
    if name := spec.get("storageClassName"):
        errors += all_invalid(f"{path}.storageClassName", name, dns_subdomain(name))
    if (mode := spec.get("volumeMode", "Block")) not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    errors += _source_errors(spec, path, any_group=any_group)
    if name := spec.get("volumeAttributesClassName"):
        errors += all_invalid(f"{path}.volumeAttributesClassName", name, dns_subdomain(name))
    return errors


def _source_errors(spec: Object, path: str, *, any_group: bool) -> list[FieldError]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    errors: list[FieldError] = []
    for name in ("dataSource", "dataSourceRef"):
        if (each := spec.get(name)) is not None:
            errors += _data_source_errors(each, f"{path}.{name}", any_group=any_group)
    if source is None or reference is None:
        return errors
    # kube-apiserver passes the path as the value of the error.
    if reference.get("namespace"):
        why = "may not be specified when dataSourceRef.namespace is specified"
        errors.append(invalid(path, {}, why))
    elif any(source.get(each) != reference.get(each) for each in ("apiGroup", "kind", "name")):
        errors.append(invalid(path, {}, "must match dataSourceRef"))
    return errors


def claim_spec_warnings(spec: Object, path: str) -> list[str]:
    """Return the warnings about requested storage with fractions of a byte."""
    resources: Object = spec.get("resources") or {}
    amounts = {
        f"{path}.resources.{kind}[storage]": (resources.get(kind) or {}).get("storage", "")
        for kind in ("requests", "limits")
    }
    return [
        f'{where}: fractional byte value "{amount}" is invalid, must be an integer'
        for where, amount in amounts.items()
        if amount and may_be_fractional(amount) and Quantity(amount).milli_value() % 1000
    ]


def _storage_errors(spec: Object, path: str) -> list[FieldError]:
    amount = (spec.get("resources", {}).get("requests") or {}).get("storage")
    if amount is None:
        return [required(path)]
    if Quantity(amount) <= Quantity(0):
        return [invalid(path, amount, "must be greater than zero")]
    return amount_errors("storage", amount, path)


def _data_source_errors(source: Object, path: str, *, any_group: bool) -> list[FieldError]:
    errors = [required(f"{path}.{name}") for name in ("name", "kind") if not source.get(name)]
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, detail))
    if group and not any_group:
        errors += all_invalid(f"{path}.apiGroup", group, dns_subdomain(group))
    if namespace := source.get("namespace"):
        errors += all_invalid(f"{path}.namespace", namespace, dns_label(namespace))
    return errors
