"""Every package docstring has promises, and every promise has a test with the same words."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.architecture.tree import TESTS, Module, assert_none, module_at, offenders, packages

HEADINGS = ["Takes", "Gives", "Promises", "Never"]


def documented() -> list[Module]:
    """All packages except the top one, whose docstring is an overview."""
    return [package for package in packages() if "." in package.name]


def sections(package: Module) -> dict[str, str]:
    """The text under each heading of the package's docstring, in the docstring's order."""
    docstring = ast.get_docstring(package.parsed()) or ""
    _, *parts = re.split(r"^([A-Z][a-z]+):", docstring, flags=re.MULTILINE)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def promises(package: Module) -> list[str]:
    """The promises: each ``-`` at the start of a line, with its continuation lines."""
    items = re.split(r"^\s*- ", sections(package).get("Promises", ""), flags=re.MULTILINE)
    return [" ".join(item.split()) for item in items if item.strip()]


def as_name(promise: str) -> str:
    letters = re.sub(r"[`'’]", "", promise.lower())
    return re.sub(r"[^a-z0-9]+", "_", letters).strip("_")


@cache
def names_of_tests() -> frozenset[str]:
    return frozenset(
        name
        for path in TESTS.rglob("test_*.py")
        for name in module_at(path).functions
        if name.startswith("test_")
    )


def wrong_headings(package: Module) -> Iterator[str]:
    found = sections(package)
    if list(found) != HEADINGS or not all(found.values()):
        yield f"{package.name} has {[heading for heading, text in found.items() if text]}"


def untested_promises(package: Module) -> Iterator[str]:
    for promise in promises(package):
        wanted = as_name(promise)
        if not any(wanted in name for name in names_of_tests()):
            yield f"{package.name}: no test is named …{wanted}…"


def test_every_package_docstring_has_the_four_headings() -> None:
    bad = [
        Module("steersman/example/__init__.py", f'"""An example.\n\n{text}\n"""')
        for text in (
            "",
            "Takes: a\nGives: b\nPromises: c",
            "Gives: b\nTakes: a\nPromises: c\nNever: d",
            "Takes: a\nGives: b\nPromises: c\nNever:",
        )
    ]

    assert_none(offenders(wrong_headings, documented(), bad=bad))


def test_every_promise_has_a_test_with_the_same_words() -> None:
    text = '"""An example.\n\nPromises:  - a promise for which there is\n  no test at all\n"""'
    bad = [Module("steersman/example/__init__.py", text)]

    assert_none(offenders(untested_promises, documented(), bad=bad))
