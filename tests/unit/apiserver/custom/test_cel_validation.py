"""CEL validation of custom resources."""

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


def test_errors_of_rules_follow_all_other_errors() -> None:
    odd = invalid("spec.other", 1, "odd")

    found = CelValidation(SCHEMA).completed([odd], {"spec": {"size": 7, "other": 1}})

    assert [str(each) for each in found] == [
        "spec.other: Invalid value: 1: odd",
        "spec.size: Invalid value: 7: failed rule: self < 5",
    ]


def test_rules_are_not_evaluated_for_an_invalid_structure() -> None:
    missing = required("spec.other")

    *_, last = CelValidation(SCHEMA).completed([missing], {"spec": {"size": "many"}})

    assert "some validation rules were not checked" in str(last)


def test_a_ratcheted_error_is_a_warning_for_that_object_only() -> None:
    validation = CelValidation(SCHEMA)
    old = {"spec": {"size": 7, "other": 1}}
    new = {"spec": {"size": 7, "other": 2}}

    assert validation.completed([], new, old) == []
    assert validation.warnings(new) == ["spec.size: Invalid value: 7: failed rule: self < 5"]
    assert validation.warnings({"spec": {"size": 7, "other": 2}}) == []
