"""PersistentVolumeClaims: their defaults, and their permitted changes."""

from collections.abc import Iterator, Sequence
from typing import Final

from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty, protected_by
from steersman_cluster.apiserver.builtin.go_forms import go_difference
from steersman_cluster.apiserver.builtin.plugins.default_classes import newest_default
from steersman_cluster.apiserver.builtin.plugins.limit_admission import validate_claim_limits
from steersman_cluster.apiserver.builtin.pods.resource_amounts import is_native
from steersman_cluster.apiserver.builtin.storage.persistent_volumes import AMOUNT
from steersman_cluster.apiserver.builtin.workloads.claim_templates import (
    CLAIM_SPEC,
    claim_spec_warnings,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    immutable,
    not_supported,
)
from steersman_cluster.apiserver.meta.name_validation import label_key, subdomain_name
from steersman_cluster.apiserver.meta.status_errors import forbidden as refused
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_CLAIMS: Final = GroupResource("", "persistentvolumeclaims")
_STORAGE_CLASSES: Final = GroupResource("storage.k8s.io", "storageclasses")
_DEFAULT_CLASS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_OLD_SOURCES: Final = (
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
)
_RESIZING: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_ATTRIBUTES: Final = "volumeAttributesClassName"
_protect = protected_by("kubernetes.io/pvc-protection")


def default_claim_spec(spec: Object) -> None:
    """Set the defaults in the spec of a PersistentVolumeClaim or of a template for claims."""
    fill(spec, volumeMode="Filesystem")


def _default(claim: Object) -> None:
    default_claim_spec(claim.setdefault("spec", {}))
    fill_empty(claim.setdefault("status", {}), phase="Pending")


def _admit(claim: Object, old: Object | None, around: StrategyContext) -> None:
    if old is None:
        _choose_class(claim, around)
    _protect(claim, old, around)


def _prepare_create(claim: Object, _: StrategyContext) -> None:
    _join_data_sources(claim["spec"])
    claim["status"] = {"phase": "Pending"}


def _prepare_update(claim: Object, old: Object, _: StrategyContext) -> None:
    _join_data_sources(claim["spec"], old["spec"])


def _choose_class(claim: Object, around: StrategyContext) -> None:
    """Set the newest default StorageClass on a PersistentVolumeClaim that names no class."""
    spec = claim["spec"]
    if spec.get("storageClassName") is None and _annotated_class(claim) is None:
        chosen = newest_default(around.every(_STORAGE_CLASSES), *_DEFAULT_CLASS)
        if chosen is not None:
            spec["storageClassName"] = chosen


def _validate_admission(
    claim: Object, old: Object | None, around: StrategyContext
) -> Sequence[str]:
    """Reject the expansion of a claim that is not bound, or whose class does not permit it."""
    if (old or claim)["metadata"].get("deletionTimestamp") is None:
        validate_claim_limits(claim, around)
    if old is None or _requested(claim["spec"]) <= _requested(old["spec"]):
        return ()
    name = claim["metadata"]["name"]
    if (old.get("status") or {}).get("phase") != "Bound":
        raise refused(_CLAIMS, name, "Only bound persistent volume claims can be expanded")
    class_name = _class_of(claim)
    if class_name and class_name == _class_of(old):
        found = around.find(_STORAGE_CLASSES, "", class_name)
        if found is not None and found.get("allowVolumeExpansion"):
            return ()
    why = (
        "only dynamically provisioned pvc can be resized and the storageclass that provisions"
        " the pvc must support resize"
    )
    raise refused(_CLAIMS, name, why)


def _class_of(claim: Object) -> str:
    annotated = _annotated_class(claim)
    named: str = claim["spec"].get("storageClassName") or ""
    return named if annotated is None else annotated


def _create_errors(claim: Object) -> list[FieldError]:
    return CLAIM_SPEC(claim["spec"], "spec", False)


def _change_errors(claim: Object, old: Object) -> list[FieldError]:
    """Return the errors for changes of a PersistentVolumeClaim that are not permitted.

    A bound claim may request more storage.
    """
    spec, was = claim["spec"], old["spec"]
    had_group = any((was.get(each) or {}).get("apiGroup") is not None for each in _SOURCES)
    errors = CLAIM_SPEC(spec, "spec", had_group)
    errors += _class_annotation_errors(claim, old)
    bound = (old.get("status") or {}).get("phase") == "Bound"
    if changes := go_difference("PersistentVolumeClaimSpec", *_compared(claim, old, bound=bound)):
        why = (
            "spec is immutable after creation except resources.requests and"
            f" volumeAttributesClassName for bound claims\n{changes}"
        )
        errors.append(forbidden("spec", why))
    has = Quantity(((old.get("status") or {}).get("capacity") or {}).get("storage", "0"))
    if _requested(spec) < _requested(was) and _requested(spec) <= has:
        why = "field can not be less than status.capacity"
        errors.append(forbidden("spec.resources.requests.storage", why))
    if spec.get("volumeMode") != was.get("volumeMode"):
        errors.append(immutable("volumeMode", spec.get("volumeMode")))
    return errors + _attributes_errors(spec, old)


