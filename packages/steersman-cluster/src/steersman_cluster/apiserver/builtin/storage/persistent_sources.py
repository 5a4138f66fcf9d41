"""The rules of the sources of PersistentVolumes."""

from collections.abc import Iterator, Mapping
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.pods.file_paths import NO_BACKSTEPS
from steersman_cluster.apiserver.builtin.pods.volume_sources import (
    CALLED,
    CINDER,
    DRIVER_NAME,
    NAMED_SECRET,
    ONLY_ONE,
    SHARED,
    STORAGE_OS,
    Source,
    is_initiator,
)
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, dns_subdomain
from steersman_cluster.apiserver.meta.strategy import Object


def source_errors(spec: Object, path: str, *, name: str, inline: bool) -> Iterator[FieldError]:
    """Yield the errors in the source of the volume ``name``."""
    given = [each for each in _SOURCES if spec.get(each) is not None]
    if not given:
        yield required(path, "must specify a volume type")
    for index, each in enumerate(given):
        # kube-apiserver does not check whether flexVolume is a second source.
        if index and each != "flexVolume":
            yield forbidden(f"{path}.{'cephFS' if each == 'cephfs' else each}", ONLY_ONE)
            continue
        yield from _SOURCES[each](spec[each], f"{path}.{CALLED.get(each, each)}", name)
        if each == "local" and (inline or spec.get("nodeAffinity") is None):
            yield required(f"{path}.nodeAffinity", "Local volume requires node affinity")


def _portal_errors(source: Source, path: str, volume_name: str) -> Iterator[FieldError]:
    portal = source.get("targetPortal", "")
    if "initiatorName" in source and len(f"{volume_name}:{portal}".encode()) > 64:
        why = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if"
            " iscsi.initiatorName is specified."
        )
        yield invalid(f"{path}.targetportal", portal, why)


_INITIATOR: Final = rule.must(is_initiator, "must be valid format")
_SECRET_NAMESPACE: Final = rule.given("secretRef", rule.required("namespace"))
_SECRET: Final = rule.table(
    rule.required("name", dns_subdomain), rule.required("namespace", dns_label)
)
# In kube-apiserver's order of validation.
_SOURCES: Final[Mapping[str, Check]] = {
    "hostPath": SHARED["hostPath"],
    "gcePersistentDisk": SHARED["gcePersistentDisk"],
    "awsElasticBlockStore": SHARED["awsElasticBlockStore"],
    "glusterfs": rule.table(
        rule.all_required("endpoints", "path"),
        rule.given(
            "endpointsNamespace",
            rule.first(
                rule.must(
                    bool, "if the endpointnamespace is set, it must be a valid namespace name"
                ),
                dns_label,
            ),
        ),
    ),
    "flocker": SHARED["flocker"],
    "nfs": SHARED["nfs"],
    "rbd": SHARED["rbd"],
    "quobyte": SHARED["quobyte"],
    "cephfs": SHARED["cephfs"],
    "iscsi": rule.table(
        rule.required("targetPortal"),
        rule.scoped(_portal_errors),
        rule.required("iqn", _INITIATOR),
        rule.given("lun", rule.between(0, 255)),
        rule.when(
            lambda source: source.get("chapAuthDiscovery") or source.get("chapAuthSession"),
            rule.needed("secretRef"),
        ),
        NAMED_SECRET,
        rule.given("initiatorName", _INITIATOR, at="initiatorname"),
    ),
    "cinder": rule.table(CINDER, _SECRET_NAMESPACE),
    "fc": SHARED["fc"],
    "flexVolume": SHARED["flexVolume"],
    "azureFile": rule.table(
        rule.all_required("secretName", "shareName"),
        rule.given("secretNamespace", rule.must_be_set()),
    ),
    "vsphereVolume": SHARED["vsphereVolume"],
    "photonPersistentDisk": SHARED["photonPersistentDisk"],
    "portworxVolume": SHARED["portworxVolume"],
    "azureDisk": SHARED["azureDisk"],
    "scaleIO": SHARED["scaleIO"],
    "local": rule.required("path", NO_BACKSTEPS),
    "storageos": rule.table(STORAGE_OS, _SECRET_NAMESPACE),
    "csi": rule.table(
        rule.required("driver", DRIVER_NAME),
        rule.required("volumeHandle"),
        rule.given("controllerPublishSecretRef", _SECRET),
        rule.given("controllerExpandSecretRef", _SECRET),
        rule.given("nodePublishSecretRef", _SECRET),
        rule.given("nodeExpandSecretRef", _SECRET),
    ),
}


def source_of(spec: Object) -> Object:
    """Return the source of a volume."""
    return {name: spec[name] for name in _SOURCES if name in spec}
