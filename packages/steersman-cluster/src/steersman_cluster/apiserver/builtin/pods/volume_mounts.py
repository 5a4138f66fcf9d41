"""The rules of a container's volume mounts and volume devices."""

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.pods.file_paths import RELATIVE_PATH, has_backsteps
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_found,
    required,
)
from steersman_cluster.apiserver.meta.strategy import Object


class HasVolumes(Protocol):
    """The part of a Pod on which the rules of mounts depend: its volumes, by name."""

    @property
    def volumes(self) -> Mapping[str, Object]: ...


def mount_errors(container: Object, path: str, pod: HasVolumes) -> Iterator[FieldError]:
    """Yield the errors in a container's ``volumeMounts``."""
    path = f"{path}.volumeMounts"
    devices = {
        each.get("name"): each.get("devicePath") for each in container.get("volumeDevices") or ()
    }
    device_paths = set(devices.values())
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        field = f"{path}[{index}]"
        name, directory = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{field}.name")
        if name not in pod.volumes:
            yield not_found(f"{field}.name", name)
        if not directory:
            yield required(f"{field}.mountPath")
        if directory in seen:
            yield invalid(f"{field}.mountPath", directory, "must be unique")
        seen.add(directory)
        if name in devices:
            yield invalid(f"{field}.name", name, "must not already exist in volumeDevices")
        if directory in device_paths:
            detail = "must not already exist as a path in volumeDevices"
            yield invalid(f"{field}.mountPath", directory, detail)
        if mount.get("subPath"):
            yield from RELATIVE_PATH(mount["subPath"], f"{path}.subPath")
        if expression := mount.get("subPathExpr"):
            if mount.get("subPath"):
                detail = "subPathExpr and subPath are mutually exclusive"
                yield invalid(f"{field}.subPathExpr", expression, detail)
            yield from RELATIVE_PATH(expression, f"{path}.subPathExpr")
        # kube-apiserver's errors have the path of the list.
        yield from _PROPAGATION(mount, path)
        is_privileged = container.get("securityContext", {}).get("privileged")
        if mount.get("mountPropagation") == "Bidirectional" and not is_privileged:
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(f"{path}.mountPropagation", detail)
        yield from _RECURSION(mount, path)


def _recursion_errors(mount: Object, path: str) -> Iterator[FieldError]:
    if mount.get("recursiveReadOnly") not in ("Enabled", "IfPossible"):
        return
    path = f"{path}.recursiveReadOnly"
    if not mount.get("readOnly"):
        yield forbidden(path, "may only be specified when readOnly is true")
    if mount.get("mountPropagation", "None") != "None":
        detail = "may only be specified when mountPropagation is None or not specified"
        yield forbidden(path, detail)


_PROPAGATION: Final = rule.given(
    "mountPropagation", rule.enum("Bidirectional", "HostToContainer", "None")
)
_RECURSION: Final = rule.table(
    rule.given("recursiveReadOnly", rule.enum("Disabled", "Enabled", "IfPossible")),
    rule.code(_recursion_errors),
)


def device_errors(container: Object, path: str, pod: HasVolumes) -> Iterator[FieldError]:
    """Yield the errors in a container's ``volumeDevices``."""
    path = f"{path}.volumeDevices"
    mounts = {
        each.get("name"): each.get("mountPath") for each in container.get("volumeMounts") or ()
    }
    mount_paths = set(mounts.values())
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        field = f"{path}[{index}]"
        name, file = device.get("name", ""), device.get("devicePath", "")
        if not name:
            yield required(f"{field}.name")
        if name in names:
            yield invalid(f"{field}.name", name, "must be unique")
        if name not in pod.volumes:
            yield not_found(f"{field}.name", name)
        elif not {"persistentVolumeClaim", "ephemeral"} & pod.volumes[name].keys():
            detail = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for"
                " block mode"
            )
            yield invalid(f"{field}.name", name, detail)
        if not file:
            yield required(f"{field}.devicePath")
        if file in paths:
            yield invalid(f"{field}.devicePath", file, "must be unique")
        if has_backsteps(file):
            yield invalid(f"{field}.devicePath", file, "can not contain backsteps ('..')")
        else:
            paths.add(file)
        if name in mounts:
            yield invalid(f"{field}.name", name, "must not already exist in volumeMounts")
        if file in mount_paths:
            detail = "must not already exist as a path in volumeMounts"
            yield invalid(f"{field}.devicePath", file, detail)
        if name:
            names.add(name)
