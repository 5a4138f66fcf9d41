"""The objects on the server, and the comparison of caches."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest

from bench.harness.fixtures import app_service, expected_cache
from bench.harness.task import cache_summary
from steersman.kinds import Codec

# All conditions have the same type and status.
COMMON = {("status", "conditions", "type"), ("status", "conditions", "status")}


def parts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values larger than a number, with their paths; the items of a list share a path."""
    if isinstance(value, dict):
        yield path, repr(value)
        for name, each in value.items():
            yield from parts(each, (*path, name))
    elif isinstance(value, list):
        yield path, repr(value)
        for each in value:
            yield from parts(each, path)
    elif isinstance(value, str):
        yield path, value


def repeated(*, is_distinct: bool) -> set[tuple[str, ...]]:
    """The paths of values that several AppServices share."""
    codec = Codec()
    found: Counter[tuple[tuple[str, ...], str]] = Counter()
    for number in range(500):
        body = json.loads(codec.encode(app_service(number, is_distinct=is_distinct)))
        found.update({part for name in ("spec", "status") for part in parts(body[name], (name,))})
    return {path for (path, _), times in found.items() if times > 1}


def test_only_distinct_apps_share_no_values() -> None:
    assert repeated(is_distinct=True) == COMMON
    assert {("spec", "ports"), ("spec", "envs"), ("spec", "resources")} <= repeated(
        is_distinct=False
    )


def test_every_distinct_app_has_its_own_label_value() -> None:
    teams = {app_service(number, is_distinct=True).labels["team"] for number in range(500)}

    assert len(teams) == 500


def test_the_digest_covers_namespace_name_image_and_size_in_any_order() -> None:
    one, other = ("default", "a", "image:1", 2), ("default", "b", "image:1", 3)

    assert (
        cache_summary([one, other])
        == cache_summary([other, one])
        == {
            "objects": 2,
            "digest": crc32(b"default/a image:1 2") + crc32(b"default/b image:1 3"),
        }
    )
    assert cache_summary([one, one])["objects"] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        ("elsewhere", "b", "image:1", 3),
        ("default", "c", "image:1", 3),
        ("default", "b", "image:2", 3),
        ("default", "b", "image:1", 4),
    ],
)
def test_one_wrong_object_changes_the_digest(wrong: tuple[str, str, str, int]) -> None:
    one, other = ("default", "a", "image:1", 2), ("default", "b", "image:1", 3)

    assert cache_summary([one, wrong]) != cache_summary([one, other])


@pytest.mark.parametrize("is_distinct", [True, False])
def test_the_expected_digest_is_that_of_the_created_apps(is_distinct: bool) -> None:
    apps = [app_service(number, is_distinct=is_distinct) for number in range(50)]

    assert expected_cache(50) == cache_summary(
        (app.namespace, app.name, app.spec.image, app.spec.size) for app in apps
    )
