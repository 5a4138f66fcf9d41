"""Volumes, claims, classes, and the drivers behind them."""

from steersman.apiserver.builtin.claim_templates import claim_spec_errors
from steersman.apiserver.builtin.common_defaults import fill, fill_empty, protected_by
from steersman.apiserver.builtin.common_rules import keeps, needs
from steersman.apiserver.builtin.go_forms import go_difference, go_form
from steersman.apiserver.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    immutable,
    not_supported,
    required,
)
from steersman.apiserver.names_rules import dns_subdomain, subdomain_name
from steersman.apiserver.rules import Object, Rules, Surroundings
from steersman.units import Quantity, format_time

_OLD_SOURCES = (
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
)
# Everything else in the spec of a volume is one of many sorts of it.
_NO_SOURCES = frozenset(
    (
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    )
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


def _volume_errors(volume: Object) -> list[FieldError]:
    spec = volume["spec"]
    errors = needs("spec.accessModes", "spec.capacity")(volume)
    capacity = spec.get("capacity")
    if not capacity or capacity.keys() != {"storage"}:
        errors.append(not_supported("spec.capacity", capacity, ("storage",)))
    if not _source_of(spec):
        errors.append(required("spec", "must specify a volume type"))
    return errors


def _volume_change_errors(volume: Object, old: Object) -> list[FieldError]:
    new, was = _source_of(volume["spec"]), _source_of(old["spec"])
    if new == was:
        return []
    changes = go_difference("PersistentVolumeSource", was, new)
    why = f"spec.persistentvolumesource is immutable after creation\n{changes}"
    return [forbidden("spec.persistentvolumesource", why)]


def _source_of(spec: Object) -> Object:
    """What says where a volume really is."""
    return {name: value for name, value in spec.items() if name not in _NO_SOURCES}


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


def _claim_errors(claim: Object) -> list[FieldError]:
    return claim_spec_errors(claim["spec"], "spec")


def _claim_change_errors(claim: Object, old: Object) -> list[FieldError]:
    """A claim stays what it is, but a bound one may ask for more."""
    spec, was = claim["spec"], old["spec"]
    wanted, before = _requested(spec), _requested(was)
    if not was.get("volumeName"):
        was = {**was, "volumeName": spec.get("volumeName", "")}
    if claim.get("status", {}).get("phase") == "Bound":
        was = {**was, "resources": spec.get("resources", {})}
        was["volumeAttributesClassName"] = spec.get("volumeAttributesClassName")
    errors: list[FieldError] = []
    if changes := go_difference("PersistentVolumeClaimSpec", was, spec):
        why = (
            "spec is immutable after creation except resources.requests and"
            f" volumeAttributesClassName for bound claims\n{changes}"
        )
        errors.append(forbidden("spec", why))
    has = Quantity(old.get("status", {}).get("capacity", {}).get("storage", "0"))
    if wanted < before and wanted <= has:
        why = "field can not be less than status.capacity"
        errors.append(forbidden("spec.resources.requests.storage", why))
    if spec.get("volumeMode") != was.get("volumeMode"):
        errors.append(immutable("volumeMode", spec.get("volumeMode")))
    return errors


def _requested(spec: Object) -> Quantity:
    requests = spec.get("resources", {}).get("requests") or {}
    return Quantity(requests.get("storage", "0"))


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


def _driver_change_errors(driver: Object, old: Object) -> list[FieldError]:
    spec, was = driver["spec"], old["spec"]
    return [
        immutable(f"spec.{shown}", spec.get(field))
        # The server misspells one of them.
        for field, shown in (
            ("attachRequired", "attachedRequired"),
            ("volumeLifecycleModes", "volumeLifecycleModes"),
        )
        if spec.get(field) != was.get(field)
    ]


def _driver_warnings(driver: Object, old: Object | None) -> list[str]:
    spec = driver["spec"]
    tokens = spec.get("tokenRequests")
    known = None if old is None else old["spec"].get("tokenRequests")
    if not tokens or tokens == known or spec.get("serviceAccountTokenInSecrets") is not None:
        return []
    return [
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true"
        " to prevent possible logging of tokens in volume attributes"
    ]


def _capacity_errors(capacity: Object) -> list[FieldError]:
    name = capacity.get("storageClassName", "")
    return all_invalid("storageClassName", name, dns_subdomain(name))


def _attachment_errors(attachment: Object) -> list[FieldError]:
    spec = attachment.get("spec", {})
    node, source = spec.get("nodeName", ""), spec.get("source", {})
    errors = needs("spec.attacher")(attachment)
    if len(source) != 1:
        why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        errors.append(forbidden("spec.source", why) if source else required("spec.source", why))
    return errors + all_invalid("spec.nodeName", node, dns_subdomain(node))


def _attachment_change_errors(attachment: Object, old: Object) -> list[FieldError]:
    spec = attachment.get("spec", {})
    if spec == old.get("spec", {}):
        return []
    return [immutable("spec", go_form("VolumeAttachmentSpec", spec))]


def _attributes_change_errors(attributes: Object, old: Object) -> list[FieldError]:
    return [
        forbidden(field, f"updates to {field} are forbidden.")
        for field in ("driverName", "parameters")
        if attributes.get(field) != old.get(field)
    ]


PERSISTENT_VOLUME = Rules(
    default=_default_volume,
    prepare_create=_prepare_volume,
    prepare_status=_prepare_volume_status,
    validate=_volume_errors,
    validate_update=_volume_change_errors,
    name_errors=subdomain_name,
    has_status=True,
    returns_deleted=True,
)
PERSISTENT_VOLUME_CLAIM = Rules(
    default=_default_claim,
    prepare_create=_prepare_claim,
    prepare_update=_prepare_claim_update,
    validate=_claim_errors,
    validate_update=_claim_change_errors,
    name_errors=subdomain_name,
    has_status=True,
    returns_deleted=True,
)
STORAGE_CLASS = Rules(
    default=_default_class,
    validate=needs("provisioner"),
    validate_update=keeps(
        {"parameters": None, "provisioner": "", "reclaimPolicy": None, "volumeBindingMode": None}
    ),
    name_errors=subdomain_name,
    returns_deleted=True,
)
CSI_DRIVER = Rules(
    default=_default_driver,
    prepare_update=_prepare_driver_update,
    validate_update=_driver_change_errors,
    warnings=_driver_warnings,
    name_errors=subdomain_name,
    unconditional_update=False,
    returns_deleted=True,
)
CSI_NODE = Rules(name_errors=subdomain_name, unconditional_update=False, returns_deleted=True)
CSI_STORAGE_CAPACITY = Rules(
    validate=_capacity_errors,
    validate_update=keeps({"nodeTopology": None, "storageClassName": ""}),
    name_errors=subdomain_name,
    unconditional_update=False,
)
VOLUME_ATTACHMENT = Rules(
    validate=_attachment_errors,
    validate_update=_attachment_change_errors,
    name_errors=subdomain_name,
    has_status=True,
    unconditional_update=False,
    returns_deleted=True,
)
VOLUME_ATTRIBUTES_CLASS = Rules(
    prepare_create=protected_by("kubernetes.io/vac-protection"),
    validate=needs(
        "driverName", "parameters", parameters="must contain at least one key/value pair"
    ),
    validate_update=_attributes_change_errors,
    update_first=True,
    name_errors=subdomain_name,
    returns_deleted=True,
)
