from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.name_validation import dns_label, label_key

PORT = rule.table(
    rule.optional("name", rule.first(dns_label, rule.unique())),
    rule.required("port", rule.between(1, 65535)),
)


def messages(check: Check, value: Any, *, path: str = "", scope: Any = None) -> list[str]:
    return [str(each) for each in check(value, path, scope)]


@pytest.mark.parametrize("struct", [{}, {"name": None}, {"name": ""}])
def test_a_required_field_must_not_be_empty(struct: dict[str, Any]) -> None:
    check = rule.required("name", detail="names the object")

    assert messages(check, struct) == ["name: Required value: names the object"]


def test_a_needed_field_may_be_empty_but_not_absent() -> None:
    check = rule.needed("spec", rule.required("name"))

    assert messages(check, {}) == ["spec: Required value"]
    assert messages(check, {"spec": {}}) == ["spec.name: Required value"]


def test_optional_and_given_rules_differ_for_an_empty_value() -> None:
    is_set = rule.must(bool, "must be set")

    assert messages(rule.optional("name", is_set), {"name": ""}) == []
    assert messages(rule.given("name", is_set), {"name": ""}) == [
        'name: Invalid value: "": must be set'
    ]
    assert messages(rule.given("name", is_set), {}) == []


def test_an_absent_field_has_the_default_of_its_type() -> None:
    check = rule.always("port", rule.between(1, 65535), default=0)

    assert messages(check, {}) == ["port: Invalid value: 0: must be between 1 and 65535, inclusive"]


def test_a_row_reads_a_field_of_an_inner_struct() -> None:
    check = rule.required("spec.service.name", at="Spec.name")

    assert messages(check, {"spec": {"service": {"name": "web"}}}) == []
    assert messages(check, {"spec": None}, path="obj") == ["obj.Spec.name: Required value"]


def test_a_table_reports_all_violations_in_order() -> None:
    check = rule.table(rule.required("b"), rule.required("a"), rule.forbidden("c", detail="no"))

    assert messages(check, {"c": 0}, path="spec") == [
        "spec.b: Required value",
        "spec.a: Required value",
        "spec.c: Forbidden: no",
    ]


def test_the_first_violation_ends_a_sequence() -> None:
    check = rule.given("name", rule.first(rule.must_be_set(), label_key, rule.max_bytes(2)))

    assert messages(check, {"name": ""}) == ["name: Required value"]
    assert messages(check, {"name": "abc"}) == ["name: Too long: may not be more than 2 bytes"]


def test_rules_depend_on_a_condition() -> None:
    check = rule.when(
        lambda source: source.get("type") == "File",
        rule.required("path"),
        otherwise=[rule.required("url")],
    )

    assert messages(check, {"type": "File"}) == ["path: Required value"]
    assert messages(check, {}) == ["url: Required value"]


def test_elements_are_reported_with_their_index_or_with_the_path_of_the_list() -> None:
    choices = rule.enum("a", "b")

    assert messages(rule.given("modes", rule.each(choices)), {"modes": ["a", "c"]}) == [
        'modes[1]: Unsupported value: "c": supported values: "a", "b"'
    ]
    assert messages(rule.each(choices, numbered=False), ["c"], path="modes") == [
        'modes: Unsupported value: "c": supported values: "a", "b"'
    ]


def test_a_unique_value_may_occur_once_in_each_list() -> None:
    check = rule.each(PORT)
    ports = [{"name": "web", "port": 1}, {"name": "web", "port": 2}, {"port": 3}, {"port": 4}]

    assert messages(check, ports, path="ports") == ['ports[1].name: Duplicate value: "web"']
    assert messages(check, ports[:1], path="ports") == []


def test_uniqueness_in_an_inner_list_is_separate_for_each_outer_element() -> None:
    check = rule.each(rule.given("names", rule.each(rule.unique(detail="must be unique"))))

    assert messages(check, [{"names": ["a"]}, {"names": ["a", "a"]}], path="sets") == [
        'sets[1].names[1]: Invalid value: "a": must be unique'
    ]


def test_values_of_a_map_are_reported_with_their_keys() -> None:
    check = rule.given("limits", rule.each_value(rule.POSITIVE))

    assert messages(check, {"limits": {"cpu": 0, "memory": 1}}) == [
        "limits[cpu]: Invalid value: 0: must be greater than 0"
    ]


def test_a_function_gets_the_value_its_path_and_the_scope() -> None:
    def errors(port: int, path: str, used: set[int]) -> Iterator[FieldError]:
        if port in used:
            yield invalid(path, port, "is used")

    check = rule.given("ports", rule.each(rule.scoped(errors)))

    assert messages(check, {"ports": [1, 2]}, path="spec", scope={2}) == [
        "spec.ports[1]: Invalid value: 2: is used"
    ]


def test_limits_are_inclusive() -> None:
    check = rule.table(
        rule.given("items", rule.max_items(2)),
        rule.given("text", rule.max_bytes(2)),
        rule.given("number", rule.at_most(2)),
        rule.not_negative("count"),
    )

    assert messages(check, {"items": [1, 2], "text": "é", "number": 2, "count": 0}) == []
    assert messages(check, {"items": [1, 2, 3], "text": "éx", "number": 3, "count": -1}) == [
        "items: Too many: 3: must have at most 2 items",
        "text: Too long: may not be more than 2 bytes",
        "number: Invalid value: 3: must be less than or equal to 2",
        "count: Invalid value: -1: must be greater than or equal to 0",
    ]


def test_an_empty_value_may_be_permitted_where_others_are_forbidden() -> None:
    check = rule.forbidden("resources", detail="not here", empty=False)

    assert messages(check, {"resources": {}}) == []
    assert messages(check, {"resources": {"a": 1}}) == ["resources: Forbidden: not here"]
