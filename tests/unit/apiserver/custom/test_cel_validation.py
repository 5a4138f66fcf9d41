"""Rules in CEL, asked about the objects of a custom kind."""

from typing import Any

from steersman_cluster.apiserver.custom.cel_validation import CelValidation
from steersman_cluster.apiserver.meta.field_errors import invalid, required

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {
                    "type": "integer",
                    "x-kubernetes-validations": [{"rule": "self < 5"}],
                },
                "other": {"type": "integer"},
            },
        }
    },
}


def test_what_the_rules_say_comes_after_everything_else() -> None:
    odd = invalid("spec.other", 1, "odd")

    found = CelValidation(SCHEMA).completed([odd], {"spec": {"size": 7, "other": 1}})

    assert [str(each) for each in found] == [
        "spec.other: Invalid value: 1: odd",
        "spec.size: Invalid value: 7: failed rule: self < 5",
    ]


def test_rules_are_not_asked_about_what_has_the_wrong_shape() -> None:
    missing = required("spec.other")

    *_, last = CelValidation(SCHEMA).completed([missing], {"spec": {"size": "many"}})

    assert "some validation rules were not checked" in str(last)


def test_what_was_let_through_is_reported_for_that_object_only() -> None:
    judging = CelValidation(SCHEMA)
    old = {"spec": {"size": 7, "other": 1}}
    new = {"spec": {"size": 7, "other": 2}}

    assert judging.completed([], new, old) == []
    assert judging.warnings(new) == ["spec.size: Invalid value: 7: failed rule: self < 5"]
    assert judging.warnings({"spec": {"size": 7, "other": 2}}) == []
