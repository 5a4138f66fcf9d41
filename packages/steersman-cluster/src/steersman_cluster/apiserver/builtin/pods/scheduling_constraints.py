"""Validation of scheduling constraints: tolerations, affinity, topology spread, gates."""

from collections.abc import Sequence
from typing import Final

from steersman_cluster.apiserver.builtin.label_selectors import (
    UNKNOWN_OPERATOR,
    label_keys_errors,
    operator_errors,
    selector_errors,
    value_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    invalid,
    not_supported,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import (
    dns_label,
    dns_subdomain,
    label_key,
    label_value,
)
from steersman_cluster.apiserver.meta.strategy import Object

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
_POSITIVE: Final = "must be greater than zero"
_WEIGHT: Final = "must be in the range 1-100"


def toleration_errors(tolerations: Sequence[Object], path: str) -> list[FieldError]:
    """Return the errors in tolerations."""
    errors: list[FieldError] = []
    for index, toleration in enumerate(tolerations):
        field = f"{path}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        value, effect = toleration.get("value", ""), toleration.get("effect", "")
        if key and (wrong := label_key(key)):
            errors += all_invalid(f"{field}.key", key, wrong)
        if not key and operator != "Exists":
            detail = (
                "operator must be Exists when `key` is empty, which means"
                ' "match all values and all keys"'
            )
            errors.append(invalid(f"{field}.operator", operator, detail))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(f"{field}.effect", effect, detail))
        errors += _operator_errors(operator, value, f"{field}.operator")
        if effect and effect not in _EFFECTS:
            errors.append(not_supported(f"{field}.effect", effect, _EFFECTS))
    return errors


def _operator_errors(operator: str, value: str, path: str) -> list[FieldError]:
    match operator:
        case "Equal" | "":
            wrong = label_value(value)
            return [invalid(path, value, ";".join(wrong))] if wrong else []
        case "Exists":
            detail = "value must be empty when `operator` is 'Exists'"
            return [invalid(path, value, detail)] if value else []
        case "Lt" | "Gt":
            return [not_supported(path, operator, ("Equal", "Exists", "Lt", "Gt"))]
        case _:
            return [not_supported(path, operator, ("Equal", "Exists"))]


def affinity_errors(affinity: Object, path: str) -> list[FieldError]:
    """Return the errors in node affinity, Pod affinity and Pod anti-affinity."""
    errors: list[FieldError] = []
    if (nodes := affinity.get("nodeAffinity")) is not None:
        if (selector := nodes.get(REQUIRED)) is not None:
            errors += node_selector_errors(selector, f"{path}.nodeAffinity.{REQUIRED}")
        for index, each in enumerate(nodes.get(PREFERRED) or ()):
            field = f"{path}.nodeAffinity.{PREFERRED}[{index}]"
            errors += _weight_errors(each, field)
            preference: Object = each.get("preference") or {}
            errors += _term_errors(preference, f"{field}.preference", check_values=False)
    for kind in ("podAffinity", "podAntiAffinity"):
        if (pods := affinity.get(kind)) is None:
            continue
        for index, term in enumerate(pods.get(REQUIRED) or ()):
            errors += _pod_term_errors(term, f"{path}.{kind}.{REQUIRED}[{index}]")
        for index, each in enumerate(pods.get(PREFERRED) or ()):
            field = f"{path}.{kind}.{PREFERRED}[{index}]"
            errors += _weight_errors(each, field)
            errors += _pod_term_errors(
                each.get("podAffinityTerm") or {}, f"{field}.podAffinityTerm"
            )
    return errors


def _weight_errors(preferred: Object, path: str) -> list[FieldError]:
    weight = preferred.get("weight", 0)
    return [] if 1 <= weight <= 100 else [invalid(f"{path}.weight", weight, _WEIGHT)]


