"""StatefulSets."""

from typing import Final

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
    counter_errors,
    forever_errors,
    negative_errors,
    shown_selector,
    template_labels,
    template_warnings,
    unselected_error,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import dns_label, label_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy

_STATEFUL_PARTS: Final = (
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
)
_CHANGEABLE: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_RETENTIONS: Final = ("Retain", "Delete")


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
        claim["status"] = {**(claim.get("status") or {})}
        claim["status"].setdefault("phase", "Pending")


def _drop_unavailable(stateful_set: Object, *_: object) -> None:
    """Drop ``maxUnavailable``, whose feature gate is disabled by default."""
    rolling: Object = stateful_set["spec"]["updateStrategy"].get("rollingUpdate") or {}
    rolling.pop("maxUnavailable", None)


def _validate_new_stateful_set(stateful_set: Object) -> list[FieldError]:
    return _spec_errors(stateful_set["spec"], is_new=True)


def _spec_errors(spec: Object, *, is_new: bool) -> list[FieldError]:
    """Return the errors in a spec; immutable fields are validated only if the object is new."""
    errors: list[FieldError] = []
    if (policy := spec["podManagementPolicy"]) not in ("OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        errors.append(invalid("spec.podManagementPolicy", policy, detail))
    errors += _stateful_strategy_errors(spec["updateStrategy"], "spec.updateStrategy")
    retention: Object = spec["persistentVolumeClaimRetentionPolicy"]
    for name in ("whenDeleted", "whenScaled"):
        if retention[name] not in _RETENTIONS:
            field = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            errors.append(not_supported(field, retention[name], _RETENTIONS))
    for index, claim in enumerate((spec.get("volumeClaimTemplates") or ()) if is_new else ()):
        errors += CLAIM_SPEC(claim["spec"], f"spec.volumeClaimTemplates[{index}].spec", False)
    errors += negative_errors(spec, ("replicas", "minReadySeconds"), "spec")
    errors += negative_errors(
        {"ordinals.start": (spec.get("ordinals") or {}).get("start", 0)},
        ("ordinals.start",),
        "spec",
    )
    if is_new and (service := spec.get("serviceName")):
        errors += all_invalid("spec.serviceName", service, dns_label(service))
    return errors + _stateful_template_errors(spec)


def _stateful_strategy_errors(strategy: Object, path: str) -> list[FieldError]:
    rolling: Object | None = strategy.get("rollingUpdate")
    match strategy["type"]:
        case "OnDelete":
            if rolling is None:
                return []
            shown = go_form("RollingUpdateStatefulSetStrategy", rolling)
            detail = "only allowed for updateStrategy 'RollingUpdate'"
            return [invalid(f"{path}.rollingUpdate", shown, detail)]
        case "RollingUpdate":
            return negative_errors(rolling or {}, ("partition",), f"{path}.rollingUpdate")
        case _:
            shown = go_form("StatefulSetUpdateStrategy", strategy)
            return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]


def _stateful_template_errors(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    selector: Object | None = spec.get("selector")
    pod_spec: Object = spec["template"]["spec"]
    if selector is None:
        errors.append(required("spec.selector"))
    else:
        errors += selector_errors(selector, "spec.selector")
        if is_empty(selector):
            detail = "empty selector is invalid for statefulset"
            errors.append(invalid("spec.selector", selector, detail))
        elif errors:
            errors.append(invalid("spec.selector", shown_selector(selector), ""))
            return errors + forever_errors(pod_spec, "spec.template.spec", "StatefulSet")
    if not selects(selector, template_labels(spec)):
        errors.append(unselected_error(spec, "spec"))
    # Each Pod gets a claim for each template, and its containers may mount it like any volume.
    claims = {
        claim["metadata"].get("name", ""): claim for claim in spec.get("volumeClaimTemplates") or ()
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims] + [
        each for each in pod_spec.get("volumes") or () if each.get("name") not in claims
    ]
    judged = {**pod_spec, "volumes": volumes, "hostname": "", "subdomain": ""}
    errors += template_errors({**spec["template"], "spec": judged}, "spec.template")
    # kube-apiserver validates the metadata of this template twice, and reports each error twice.
    errors += template_metadata_errors(spec["template"], "spec.template")
    return errors + forever_errors(pod_spec, "spec.template.spec", "StatefulSet")


def _validate_stateful_change(new: Object, old: Object) -> list[FieldError]:
    errors = _spec_errors(new["spec"], is_new=False)
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


def _validate_stateful_status(new: Object, old: Object) -> list[FieldError]:
    status: Object = new.get("status") or {}
    return [
        *negative_errors(
            status,
            ("replicas", *_STATEFUL_PARTS, "observedGeneration", "collisionCount"),
            "status",
        ),
        *counter_errors(status, _STATEFUL_PARTS, available="status.readyReplicas"),
        *collision_errors(new, old),
    ]


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
    validate_create=_validate_new_stateful_set,
    validate_update=_validate_stateful_change,
    validate_status=_validate_stateful_status,
    name_errors=label_name,
    warnings=_stateful_warnings,
    generation_fields=("spec",),
    has_status=True,
)
