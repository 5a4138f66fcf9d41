"""The rules of scheduling constraints: tolerations, affinity, topology spread, gates."""

from collections.abc import Iterator, Sequence
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.label_selectors import (
    LABEL_SELECTOR,
    UNKNOWN_OPERATOR,
    label_keys_errors,
    operator_errors,
)
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
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
_WEIGHT: Final = rule.always(
    "weight", rule.must(lambda weight: 1 <= weight <= 100, "must be in the range 1-100"), default=0
)


def _toleration_errors(toleration: Object, path: str) -> Iterator[FieldError]:
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if not toleration.get("key") and operator != "Exists":
        detail = (
            "operator must be Exists when `key` is empty, which means"
            ' "match all values and all keys"'
        )
        yield invalid(f"{path}.operator", operator, detail)
    if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", toleration.get("effect", ""), detail)
    match operator:
        case "Equal" | "":
            if wrong := label_value(value):
                yield invalid(f"{path}.operator", value, ";".join(wrong))
        case "Exists":
            if value:
                detail = "value must be empty when `operator` is 'Exists'"
                yield invalid(f"{path}.operator", value, detail)
        case "Lt" | "Gt":
            supported = ("Equal", "Exists", "Lt", "Gt")
            yield not_supported(f"{path}.operator", operator, supported)
        case _:
            yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))


TOLERATIONS: Final = rule.each(
    rule.optional("key", label_key),
    rule.code(_toleration_errors),
    rule.optional("effect", rule.enum("NoSchedule", "PreferNoSchedule", "NoExecute")),
)


def _node_operator_errors(requirement: Object, path: str) -> Iterator[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if operator not in ("Gt", "Lt"):
        yield from operator_errors(operator, values, path)
    elif len(values) != 1:
        detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        yield required(f"{path}.values", detail)


def _field_operator_errors(requirement: Object, path: str) -> Iterator[FieldError]:
    operator = requirement.get("operator", "")
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, UNKNOWN_OPERATOR)
    elif len(requirement.get("values") or ()) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)


_NODE_REQUIREMENT: Final = rule.table(
    rule.code(_node_operator_errors), rule.always("key", label_key)
)
_NODE_FIELDS: Final = rule.given(
    "matchFields",
    rule.each(
        rule.code(_field_operator_errors),
        rule.when(
            lambda requirement: requirement.get("key") == "metadata.name",
            rule.given("values", rule.each(dns_subdomain)),
            otherwise=[rule.always("key", rule.must_be_absent("not a valid field selector key"))],
        ),
    ),
)
NODE_SELECTOR: Final = rule.required(
    "nodeSelectorTerms",
    rule.each(
        rule.given(
            "matchExpressions",
            rule.each(_NODE_REQUIREMENT, rule.given("values", rule.each(label_value))),
        ),
        _NODE_FIELDS,
    ),
    detail="must have at least one node selector term",
)


def _label_key_errors(term: Object, path: str) -> list[FieldError]:
    matched, mismatched = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    return label_keys_errors(path, matched, mismatched, term.get("labelSelector"))


_POD_TERM: Final = rule.table(
    rule.given("labelSelector", LABEL_SELECTOR),
    rule.given("namespaceSelector", LABEL_SELECTOR),
    # kube-apiserver's error has the name in the singular, and no index.
    rule.given("namespaces", rule.each(dns_label, numbered=False), at="namespace"),
    rule.code(_label_key_errors),
    rule.required("topologyKey", detail="can not be empty"),
    rule.always("topologyKey", label_key),
)
_POD_TERMS: Final = rule.table(
    rule.given(REQUIRED, rule.each(_POD_TERM)),
    rule.given(
        PREFERRED,
        rule.each(_WEIGHT, rule.always("podAffinityTerm", _POD_TERM, default={})),
    ),
)
AFFINITY: Final = rule.table(
    rule.given(
        "nodeAffinity",
        rule.given(REQUIRED, NODE_SELECTOR),
        rule.given(
            PREFERRED,
            rule.each(
                _WEIGHT,
                # kube-apiserver does not validate these values.
                rule.given("preference.matchExpressions", rule.each(_NODE_REQUIREMENT)),
                rule.given("preference", _NODE_FIELDS),
            ),
        ),
    ),
    rule.given("podAffinity", _POD_TERMS),
    rule.given("podAntiAffinity", _POD_TERMS),
)


def _min_domain_errors(constraint: Object, path: str) -> Iterator[FieldError]:
    count, action = constraint.get("minDomains"), constraint.get("whenUnsatisfiable", "")
    if count is not None and action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid(f"{path}.minDomains", count, detail)


_POSITIVE: Final = rule.must(lambda number: number > 0, "must be greater than zero")
_INCLUSION: Final = rule.enum("Honor", "Ignore")
_SPREAD: Final = rule.table(
    rule.always("maxSkew", _POSITIVE, default=0),
    rule.required("topologyKey", detail="can not be empty"),
    rule.always("whenUnsatisfiable", rule.enum("DoNotSchedule", "ScheduleAnyway")),
)
_SPREAD_DETAILS: Final = rule.table(
    rule.given("minDomains", _POSITIVE),
    rule.code(_min_domain_errors),
    rule.given("nodeAffinityPolicy", _INCLUSION),
    rule.given("nodeTaintsPolicy", _INCLUSION),
    rule.code(_label_key_errors),
    rule.given("labelSelector", LABEL_SELECTOR),
)


def spread_errors(constraints: Sequence[Object], path: str) -> Iterator[FieldError]:
    """Yield the errors in topology spread constraints."""
    last = {_spread(each): index for index, each in enumerate(constraints)}
    for index, constraint in enumerate(constraints):
        field, (key, action) = f"{path}[{index}]", _spread(constraint)
        yield from _SPREAD(constraint, field)
        if last[key, action] != index:
            where = f"{field}.{{topologyKey, whenUnsatisfiable}}"
            yield duplicate(where, f"{{{key}, {action}}}")
        yield from _SPREAD_DETAILS(constraint, field)


def _spread(constraint: Object) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


# Extra conditions that a ready Pod must have.
READINESS_GATES: Final = rule.each(rule.always("conditionType", label_key))
# They delay the scheduling of a Pod.
SCHEDULING_GATES: Final = rule.each(rule.always("name", label_key, rule.unique(), at=""))


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
