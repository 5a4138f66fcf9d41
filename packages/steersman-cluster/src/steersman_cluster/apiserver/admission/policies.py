"""ValidatingAdmissionPolicies and their bindings, read from the stored objects."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from steersman_cluster.apiserver.admission.match_conditions import MatchConditions
from steersman_cluster.apiserver.admission.matcher import Matcher
from steersman_cluster.apiserver.builtin.cluster.admission_expressions import (
    Compiled,
    compiled,
    declared,
    variables_of,
    with_variables,
)
from steersman_cluster.apiserver.cel import CelType
from steersman_cluster.apiserver.meta.strategy import Object

# Policies never apply to these resources: a policy could otherwise break authentication and
# authorization.
EXCLUDED = frozenset(
    (
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    )
)


class Validation(NamedTuple):
    """One validation of a policy: a CEL expression, and the message and reason of a failure."""

    expression: Compiled
    text: str
    message: str
    message_expression: Compiled | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A policy binding: the requests it matches, the parameters and the validation actions."""

    name: str
    matching: Matcher | None
    param_ref: Mapping[str, Any] | None
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A ValidatingAdmissionPolicy and its bindings."""

    name: str
    matching: Matcher | None
    conditions: MatchConditions
    ignores_failure: bool
    param_kind: Mapping[str, str] | None
    variables: Mapping[str, Compiled]
    validations: tuple[Validation, ...]
    annotations: tuple[Compiled, ...]
    bindings: tuple[Binding, ...]


def policies_of(policies: Iterable[Object], bindings: Iterable[Object]) -> tuple[Policy, ...]:
    """Return the policies that have at least one binding, sorted by name."""
    bound: dict[str, list[Binding]] = {}
    for each in sorted(bindings, key=_name):
        bound.setdefault(each["spec"].get("policyName", ""), []).append(_binding(each))
    return tuple(
        _policy(each, bound[_name(each)])
        for each in sorted(policies, key=_name)
        if _name(each) in bound
    )


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _binding(written: Object) -> Binding:
    spec = written["spec"]
    matching = spec.get("matchResources")
    return Binding(
        name=_name(written),
        matching=None if matching is None else Matcher.of_policy(matching),
        param_ref=spec.get("paramRef"),
        actions=tuple(spec.get("validationActions") or ()),
    )


def _policy(written: Object, bindings: list[Binding]) -> Policy:
    spec = written["spec"]
    params = spec.get("paramKind")
    named = variables_of(spec)
    variables = with_variables(declared(params=params is not None), named)
    messages = with_variables(declared(params=params is not None, authorizer=False), named)
    ignores_failure = spec.get("failurePolicy") == "Ignore"
    constraints = spec.get("matchConstraints")
    return Policy(
        name=_name(written),
        matching=None if constraints is None else Matcher.of_policy(constraints),
        conditions=MatchConditions(
            spec.get("matchConditions") or (), variables, ignores_failure=ignores_failure
        ),
        ignores_failure=ignores_failure,
        param_kind=params,
        variables=named,
        validations=tuple(_validations(spec, variables, messages)),
        annotations=tuple(
            compiled(each.get("valueExpression", ""), variables, result=None)
            for each in spec.get("auditAnnotations") or ()
        ),
        bindings=tuple(bindings),
    )


def _validations(
    spec: Object, variables: Mapping[str, CelType], messages: Mapping[str, CelType]
) -> Iterator[Validation]:
    for each in spec.get("validations") or ():
        text, message = each.get("expression", ""), each.get("messageExpression")
        yield Validation(
            expression=compiled(text, variables),
            text=text,
            message=each.get("message") or "",
            message_expression=compiled(message, messages, result=str) if message else None,
            reason=each.get("reason") or "Invalid",
        )
