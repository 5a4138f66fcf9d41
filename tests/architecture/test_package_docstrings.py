"""Every package says what it promises, and every promise has a test with the same words."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.tree import FRONT_DOOR, PACKAGES, TESTS, dotted, parsed

HEADINGS = ["Takes", "Gives", "Promises", "Never"]

ROOMS = [package for package in PACKAGES if package != FRONT_DOOR]


def sections(package: Path) -> dict[str, str]:
    """What stands under each heading of the package's docstring, in the order in which it does."""
    docstring = ast.get_docstring(parsed(package / "__init__.py")) or ""
    _, *parts = re.split(r"^([A-Z][a-z]+):", docstring, flags=re.MULTILINE)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def promises(package: Path) -> list[str]:
    """One for each ``-`` at the start of a line, joined over its continuation lines."""
    items = re.split(r"^\s*- ", sections(package).get("Promises", ""), flags=re.MULTILINE)
    return [" ".join(item.split()) for item in items if item.strip()]


def as_a_name(promise: str) -> str:
    letters = re.sub(r"[`'’]", "", promise.lower())
    return re.sub(r"[^a-z0-9]+", "_", letters).strip("_")


@cache
def names_of_tests() -> frozenset[str]:
    return frozenset(
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


@pytest.mark.parametrize("package", ROOMS, ids=dotted)
def test_a_package_says_what_it_takes_gives_promises_and_never_does(package: Path) -> None:
    said = sections(package)

    assert list(said) == HEADINGS
    assert all(said.values())


@pytest.mark.parametrize(
    "promise",
    [
        pytest.param(promise, id=f"{dotted(package)}: {promise}")
        for package in ROOMS
        for promise in promises(package)
    ],
)
def test_a_promise_has_a_test_with_the_same_words(promise: str) -> None:
    wanted = as_a_name(promise)

    assert [name for name in names_of_tests() if wanted in name], f"no test is named …{wanted}…"
