"""The table rows of RBAC objects, admission configurations and flow control objects."""

from collections.abc import Iterable

from steersman_cluster.apiserver.meta.ages import Ages
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import CellOf
from steersman_cluster.apiserver.tables.cells import NONE, UNSET, condition
from steersman_cluster.apiserver.tables.printers import (
    age_column,
    at,
    column,
    count,
    name_column,
    number,
    part,
    printer,
    wide_column,
)


def _role(binding: Object, _: Ages) -> str:
    ref = binding.get("roleRef") or {}
    return f"{ref.get('kind', '')}/{ref.get('name', '')}"


def _subjects(kind: str) -> CellOf:
    def cell(binding: Object, _: Ages) -> str:
        subjects: Iterable[Object] = binding.get("subjects") or ()
        return ", ".join(_subject(each) for each in subjects if each.get("kind") == kind)

    return cell


def _subject(subject: Object) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"{subject.get('namespace', '')}/{subject.get('name', '')}"
    return str(subject.get("name", ""))


ROLE_BINDING = printer(
    name_column(),
    column("Role", _role),
    age_column(),
    wide_column("Users", _subjects("User")),
    wide_column("Groups", _subjects("Group")),
    wide_column("ServiceAccounts", _subjects("ServiceAccount")),
)

WEBHOOKS = printer(name_column(), column("Webhooks", count("webhooks"), "integer"), age_column())


def _parameter_kind(policy: Object, _: Ages) -> str:
    kind = part(policy, "spec", "paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


VALIDATING_POLICY = printer(
    name_column(),
    column("Validations", count("spec.validations"), "integer"),
    column("ParamKind", _parameter_kind),
    age_column(),
)
MUTATING_POLICY = printer(
    name_column(),
    column("Mutations", count("spec.mutations"), "integer"),
    column("ParamKind", _parameter_kind),
    age_column(),
)


def _parameters(binding: Object, _: Ages) -> str:
    ref = part(binding, "spec", "paramRef")
    if ref.get("name"):
        return f"{ref.get('namespace') or '*'}/{ref['name']}"
    if ref.get("selector") is not None:
        return _go_selector(ref["selector"])
    return UNSET


def _go_selector(selector: Object) -> str:
    """Return a selector in Go's struct format."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


POLICY_BINDING = printer(
    name_column(),
    column("PolicyName", at("spec.policyName")),
    column("ParamRef", _parameters),
    age_column(),
)


def _dangling(schema: Object, _: Ages) -> str:
    found = condition(schema, "Dangling")
    return "?" if found is None else str(found.get("status", ""))


def _precedence(schema: Object) -> tuple[int, str]:
    precedence = part(schema, "spec").get("matchingPrecedence") or 0
    return precedence, schema["metadata"].get("name", "")


FLOW_SCHEMA = printer(
    name_column(),
    column("PriorityLevel", at("spec.priorityLevelConfiguration.name")),
    column("MatchingPrecedence", number("spec.matchingPrecedence")),
    column("DistinguisherMethod", at("spec.distinguisherMethod.type", NONE)),
    age_column(),
    column("MissingPL", _dangling),
    order=_precedence,
)

_LIMITED = "spec.limited"
_QUEUING = f"{_LIMITED}.limitResponse.queuing"

PRIORITY_LEVEL = printer(
    name_column(),
    column("Type", at("spec.type")),
    column("NominalConcurrencyShares", at(f"{_LIMITED}.nominalConcurrencyShares", NONE)),
    column("Queues", at(f"{_QUEUING}.queues", NONE)),
    column("HandSize", at(f"{_QUEUING}.handSize", NONE)),
    column("QueueLengthLimit", at(f"{_QUEUING}.queueLengthLimit", NONE)),
    age_column(),
)
