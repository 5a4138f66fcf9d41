"""Values in the format of Go's fmt package."""

from typing import Any

import pytest

from steersman_cluster.apiserver.meta.go_messages import go_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"),
        (True, "true"),
        (1, "1"),
        (1.0, "1"),
        (1.5, "1.5"),
        (123456.5, "123456.5"),
        (1500000.5, "1.5000005e+06"),
        (1e21, "1e+21"),
        (1e-5, "1e-05"),
        ("a b", "a b"),
        ([1, "x", [None]], "[1 x [<nil>]]"),
        ({"b": {}, "a": False}, "map[a:false b:map[]]"),
    ],
)
def test_values_are_printed_like_in_go(value: Any, text: str) -> None:
    assert go_text(value) == text
