"""Evaluation of the CEL rules of a schema."""

import json
from pathlib import Path
from typing import Any

import pytest

from steersman_cluster.apiserver.cel.schemas.schema_rules import SchemaRules, has_rules
from steersman_cluster.apiserver.schema.node import UNSET

RULES = "x-kubernetes-validations"
# Rules over one schema, with the estimates of kube-apiserver 1.36.3 and its errors for an object.
RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("rules.json").read_text(encoding="utf-8")
)
INTEGER = {"type": "integer"}
TEXT = {"type": "string"}


def ruled(schema: dict[str, Any], *rules: Any) -> dict[str, Any]:
    return {**schema, RULES: [{"rule": each} if isinstance(each, str) else each for each in rules]}


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def errors_of(schema: dict[str, Any], new: Any, old: Any = UNSET) -> list[str]:
    found = SchemaRules(schema, is_resource=False).validate(new, old)
    return [*map(str, found.errors), *(f"warning: {each}" for each in found.warnings)]


@pytest.mark.parametrize("text", RECORDED["rules"])
def test_a_rule_has_the_same_result_as_in_kube_apiserver(text: str) -> None:
    rules = SchemaRules(ruled(RECORDED["schema"], text), is_resource=False)
    created = rules.validate(RECORDED["object"], at="root")
    updated = rules.validate(RECORDED["object"], RECORDED["old"], at="root", ratchets=False)

    assert [str(each) for each in created.errors] == RECORDED["rules"][text]["errors"]
    assert [str(each) for each in updated.errors] == RECORDED["rules"][text]["updated"]


def test_a_schema_without_rules_has_no_errors() -> None:
    assert not has_rules(an_object(a=INTEGER))
    assert errors_of(an_object(a=INTEGER), {"a": 1}) == []


def test_rules_are_evaluated_at_every_level() -> None:
    schema = ruled(
        an_object(
            a=ruled(INTEGER, "self > 1"),
            list={"type": "array", "items": ruled(INTEGER, "self > 2")},
            map={"type": "object", "additionalProperties": ruled(INTEGER, "self > 3")},
        ),
        "self.a > 5",
    )

    assert errors_of(schema, {"a": 1, "list": [3, 2], "map": {"k": 3}}) == [
        "<nil>: Invalid value: failed rule: self.a > 5",
        "a: Invalid value: 1: failed rule: self > 1",
        "list[1]: Invalid value: 2: failed rule: self > 2",
        "map[k]: Invalid value: 3: failed rule: self > 3",
    ]


def test_a_rule_with_old_self_is_evaluated_only_on_updates() -> None:
    schema = an_object(a=ruled(TEXT, {"rule": "self == oldSelf", "message": "kept"}))

    assert errors_of(schema, {"a": "x"}) == []
    assert errors_of(schema, {"a": "x"}, {}) == []
    assert errors_of(schema, {"a": "x"}, {"a": "y"}) == ['a: Invalid value: "x": kept']


def test_old_self_of_a_list_item_is_found_by_its_keys() -> None:
    member = {
        "type": "object",
        "properties": {"name": TEXT, "n": ruled(INTEGER, "self >= oldSelf")},
    }
    schema = an_object(
        members={
            "type": "array",
            "items": member,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        }
    )
    old = {"members": [{"name": "a", "n": 3}, {"name": "b", "n": 1}]}
    new = {"members": [{"name": "b", "n": 1}, {"name": "a", "n": 2}, {"name": "c", "n": 0}]}

    assert errors_of(schema, new, old) == [
        "members[1].n: Invalid value: 2: failed rule: self >= oldSelf"
    ]


def test_a_rule_with_optional_old_self_is_evaluated_for_new_values() -> None:
    rule = {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True}
    schema = an_object(a=ruled(INTEGER, rule))

    assert errors_of(schema, {"a": 2}) != []
    assert errors_of(schema, {"a": 1}) == []
    assert errors_of(schema, {"a": 2}, {"a": 1}) == []


