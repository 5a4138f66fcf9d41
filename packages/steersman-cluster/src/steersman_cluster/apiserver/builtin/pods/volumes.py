"""Validation of a Pod's volumes, each of which has a name and exactly one source."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.pods.container_env import (
    field_ref_errors,
    resource_ref_errors,
)
from steersman_cluster.apiserver.builtin.pods.file_paths import (
    descending_errors,
    own_path_errors,
)
from steersman_cluster.apiserver.builtin.pods.volume_sources import (
    CALLED,
    ONLY_ONE,
    SHARED,
    Source,
    cinder_errors,
    driver_errors,
    is_initiator,
    need,
    needs_all,
    storage_os_errors,
)
from steersman_cluster.apiserver.builtin.workloads.claim_templates import claim_template_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain, within
from steersman_cluster.apiserver.meta.strategy import Object

_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_MAX_TOKEN_SECONDS: Final = 2**32


def mode_errors(holder: Source, name: str, path: str) -> list[FieldError]:
    """Return the errors in the permission bits in the field ``name`` of ``holder``."""
    mode = holder.get(name)
    return [] if mode is None or 0 <= mode <= 0o777 else [invalid(f"{path}.{name}", mode, _MODE)]


def _empty_dir_errors(source: Source, path: str) -> list[FieldError]:
    limit = source.get("sizeLimit")
    if limit is None or Quantity(limit) >= Quantity(0):
        return []
    return [forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]


def _git_errors(source: Source, path: str) -> list[FieldError]:
    directory = source.get("directory", "")
    return need(source, path, "repository") + descending_errors(directory, f"{path}.directory")


def _listed(holder: Source, name: str) -> Sequence[Source]:
    return holder.get(name) or ()


def _items_errors(holder: Source, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, item in enumerate(_listed(holder, "items")):
        field = f"{path}.items[{index}]"
        errors += need(item, field, "key", "path")
        errors += own_path_errors(item.get("path", ""), f"{field}.path")
        errors += mode_errors(item, "mode", field)
    return errors


def _keys_errors(name: str) -> Callable[[Source, str], list[FieldError]]:
    def check(source: Source, path: str) -> list[FieldError]:
        return [
            *need(source, path, name),
            *mode_errors(source, "defaultMode", path),
            *_items_errors(source, path),
        ]

    return check


def _iscsi_errors(source: Source, path: str) -> list[FieldError]:
    errors = need(source, path, "targetPortal", "iqn")
    for name, field in (("iqn", "iqn"), ("initiatorName", "initiatorname")):
        if not (value := source.get(name)):
            continue
        if not value.startswith(("iqn", "eui", "naa")):
            detail = "must be valid format starting with iqn, eui, or naa"
            errors.append(invalid(f"{path}.{field}", value, detail))
        elif not is_initiator(value):
            errors.append(invalid(f"{path}.{field}", value, "must be valid format"))
    errors += all_invalid(f"{path}.lun", source.get("lun", 0), within(source.get("lun", 0), 0, 255))
    if source.get("chapAuthDiscovery") or source.get("chapAuthSession"):
        errors += [] if "secretRef" in source else [required(f"{path}.secretRef")]
    return errors


def _file_errors(file: Source, path: str) -> list[FieldError]:
    errors = need(file, path, "path")
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
    errors = driver_errors(source.get("driver", ""), f"{path}.driver")
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
                errors += need(keys, f"{field}.{kind}", "name")
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
    if seconds > _MAX_TOKEN_SECONDS:
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
    """Return the error in the pull policy of an image."""
    if policy in ("IfNotPresent", "Always", "Never"):
        return []
    if not policy:
        return [required(path)]
    return [not_supported(path, policy, ("Always", "IfNotPresent", "Never"))]


# In kube-apiserver's order of validation: the first one that is set is the volume's source.
_SOURCES: Final[Mapping[str, Callable[[Source, str], list[FieldError]]]] = {
    "emptyDir": _empty_dir_errors,
    "hostPath": SHARED["hostPath"],
    "gitRepo": _git_errors,
    "gcePersistentDisk": SHARED["gcePersistentDisk"],
    "awsElasticBlockStore": SHARED["awsElasticBlockStore"],
    "secret": _keys_errors("secretName"),
    "nfs": SHARED["nfs"],
    "iscsi": _iscsi_errors,
    "glusterfs": needs_all("endpoints", "path"),
    "flocker": SHARED["flocker"],
    "persistentVolumeClaim": needs_all("claimName"),
    "rbd": SHARED["rbd"],
    "cinder": cinder_errors,
    "cephfs": SHARED["cephfs"],
    "quobyte": SHARED["quobyte"],
    "downwardAPI": _downward_errors,
    "fc": SHARED["fc"],
    "flexVolume": SHARED["flexVolume"],
    "configMap": _keys_errors("name"),
    "azureFile": needs_all("secretName", "shareName"),
    "vsphereVolume": SHARED["vsphereVolume"],
    "photonPersistentDisk": SHARED["photonPersistentDisk"],
    "portworxVolume": SHARED["portworxVolume"],
    "azureDisk": SHARED["azureDisk"],
    "storageos": storage_os_errors,
    "projected": _projected_errors,
    "scaleIO": SHARED["scaleIO"],
    "csi": _csi_errors,
    "ephemeral": _ephemeral_errors,
    "image": _image_errors,
}
# Names of sources in kube-apiserver's errors for additional sources, if they differ from the field.
_ALSO_CALLED: Final = {"downwardAPI": "downwarAPI", "cephfs": "cephFS"}


def has_source(volume: Object) -> bool:
    """Return whether a volume has a source."""
    return len(volume) > 1 and any(name in _SOURCES for name in volume)


def volume_errors(
    volumes: Sequence[Object], path: str, pod_name: str
) -> tuple[dict[str, Object], list[FieldError]]:
    """Return the volumes that containers can mount, by name, and all errors in ``volumes``.

    ``pod_name`` is "" for the volumes of a Pod template.
    """
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
        if name == "image" and pod_name and not volume[name].get("reference"):
            errors.append(required(f"{path}.image.reference"))
        errors += _SOURCES[name](volume[name], f"{path}.{CALLED.get(name, name)}")
        if name == "ephemeral" and pod_name and volume.get("name"):
            claim = f"{pod_name}-{volume['name']}"
            sentences = [f'PVC name "{claim}": {each}' for each in dns_subdomain(claim)]
            errors += all_invalid(f"{path}.name", volume["name"], sentences)
    errors += [forbidden(f"{path}.{_ALSO_CALLED.get(name, name)}", ONLY_ONE) for name in given[1:]]
    return errors if given else [required(path, "must specify a volume type")]
