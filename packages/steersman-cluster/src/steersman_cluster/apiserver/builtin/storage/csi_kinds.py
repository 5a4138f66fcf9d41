"""CSI kinds: the capabilities of drivers, their nodes, and their storage capacity."""

from typing import Any, Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.cluster.node_labels import (
    expression_warnings,
    label_warning,
)
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import selector_errors
from steersman_cluster.apiserver.builtin.pods.volume_sources import driver_errors
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    negative_errors,
    shown_selector,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    NOT_NEGATIVE,
    dns_subdomain,
    label_key,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_MAX_NODE_ID_LENGTH: Final = 256
_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES: Final = ("Persistent", "Ephemeral")


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


def _prepare_driver(driver: Object, _: StrategyContext) -> None:
    # The feature gate of this field is disabled.
    driver["spec"].pop("preventPodSchedulingIfMissing", None)


def _prepare_driver_update(driver: Object, old: Object, around: StrategyContext) -> None:
    _prepare_driver(driver, around)
    # A driver has no generation until its spec changes.
    if driver.get("spec") != old.get("spec"):
        driver["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _driver_errors(driver: Object) -> list[FieldError]:
    spec = driver["spec"]
    errors: list[FieldError] = []
    if (policy := spec.get("fsGroupPolicy")) not in _GROUP_POLICIES:
        errors.append(not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES))
    tokens = spec.get("tokenRequests") or []
    errors += _token_errors(tokens)
    errors += [
        not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES)
        for mode in spec.get("volumeLifecycleModes") or ()
        if mode not in _LIFECYCLES
    ]
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        why = "must be greater than or equal to 10 seconds"
        errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, why))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not tokens:
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, why))
    return errors


def _token_errors(tokens: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    audiences: set[str] = set()
    for index, token in enumerate(tokens):
        path, audience = f"spec.tokenRequests[{index}]", token.get("audience", "")
        if audience in audiences:
            errors.append(duplicate(f"{path}.audience", audience))
            continue
        audiences.add(audience)
        seconds = token.get("expirationSeconds")
        if seconds is not None and seconds < 600:
            why = "may not specify a duration less than 10 minutes"
            errors.append(invalid(f"{path}.expirationSeconds", seconds, why))
        if seconds is not None and seconds > 2**32:
            why = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(f"{path}.expirationSeconds", seconds, why))
    return errors


def _driver_change_errors(driver: Object, old: Object) -> list[FieldError]:
    spec, was = driver["spec"], old["spec"]
    return [
        immutable(f"spec.{shown}", spec.get(field))
        # kube-apiserver's error misspells attachRequired.
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


def _drivers(node: Object) -> list[Object]:
    return (node.get("spec") or {}).get("drivers") or []


def _node_errors(node: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, driver in enumerate(_drivers(node)):
        path, name, own = f"spec.drivers[{index}]", driver.get("name", ""), driver.get("nodeID", "")
        errors += driver_errors(name, f"{path}.name")
        if not own:
            errors.append(required(f"{path}.nodeID"))
        if len(own.encode()) > _MAX_NODE_ID_LENGTH:
            why = f"must be {_MAX_NODE_ID_LENGTH} characters or less"
            errors.append(invalid(f"{path}.nodeID", own, why))
        room = driver.get("allocatable") or {}
        errors += negative_errors(room, ("count",), f"{path}.allocatable")
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
        keys: set[str] = set()
        for key in driver.get("topologyKeys") or ():
            errors += [] if key else [required(path)]
            errors += [duplicate(path, key)] if key in keys else []
            keys.add(key)
            errors += all_invalid(path, key, label_key(key))
    return errors


def _node_change_errors(node: Object, old: Object) -> list[FieldError]:
    """Return the errors for changes of a driver in a CSINode; ``allocatable`` may change."""
    return [
        immutable("spec.drivers", go_form("CSINodeDriver", new))
        for was in map(_without_allocatable, _drivers(old))
        for new in map(_without_allocatable, _drivers(node))
        if new.get("name") == was.get("name") and new != was
    ]


def _without_allocatable(driver: Object) -> dict[str, Any]:
    kept = {key: value for key, value in driver.items() if key != "allocatable"}
    return kept if kept.get("topologyKeys") else {**kept, "topologyKeys": None}


def _capacity_errors(capacity: Object) -> list[FieldError]:
    name = capacity.get("storageClassName", "")
    errors = selector_errors(capacity.get("nodeTopology"), "nodeTopology")
    errors += all_invalid("storageClassName", name, dns_subdomain(name))
    amount = capacity.get("capacity")
    if amount is not None and Quantity(amount) < Quantity(0):
        errors.append(invalid("capacity", amount, NOT_NEGATIVE))
    return errors


def _capacity_change_errors(capacity: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    topology, name = capacity.get("nodeTopology"), capacity.get("storageClassName", "")
    if topology != old.get("nodeTopology"):
        errors.append(immutable("nodeTopology", shown_selector(topology)))
    if name != old.get("storageClassName", ""):
        errors.append(immutable("storageClassName", name))
    return errors


def _capacity_warnings(capacity: Object, _: Object | None) -> list[str]:
    topology = capacity.get("nodeTopology") or {}
    rules = topology.get("matchExpressions") or []
    warnings = [*expression_warnings(rules, "nodeTopology.matchExpressions")]
    return warnings + [
        f"nodeTopology.matchLabels.{key}: {warning}"
        for key in topology.get("matchLabels") or ()
        if (warning := label_warning(key))
    ]


CSI_DRIVER = Strategy(
    default=_default_driver,
    prepare_create=_prepare_driver,
    prepare_update=_prepare_driver_update,
    validate=_driver_errors,
    validate_update=_driver_change_errors,
    warnings=_driver_warnings,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
    return_deleted_object=True,
)
CSI_NODE = Strategy(
    validate=_node_errors,
    validate_update=_node_change_errors,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
    return_deleted_object=True,
)
CSI_STORAGE_CAPACITY = Strategy(
    validate=_capacity_errors,
    validate_update=_capacity_change_errors,
    warnings=_capacity_warnings,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
)
