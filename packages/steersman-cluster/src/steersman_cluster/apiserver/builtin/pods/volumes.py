"""The rules of a Pod's volumes, each of which has a name and exactly one source."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.pods.container_env import (
    field_ref_errors,
    resource_ref_errors,
)
from steersman_cluster.apiserver.builtin.pods.file_paths import RELATIVE_PATH, VOLUME_FILE_PATH
from steersman_cluster.apiserver.builtin.pods.volume_sources import (
    CALLED,
    CINDER,
    DRIVER_NAME,
    ONLY_ONE,
    SHARED,
    STORAGE_OS,
    Source,
    is_initiator,
)
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.builtin.workloads.claim_templates import claim_template_errors
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain
from steersman_cluster.apiserver.meta.strategy import Object

_MAX_TOKEN_SECONDS: Final = 2**32
_VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)

PULL_POLICY: Final = rule.enum("Always", "IfNotPresent", "Never")
_MODE: Final = rule.must(
    lambda mode: 0 <= mode <= 0o777, "must be a number between 0 and 0777 (octal), both inclusive"
)
_FILE_PATH: Final = rule.required("path", VOLUME_FILE_PATH)
_KEYS: Final = rule.optional(
    "items", rule.each(rule.required("key"), _FILE_PATH, rule.given("mode", _MODE))
)


def _file_reference_errors(file: Source, path: str) -> Iterator[FieldError]:
    if (field := file.get("fieldRef")) is not None:
        yield from field_ref_errors(field, f"{path}.fieldRef", _VOLUME_FIELDS)
        if "resourceFieldRef" in file:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", detail)
    elif (resource := file.get("resourceFieldRef")) is not None:
        yield from resource_ref_errors(resource, f"{path}.resourceFieldRef", in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")


_DOWNWARD_FILE: Final = rule.table(
    _FILE_PATH, rule.code(_file_reference_errors), rule.given("mode", _MODE)
)
_INITIATOR: Final = rule.first(
    rule.must(
        lambda name: name.startswith(("iqn", "eui", "naa")),
        "must be valid format starting with iqn, eui, or naa",
    ),
    rule.must(is_initiator, "must be valid format"),
)
TOKEN_SECONDS: Final = rule.table(
    rule.must(lambda seconds: seconds >= 600, "may not specify a duration less than 10 minutes"),
    rule.must(
        lambda seconds: seconds <= _MAX_TOKEN_SECONDS,
        "may not specify a duration larger than 2^32 seconds",
    ),
)


def _listed(holder: Source, name: str) -> Sequence[Source]:
    return holder.get(name) or ()


def _projection_errors(source: Source, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
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
                errors += _PROJECTED_KEYS(keys, f"{field}.{kind}")
                for item in _listed(keys, "items"):
                    claim(item.get("path", ""), keys.get("name", ""))
        for file in _listed(projection.get("downwardAPI") or {}, "items"):
            errors += _DOWNWARD_FILE(file, f"{field}.downwardAPI")
            claim(file.get("path", ""), file.get("path", ""))
        if (token := projection.get("serviceAccountToken")) is not None:
            errors += _PROJECTED_TOKEN(token, f"{field}.serviceAccountToken")
            # kube-apiserver's error has the path of the volume.
            errors += _FILE_PATH(token, path)
        if len(projection) > 1:
            errors.append(forbidden(field, "may not specify more than 1 volume type per source"))
    return errors


_PROJECTED_KEYS: Final = rule.table(rule.required("name"), _KEYS)
_PROJECTED_TOKEN: Final = rule.given("expirationSeconds", TOKEN_SECONDS)
# In kube-apiserver's order of validation: the first one that is set is the volume's source.
_SOURCES: Final[Mapping[str, Check]] = {
    "emptyDir": rule.given(
        "sizeLimit",
        rule.forbidden_if(
            lambda limit: Quantity(limit) < Quantity(0),
            "SizeLimit field must be a valid resource quantity",
        ),
    ),
    "hostPath": SHARED["hostPath"],
    "gitRepo": rule.table(rule.required("repository"), rule.optional("directory", RELATIVE_PATH)),
    "gcePersistentDisk": SHARED["gcePersistentDisk"],
    "awsElasticBlockStore": SHARED["awsElasticBlockStore"],
    "secret": rule.table(rule.required("secretName"), rule.given("defaultMode", _MODE), _KEYS),
    "nfs": SHARED["nfs"],
    "iscsi": rule.table(
        rule.all_required("targetPortal", "iqn"),
        rule.optional("iqn", _INITIATOR),
        rule.optional("initiatorName", _INITIATOR, at="initiatorname"),
        rule.given("lun", rule.between(0, 255)),
        rule.when(
            lambda source: source.get("chapAuthDiscovery") or source.get("chapAuthSession"),
            rule.needed("secretRef"),
        ),
    ),
    "glusterfs": rule.all_required("endpoints", "path"),
    "flocker": SHARED["flocker"],
    "persistentVolumeClaim": rule.required("claimName"),
    "rbd": SHARED["rbd"],
    "cinder": CINDER,
    "cephfs": SHARED["cephfs"],
    "quobyte": SHARED["quobyte"],
    "downwardAPI": rule.table(
        rule.given("defaultMode", _MODE),
        # kube-apiserver's errors have the path of the volume.
        rule.optional("items", rule.each(_DOWNWARD_FILE, numbered=False), at=""),
    ),
    "fc": SHARED["fc"],
    "flexVolume": SHARED["flexVolume"],
    "configMap": rule.table(rule.required("name"), rule.given("defaultMode", _MODE), _KEYS),
    "azureFile": rule.all_required("secretName", "shareName"),
    "vsphereVolume": SHARED["vsphereVolume"],
    "photonPersistentDisk": SHARED["photonPersistentDisk"],
    "portworxVolume": SHARED["portworxVolume"],
    "azureDisk": SHARED["azureDisk"],
    "storageos": STORAGE_OS,
    "projected": rule.table(rule.given("defaultMode", _MODE), rule.code(_projection_errors)),
    "scaleIO": SHARED["scaleIO"],
    "csi": rule.table(
        rule.required("driver", DRIVER_NAME),
        rule.given("nodePublishSecretRef", rule.required("name")),
        # kube-apiserver's error for an invalid name omits the reference.
        rule.optional("nodePublishSecretRef.name", dns_subdomain, at="name"),
    ),
    "ephemeral": rule.needed("volumeClaimTemplate", rule.code(claim_template_errors)),
    "image": rule.optional("pullPolicy", PULL_POLICY),
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
    return errors
