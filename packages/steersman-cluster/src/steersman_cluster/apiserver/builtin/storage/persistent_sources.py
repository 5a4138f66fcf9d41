"""Validation of the sources of PersistentVolumes."""

from collections.abc import Mapping
from typing import Final

from steersman_cluster.apiserver.builtin.pods.file_paths import backstep_errors
from steersman_cluster.apiserver.builtin.pods.volume_sources import (
    CALLED,
    ONLY_ONE,
    SHARED,
    Check,
    Source,
    cinder_errors,
    driver_errors,
    is_initiator,
    named_secret_errors,
    need,
    storage_os_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain, within
from steersman_cluster.apiserver.meta.strategy import Object


def source_errors(spec: Object, path: str, *, name: str, inline: bool) -> list[FieldError]:
    """Return the errors in the source of the volume ``name``."""
    errors: list[FieldError] = []
    given = [each for each in _SOURCES if spec.get(each) is not None]
    for index, each in enumerate(given):
        # kube-apiserver does not check whether flexVolume is a second source.
        if index and each != "flexVolume":
            called = "cephFS" if each == "cephfs" else each
            errors.append(forbidden(f"{path}.{called}", ONLY_ONE))
            continue
        source, at = spec[each], f"{path}.{CALLED.get(each, each)}"
        errors += _SOURCES[each](source, at)
        if each == "iscsi":
            errors += _initiator_errors(source, at, name=name)
        if each == "local" and (inline or spec.get("nodeAffinity") is None):
            why = "Local volume requires node affinity"
            errors.append(required(f"{path}.nodeAffinity", why))
    return errors if given else [required(path, "must specify a volume type")]


def _initiator_errors(source: Source, path: str, *, name: str) -> list[FieldError]:
    portal, initiator = source.get("targetPortal", ""), source.get("initiatorName")
    errors: list[FieldError] = []
    if not portal:
        errors.append(required(f"{path}.targetPortal"))
    if initiator is not None and len(f"{name}:{portal}".encode()) > 64:
        why = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if"
            " iscsi.initiatorName is specified."
        )
        errors.append(invalid(f"{path}.targetportal", portal, why))
    errors += need(source, path, "iqn")
    if (own := source.get("iqn")) and not is_initiator(own):
        errors.append(invalid(f"{path}.iqn", own, "must be valid format"))
    errors += all_invalid(f"{path}.lun", source.get("lun", 0), within(source.get("lun", 0), 0, 255))
    if source.get("chapAuthDiscovery") or source.get("chapAuthSession"):
        errors += [] if "secretRef" in source else [required(f"{path}.secretRef")]
    errors += named_secret_errors(source, path)
    if initiator is not None and not is_initiator(initiator):
        errors.append(invalid(f"{path}.initiatorname", initiator, "must be valid format"))
    return errors


def _no_errors(_: Source, __: str) -> list[FieldError]:
    return []


def _glusterfs_errors(source: Source, path: str) -> list[FieldError]:
    errors = need(source, path, "endpoints", "path")
    if (namespace := source.get("endpointsNamespace")) is None:
        return errors
    wrong = dns_label(namespace)
    if not namespace:
        wrong = ["if the endpointnamespace is set, it must be a valid namespace name"]
    return errors + all_invalid(f"{path}.endpointsNamespace", namespace, wrong)


def _azure_file_errors(source: Source, path: str) -> list[FieldError]:
    errors = need(source, path, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        errors.append(required(f"{path}.secretNamespace"))
    return errors


def _placed(check: Check) -> Check:
    """Return ``check``, extended to require the namespace of the secret."""

    def errors(source: Source, path: str) -> list[FieldError]:
        secret = source.get("secretRef")
        placed = [] if secret is None else need(secret, f"{path}.secretRef", "namespace")
        return check(source, path) + placed

    return errors


def _local_errors(source: Source, path: str) -> list[FieldError]:
    return need(source, path, "path") or backstep_errors(source["path"], f"{path}.path")


def _csi_errors(source: Source, path: str) -> list[FieldError]:
    errors = driver_errors(source.get("driver", ""), f"{path}.driver")
    errors += need(source, path, "volumeHandle")
    for field in (
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ):
        if (secret := source.get(field)) is not None:
            errors += _secret_errors(secret, f"{path}.{field}")
    return errors


def _secret_errors(secret: Source, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field, check in (("name", dns_subdomain), ("namespace", dns_label)):
        if value := secret.get(field):
            errors += all_invalid(f"{path}.{field}", value, check(value))
        else:
            errors.append(required(f"{path}.{field}"))
    return errors


# In kube-apiserver's order of validation.
_SOURCES: Final[Mapping[str, Check]] = {
    "hostPath": SHARED["hostPath"],
    "gcePersistentDisk": SHARED["gcePersistentDisk"],
    "awsElasticBlockStore": SHARED["awsElasticBlockStore"],
    "glusterfs": _glusterfs_errors,
    "flocker": SHARED["flocker"],
    "nfs": SHARED["nfs"],
    "rbd": SHARED["rbd"],
    "quobyte": SHARED["quobyte"],
    "cephfs": SHARED["cephfs"],
    "iscsi": _no_errors,  # its checks need the name of the volume
    "cinder": _placed(cinder_errors),
    "fc": SHARED["fc"],
    "flexVolume": SHARED["flexVolume"],
    "azureFile": _azure_file_errors,
    "vsphereVolume": SHARED["vsphereVolume"],
    "photonPersistentDisk": SHARED["photonPersistentDisk"],
    "portworxVolume": SHARED["portworxVolume"],
    "azureDisk": SHARED["azureDisk"],
    "scaleIO": SHARED["scaleIO"],
    "local": _local_errors,
    "storageos": _placed(storage_os_errors),
    "csi": _csi_errors,
}


def source_of(spec: Object) -> Object:
    """Return the source of a volume."""
    return {name: spec[name] for name in _SOURCES if name in spec}
