"""Validation of PriorityLevelConfigurations."""

from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.cluster.priority_levels import priority_level_errors


def errors(spec: Any, name: str = "mine") -> list[tuple[str, str]]:
    found = priority_level_errors({"metadata": {"name": name}, "spec": spec})
    return [(each.field.removeprefix("spec."), each.body) for each in found]


def limited(**parts: Any) -> Any:
    return {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}, **parts}}


def queuing(**parts: int) -> Any:
    whole = {"queueLengthLimit": 1, "queues": 64, "handSize": 8, **parts}
    return limited(limitResponse={"type": "Queue", "queuing": whole})


@pytest.mark.parametrize("spec", [limited(), queuing(), limited(nominalConcurrencyShares=0)])
def test_a_complete_level_has_no_errors(spec: Any) -> None:
    assert errors(spec) == []


def test_only_the_level_named_exempt_is_exempt() -> None:
    assert errors({"type": "Exempt"}, "exempt") == []
    assert [field for field, _ in errors({"type": "Exempt"})] == ["type"]
    assert [field for field, _ in errors(limited(), "exempt")] == ["type"]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({}, "type"),
        ({"type": "Odd"}, "type"),
        ({"type": "Limited"}, "limited"),
        ({**limited(), "exempt": {}}, "exempt"),
        ({"type": "Limited", "limited": {}}, "limited.limitResponse.type"),
        (limited(limitResponse={"type": "Odd"}), "limited.limitResponse.type"),
        (limited(limitResponse={"type": "Queue"}), "limited.limitResponse.queuing"),
        (limited(nominalConcurrencyShares=-1), "limited.nominalConcurrencyShares"),
        (limited(lendablePercent=101), "limited.lendablePercent"),
        (limited(borrowingLimitPercent=-1), "limited.borrowingLimitPercent"),
        (queuing(queueLengthLimit=0), "limited.limitResponse.queuing.queueLengthLimit"),
        (queuing(queues=10_000_001, handSize=1), "limited.limitResponse.queuing.queues"),
        (queuing(handSize=0), "limited.limitResponse.queuing.handSize"),
        (queuing(handSize=65), "limited.limitResponse.queuing.handSize"),
        (queuing(handSize=11), "limited.limitResponse.queuing.handSize"),
    ],
)
def test_an_invalid_level_is_rejected_with_the_invalid_field(spec: Any, field: str) -> None:
    assert [where for where, _ in errors(spec)] == [field]
