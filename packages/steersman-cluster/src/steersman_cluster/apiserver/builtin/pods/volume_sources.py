"""Validation of the volume sources that Pods and PersistentVolumes have in common."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.builtin.pods.file_paths import backstep_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain, within

Source: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[Source, str], list[FieldError]]

_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_INITIATOR: Final = re.compile(r"eui.[A-Za-z0-9]{16}|naa.[A-Za-z0-9]{32}")
_QUALIFIED: Final = re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]++:", re.ASCII)
_NOT_IN_NAMES: Final = re.compile(r"[,;*&$|\s]", re.ASCII)
_CACHING: Final = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS: Final = ("Dedicated", "Managed", "Shared")
_PAIRS: Final = "must be a host:port pair or multiple pairs separated by commas"
_MAX_DRIVER_LENGTH: Final = 63


def need(source: Source, path: str, *names: str) -> list[FieldError]:
    """Return an error for each field in ``names`` that is missing or empty."""
    return [required(f"{path}.{name}") for name in names if not source.get(name)]


def needs_all(*names: str) -> Check:
    """Return a check whose only rule is that the fields in ``names`` are required."""
    return lambda source, path: need(source, path, *names)


def driver_errors(driver: str, path: str) -> list[FieldError]:
    """Return the errors in ``driver``, the name of a driver."""
    if not driver:
        return [required(path)]
    errors = all_invalid(path, driver, dns_subdomain(driver.lower()))
    too = len(driver.encode()) > _MAX_DRIVER_LENGTH
    return [too_long(path, driver, _MAX_DRIVER_LENGTH), *errors] if too else errors


def host_path_errors(source: Source, path: str) -> list[FieldError]:
    """Return the errors in a ``hostPath`` source."""
    if errors := need(source, path, "path"):
        return errors
    errors = backstep_errors(source["path"], f"{path}.path")
    if (type_ := source.get("type", "")) not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", type_, _HOST_PATH_TYPES))
    return errors


def _partitioned(name: str) -> Check:
    def check(source: Source, path: str) -> list[FieldError]:
        errors = need(source, path, name)
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            errors += all_invalid(f"{path}.partition", partition, within(-1, 1, 255))
        return errors

    return check


def _nfs_errors(source: Source, path: str) -> list[FieldError]:
    errors = need(source, path, "server", "path")
    if not (directory := source.get("path", "")).startswith("/"):
        errors.append(invalid(f"{path}.path", directory, "must be an absolute path"))
    return errors


def is_initiator(name: str) -> bool:
    """Return whether ``name`` is an iSCSI initiator name in one of the three formats."""
    return bool(_INITIATOR.fullmatch(name)) or _has_qualified_name(name)


def _has_qualified_name(text: str) -> bool:
    """Return whether ``text`` ends with an iSCSI qualified name, which may begin anywhere in it."""
    *_, rest = _NOT_IN_NAMES.split(text)
    return any(
        len(text) - len(rest) <= found.end() < len(text) for found in _QUALIFIED.finditer(text)
    )


def _flocker_errors(source: Source, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    given = [name for name in ("datasetName", "datasetUUID") if source.get(name)]
    if not given:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    elif len(given) == 2:
        detail = "datasetName and datasetUUID can not be specified simultaneously"
        errors.append(invalid(path, "resource", detail))
    if "/" in (name := source.get("datasetName", "")):
        errors.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return errors


def _fibre_errors(source: Source, path: str) -> list[FieldError]:
    targets, lun = source.get("targetWWNs"), source.get("lun")
    if not targets and not source.get("wwids"):
        detail = "must specify either targetWWNs or wwids, but not both"
        return [required(f"{path}.targetWWNs", detail)]
    errors: list[FieldError] = []
    if targets and source.get("wwids"):
        detail = "targetWWNs and wwids can not be specified simultaneously"
        errors.append(invalid(f"{path}.targetWWNs", targets, detail))
    if targets and lun is None:
        detail = "lun is required if targetWWNs is specified"
        errors.append(required(f"{path}.lun", detail))
    elif targets and lun is not None:
        errors += all_invalid(f"{path}.lun", lun, within(lun, 0, 255))
    return errors


def _quobyte_errors(source: Source, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    registry = source.get("registry", "")
    if not registry:
        errors.append(required(f"{path}.registry", _PAIRS))
    elif len(source.get("tenant", "").encode()) > 64:
        detail = "must be a UUID and may not exceed a length of 64 characters"
        errors.append(required(f"{path}.tenant", detail))
    else:
        wrong = [_PAIRS for pair in registry.split(",") if not _is_pair(pair)]
        errors += all_invalid(f"{path}.registry", registry, wrong)
    return errors + need(source, path, "volume")


def _is_pair(text: str) -> bool:
    """Return whether the text is ``host:port``; a host with colons must be in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or "[" in port or "]" in port:
        return False
    if host.startswith("["):
        return host.endswith("]") and not {"[", "]"} & set(host[1:-1])
    return not {":", "[", "]"} & set(host)


