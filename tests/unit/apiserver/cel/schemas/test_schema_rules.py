"""Rules in a schema, asked about objects."""

import json
from pathlib import Path
from typing import Any

import pytest

from steersman_cluster.apiserver.cel.schemas.schema_rules import SchemaRules, has_rules
from steersman_cluster.apiserver.schema.node import UNSET

RULES = "x-kubernetes-validations"
# Rules over one schema, with what kube-apiserver 1.36.3 estimated, and said of an object.
RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("rules.json").read_text(encoding="utf-8")
)
INTEGER = {"type": "integer"}
TEXT = {"type": "string"}


def ruled(schema: dict[str, Any], *rules: Any) -> dict[str, Any]:
    return {**schema, RULES: [{"rule": each} if isinstance(each, str) else each for each in rules]}


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def said(schema: dict[str, Any], new: Any, old: Any = UNSET) -> list[str]:
    found = SchemaRules(schema, is_resource=False).validate(new, old)
    return [*map(str, found.errors), *(f"warning: {each}" for each in found.warnings)]


@pytest.mark.parametrize("text", RECORDED["rules"])
def test_a_rule_says_what_it_says_in_the_real_server(text: str) -> None:
    rules = SchemaRules(ruled(RECORDED["schema"], text), is_resource=False)
    created = rules.validate(RECORDED["object"], at="root")
    updated = rules.validate(RECORDED["object"], RECORDED["old"], at="root", ratchets=False)

    assert [str(each) for each in created.errors] == RECORDED["rules"][text]["errors"]
    assert [str(each) for each in updated.errors] == RECORDED["rules"][text]["updated"]


def test_a_schema_without_rules_has_none() -> None:
    assert not has_rules(an_object(a=INTEGER))
    assert said(an_object(a=INTEGER), {"a": 1}) == []


def test_rules_are_asked_at_every_level() -> None:
    schema = ruled(
        an_object(
            a=ruled(INTEGER, "self > 1"),
            list={"type": "array", "items": ruled(INTEGER, "self > 2")},
            map={"type": "object", "additionalProperties": ruled(INTEGER, "self > 3")},
        ),
        "self.a > 5",
    )

    assert said(schema, {"a": 1, "list": [3, 2], "map": {"k": 3}}) == [
        "<nil>: Invalid value: failed rule: self.a > 5",
        "a: Invalid value: 1: failed rule: self > 1",
        "list[1]: Invalid value: 2: failed rule: self > 2",
        "map[k]: Invalid value: 3: failed rule: self > 3",
    ]


def test_a_rule_with_old_self_is_asked_of_updates_only() -> None:
    schema = an_object(a=ruled(TEXT, {"rule": "self == oldSelf", "message": "kept"}))

    assert said(schema, {"a": "x"}) == []
    assert said(schema, {"a": "x"}, {}) == []
    assert said(schema, {"a": "x"}, {"a": "y"}) == ['a: Invalid value: "x": kept']


def test_what_was_there_is_found_by_the_keys_of_a_list() -> None:
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

    assert said(schema, new, old) == [
        "members[1].n: Invalid value: 2: failed rule: self >= oldSelf"
    ]


def test_with_optional_old_self_a_rule_is_asked_of_new_values_too() -> None:
    rule = {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True}
    schema = an_object(a=ruled(INTEGER, rule))

    assert said(schema, {"a": 2}) != []
    assert said(schema, {"a": 1}) == []
    assert said(schema, {"a": 2}, {"a": 1}) == []


