"""Definitions whose rules are wrong, or would cost too much."""

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


def said(schema: dict[str, Any]) -> list[str]:
    shown = rule_errors(schema, "s", [], shown_rule=lambda rule: rule["rule"])
    return [str(each) for each in shown]


@pytest.mark.parametrize("text", RECORDED["rules"])
def test_a_rule_may_cost_what_the_real_server_estimates(text: str) -> None:
    of = declared(RECORDED["schema"], is_resource=False)
    assert of is not None
    rule = compiled_rule({"rule": text}, of.named("selfType"), RECORDED["schema"], estimates=True)
    real = RECORDED["rules"][text]["rule"]

    assert rule.uses_old == real["old"]
    assert rule.cost == real["max"]
    assert [each.detail for each in rule.problems] == ([real["error"]] if "error" in real else [])


def test_a_rule_that_is_no_expression_is_refused() -> None:
    (only,) = said(ruled(an_object(a=INTEGER), "self.b == 1"))

    assert only == (
        's.x-kubernetes-validations[0].rule: Invalid value: "self.b == 1": compilation failed:'
        " ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^"
    )


def test_a_rule_must_say_yes_or_no_and_a_message_must_be_a_text() -> None:
    rule = {"rule": "self.a", "messageExpression": "self.a"}
    right = {"rule": "self.a == 1", "messageExpression": "self.a"}

    assert [
        each.rpartition(": ")[2] for each in said(ruled(an_object(a=INTEGER), rule, right))
    ] == [
        "cel expression must evaluate to a bool",
        "messageExpression must evaluate to a string",
    ]


def test_loops_in_loops_over_lists_without_limits_cost_too_much() -> None:
    schema = ruled(
        an_object(a={"type": "array", "items": TEXT}), "self.a.all(x, self.a.all(y, x == y))"
    )

    assert [each.partition(" (")[0] for each in said(schema)] == [
        "s.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by"
        " factor of more than 100x",
        "s.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total"
        " exceeding cost limit for entire OpenAPIv3 schema",
        "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3"
        " schema exceeds budget by factor of more than 100x",
    ]


def test_a_rule_counts_as_often_as_it_may_be_asked() -> None:
    rule = ruled({"type": "string", "maxLength": 1000}, "self.contains('abcdefghijklm')")

    assert said(an_object(a={"type": "array", "maxItems": 10, "items": rule})) == []
    assert said(an_object(a={"type": "array", "items": rule})) != []


def test_old_self_is_not_known_in_lists_without_keys() -> None:
    schema = an_object(
        a={"type": "array", "maxItems": 3, "items": ruled(INTEGER, "self == oldSelf")}
    )

    assert said(schema) == [
        "s.properties[a].items.x-kubernetes-validations[0].rule: Invalid value:"
        ' "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema'
        " within s.properties[a]"
    ]


def test_who_takes_old_self_as_optional_must_use_it() -> None:
    schema = ruled(an_object(a=INTEGER), {"rule": "self.a == 1", "optionalOldSelf": True})

    assert said(schema) == [
        "s.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if"
        " oldSelf is not used in rule"
    ]
