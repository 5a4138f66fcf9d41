"""Invalid settings of a client cannot be created."""

from typing import Any, get_type_hints

import pytest

from steersman.client import ClientSettings, Impersonation
from steersman.client.settings import SettingsChanges
from steersman.errors import BadValue


@pytest.mark.parametrize(
    "wrong",
    [
        {"deadline_seconds": 0.0},
        {"deadline_seconds": float("nan")},
        {"page_size": 0},
        {"object_limit_bytes": 0},
        {"page_limit_bytes": -1},
        {"pages_limit": 0},
        {"user_agent": "a\r\nAuthorization: x"},
    ],
)
def test_invalid_settings_cannot_be_created(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="settings must satisfy"):
        ClientSettings(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"user": ""},
        {"user": "a\r\nAuthorization: x"},
        {"user": "a", "groups": ("b\n",)},
        {"user": "a", "uid": "\0"},
        {"user": "a", "extra": {"b": ("c\r",)}},
    ],
)
def test_an_impersonation_with_an_invalid_header_value_cannot_be_created(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(BadValue, match="a user to impersonate"):
        Impersonation(**wrong)


def test_each_group_and_extra_value_has_its_own_header() -> None:
    who = Impersonation(
        user="jane", uid="u-7", groups=("dev", "ops"), extra={"example.com/Scopes": ("a", "b")}
    )

    assert who.headers() == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "u-7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-example.com%2Fscopes", "a"),
        ("Impersonate-Extra-example.com%2Fscopes", "b"),
    )


def test_every_setting_can_be_adjusted_by_its_own_type() -> None:
    assert get_type_hints(SettingsChanges) == get_type_hints(ClientSettings)
