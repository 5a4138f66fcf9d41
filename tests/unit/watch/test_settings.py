"""The reflector's settings are validated."""

from typing import Any

import pytest

from steersman.errors import BadSettings
from steersman.watch import ReflectorSettings


@pytest.mark.parametrize(
    "wrong",
    [
        {"silence_seconds": 0},
        {"silence_seconds": float("nan")},
        {"watch_seconds": -1},
        {"page_size": 0},
        {"page_size": -5},
        {"too_large_limit": 0},
        {"missing_limit": 0},
        {"initial": "guessed"},
        {"watch_seconds": float("inf")},
        {"max_retry_after_seconds": 0},
        {"max_retry_after_seconds": float("inf")},
    ],
    ids=str,
)
def test_invalid_settings_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadSettings, match=next(iter(wrong))):
        ReflectorSettings(**wrong)


def test_the_defaults_are_valid() -> None:
    assert ReflectorSettings().page_size is None
