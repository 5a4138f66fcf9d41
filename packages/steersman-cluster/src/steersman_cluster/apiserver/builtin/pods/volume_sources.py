"""The rules of the volume sources that Pods and PersistentVolumes have in common."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

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
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain

Source: TypeAlias = Mapping[str, Any]

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

# The name of a driver.
DRIVER_NAME: Final = rule.table(
    rule.max_bytes(_MAX_DRIVER_LENGTH),
    rule.code(lambda name, path: all_invalid(path, name, dns_subdomain(name.lower()))),
)
NAMED_SECRET: Final = rule.given("secretRef", rule.required("name"))
_PARTITION: Final = rule.given(
    "partition",
    rule.must(lambda number: 0 <= number <= 255, "must be between 1 and 255, inclusive"),
)


def is_initiator(name: str) -> bool:
    """Return whether ``name`` is an iSCSI initiator name in one of the three formats."""
    return bool(_INITIATOR.fullmatch(name)) or _has_qualified_name(name)


def _has_qualified_name(text: str) -> bool:
    """Return whether ``text`` ends with an iSCSI qualified name, which may begin anywhere in it."""
    *_, rest = _NOT_IN_NAMES.split(text)
    return any(
        len(text) - len(rest) <= found.end() < len(text) for found in _QUALIFIED.finditer(text)
    )


def _flocker_errors(source: Source, path: str) -> Iterator[FieldError]:
    given = [name for name in ("datasetName", "datasetUUID") if source.get(name)]
    if not given:
        yield required(path, "one of datasetName and datasetUUID is required")
    elif len(given) == 2:
        detail = "datasetName and datasetUUID can not be specified simultaneously"
        yield invalid(path, "resource", detail)


def _fibre_channel_errors(source: Source, path: str) -> Iterator[FieldError]:
    targets, names = source.get("targetWWNs"), source.get("wwids")
    if not targets and not names:
        detail = "must specify either targetWWNs or wwids, but not both"
        yield required(f"{path}.targetWWNs", detail)
    elif targets and names:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        yield invalid(f"{path}.targetWWNs", targets, detail)


def _quobyte_errors(source: Source, path: str) -> Iterator[FieldError]:
    registry = source.get("registry", "")
    if not registry:
        yield required(f"{path}.registry", _PAIRS)
    elif len(source.get("tenant", "").encode()) > 64:
        detail = "must be a UUID and may not exceed a length of 64 characters"
        yield required(f"{path}.tenant", detail)
    else:
        wrong = [_PAIRS for pair in registry.split(",") if not _is_pair(pair)]
        yield from all_invalid(f"{path}.registry", registry, wrong)


def _is_pair(text: str) -> bool:
    """Return whether the text is ``host:port``; a host with colons must be in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or "[" in port or "]" in port:
        return False
    if host.startswith("["):
        return host.endswith("]") and not {"[", "]"} & set(host[1:-1])
    return not {":", "[", "]"} & set(host)


def _option_errors(options: Source, path: str) -> Iterator[FieldError]:
    for key in options:
        owner = f".{key.partition('/')[0].lower()}"
        if owner.endswith((".kubernetes.io", ".k8s.io")):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            yield invalid(f"{path}[{key}]", key, detail)


def _disk_address_errors(disk: Source, path: str) -> Iterator[FieldError]:
    kind, address = disk.get("kind"), disk.get("diskURI", "")
    if kind is None:
        return
    prefix, form = _DISK_FORMS[kind == "Managed"]
    if not address.startswith(prefix):
        yield not_supported(f"{path}.diskURI", address, (form,))


# The prefix and the form of the address of an unmanaged and of a managed disk.
_DISK_FORMS: Final = (
    ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"),
    (
        "/subscriptions/",
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
        "{disk-id}",
    ),
)
# The secret of these two is in another namespace in a PersistentVolume.
CINDER: Final = rule.table(rule.required("volumeID"), NAMED_SECRET)
STORAGE_OS: Final = rule.table(
    rule.required("volumeName", dns_label),
    rule.optional("volumeNamespace", dns_label),
    NAMED_SECRET,
)
# Sources with the same rules in Pods and in PersistentVolumes.
SHARED: Final[Mapping[str, Check]] = {
    "hostPath": rule.first(
        rule.required("path"),
        rule.table(
            rule.always("path", NO_BACKSTEPS),
            rule.optional("type", rule.enum(*_HOST_PATH_TYPES)),
        ),
    ),
    "gcePersistentDisk": rule.table(rule.required("pdName"), _PARTITION),
    "awsElasticBlockStore": rule.table(rule.required("volumeID"), _PARTITION),
    "nfs": rule.table(
        rule.all_required("server", "path"),
        rule.always(
            "path", rule.must(lambda path: path.startswith("/"), "must be an absolute path")
        ),
    ),
    "flocker": rule.table(
        rule.code(_flocker_errors),
        rule.given("datasetName", rule.must(lambda name: "/" not in name, "must not contain '/'")),
    ),
    "rbd": rule.all_required("monitors", "image"),
    "cephfs": rule.required("monitors"),
    "quobyte": rule.table(rule.code(_quobyte_errors), rule.required("volume")),
    "fc": rule.table(
        rule.code(_fibre_channel_errors),
        rule.when(
            lambda source: source.get("targetWWNs"),
            rule.needed(
                "lun", rule.between(0, 255), detail="lun is required if targetWWNs is specified"
            ),
        ),
    ),
    "flexVolume": rule.table(
        rule.required("driver"), rule.optional("options", rule.code(_option_errors))
    ),
    "vsphereVolume": rule.required("volumePath"),
    "photonPersistentDisk": rule.required("pdID"),
    "portworxVolume": rule.required("volumeID"),
    "azureDisk": rule.table(
        rule.all_required("diskName", "diskURI"),
        rule.given("cachingMode", rule.enum(*_CACHING)),
        rule.given("kind", rule.enum(*_DISK_KINDS)),
        rule.code(_disk_address_errors),
    ),
    "scaleIO": rule.all_required("gateway", "system", "volumeName"),
}
# Names of sources in kube-apiserver's errors for the first source, if they differ from the field.
CALLED: Final = {"gcePersistentDisk": "persistentDisk"}
ONLY_ONE: Final = "may not specify more than 1 volume type"
