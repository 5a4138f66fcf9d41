"""CSI kinds: the capabilities of drivers, their nodes, and their storage capacity."""

from collections.abc import Iterator
from typing import Any, Final

from steersman.units import Quantity
from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.cluster.node_labels import (
    expression_warnings,
    label_warning,
)
from steersman_cluster.apiserver.builtin.common_defaults import fill, fill_empty
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import LABEL_SELECTOR
from steersman_cluster.apiserver.builtin.pods.volume_sources import DRIVER_NAME
from steersman_cluster.apiserver.builtin.pods.volumes import TOKEN_SECONDS
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    shown_selector,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    duplicate,
    immutable,
    invalid,
)
from steersman_cluster.apiserver.meta.name_validation import (
    NOT_NEGATIVE,
    dns_subdomain,
    label_key,
    subdomain_name,
)
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, StrategyContext

_MAX_NODE_ID_LENGTH: Final = 256


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


def _token_errors(tokens: list[Object], path: str) -> Iterator[FieldError]:
    audiences: set[str] = set()
    for index, token in enumerate(tokens):
        if (audience := token.get("audience", "")) in audiences:
            yield duplicate(f"{path}[{index}].audience", audience)
            continue
        audiences.add(audience)
        yield from _TOKEN(token, f"{path}[{index}]")


def _secret_errors(spec: Object, path: str) -> Iterator[FieldError]:
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        yield invalid(f"{path}.serviceAccountTokenInSecrets", in_secrets, why)


_TOKEN: Final = rule.given("expirationSeconds", TOKEN_SECONDS)
_DRIVER: Final = rule.always(
    "spec",
    rule.always(
        "fsGroupPolicy", rule.enum("File", "None", "ReadWriteOnceWithFSType"), default=None
    ),
    rule.given("tokenRequests", rule.code(_token_errors)),
    rule.given(
        "volumeLifecycleModes", rule.each(rule.enum("Persistent", "Ephemeral"), numbered=False)
    ),
    rule.given(
        "nodeAllocatableUpdatePeriodSeconds",
        rule.must(lambda seconds: seconds >= 10, "must be greater than or equal to 10 seconds"),
    ),
    rule.code(_secret_errors),
)


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


_NODE: Final = rule.optional(
    "spec.drivers",
    rule.each(
        rule.required("name", DRIVER_NAME),
        rule.required("nodeID"),
        rule.optional(
            "nodeID",
            rule.must(
                lambda node_id: len(node_id.encode()) <= _MAX_NODE_ID_LENGTH,
                f"must be {_MAX_NODE_ID_LENGTH} characters or less",
            ),
        ),
        rule.given("allocatable.count", rule.NOT_NEGATIVE),
        rule.always("name", rule.unique()),
        # kube-apiserver's errors have the path of the driver.
        rule.optional(
            "topologyKeys",
            rule.each(rule.must_be_set(), rule.unique(), label_key, numbered=False),
            at="",
        ),
    ),
)


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


_CAPACITY: Final = rule.table(
    rule.given("nodeTopology", LABEL_SELECTOR),
    rule.always("storageClassName", dns_subdomain),
    rule.given("capacity", rule.must(lambda amount: Quantity(amount) >= Quantity(0), NOT_NEGATIVE)),
)


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
    validate=_DRIVER,
    validate_update=_driver_change_errors,
    warnings=_driver_warnings,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
    return_deleted_object=True,
)
CSI_NODE = Strategy(
    validate=_NODE,
    validate_update=_node_change_errors,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
    return_deleted_object=True,
)
CSI_STORAGE_CAPACITY = Strategy(
    validate=_CAPACITY,
    validate_update=_capacity_change_errors,
    warnings=_capacity_warnings,
    name_errors=subdomain_name,
    allow_unconditional_update=False,
)
