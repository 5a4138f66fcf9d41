"""Rows of volumes, claims to them, and what they are made by."""

from collections.abc import Collection

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, CellOf
from steersman_cluster.apiserver.tables.cells import NONE, UNSET, amount, joined
from steersman_cluster.apiserver.tables.printers import (
    aged,
    at,
    count,
    flag,
    name_of,
    named,
    part,
    printer,
    told,
    wide,
)

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _modes(modes: Collection[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _phase(obj: Object, _: Ages) -> str:
    if obj["metadata"].get("deletionTimestamp") is not None:
        return "Terminating"
    return str(part(obj, "status").get("phase", ""))


def _class(obj: Object, _: Ages) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    own = part(obj, "spec").get("storageClassName") or ""
    return str(annotations.get("volume.beta.kubernetes.io/storage-class", own))


def _capacity(volume: Object, _: Ages) -> str:
    return amount(part(volume, "spec", "capacity").get("storage"))


def _volume_modes(volume: Object, _: Ages) -> str:
    return _modes(part(volume, "spec", "accessModes"))


def _claim(volume: Object, _: Ages) -> str:
    ref = part(volume, "spec", "claimRef")
    return f"{ref.get('namespace', '')}/{ref.get('name', '')}" if ref else ""


_ATTRIBUTES = told("VolumeAttributesClass", at("spec.volumeAttributesClassName", UNSET))
_VOLUME_MODE = wide("VolumeMode", at("spec.volumeMode", UNSET))

PERSISTENT_VOLUME = printer(
    named(),
    told("Capacity", _capacity),
    told("Access Modes", _volume_modes),
    told("Reclaim Policy", at("spec.persistentVolumeReclaimPolicy")),
    told("Status", _phase),
    told("Claim", _claim),
    told("StorageClass", _class),
    _ATTRIBUTES,
    told("Reason", at("status.reason")),
    aged(),
    _VOLUME_MODE,
)


def _of_bound(cell: CellOf) -> CellOf:
    """What is said of a claim only when it has its volume."""

    def shown(claim: Object, ages: Ages) -> Cell:
        return cell(claim, ages) if part(claim, "spec").get("volumeName") else ""

    return shown


def _claimed(claim: Object, _: Ages) -> str:
    return amount(part(claim, "status", "capacity").get("storage"))


def _claim_modes(claim: Object, _: Ages) -> str:
    return _modes(part(claim, "status", "accessModes"))


PERSISTENT_VOLUME_CLAIM = printer(
    named(),
    told("Status", _phase),
    told("Volume", at("spec.volumeName")),
    told("Capacity", _of_bound(_claimed)),
    told("Access Modes", _of_bound(_claim_modes)),
    told("StorageClass", _class),
    _ATTRIBUTES,
    aged(),
    _VOLUME_MODE,
)

_DEFAULTS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _storage_class_name(storage_class: Object, ages: Ages) -> str:
    annotations = storage_class["metadata"].get("annotations") or {}
    is_default = any(annotations.get(each) == "true" for each in _DEFAULTS)
    return name_of(storage_class, ages) + (" (default)" if is_default else "")


STORAGE_CLASS = printer(
    named(_storage_class_name),
    told("Provisioner", at("provisioner")),
    told("ReclaimPolicy", at("reclaimPolicy", "Delete")),
    told("VolumeBindingMode", at("volumeBindingMode", "Immediate")),
    told("AllowVolumeExpansion", flag("allowVolumeExpansion")),
    aged(),
)

VOLUME_ATTRIBUTES_CLASS = printer(named(), told("DriverName", at("driverName")), aged())

VOLUME_ATTACHMENT = printer(
    named(),
    told("Attacher", at("spec.attacher"), format_="name"),
    told("PV", at("spec.source.persistentVolumeName")),
    told("Node", at("spec.nodeName")),
    told("Attached", flag("status.attached"), "boolean"),
    aged(),
)

CSI_NODE = printer(named(), told("Drivers", count("spec.drivers"), "integer"), aged())


def _audiences(driver: Object, _: Ages) -> str:
    requests = part(driver, "spec").get("tokenRequests")
    return UNSET if requests is None else ",".join(each.get("audience", "") for each in requests)


CSI_DRIVER = printer(
    named(),
    told("AttachRequired", flag("spec.attachRequired", otherwise=True), "boolean"),
    told("PodInfoOnMount", flag("spec.podInfoOnMount"), "boolean"),
    told("StorageCapacity", flag("spec.storageCapacity"), "boolean"),
    told("TokenRequests", _audiences),
    told("RequiresRepublish", flag("spec.requiresRepublish"), "boolean"),
    told("Modes", joined("spec.volumeLifecycleModes", otherwise=NONE)),
    aged(),
)
