"""A pod's volumes: each has a name and exactly one source."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from steersman.apiserver.builtin.claim_templates import claim_template_errors
from steersman.apiserver.builtin.container_env import field_ref_errors, resource_ref_errors
from steersman.apiserver.builtin.file_paths import (
    backstep_errors,
    descending_errors,
    own_path_errors,
)
from steersman.apiserver.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman.apiserver.names_rules import dns_label, dns_subdomain, within
from steersman.apiserver.rules import Object
from steersman.units import Quantity

Source: TypeAlias = Mapping[str, Any]

_ONLY_ONE: Final = "may not specify more than 1 volume type"
_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
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
_LONGEST_TOKEN_SECONDS: Final = 2**32


def mode_errors(holder: Source, name: str, path: str) -> list[FieldError]:
    """What is wrong with the permissions of files."""
    mode = holder.get(name)
    return [] if mode is None or 0 <= mode <= 0o777 else [invalid(f"{path}.{name}", mode, _MODE)]


def _need(source: Source, path: str, *names: str) -> list[FieldError]:
    return [required(f"{path}.{name}") for name in names if not source.get(name)]


def _needs(*names: str) -> Callable[[Source, str], list[FieldError]]:
    return lambda source, path: _need(source, path, *names)


def _empty_dir_errors(source: Source, path: str) -> list[FieldError]:
    limit = source.get("sizeLimit")
    if limit is None or Quantity(limit) >= Quantity(0):
        return []
    return [forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]


def _host_path_errors(source: Source, path: str) -> list[FieldError]:
    if errors := _need(source, path, "path"):
        return errors
    errors = backstep_errors(source["path"], f"{path}.path")
    if (type_ := source.get("type", "")) not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", type_, _HOST_PATH_TYPES))
    return errors


def _git_errors(source: Source, path: str) -> list[FieldError]:
    directory = source.get("directory", "")
    return _need(source, path, "repository") + descending_errors(directory, f"{path}.directory")


def _partitioned(name: str) -> Callable[[Source, str], list[FieldError]]:
    def check(source: Source, path: str) -> list[FieldError]:
        errors = _need(source, path, name)
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            errors += all_invalid(f"{path}.partition", partition, within(-1, 1, 255))
        return errors

    return check


def _listed(holder: Source, name: str) -> Sequence[Source]:
    return holder.get(name) or ()


def _items_errors(holder: Source, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, item in enumerate(_listed(holder, "items")):
        field = f"{path}.items[{index}]"
        errors += _need(item, field, "key", "path")
        errors += own_path_errors(item.get("path", ""), f"{field}.path")
        errors += mode_errors(item, "mode", field)
    return errors


def _keys_errors(name: str) -> Callable[[Source, str], list[FieldError]]:
    def check(source: Source, path: str) -> list[FieldError]:
        return [
            *_need(source, path, name),
            *mode_errors(source, "defaultMode", path),
            *_items_errors(source, path),
        ]

    return check


def _nfs_errors(source: Source, path: str) -> list[FieldError]:
    errors = _need(source, path, "server", "path")
    if not (directory := source.get("path", "")).startswith("/"):
        errors.append(invalid(f"{path}.path", directory, "must be an absolute path"))
    return errors


def _iscsi_errors(source: Source, path: str) -> list[FieldError]:
    errors = _need(source, path, "targetPortal", "iqn")
    for name, field in (("iqn", "iqn"), ("initiatorName", "initiatorname")):
        if not (value := source.get(name)):
            continue
        if not value.startswith(("iqn", "eui", "naa")):
            detail = "must be valid format starting with iqn, eui, or naa"
            errors.append(invalid(f"{path}.{field}", value, detail))
        elif not _INITIATOR.fullmatch(value) and not _has_qualified_name(value):
            errors.append(invalid(f"{path}.{field}", value, "must be valid format"))
    errors += all_invalid(f"{path}.lun", source.get("lun", 0), within(source.get("lun", 0), 0, 255))
    if source.get("chapAuthDiscovery") or source.get("chapAuthSession"):
        errors += [] if "secretRef" in source else [required(f"{path}.secretRef")]
    return errors


def _has_qualified_name(text: str) -> bool:
    """Whether an iSCSI qualified name is found in a text and goes on to its end."""
    *_, rest = _NOT_IN_NAMES.split(text)
    return any(
        len(text) - len(rest) <= found.end() < len(text) for found in _QUALIFIED.finditer(text)
    )


def _flocker_errors(source: Source, path: str) -> list[FieldError]:
    given = [name for name in ("datasetName", "datasetUUID") if source.get(name)]
    if not given:
        return [required(path, "one of datasetName and datasetUUID is required")]
    if len(given) == 2:
        detail = "datasetName and datasetUUID can not be specified simultaneously"
        return [invalid(path, "resource", detail)]
    return []


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
    if not source.get("registry"):
        detail = "must be a host:port pair or multiple pairs separated by commas"
        errors.append(required(f"{path}.registry", detail))
    return errors + _need(source, path, "volume")


def _file_errors(file: Source, path: str) -> list[FieldError]:
    errors = _need(file, path, "path")
    errors += own_path_errors(file.get("path", ""), f"{path}.path")
    if (field := file.get("fieldRef")) is not None:
        errors += field_ref_errors(field, f"{path}.fieldRef", _VOLUME_FIELDS)
        if "resourceFieldRef" in file:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", detail))
    elif (resource := file.get("resourceFieldRef")) is not None:
        errors += resource_ref_errors(resource, f"{path}.resourceFieldRef", in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + mode_errors(file, "mode", path)


def _downward_errors(source: Source, path: str) -> list[FieldError]:
    errors = mode_errors(source, "defaultMode", path)
    for file in _listed(source, "items"):
        errors += _file_errors(file, path)
    return errors


def _csi_errors(source: Source, path: str) -> list[FieldError]:
    driver = source.get("driver", "")
    errors = _need(source, path, "driver")
    if len(driver) > 63:
        errors.append(too_long(f"{path}.driver", driver, 63))
    if driver:
        errors += all_invalid(f"{path}.driver", driver, dns_subdomain(driver.lower()))
    if (reference := source.get("nodePublishSecretRef")) is not None:
        if name := reference.get("name"):
            errors += all_invalid(f"{path}.name", name, dns_subdomain(name))
        else:
            errors.append(required(f"{path}.nodePublishSecretRef.name"))
    return errors


def _projected_errors(source: Source, path: str) -> list[FieldError]:
    errors = mode_errors(source, "defaultMode", path)
    paths: set[str] = set()

    def claim(path_: str, culprit: str) -> None:
        if path_ in paths:
            errors.append(invalid(path, culprit, "conflicting duplicate paths"))
        elif path_:
            paths.add(path_)

    for index, projection in enumerate(_listed(source, "sources")):
        field = f"{path}.sources[{index}]"
        for kind in ("secret", "configMap"):
            if (keys := projection.get(kind)) is not None:
                errors += _need(keys, f"{field}.{kind}", "name")
                errors += _items_errors(keys, f"{field}.{kind}")
                for item in _listed(keys, "items"):
                    claim(item.get("path", ""), keys.get("name", ""))
        if (files := projection.get("downwardAPI")) is not None:
            for file in _listed(files, "items"):
                errors += _file_errors(file, f"{field}.downwardAPI")
                claim(file.get("path", ""), file.get("path", ""))
        if (token := projection.get("serviceAccountToken")) is not None:
            errors += _token_errors(token, f"{field}.serviceAccountToken", path)
        if len(projection) > 1:
            errors.append(forbidden(field, "may not specify more than 1 volume type per source"))
    return errors


def _token_errors(token: Source, path: str, volume: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seconds = token.get("expirationSeconds", 3600)
    if seconds < 600:
        detail = "may not specify a duration less than 10 minutes"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
    if seconds > _LONGEST_TOKEN_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
    if not token.get("path"):
        return [*errors, required(f"{volume}.path")]
    return errors + own_path_errors(token["path"], f"{volume}.path")


def _ephemeral_errors(source: Source, path: str) -> list[FieldError]:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    return claim_template_errors(template, f"{path}.volumeClaimTemplate")


def _image_errors(source: Source, path: str) -> list[FieldError]:
    return pull_policy_errors(source.get("pullPolicy", ""), f"{path}.pullPolicy")


def pull_policy_errors(policy: str, path: str) -> list[FieldError]:
    """What is wrong with when an image is pulled."""
    if policy in ("IfNotPresent", "Always", "Never"):
        return []
    if not policy:
        return [required(path)]
    return [not_supported(path, policy, ("Always", "IfNotPresent", "Never"))]


# In the order in which the server looks at them: the first that is there is the volume's source.
_SOURCES: Final[Mapping[str, Callable[[Source, str], list[FieldError]]]] = {
    "emptyDir": _empty_dir_errors,
    "hostPath": _host_path_errors,
    "gitRepo": _git_errors,
    "gcePersistentDisk": _partitioned("pdName"),
    "awsElasticBlockStore": _partitioned("volumeID"),
    "secret": _keys_errors("secretName"),
    "nfs": _nfs_errors,
    "iscsi": _iscsi_errors,
    "glusterfs": _needs("endpoints", "path"),
    "flocker": _flocker_errors,
    "persistentVolumeClaim": _needs("claimName"),
    "rbd": _needs("monitors", "image"),
    "cinder": _needs("volumeID"),
    "cephfs": _needs("monitors"),
    "quobyte": _quobyte_errors,
    "downwardAPI": _downward_errors,
    "fc": _fibre_errors,
    "flexVolume": _needs("driver"),
    "configMap": _keys_errors("name"),
    "azureFile": _needs("secretName", "shareName"),
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": _needs("diskName", "diskURI"),
    "storageos": _needs("volumeName"),
    "projected": _projected_errors,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "csi": _csi_errors,
    "ephemeral": _ephemeral_errors,
    "image": _image_errors,
}
# Where the server's errors name a source otherwise than its field is called: if it is the first,
# and if it is one too many.
_CALLED: Final = {"gcePersistentDisk": "persistentDisk"}
_ALSO_CALLED: Final = {"downwardAPI": "downwarAPI", "cephfs": "cephFS"}


def has_source(volume: Object) -> bool:
    """Whether a volume says where its files come from."""
    return len(volume) > 1 and any(name in _SOURCES for name in volume)


def volume_errors(
    volumes: Sequence[Object], path: str, pod_name: str
) -> tuple[dict[str, Object], list[FieldError]]:
    """The volumes that containers may mount, by name, and what is wrong with the others."""
    errors: list[FieldError] = []
    found: dict[str, Object] = {}
    claims = {f"{pod_name}-{each.get('name')}" for each in volumes if "ephemeral" in each}
    for index, volume in enumerate(volumes):
        field, name = f"{path}[{index}]", volume.get("name", "")
        wrong = _source_errors(volume, field, pod_name)
        if not name:
            wrong.append(required(f"{field}.name"))
        else:
            wrong += all_invalid(f"{field}.name", name, dns_label(name))
        if name in found:
            wrong.append(duplicate(f"{field}.name", name))
        if wrong:
            errors += wrong
        else:
            found[name] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if pod_name and claim in claims:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{field}.persistentVolumeClaim.claimName", claim, detail))
    return found, errors


def _source_errors(volume: Object, path: str, pod_name: str) -> list[FieldError]:
    errors: list[FieldError] = []
    given = [name for name in _SOURCES if name in volume]
    for name in given[:1]:
        errors += _SOURCES[name](volume[name], f"{path}.{_CALLED.get(name, name)}")
        if name == "ephemeral" and pod_name and volume.get("name"):
            claim = f"{pod_name}-{volume['name']}"
            sentences = [f'PVC name "{claim}": {each}' for each in dns_subdomain(claim)]
            errors += all_invalid(f"{path}.name", volume["name"], sentences)
    errors += [forbidden(f"{path}.{_ALSO_CALLED.get(name, name)}", _ONLY_ONE) for name in given[1:]]
    return errors if given else [required(path, "must specify a volume type")]