def node_selector_errors(selector: Object, path: str) -> list[FieldError]:
    """Return the errors in a node selector, which must have at least one term."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        detail = "must have at least one node selector term"
        return [required(f"{path}.nodeSelectorTerms", detail)]
    return [
        error
        for index, term in enumerate(terms)
        for error in _term_errors(term, f"{path}.nodeSelectorTerms[{index}]", check_values=True)
    ]


def _term_errors(term: Object, path: str, *, check_values: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, each in enumerate(term.get("matchExpressions") or ()):
        field = f"{path}.matchExpressions[{index}]"
        errors += _node_requirement_errors(each, field)
        if check_values:
            errors += value_errors(each.get("values") or (), f"{field}.values")
    for index, each in enumerate(term.get("matchFields") or ()):
        errors += _node_field_errors(each, f"{path}.matchFields[{index}]")
    return errors


def _node_requirement_errors(requirement: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    operator, key = requirement.get("operator", ""), requirement.get("key", "")
    values = requirement.get("values") or ()
    if operator not in ("Gt", "Lt"):
        errors += operator_errors(operator, values, path)
    elif len(values) != 1:
        detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        errors.append(required(f"{path}.values", detail))
    return errors + all_invalid(f"{path}.key", key, label_key(key))


def _node_field_errors(requirement: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    operator, key = requirement.get("operator", ""), requirement.get("key", "")
    values = requirement.get("values") or ()
    if operator not in ("In", "NotIn"):
        errors.append(invalid(f"{path}.operator", operator, UNKNOWN_OPERATOR))
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", detail))
    if key != "metadata.name":
        return [*errors, invalid(f"{path}.key", key, "not a valid field selector key")]
    for index, value in enumerate(values):
        errors += all_invalid(f"{path}.values[{index}]", value, dns_subdomain(value))
    return errors


def _pod_term_errors(term: Object, path: str) -> list[FieldError]:
    selector = term.get("labelSelector")
    errors = selector_errors(selector, f"{path}.labelSelector")
    errors += selector_errors(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces") or ():
        errors += all_invalid(f"{path}.namespace", namespace, dns_label(namespace))
    matched, mismatched = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    errors += label_keys_errors(path, matched, mismatched, selector)
    if not (key := term.get("topologyKey", "")):
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + all_invalid(f"{path}.topologyKey", key, label_key(key))


def spread_errors(constraints: Sequence[Object], path: str) -> list[FieldError]:
    """Return the errors in topology spread constraints."""
    errors: list[FieldError] = []
    last = {_spread(each): index for index, each in enumerate(constraints)}
    for index, constraint in enumerate(constraints):
        field = f"{path}[{index}]"
        key, action = _spread(constraint)
        if (skew := constraint.get("maxSkew", 0)) <= 0:
            errors.append(invalid(f"{field}.maxSkew", skew, _POSITIVE))
        if not key:
            errors.append(required(f"{field}.topologyKey", "can not be empty"))
        if action not in _UNSATISFIABLE:
            errors.append(not_supported(f"{field}.whenUnsatisfiable", action, _UNSATISFIABLE))
        if last[key, action] != index:
            where = f"{field}.{{topologyKey, whenUnsatisfiable}}"
            errors.append(duplicate(where, f"{{{key}, {action}}}"))
        errors += _min_domains_errors(constraint.get("minDomains"), action, f"{field}.minDomains")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if (policy := constraint.get(name, "Honor")) not in ("Honor", "Ignore"):
                errors.append(not_supported(f"{field}.{name}", policy, ("Honor", "Ignore")))
        selector = constraint.get("labelSelector")
        errors += label_keys_errors(field, constraint.get("matchLabelKeys") or (), (), selector)
        errors += selector_errors(selector, f"{field}.labelSelector")
    return errors


def _spread(constraint: Object) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _min_domains_errors(count: int | None, action: str, path: str) -> list[FieldError]:
    if count is None:
        return []
    errors = [invalid(path, count, _POSITIVE)] if count <= 0 else []
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, count, detail))
    return errors


def readiness_gate_errors(gates: Sequence[Object], path: str) -> list[FieldError]:
    """Return the errors in readiness gates: extra conditions that a ready Pod must have."""
    return [
        error
        for index, gate in enumerate(gates)
        for error in all_invalid(
            f"{path}[{index}].conditionType",
            gate.get("conditionType", ""),
            label_key(gate.get("conditionType", "")),
        )
    ]


def scheduling_gate_errors(gates: Sequence[Object], path: str) -> list[FieldError]:
    """Return the errors in scheduling gates, which delay the scheduling of a Pod."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += all_invalid(f"{path}[{index}]", name, label_key(name))
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)
    return errors


def merge_label_keys(pod: Object) -> None:
    """Add ``matchLabelKeys`` and ``mismatchLabelKeys`` to the label selectors of their terms.

    The terms are those of Pod affinity, Pod anti-affinity and topology spread constraints.
    """
    spec: Object = pod["spec"]
    labels: Object = pod["metadata"].get("labels") or {}
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge_keys(constraint, labels)
    for kind in ("podAffinity", "podAntiAffinity"):
        pods: Object = (spec.get("affinity") or {}).get(kind) or {}
        for each in pods.get(PREFERRED) or ():
            _merge_keys(each.get("podAffinityTerm") or {}, labels)
        for each in pods.get(REQUIRED) or ():
            _merge_keys(each, labels)


def _merge_keys(term: Object, labels: Object) -> None:
    if (selector := term.get("labelSelector")) is None:
        return
    for name, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(name) or ():
            if key in labels:
                expression = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(expression)