def _flex_errors(source: Source, path: str) -> list[FieldError]:
    errors = need(source, path, "driver")
    for key in source.get("options") or ():
        owner = f".{key.partition('/')[0].lower()}"
        if owner.endswith((".kubernetes.io", ".k8s.io")):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            errors.append(invalid(f"{path}.options[{key}]", key, detail))
    return errors


def _azure_disk_errors(source: Source, path: str) -> list[FieldError]:
    errors = need(source, path, "diskName", "diskURI")
    kind, address = source.get("kind"), source.get("diskURI", "")
    for field, choices in (("cachingMode", _CACHING), ("kind", _DISK_KINDS)):
        if (value := source.get(field)) is not None and value not in choices:
            errors.append(not_supported(f"{path}.{field}", value, choices))
    if kind == "Managed" and not address.startswith("/subscriptions/"):
        form = (
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
            "{disk-id}"
        )
        errors.append(not_supported(f"{path}.diskURI", address, (form,)))
    elif kind not in (None, "Managed") and not address.startswith("https://"):
        form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
        errors.append(not_supported(f"{path}.diskURI", address, (form,)))
    return errors


def storage_os_errors(source: Source, path: str) -> list[FieldError]:
    """Return the errors in a StorageOS volume, whose secret is referenced by name."""
    errors = need(source, path, "volumeName")
    for field in ("volumeName", "volumeNamespace"):
        if name := source.get(field):
            errors += all_invalid(f"{path}.{field}", name, dns_label(name))
    return errors + named_secret_errors(source, path)


def cinder_errors(source: Source, path: str) -> list[FieldError]:
    """Return the errors in an OpenStack volume, whose secret is referenced by name."""
    return need(source, path, "volumeID") + named_secret_errors(source, path)


def named_secret_errors(source: Source, path: str, *names: str) -> list[FieldError]:
    """Return errors for missing fields of ``secretRef``: ``name`` and the given ``names``."""
    secret = source.get("secretRef")
    return [] if secret is None else need(secret, f"{path}.secretRef", "name", *names)


# Sources with the same checks in Pods and in PersistentVolumes.
SHARED: Final[Mapping[str, Check]] = {
    "hostPath": host_path_errors,
    "gcePersistentDisk": _partitioned("pdName"),
    "awsElasticBlockStore": _partitioned("volumeID"),
    "nfs": _nfs_errors,
    "flocker": _flocker_errors,
    "rbd": needs_all("monitors", "image"),
    "cephfs": needs_all("monitors"),
    "quobyte": _quobyte_errors,
    "fc": _fibre_errors,
    "flexVolume": _flex_errors,
    "vsphereVolume": needs_all("volumePath"),
    "photonPersistentDisk": needs_all("pdID"),
    "portworxVolume": needs_all("volumeID"),
    "azureDisk": _azure_disk_errors,
    "scaleIO": needs_all("gateway", "system", "volumeName"),
}
# Names of sources in kube-apiserver's errors for the first source, if they differ from the field.
CALLED: Final = {"gcePersistentDisk": "persistentDisk"}
ONLY_ONE: Final = "may not specify more than 1 volume type"
