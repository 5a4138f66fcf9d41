"""Validation of the CEL rules of a definition, and their estimated cost."""

from typing import Any

import pytest

from steersman_cluster.apiserver.cel.schemas.declared_schemas import declared
from steersman_cluster.apiserver.cel.schemas.rule_validation import rule_errors
from steersman_cluster.apiserver.cel.schemas.rules import compiled_rule
from tests.unit.apiserver.cel.schemas.test_schema_rules import (
    INTEGER,
    RECORDED,
    TEXT,
    an_object,
    ruled,
)


def errors_of(schema: dict[str, Any]) -> list[str]:
    shown = rule_errors(schema, "s", [], shown_rule=lambda rule: rule["rule"])
    return [str(each) for each in shown]


@pytest.mark.parametrize("text", RECORDED["rules"])
def test_the_estimated_cost_of_a_rule_equals_that_of_kube_apiserver(text: str) -> None:
    of = declared(RECORDED["schema"], is_resource=False)
    assert of is not None
    rule = compiled_rule({"rule": text}, of.named("selfType"), RECORDED["schema"], estimates=True)
    real = RECORDED["rules"][text]["rule"]

    assert rule.uses_old == real["old"]
    assert rule.cost == real["max"]
    assert [each.detail for each in rule.problems] == ([real["error"]] if "error" in real else [])


def test_a_rule_that_does_not_compile_is_rejected() -> None:
    (only,) = errors_of(ruled(an_object(a=INTEGER), "self.b == 1"))

    assert only == (
        's.x-kubernetes-validations[0].rule: Invalid value: "self.b == 1": compilation failed:'
        " ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^"
    )


def test_a_rule_must_be_a_bool_and_a_message_expression_a_string() -> None:
    rule = {"rule": "self.a", "messageExpression": "self.a"}
    right = {"rule": "self.a == 1", "messageExpression": "self.a"}

    assert [
        each.rpartition(": ")[2] for each in errors_of(ruled(an_object(a=INTEGER), rule, right))
    ] == [
        "cel expression must evaluate to a bool",
        "messageExpression must evaluate to a string",
    ]


def test_nested_loops_over_unlimited_lists_exceed_the_cost_budget() -> None:
    schema = ruled(
        an_object(a={"type": "array", "items": TEXT}), "self.a.all(x, self.a.all(y, x == y))"
    )

    assert [each.partition(" (")[0] for each in errors_of(schema)] == [
        "s.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by"
        " factor of more than 100x",
        "s.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total"
        " exceeding cost limit for entire OpenAPIv3 schema",
        "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3"
        " schema exceeds budget by factor of more than 100x",
    ]


def test_the_cost_of_a_rule_is_multiplied_by_the_length_of_its_list() -> None:
    rule = ruled({"type": "string", "maxLength": 1000}, "self.contains('abcdefghijklm')")

    assert errors_of(an_object(a={"type": "array", "maxItems": 10, "items": rule})) == []
    assert errors_of(an_object(a={"type": "array", "items": rule})) != []


def test_old_self_is_rejected_in_lists_without_keys() -> None:
    schema = an_object(
        a={"type": "array", "maxItems": 3, "items": ruled(INTEGER, "self == oldSelf")}
    )

    assert errors_of(schema) == [
        "s.properties[a].items.x-kubernetes-validations[0].rule: Invalid value:"
        ' "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema'
        " within s.properties[a]"
    ]


def test_optional_old_self_requires_a_rule_that_uses_old_self() -> None:
    schema = ruled(an_object(a=INTEGER), {"rule": "self.a == 1", "optionalOldSelf": True})

    assert errors_of(schema) == [
        "s.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if"
        " oldSelf is not used in rule"
    ]
