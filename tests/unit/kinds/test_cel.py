"""Rules in CEL that are wrong in themselves are refused where they are written."""

from types import new_class
from typing import Any

import pytest

from steersman.kinds import Cel, Part, rules_of


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"rule": " "}, "rule says something"),
        ({"rule": "x" * 100_001}, "100,000 letters"),
        ({"rule": "true", "message": ""}, "message says something"),
        ({"rule": "true", "message": "one\ntwo"}, "one line"),
        ({"rule": "true", "message": "x" * 2049}, "2,048 bytes"),
        ({"rule": "true", "message_expression": "\n"}, "message_expression says something"),
        ({"rule": "true &&\nfalse"}, "needs a message"),
        ({"rule": "true", "reason": "Wrong"}, "reason is"),
        ({"rule": "true", "field_path": "spec.size"}, "begins with a dot"),
        ({"rule": "self > 0", "optional_old_self": True}, "about oldSelf"),
    ],
)
def test_a_rule_that_every_server_rejects_is_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Cel(**said)


def test_a_class_has_the_rules_of_its_bases_and_then_its_own() -> None:
    first, second = Cel("self.low >= 0"), Cel("self.low < self.high")

    class Low(Part, rules=(first,)):
        low: int

    class Both(Low, rules=(second, first)):
        high: int

    assert rules_of(Part) == ()
    assert rules_of(Low) == (first,)
    assert rules_of(Both) == (first, second)


@pytest.mark.parametrize("rules", ["self.low >= 0", Cel("self.low >= 0"), ("self.low >= 0",)])
def test_class_rules_must_be_cel_rules(rules: Any) -> None:
    with pytest.raises(TypeError, match="Wrong: rules= are Cels"):
        new_class("Wrong", (Part,), {"rules": rules})
