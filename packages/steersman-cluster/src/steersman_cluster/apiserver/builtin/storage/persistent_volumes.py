"""PersistentVolumes: their defaults and their validation."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Final

from steersman.units import Quantity, format_time
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.node_labels import NEWER_NAMES, expression_warnings
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty, protected_by
from steersman_cluster.apiserver.builtin.go_forms import go_difference, go_form
from steersman_cluster.apiserver.builtin.pods.scheduling_constraints import NODE_SELECTOR
from steersman_cluster.apiserver.builtin.storage.access_modes import ACCESS_MODES, VOLUME_MODE
from steersman_cluster.apiserver.builtin.storage.persistent_sources import source_errors, source_of
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    immutable,
    invalid,
    not_supported,
)
from steersman_cluster.apiserver.meta.name_validation import dns_subdomain, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_ZERO: Final = Quantity(0)
_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
_OLD_ANNOTATIONS: Final = {
    "volume.beta.kubernetes.io/storage-class": (
        'deprecated since v1.8; use "storageClassName" attribute instead'
    ),
    _OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
# In the order of kube-apiserver's warnings, which spell storageos as storageOS.
_OLD_SOURCES: Final = {
    "cephfs": "cephfs: deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "storageos": "storageOS: deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "rbd": "rbd: deprecated in v1.28, non-functional in v1.31+",
}
_NOT_MOUNTED: Final = frozenset(
    ("csi", "fc", "flexVolume", "flocker", "hostPath", "local", "portworxVolume", "scaleIO")
)
_ADDABLE_FIELD: Final = "controllerExpandSecretRef"  # may be added to an existing source


def _default(volume: Object) -> None:
    spec = volume.setdefault("spec", {})
    default_volume_spec(spec)
    fill_empty(spec, persistentVolumeReclaimPolicy="Retain")
    fill(spec, volumeMode="Filesystem")
    fill_empty(volume.setdefault("status", {}), phase="Pending")


def default_volume_spec(spec: Object) -> None:
    """Set the defaults of a PersistentVolume, or of the inline volume in a VolumeAttachment."""
    if (host := spec.get("hostPath")) is not None:
        fill(host, type="")
    if (disk := spec.get("azureDisk")) is not None:
        fill(disk, readOnly=False)


def _prepare_create(volume: Object, around: StrategyContext) -> None:
    now = format_time(around.clock.now())
    volume["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}


def _prepare_status(volume: Object, old: Object, around: StrategyContext) -> None:
    now, before = volume.setdefault("status", {}), old.get("status", {})
    when, was = now.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
    if now.get("phase") != before.get("phase"):
        if when is None or when == was:
            now["lastPhaseTransitionTime"] = format_time(around.clock.now())
    elif when is None and was is not None:
        now["lastPhaseTransitionTime"] = was


def _errors(volume: Object) -> list[FieldError]:
    spec, name = volume["spec"], volume["metadata"].get("name", "")
    annotations = volume["metadata"].get("annotations") or {}
    errors = volume_spec_errors(spec, "spec", name=name)
    if _OPTIONS in annotations and not (source_of(spec).keys() - _NOT_MOUNTED):
        why = "may not specify mount options for this volume type"
        errors.append(forbidden(f"metadata.annotations.{_OPTIONS}", why))
    return errors


def volume_spec_errors(
    spec: Object, path: str, *, name: str, inline: bool = False
) -> list[FieldError]:
    """Return the errors in the spec of a PersistentVolume.

    ``inline``: whether the spec is that of a volume in a VolumeAttachment, which has fewer fields.
    """
    before, after = (_INLINE, _AFTER_INLINE) if inline else (_SPEC, _AFTER_SPEC)
    errors = before(spec, path)
    errors += source_errors(spec, path, name=name, inline=inline)
    return errors + after(spec, path) + _ATTRIBUTES(spec, path)


def _capacity_key_errors(capacity: Mapping[str, str], path: str) -> Iterator[FieldError]:
    if capacity.keys() != {"storage"}:
        yield not_supported(path, capacity or None, ("storage",))


def _recycling_errors(spec: Object, path: str) -> Iterator[FieldError]:
    is_root = posixpath.normpath((spec.get("hostPath") or {}).get("path", "")) in ("/", "//")
    if is_root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden(f"{path}.persistentVolumeReclaimPolicy", why)


# A quantity that is not negative; the error shows it as an integer.
AMOUNT: Final = rule.code(
    lambda amount, path: (
        [invalid(path, Quantity(amount).as_int(), "must be a valid resource quantity")]
        if amount.startswith("-") and Quantity(amount).as_int() < 0
        else []
    )
)
_NOT_INLINE: Final = "may not be specified in the context of inline volumes"
_ACCESS_MODES: Final = rule.required("accessModes", ACCESS_MODES)
_SPEC: Final = rule.table(
    _ACCESS_MODES,
    rule.required("capacity"),
    rule.always("capacity", rule.code(_capacity_key_errors), default={}),
    rule.given(
        "capacity",
        rule.each_value(
            AMOUNT,
            rule.must(lambda amount: Quantity(amount) > _ZERO, "must be greater than zero"),
        ),
    ),
    rule.optional("persistentVolumeReclaimPolicy", rule.enum("Delete", "Recycle", "Retain")),
    rule.given(
        "nodeAffinity",
        rule.needed(
            "required",
            NODE_SELECTOR,
            detail="must specify required node constraints",
        ),
    ),
)
_AFTER_SPEC: Final = rule.table(
    rule.code(_recycling_errors), rule.optional("storageClassName", dns_subdomain), VOLUME_MODE
)
_INLINE: Final = rule.table(
    rule.forbidden("claimRef", "capacity", detail=_NOT_INLINE, empty=False),
    rule.needed("csi", detail="has to be specified in the context of inline volumes"),
    _ACCESS_MODES,
    rule.optional(
        "persistentVolumeReclaimPolicy",
        rule.forbidden_if(
            lambda policy: policy != "Retain",
            "may only be Retain in the context of inline volumes",
        ),
    ),
    rule.forbidden("nodeAffinity", detail=_NOT_INLINE),
)
_AFTER_INLINE: Final = rule.table(
    rule.code(_recycling_errors),
    rule.forbidden("storageClassName", detail=_NOT_INLINE, empty=False),
    rule.given(
        "volumeMode",
        rule.forbidden_if(
            lambda mode: mode != "Filesystem",
            "may not specify volumeMode other than Filesystem in the context of inline volumes",
        ),
    ),
)
_ATTRIBUTES: Final = rule.when(
    lambda spec: spec.get("volumeAttributesClassName") is not None,
    rule.required(
        "volumeAttributesClassName", dns_subdomain, detail="an empty string is disallowed"
    ),
    rule.needed("csi", detail="has to be specified when using volumeAttributesClassName"),
)


def _change_errors(volume: Object, old: Object) -> list[FieldError]:
    spec, was = volume["spec"], old["spec"]
    # kube-apiserver validates the spec twice, and reports each error twice.
    errors = volume_spec_errors(spec, "spec", name=volume["metadata"]["name"])
    new, before = source_of(spec), source_of(was)
    if "csi" in before and _ADDABLE_FIELD not in before["csi"]:
        new = {kind: _without(_ADDABLE_FIELD, its) for kind, its in new.items()}
    if new != before:
        changes = go_difference("PersistentVolumeSource", before, new)
        why = f"spec.persistentvolumesource is immutable after creation\n{changes}"
        errors.append(forbidden("spec.persistentvolumesource", why))
    if spec.get("volumeMode") != was.get("volumeMode"):
        errors.append(immutable("volumeMode", spec.get("volumeMode")))
    affinity, chosen = spec.get("nodeAffinity"), was.get("nodeAffinity")
    if chosen is not None and affinity != chosen and _renamed(chosen, affinity) != affinity:
        shown = None if affinity is None else go_form("VolumeNodeAffinity", affinity)
        why = "field is immutable, except for updating from beta label to GA"
        errors.append(invalid("nodeAffinity", shown, why))
    attributes = "volumeAttributesClassName"
    if was.get(attributes) is not None and spec.get(attributes) is None:
        why = "update from non-nil value to nil is forbidden"
        errors.append(forbidden(f"spec.{attributes}", why))
    return errors


def _without(field: str, source: Object) -> Object:
    return {key: value for key, value in source.items() if key != field}


def _renamed(affinity: Object, other: Object | None) -> Object:
    """Return ``affinity`` with the new name of each deprecated label that ``other`` has renamed."""
    terms = (affinity.get("required") or {}).get("nodeSelectorTerms") or []
    others = ((other or {}).get("required") or {}).get("nodeSelectorTerms") or []
    if len(terms) != len(others):
        return affinity
    return {"required": {"nodeSelectorTerms": [*map(_renamed_term, terms, others)]}}


def _renamed_term(term: Object, other: Object) -> Object:
    def renamed(rule: Object, its: Object) -> Object:
        # As in kube-apiserver, a label that has not been renamed matches an empty key.
        newer, key = NEWER_NAMES.get(rule.get("key", ""), ""), its.get("key", "")
        return {**rule, "key": key} if newer == key else rule

    return {
        kind: [*map(renamed, rules, other[kind])]
        if len(rules) == len(other.get(kind) or ())
        else rules
        for kind, rules in term.items()
    }


def _warnings(volume: Object, _: Object | None) -> list[str]:
    spec, annotations = volume["spec"], volume["metadata"].get("annotations") or {}
    warnings = [
        f"metadata.annotations[{key}]: {text}"
        for key, text in _OLD_ANNOTATIONS.items()
        if key in annotations
    ]
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        warnings.append(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead,"
            " the recommended approach is to use dynamic provisioning."
        )
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms")
    for index, term in enumerate(terms or ()):
        path = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}].matchExpressions"
        warnings += expression_warnings(term.get("matchExpressions") or [], path)
    return warnings + [f"spec.{text}" for kind, text in _OLD_SOURCES.items() if kind in spec]


PERSISTENT_VOLUME = Strategy(
    default=_default,
    admit=protected_by("kubernetes.io/pv-protection"),
    prepare_create=_prepare_create,
    prepare_status=_prepare_status,
    validate=_errors,
    validate_update=_change_errors,
    warnings=_warnings,
    name_errors=subdomain_name,
    has_status=True,
    return_deleted_object=True,
)
