"""The table rows of volumes, volume claims and storage classes."""

from collections.abc import Collection

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Cell, CellOf
from steersman_cluster.apiserver.tables.cells import NONE, UNSET, amount, joined
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    at,
    column,
    count,
    flag,
    name_column,
    name_of,
    part,
    printer,
    wide_column,
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


_ATTRIBUTES = column("VolumeAttributesClass", at("spec.volumeAttributesClassName", UNSET))
_VOLUME_MODE = wide_column("VolumeMode", at("spec.volumeMode", UNSET))

PERSISTENT_VOLUME = printer(
    name_column(),
    column("Capacity", _capacity),
    column("Access Modes", _volume_modes),
    column("Reclaim Policy", at("spec.persistentVolumeReclaimPolicy")),
    column("Status", _phase),
    column("Claim", _claim),
    column("StorageClass", _class),
    _ATTRIBUTES,
    column("Reason", at("status.reason")),
    age_column(),
    _VOLUME_MODE,
)


def _of_bound(cell: CellOf) -> CellOf:
    """Return a cell function that is empty until the PersistentVolumeClaim is bound to a volume."""

    def shown(claim: Object, ages: Ages) -> Cell:
        return cell(claim, ages) if part(claim, "spec").get("volumeName") else ""

    return shown


def _claimed(claim: Object, _: Ages) -> str:
    return amount(part(claim, "status", "capacity").get("storage"))


def _claim_modes(claim: Object, _: Ages) -> str:
    return _modes(part(claim, "status", "accessModes"))


PERSISTENT_VOLUME_CLAIM = printer(
    name_column(),
    column("Status", _phase),
    column("Volume", at("spec.volumeName")),
    column("Capacity", _of_bound(_claimed)),
    column("Access Modes", _of_bound(_claim_modes)),
    column("StorageClass", _class),
    _ATTRIBUTES,
    age_column(),
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
    name_column(_storage_class_name),
    column("Provisioner", at("provisioner")),
    column("ReclaimPolicy", at("reclaimPolicy", "Delete")),
    column("VolumeBindingMode", at("volumeBindingMode", "Immediate")),
    column("AllowVolumeExpansion", flag("allowVolumeExpansion")),
    age_column(),
)

VOLUME_ATTRIBUTES_CLASS = printer(
    name_column(), column("DriverName", at("driverName")), age_column()
)

VOLUME_ATTACHMENT = printer(
    name_column(),
    column("Attacher", at("spec.attacher"), format_="name"),
    column("PV", at("spec.source.persistentVolumeName")),
    column("Node", at("spec.nodeName")),
    column("Attached", flag("status.attached"), "boolean"),
    age_column(),
)

CSI_NODE = printer(name_column(), column("Drivers", count("spec.drivers"), "integer"), age_column())


def _audiences(driver: Object, _: Ages) -> str:
    requests = part(driver, "spec").get("tokenRequests")
    return UNSET if requests is None else ",".join(each.get("audience", "") for each in requests)


CSI_DRIVER = printer(
    name_column(),
    column("AttachRequired", flag("spec.attachRequired", otherwise=True), "boolean"),
    column("PodInfoOnMount", flag("spec.podInfoOnMount"), "boolean"),
    column("StorageCapacity", flag("spec.storageCapacity"), "boolean"),
    column("TokenRequests", _audiences),
    column("RequiresRepublish", flag("spec.requiresRepublish"), "boolean"),
    column("Modes", joined("spec.volumeLifecycleModes", otherwise=NONE)),
    age_column(),
)