def test_what_was_wrong_before_and_did_not_change_is_let_through_with_a_warning() -> None:
    schema = an_object(spec=an_object(a=ruled(INTEGER, "self < 5"), b=INTEGER))

    assert said(schema, {"spec": {"a": 9, "b": 2}}, {"spec": {"a": 9, "b": 1}}) == [
        "warning: spec.a: Invalid value: 9: failed rule: self < 5"
    ]
    assert said(schema, {"spec": {"a": 8, "b": 1}}, {"spec": {"a": 9, "b": 1}}) == [
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
def test_a_rule_says_what_its_author_wanted(rule: dict[str, Any], sentence: str) -> None:
    schema = ruled(an_object(a=INTEGER), {"rule": "false", **rule})

    assert said(schema, {"a": 1}) == [sentence]


def test_a_message_knows_what_was_there_if_a_rule_asks_about_it() -> None:
    knows = {"rule": "self < 3", "messageExpression": "'was %d'.format([oldSelf])", "message": "m"}
    schema = an_object(a=ruled(INTEGER, knows))
    asking = an_object(a=ruled(INTEGER, knows, "self != oldSelf"))

    assert said(schema, {"a": 5}) == ["a: Invalid value: 5: m"]
    assert said(schema, {"a": 5}, {"a": 1}) == ["a: Invalid value: 5: m"]
    assert said(asking, {"a": 5}) == ["a: Invalid value: 5: m"]
    assert said(asking, {"a": 5}, {"a": 1}) == ["a: Invalid value: 5: was 1"]


def test_to_a_message_what_was_there_is_never_optional() -> None:
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
        assert said(schema, {"a": {"n": 2}}, {"a": {"n": 1}}) == ["a: Invalid value: m"]
        assert said(schema, {"a": {"n": 2}}) == ["a: Invalid value: m"]


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
def test_what_was_there_may_be_of_another_type(
    of: dict[str, Any], rule: str, old: Any, why: str
) -> None:
    value = {"integer": 1, "string": "1h", "object": {"n": 1}, "array": [1]}[of["type"]]
    outer = an_object(a=of)
    inner = rule.replace("oldSelf", "oldSelf.a").replace("self", "self.a")

    assert said(an_object(a=ruled(of, rule)), {"a": value}, {"a": old}) == [
        f'a: Invalid value: "{of["type"]}": {why} evaluating rule: {rule}'
    ]
    assert said(ruled(outer, inner), {"a": value}, {"a": old}) == [
        f'<nil>: Invalid value: "object": {why} evaluating rule: {inner}'
    ]


def test_the_rules_of_one_object_share_a_budget() -> None:
    item = ruled({"type": "string"}, f"self.matches('{'a' * 2000}') || true")
    schema = an_object(list={"type": "array", "items": item})

    (only,) = said(schema, {"list": ["x" * 10_000] * 100})

    assert only.endswith(
        "validation failed due to running out of cost budget, no further validation rules will be"
        " run"
    )


def test_formats_are_types_of_their_own() -> None:
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

    assert said(schema, value) == []


@pytest.mark.parametrize("form", ["byte", "date", "date-time", "duration"])
def test_a_list_in_the_place_of_a_text_of_some_format_is_an_error_where_it_is_used(
    form: str,
) -> None:
    fields = an_object(it={"type": "string", "format": form}, other=INTEGER)

    unused = said(ruled(fields, "self.other == 1"), {"it": ["x"], "other": 1})
    used = said(ruled(fields, "self.it == self.it"), {"it": ["x"], "other": 1})

    assert unused == []
    assert "invalid data, expected string, got []interface {}" in used[0]


def test_sets_are_equal_in_any_order() -> None:
    schema = ruled(
        an_object(tags={"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}),
        "self.tags == oldSelf.tags",
    )

    assert said(schema, {"tags": ["a", "b"]}, {"tags": ["b", "a"]}) == []
    assert said(schema, {"tags": ["a"]}, {"tags": ["b"]}) != []


def test_a_resource_has_its_name_whatever_the_schema_says() -> None:
    schema = ruled(an_object(), "self.metadata.name.startsWith('a') && self.kind == 'K'")
    rules = SchemaRules(schema, is_resource=True)

    assert not rules.validate({"kind": "K", "metadata": {"name": "abc"}}).errors
    assert rules.validate({"kind": "K", "metadata": {"name": "b"}}).errors


def test_names_that_expressions_cannot_spell_are_escaped() -> None:
    names = ("a-b", "c.d", "e/f", "g__h", "if")
    schema = ruled(
        an_object(**dict.fromkeys(names, INTEGER)),
        "self.a__dash__b + self.c__dot__d + self.e__slash__f + self.g__underscores__h == 4",
        "self.__if__ == 1 && self.if == 1",
    )

    assert said(schema, dict.fromkeys(names, 1)) == []


def test_a_value_that_is_null_has_no_rules() -> None:
    schema = an_object(a={**ruled(TEXT, "self == 'x'"), "nullable": True})

    assert said(schema, {"a": None}) == []
