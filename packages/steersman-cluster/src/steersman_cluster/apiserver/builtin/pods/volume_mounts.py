"""Validation of volume mounts and volume devices of containers."""

from collections.abc import Mapping, Sequence
from typing import Final

from steersman_cluster.apiserver.builtin.pods.file_paths import backstep_errors, descending_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.strategy import Object

_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_RECURSIONS: Final = ("Disabled", "Enabled", "IfPossible")


def mount_errors(container: Object, volumes: Mapping[str, Object], path: str) -> list[FieldError]:
    """Return the errors in a container's ``volumeMounts``.

    ``volumes`` contains the Pod's volumes by name.
    """
    errors: list[FieldError] = []
    devices = {each.get("name"): each.get("devicePath") for each in _devices(container)}
    device_paths = set(devices.values())
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        field = f"{path}[{index}]"
        name, directory = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            errors.append(required(f"{field}.name"))
        if name not in volumes:
            errors.append(not_found(f"{field}.name", name))
        if not directory:
            errors.append(required(f"{field}.mountPath"))
        if directory in seen:
            errors.append(invalid(f"{field}.mountPath", directory, "must be unique"))
        seen.add(directory)
        if name in devices:
            detail = "must not already exist in volumeDevices"
            errors.append(invalid(f"{field}.name", name, detail))
        if directory in device_paths:
            detail = "must not already exist as a path in volumeDevices"
            errors.append(invalid(f"{field}.mountPath", directory, detail))
        errors += _sub_path_errors(mount, path, field)
        errors += _propagation_errors(mount, container, f"{path}.mountPropagation")
        errors += _recursion_errors(mount, f"{path}.recursiveReadOnly")
    return errors


def _devices(container: Object) -> Sequence[Object]:
    return container.get("volumeDevices") or ()


def _sub_path_errors(mount: Object, mounts: str, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    path, expression = mount.get("subPath"), mount.get("subPathExpr")
    if path:
        errors += descending_errors(path, f"{mounts}.subPath")
    if expression:
        if path:
            detail = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(f"{field}.subPathExpr", expression, detail))
        errors += descending_errors(expression, f"{mounts}.subPathExpr")
    return errors


def _propagation_errors(mount: Object, container: Object, path: str) -> list[FieldError]:
    propagation = mount.get("mountPropagation")
    if propagation is None:
        return []
    if propagation not in _PROPAGATIONS:
        return [not_supported(path, propagation, _PROPAGATIONS)]
    is_privileged = container.get("securityContext", {}).get("privileged")
    if propagation == "Bidirectional" and not is_privileged:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        return [forbidden(path, detail)]
    return []


def _recursion_errors(mount: Object, path: str) -> list[FieldError]:
    recursion = mount.get("recursiveReadOnly", "Disabled")
    if recursion not in _RECURSIONS:
        return [not_supported(path, recursion, _RECURSIONS)]
    if recursion == "Disabled":
        return []
    errors: list[FieldError] = []
    if not mount.get("readOnly"):
        errors.append(forbidden(path, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation", "None") != "None":
        detail = "may only be specified when mountPropagation is None or not specified"
        errors.append(forbidden(path, detail))
    return errors


def device_errors(container: Object, volumes: Mapping[str, Object], path: str) -> list[FieldError]:
    """Return the errors in a container's ``volumeDevices``."""
    errors: list[FieldError] = []
    mounts = {
        each.get("name"): each.get("mountPath") for each in container.get("volumeMounts") or ()
    }
    mount_paths = set(mounts.values())
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(_devices(container)):
        field = f"{path}[{index}]"
        name, file = device.get("name", ""), device.get("devicePath", "")
        if not name:
            errors.append(required(f"{field}.name"))
        if name in names:
            errors.append(invalid(f"{field}.name", name, "must be unique"))
        if name not in volumes:
            errors.append(not_found(f"{field}.name", name))
        elif not {"persistentVolumeClaim", "ephemeral"} & volumes[name].keys():
            detail = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for"
                " block mode"
            )
            errors.append(invalid(f"{field}.name", name, detail))
        if not file:
            errors.append(required(f"{field}.devicePath"))
        if file in paths:
            errors.append(invalid(f"{field}.devicePath", file, "must be unique"))
        if backstep_errors(file, path):
            detail = "can not contain backsteps ('..')"
            errors.append(invalid(f"{field}.devicePath", file, detail))
        else:
            paths.add(file)
        if name in mounts:
            detail = "must not already exist in volumeMounts"
            errors.append(invalid(f"{field}.name", name, detail))
        if file in mount_paths:
            detail = "must not already exist as a path in volumeMounts"
            errors.append(invalid(f"{field}.devicePath", file, detail))
        if name:
            names.add(name)
    return errors