_SOURCES: Final = ("dataSource", "dataSourceRef")


def _class_annotation_errors(claim: Object, old: Object) -> list[FieldError]:
    now, before = _annotated_class(claim), _annotated_class(old)
    if now == before or (now is None and _moves_to_field(claim, old)):
        return []
    return [immutable("metadata.annotations.volume.beta.kubernetes.io/storage-class", now or "")]


def _annotated_class(claim: Object) -> str | None:
    annotations: dict[str, str] = claim["metadata"].get("annotations") or {}
    return annotations.get(CLASS_ANNOTATION)


def _moves_to_field(claim: Object, old: Object) -> bool:
    """Return whether ``claim`` has in a field the class that ``old`` has in an annotation."""
    before = _annotated_class(old)
    had = old["spec"].get("storageClassName")
    return before is not None and had is None and claim["spec"].get("storageClassName") == before


def _compared(claim: Object, old: Object, *, bound: bool) -> tuple[Object, Object]:
    """Return the old and the new spec, with equal values in the fields that may change."""
    spec, was = {**claim["spec"]}, {**old["spec"]}
    if not was.get("volumeName"):
        was["volumeName"] = spec.get("volumeName", "")
    if "storageClassName" not in was and _annotated_class(old) in (
        None,
        spec.get("storageClassName"),
    ):
        # A claim without a storage class may get one.
        spec.pop("storageClassName", None)
    if bound:
        requests = (spec.get("resources") or {}).get("requests")
        if requests is not None:
            before = (was.get("resources") or {}).get("requests") or {}
            same = {**requests, "storage": before.get("storage", "0")}
            spec["resources"] = {**spec["resources"], "requests": same}
        spec[_ATTRIBUTES] = was.get(_ATTRIBUTES)
    return was, spec


def _attributes_errors(spec: Object, old: Object) -> list[FieldError]:
    name = spec.get(_ATTRIBUTES)
    current = (old.get("status") or {}).get("currentVolumeAttributesClassName")
    if name or current is None or name == old["spec"].get(_ATTRIBUTES):
        return []
    became = "nil" if name is None else "empty string"
    why = f"update to {became} is forbidden when status.currentVolumeAttributesClassName is not nil"
    return [forbidden(f"spec.{_ATTRIBUTES}", why)]


def _requested(spec: Object) -> Quantity:
    requests = (spec.get("resources") or {}).get("requests") or {}
    return Quantity(requests.get("storage", "0"))


def _join_data_sources(spec: Object, old: Object | None = None) -> None:
    """Set ``dataSource`` or ``dataSourceRef`` to the value of the other if one is missing."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    had_reference = old is not None and "dataSourceRef" in old
    if reference and reference.get("namespace") and not had_reference:
        # CrossNamespaceVolumeDataSource is disabled.
        del spec["dataSourceRef"]
        reference = None
    has_had_one = old is not None and ("dataSource" in old or had_reference)
    if source and not reference:
        known = (source.get("apiGroup") or "", source.get("kind")) in _OLD_SOURCES
        if known or has_had_one:
            spec["dataSourceRef"] = dict(source)
        else:
            # kube-apiserver drops other sources without an error, for compatibility with old
            # clients.
            del spec["dataSource"]
    elif reference and not source and not reference.get("namespace"):
        spec["dataSource"] = {key: each for key, each in reference.items() if key != "namespace"}


def _state_errors(states: Object, path: str) -> Iterator[FieldError]:
    for name, state in states.items():
        yield from _RESOURCE_NAME(name, path)
        if state not in _RESIZING:
            yield not_supported(path, name, _RESIZING)


def _allocated_errors(amounts: Object, path: str) -> Iterator[FieldError]:
    for name, amount in amounts.items():
        yield from _RESOURCE_NAME(name, path) or AMOUNT(amount, f"{path}[{name}]")


_RESOURCE_NAME: Final = rule.first(
    label_key,
    rule.when(is_native, rule.enum("storage")),
)
_STATUS: Final = rule.table(
    rule.given("status.capacity", rule.each_value(AMOUNT)),
    rule.given("status.allocatedResourceStatuses", rule.code(_state_errors)),
    rule.given("status.allocatedResources", rule.code(_allocated_errors)),
)


def _warnings(claim: Object, _: Object | None) -> list[str]:
    warnings = claim_spec_warnings(claim["spec"], "spec")
    if _annotated_class(claim) is None:
        return warnings
    why = 'deprecated since v1.8; use "storageClassName" attribute instead'
    return [f"metadata.annotations[{CLASS_ANNOTATION}]: {why}", *warnings]


PERSISTENT_VOLUME_CLAIM = Strategy(
    default=_default,
    admit=_admit,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    validate_create=_create_errors,
    validate_update=_change_errors,
    validate_status=lambda claim, _: _STATUS(claim),
    validate_admission=_validate_admission,
    warnings=_warnings,
    name_errors=subdomain_name,
    has_status=True,
    return_deleted_object=True,
    stores_unchanged_first_update=True,
)
