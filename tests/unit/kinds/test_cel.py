"""A CEL rule that is invalid by itself is rejected where it is declared."""

from types import new_class
from typing import Any

import pytest

from steersman.kinds import Cel, Part, validations_of


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"rule": " "}, "rule of a Cel must not be blank"),
        ({"rule": "x" * 100_001}, "100,000 characters"),
        ({"rule": "true", "message": ""}, "message of a Cel must not be blank"),
        ({"rule": "true", "message": "one\ntwo"}, "a single line"),
        ({"rule": "true", "message": "x" * 2049}, "2,048 bytes"),
        (
            {"rule": "true", "message_expression": "\n"},
            "message_expression of a Cel must not be blank",
        ),
        ({"rule": "true &&\nfalse"}, "must have a message"),
        ({"rule": "true", "reason": "Wrong"}, "reason of a Cel must be"),
        ({"rule": "true", "field_path": "spec.size"}, "must begin with a dot"),
        ({"rule": "self > 0", "optional_old_self": True}, "requires a rule that uses oldSelf"),
    ],
)
def test_a_rule_that_every_server_rejects_is_rejected(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Cel(**said)


def test_a_class_has_the_rules_of_its_bases_and_then_its_own() -> None:
    first, second = Cel("self.low >= 0"), Cel("self.low < self.high")

    class Low(Part, validations=(first,)):
        low: int

    class Both(Low, validations=(second, first)):
        high: int

    assert validations_of(Part) == ()
    assert validations_of(Low) == (first,)
    assert validations_of(Both) == (first, second)


@pytest.mark.parametrize("rules", ["self.low >= 0", Cel("self.low >= 0"), ("self.low >= 0",)])
def test_class_rules_must_be_cel_rules(rules: Any) -> None:
    with pytest.raises(TypeError, match="Wrong: validations must be Cels"):
        new_class("Wrong", (Part,), {"validations": rules})
