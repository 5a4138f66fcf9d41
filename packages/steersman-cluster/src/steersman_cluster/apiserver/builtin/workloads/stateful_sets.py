"""StatefulSets."""

from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.go_forms import go_form
from steersman_cluster.apiserver.builtin.label_selectors import is_empty, selector_errors, selects
from steersman_cluster.apiserver.builtin.pods.pod_defaults import default_claim, default_template
from steersman_cluster.apiserver.builtin.pods.pod_specs import (
    template_errors,
    template_metadata_errors,
)
from steersman_cluster.apiserver.builtin.workloads.claim_templates import (
    CLAIM_SPEC,
    claim_spec_warnings,
)
from steersman_cluster.apiserver.builtin.workloads.workload_templates import (
    collision_errors,
    counter_rules,
    forever_errors,
    shown_selector,
    template_labels,
    template_warnings,
    unselected_error,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, label_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_CHANGEABLE: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _default_stateful_set(stateful_set: Object) -> None:
    spec: Object = stateful_set.setdefault("spec", {})
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy: Object = spec.setdefault("updateStrategy", {})
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    retention: Object = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    default_template(spec.setdefault("template", {}))
    for claim in spec.get("volumeClaimTemplates") or ():
        # Overwrites the values in the request: the internal type of the field determines its kind.
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        default_claim(claim.setdefault("spec", {}))
        claim["status"].setdefault("phase", "Pending")


def _drop_unavailable(stateful_set: Object, *_: object) -> None:
    """Drop ``maxUnavailable``, whose feature gate is disabled by default."""
    rolling: Object = stateful_set["spec"]["updateStrategy"].get("rollingUpdate") or {}
    rolling.pop("maxUnavailable", None)


def _strategy_errors(strategy: Object, path: str) -> Iterator[FieldError]:
    rolling: Object | None = strategy.get("rollingUpdate")
    match strategy["type"]:
        case "OnDelete":
            if rolling is not None:
                shown = go_form("RollingUpdateStatefulSetStrategy", rolling)
                detail = "only allowed for updateStrategy 'RollingUpdate'"
                yield invalid(f"{path}.rollingUpdate", shown, detail)
        case "RollingUpdate":
            yield from _ROLLING(strategy, path)
        case _:
            shown = go_form("StatefulSetUpdateStrategy", strategy)
            yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")


_ROLLING: Final = rule.not_negative("rollingUpdate.partition")
_RETENTION: Final = rule.enum("Retain", "Delete")
# Immutable fields are validated only if the object is new.
_BEFORE_CLAIMS: Final = rule.table(
    rule.given(
        "podManagementPolicy",
        rule.must(
            lambda policy: policy in ("OrderedReady", "Parallel"),
            "must be 'OrderedReady' or 'Parallel'",
        ),
    ),
    rule.given("updateStrategy", rule.code(_strategy_errors)),
    rule.given("persistentVolumeClaimRetentionPolicy.whenDeleted", _RETENTION),
    rule.given("persistentVolumeClaimRetentionPolicy.whenScaled", _RETENTION),
)
_CLAIMS: Final = rule.given("volumeClaimTemplates", rule.each(rule.given("spec", CLAIM_SPEC)))
_NUMBERS: Final = rule.not_negative("replicas", "minReadySeconds", "ordinals.start")
_SERVICE: Final = rule.optional("serviceName", dns_label)
_STATUS: Final = rule.given(
    "status",
    rule.not_negative(
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ),
    counter_rules(
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        available="status.readyReplicas",
    ),
)


def _stateful_template_errors(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    selector: Object | None = spec.get("selector")
    pod_spec: Object = spec["template"]["spec"]
    if selector is None:
        errors.append(required(f"{path}.selector"))
    else:
        errors += selector_errors(selector, f"{path}.selector")
        if is_empty(selector):
            detail = "empty selector is invalid for statefulset"
            errors.append(invalid(f"{path}.selector", selector, detail))
        elif errors:
            errors.append(invalid(f"{path}.selector", shown_selector(selector), ""))
            return errors + forever_errors(pod_spec, f"{path}.template.spec", "StatefulSet")
    if not selects(selector, template_labels(spec)):
        errors.append(unselected_error(spec, path))
    # Each Pod gets a claim for each template, and its containers may mount it like any volume.
    claims = {
        claim["metadata"].get("name", ""): claim for claim in spec.get("volumeClaimTemplates") or ()
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims] + [
        each for each in pod_spec.get("volumes") or () if each.get("name") not in claims
    ]
    judged = {**pod_spec, "volumes": volumes, "hostname": "", "subdomain": ""}
    errors += template_errors({**spec["template"], "spec": judged}, f"{path}.template")
    # kube-apiserver validates the metadata of this template twice, and reports each error twice.
    errors += template_metadata_errors(spec["template"], f"{path}.template")
    return errors + forever_errors(pod_spec, f"{path}.template.spec", "StatefulSet")


_NEW: Final = rule.given(
    "spec", _BEFORE_CLAIMS, _CLAIMS, _NUMBERS, _SERVICE, rule.code(_stateful_template_errors)
)
_CHANGED: Final = rule.given("spec", _BEFORE_CLAIMS, _NUMBERS, rule.code(_stateful_template_errors))


def _validate_stateful_change(new: Object, old: Object) -> list[FieldError]:
    errors = _CHANGED(new)
    fixed, before = (
        {name: value for name, value in each["spec"].items() if name not in _CHANGEABLE}
        for each in (new, old)
    )
    if fixed == before:
        return errors
    names = ", ".join(f"'{name}'" for name in _CHANGEABLE[:-1])
    detail = (
        f"updates to statefulset spec for fields other than {names} and '{_CHANGEABLE[-1]}'"
        " are forbidden"
    )
    return [*errors, forbidden("spec", detail)]


def _status_errors(new: Object, old: Object) -> list[FieldError]:
    return _STATUS(new) + collision_errors(new, old)


def _stateful_warnings(new: Object, old: Object | None) -> list[str]:
    warnings = template_warnings(names_hosts=False)(new, old)
    for index, claim in enumerate(new["spec"].get("volumeClaimTemplates") or ()):
        path = f"spec.volumeClaimTemplates[{index}]"
        warnings += claim_spec_warnings(claim["spec"], path if old is None else f"{path}.Spec")
    if new["spec"]["revisionHistoryLimit"] < 0:
        warnings.append(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions;"
            " a value >= 0 is recommended"
        )
    return warnings


STATEFUL_SET = Strategy(
    default=_default_stateful_set,
    prepare_create=_drop_unavailable,
    prepare_update=_drop_unavailable,
    validate_create=_NEW,
    validate_update=_validate_stateful_change,
    validate_status=_status_errors,
    name_errors=label_name,
    warnings=_stateful_warnings,
    generation_fields=("spec",),
    has_status=True,
)