def test_an_unchanged_invalid_value_gets_only_a_warning() -> None:
    schema = an_object(spec=an_object(a=ruled(INTEGER, "self < 5"), b=INTEGER))

    assert errors_of(schema, {"spec": {"a": 9, "b": 2}}, {"spec": {"a": 9, "b": 1}}) == [
        "warning: spec.a: Invalid value: 9: failed rule: self < 5"
    ]
    assert errors_of(schema, {"spec": {"a": 8, "b": 1}}, {"spec": {"a": 9, "b": 1}}) == [
        "spec.a: Invalid value: 8: failed rule: self < 5"
    ]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"message": " too much "}, "<nil>: Invalid value: too much"),
        ({"messageExpression": "'%d!'.format([self.a])"}, "<nil>: Invalid value: 1!"),
        ({"messageExpression": "' '", "message": "m"}, "<nil>: Invalid value: m"),
        (
            {"messageExpression": "string(1 / (self.a - 1))"},
            "<nil>: Invalid value: failed rule: false",
        ),
        ({"reason": "FieldValueForbidden"}, "<nil>: Forbidden: failed rule: false"),
        ({"reason": "FieldValueRequired"}, "<nil>: Required value: failed rule: false"),
        ({"reason": "FieldValueDuplicate"}, "<nil>: Duplicate value"),
        ({"fieldPath": ".a"}, "a: Invalid value: failed rule: false"),
    ],
)
def test_the_error_of_a_rule_contains_its_message(rule: dict[str, Any], sentence: str) -> None:
    schema = ruled(an_object(a=INTEGER), {"rule": "false", **rule})

    assert errors_of(schema, {"a": 1}) == [sentence]


def test_a_message_expression_has_old_self_only_if_a_rule_of_its_schema_uses_it() -> None:
    knows = {"rule": "self < 3", "messageExpression": "'was %d'.format([oldSelf])", "message": "m"}
    schema = an_object(a=ruled(INTEGER, knows))
    request_info = an_object(a=ruled(INTEGER, knows, "self != oldSelf"))

    assert errors_of(schema, {"a": 5}) == ["a: Invalid value: 5: m"]
    assert errors_of(schema, {"a": 5}, {"a": 1}) == ["a: Invalid value: 5: m"]
    assert errors_of(request_info, {"a": 5}) == ["a: Invalid value: 5: m"]
    assert errors_of(request_info, {"a": 5}, {"a": 1}) == ["a: Invalid value: 5: was 1"]


def test_old_self_is_never_optional_in_a_message_expression() -> None:
    def rule(message: str) -> dict[str, Any]:
        return {
            "rule": "oldSelf.hasValue() && false",
            "optionalOldSelf": True,
            "messageExpression": message,
            "message": "m",
        }

    whether = an_object(a=ruled(an_object(n=INTEGER), rule("string(oldSelf.hasValue())")))
    which = an_object(a=ruled(an_object(n=INTEGER), rule("string(oldSelf.n.value())")))

    for schema in (whether, which):
        assert errors_of(schema, {"a": {"n": 2}}, {"a": {"n": 1}}) == ["a: Invalid value: m"]
        assert errors_of(schema, {"a": {"n": 2}}) == ["a: Invalid value: m"]


@pytest.mark.parametrize(
    ("of", "rule", "old", "why"),
    [
        (INTEGER, "self > oldSelf", "a", "invalid data, expected int, got string"),
        (TEXT, "self == oldSelf", 5, "invalid data, expected string, got int64"),
        (
            {"type": "string", "format": "duration"},
            "self > oldSelf",
            5,
            "invalid data, expected string, got int64",
        ),
        (
            an_object(n=INTEGER),
            "self.n > oldSelf.n",
            "a",
            "invalid data, expected a map for the provided schema with type=object",
        ),
        (
            {"type": "array", "items": INTEGER, "x-kubernetes-list-type": "set"},
            "self == oldSelf",
            {"a": 1},
            "invalid data, expected an array for the provided schema with type=array",
        ),
    ],
)
def test_an_old_value_of_another_type_is_an_error(
    of: dict[str, Any], rule: str, old: Any, why: str
) -> None:
    value = {"integer": 1, "string": "1h", "object": {"n": 1}, "array": [1]}[of["type"]]
    outer = an_object(a=of)
    inner = rule.replace("oldSelf", "oldSelf.a").replace("self", "self.a")

    assert errors_of(an_object(a=ruled(of, rule)), {"a": value}, {"a": old}) == [
        f'a: Invalid value: "{of["type"]}": {why} evaluating rule: {rule}'
    ]
    assert errors_of(ruled(outer, inner), {"a": value}, {"a": old}) == [
        f'<nil>: Invalid value: "object": {why} evaluating rule: {inner}'
    ]


