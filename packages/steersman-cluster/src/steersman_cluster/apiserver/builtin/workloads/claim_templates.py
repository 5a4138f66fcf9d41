"""Validation of PersistentVolumeClaims, and of their templates in other objects."""

from collections.abc import Iterator
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.label_selectors import (
    LABEL_SELECTOR,
    annotation_errors,
    label_errors,
)
from steersman_cluster.apiserver.builtin.pods.resource_amounts import (
    may_be_fractional,
)
from steersman_cluster.apiserver.builtin.storage.access_modes import ACCESS_MODES, VOLUME_MODE
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
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
    return errors + CLAIM_SPEC(template.get("spec") or {}, f"{path}.spec", False)


def _source_kind_errors(source: Object, path: str) -> Iterator[FieldError]:
    if not source.get("apiGroup") and (kind := source.get("kind", "")) != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield invalid(path, kind, detail)


def _source_group_errors(source: Object, path: str, any_group: bool) -> list[FieldError]:
    return [] if any_group else _SOURCE_GROUP(source, path)


def _source_errors(spec: Object, path: str) -> Iterator[FieldError]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or reference is None:
        return
    # kube-apiserver passes the path as the value of the error.
    if reference.get("namespace"):
        why = "may not be specified when dataSourceRef.namespace is specified"
        yield invalid(path, {}, why)
    elif any(source.get(each) != reference.get(each) for each in ("apiGroup", "kind", "name")):
        yield invalid(path, {}, "must match dataSourceRef")


_SOURCE_GROUP: Final = rule.optional("apiGroup", dns_subdomain)
_DATA_SOURCE: Final = rule.table(
    rule.all_required("name", "kind"),
    rule.code(_source_kind_errors),
    rule.scoped(_source_group_errors),
    rule.optional("namespace", dns_label),
)
# The scope is whether the API group of the data source is not validated. This is the case in an
# update of a claim that already has such a group.
CLAIM_SPEC: Final = rule.table(
    rule.required("accessModes", detail="at least 1 access mode is required"),
    rule.given("selector", LABEL_SELECTOR),
    rule.given("accessModes", ACCESS_MODES),
    rule.needed(
        "resources.requests.storage",
        rule.must(lambda amount: Quantity(amount) > Quantity(0), "must be greater than zero"),
        at="resources[storage]",
    ),
    rule.optional("storageClassName", dns_subdomain),
    VOLUME_MODE,
    rule.given("dataSource", _DATA_SOURCE),
    rule.given("dataSourceRef", _DATA_SOURCE),
    rule.code(_source_errors),
    rule.optional("volumeAttributesClassName", dns_subdomain),
)


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
