"""Rules that nothing could satisfy are refused where they are written."""

from typing import Any

import pytest

from steersman.kinds import Rule


@pytest.mark.parametrize(
    "constraints",
    [
        {"ge": 2, "le": 1},
        {"gt": 2, "lt": 1},
        {"ge": 2, "lt": 1},
        {"gt": 2, "le": 1},
        {"gt": 1, "lt": 1},
        {"ge": 1, "lt": 1},
        {"gt": 1, "le": 1},
        {"min_length": 2, "max_length": 1},
        {"list_type": "map"},
        {"list_type": "set", "list_map_keys": ("name",)},
        {"list_map_keys": ("name",)},
    ],
)
def test_a_rule_that_nothing_satisfies_is_refused(constraints: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"go together|no value can satisfy"):
        Rule(**constraints)


def test_a_rule_may_leave_one_value() -> None:
    assert Rule(ge=1, le=1) == Rule(ge=1, le=1)
    assert Rule(list_type="map", list_map_keys=("name",)).list_map_keys == ("name",)
