"""Volumes, claims, classes, and the drivers behind them."""

from steersman.apiserver.builtin.filling import fill, fill_empty, protected_by
from steersman.apiserver.names_rules import subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings
from steersman.units import format_time

_OLD_SOURCES = (
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
)
_protect_volume = protected_by("kubernetes.io/pv-protection")
_protect_claim = protected_by("kubernetes.io/pvc-protection")


def _default_volume(volume: Object) -> None:
    spec = volume.setdefault("spec", {})
    fill_empty(spec, persistentVolumeReclaimPolicy="Retain")
    fill(spec, volumeMode="Filesystem")
    if "hostPath" in spec:
        fill(spec["hostPath"], type="")
    fill_empty(volume.setdefault("status", {}), phase="Pending")


def _prepare_volume(volume: Object, around: Surroundings) -> None:
    _protect_volume(volume, around)
    now = format_time(around.clock.now())
    volume["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}


def _prepare_volume_status(volume: Object, old: Object, around: Surroundings) -> None:
    now, before = volume.setdefault("status", {}), old.get("status", {})
    when, was = now.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
    if now.get("phase") != before.get("phase"):
        if when is None or when == was:
            now["lastPhaseTransitionTime"] = format_time(around.clock.now())
    elif when is None and was is not None:
        now["lastPhaseTransitionTime"] = was


def default_claim_spec(spec: Object) -> None:
    """What every claim has, be it one of its own or a template's."""
    fill(spec, volumeMode="Filesystem")


def _default_claim(claim: Object) -> None:
    default_claim_spec(claim.setdefault("spec", {}))
    fill_empty(claim.setdefault("status", {}), phase="Pending")


def _prepare_claim(claim: Object, around: Surroundings) -> None:
    _protect_claim(claim, around)
    _join_data_sources(claim["spec"])
    claim["status"] = {"phase": "Pending"}


def _prepare_claim_update(claim: Object, old: Object, _: Surroundings) -> None:
    _join_data_sources(claim["spec"], old["spec"])


def _join_data_sources(spec: Object, old: Object | None = None) -> None:
    """The older and the newer field say the same, where one of them is left out."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    has_had_one = old is not None and ("dataSource" in old or "dataSourceRef" in old)
    if source and not reference:
        known = (source.get("apiGroup") or "", source.get("kind")) in _OLD_SOURCES
        if known or has_had_one:
            spec["dataSourceRef"] = dict(source)
        else:
            # Such sources were once ignored, and old clients count on it.
            del spec["dataSource"]
    elif reference and not source and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)


def _default_class(storage_class: Object) -> None:
    fill(storage_class, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _default_driver(driver: Object) -> None:
    spec = driver.setdefault("spec", {})
    fill(
        spec,
        attachRequired=True,
        podInfoOnMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        requiresRepublish=False,
        seLinuxMount=False,
    )
    fill_empty(spec, volumeLifecycleModes=["Persistent"])


def _prepare_driver_update(driver: Object, old: Object, _: Surroundings) -> None:
    # A driver is born without a generation, and gets one with its first change.
    if driver.get("spec") != old.get("spec"):
        driver["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


PERSISTENT_VOLUME = Rules(
    default=_default_volume,
    prepare_create=_prepare_volume,
    prepare_status=_prepare_volume_status,
    name_errors=subdomain_name,
    has_status=True,
    returns_deleted=True,
)
PERSISTENT_VOLUME_CLAIM = Rules(
    default=_default_claim,
    prepare_create=_prepare_claim,
    prepare_update=_prepare_claim_update,
    name_errors=subdomain_name,
    has_status=True,
    returns_deleted=True,
)
STORAGE_CLASS = Rules(default=_default_class, name_errors=subdomain_name, returns_deleted=True)
CSI_DRIVER = Rules(
    default=_default_driver,
    prepare_update=_prepare_driver_update,
    name_errors=subdomain_name,
    unconditional_update=False,
    returns_deleted=True,
)
CSI_NODE = Rules(name_errors=subdomain_name, unconditional_update=False, returns_deleted=True)
CSI_STORAGE_CAPACITY = Rules(name_errors=subdomain_name, unconditional_update=False)
VOLUME_ATTACHMENT = Rules(
    name_errors=subdomain_name,
    has_status=True,
    unconditional_update=False,
    returns_deleted=True,
)
VOLUME_ATTRIBUTES_CLASS = Rules(
    prepare_create=protected_by("kubernetes.io/vac-protection"),
    name_errors=subdomain_name,
    returns_deleted=True,
)