def test_the_rules_of_an_object_share_a_cost_budget() -> None:
    item = ruled({"type": "string"}, f"self.matches('{'a' * 2000}') || true")
    schema = an_object(list={"type": "array", "items": item})

    (only,) = errors_of(schema, {"list": ["x" * 10_000] * 100})

    assert only.endswith(
        "validation failed due to running out of cost budget, no further validation rules will be"
        " run"
    )


def test_string_formats_have_their_own_cel_types() -> None:
    schema = ruled(
        an_object(
            day={"type": "string", "format": "date"},
            moment={"type": "string", "format": "date-time"},
            long={"type": "string", "format": "duration"},
            bytes={"type": "string", "format": "byte"},
            number={"type": "number"},
        ),
        "self.day.getFullYear() == 2024",
        "self.moment + self.long == timestamp('2024-01-01T01:00:00Z')",
        "self.bytes == b'abc'",
        "self.number == 2.0",
    )
    value = {
        "day": "2024-02-29",
        "moment": "2024-01-01T00:00:00Z",
        "long": "1h",
        "bytes": "YWJj",
        "number": 2,
    }

    assert errors_of(schema, value) == []


@pytest.mark.parametrize("form", ["byte", "date", "date-time", "duration"])
def test_a_list_in_place_of_a_formatted_string_is_an_error_if_a_rule_uses_it(
    form: str,
) -> None:
    fields = an_object(it={"type": "string", "format": form}, other=INTEGER)

    unused = errors_of(ruled(fields, "self.other == 1"), {"it": ["x"], "other": 1})
    used = errors_of(ruled(fields, "self.it == self.it"), {"it": ["x"], "other": 1})

    assert unused == []
    assert "invalid data, expected string, got []interface {}" in used[0]


def test_sets_are_equal_regardless_of_their_order() -> None:
    schema = ruled(
        an_object(tags={"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}),
        "self.tags == oldSelf.tags",
    )

    assert errors_of(schema, {"tags": ["a", "b"]}, {"tags": ["b", "a"]}) == []
    assert errors_of(schema, {"tags": ["a"]}, {"tags": ["b"]}) != []


def test_a_rule_of_a_resource_can_read_its_name_and_kind() -> None:
    schema = ruled(an_object(), "self.metadata.name.startsWith('a') && self.kind == 'K'")
    rules = SchemaRules(schema, is_resource=True)

    assert not rules.validate({"kind": "K", "metadata": {"name": "abc"}}).errors
    assert rules.validate({"kind": "K", "metadata": {"name": "b"}}).errors


def test_property_names_that_are_not_identifiers_are_escaped() -> None:
    names = ("a-b", "c.d", "e/f", "g__h", "if")
    schema = ruled(
        an_object(**dict.fromkeys(names, INTEGER)),
        "self.a__dash__b + self.c__dot__d + self.e__slash__f + self.g__underscores__h == 4",
        "self.__if__ == 1 && self.if == 1",
    )

    assert errors_of(schema, dict.fromkeys(names, 1)) == []


def test_rules_are_not_evaluated_for_null() -> None:
    schema = an_object(a={**ruled(TEXT, "self == 'x'"), "nullable": True})

    assert errors_of(schema, {"a": None}) == []
