"""`make test` installs only the test tools, so the tests that it collects import no others."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.tree import ROOT, TESTS, imports

# What the groups `docs` and `check` bring, by the name that Python imports.
TOOLS = {"docutils", "furo", "importlinter", "markdown_it", "mypy", "myst_parser", "sphinx"}

KINDS = ("unit", "cluster", "simulation")


@cache
def tools_behind(path: Path) -> frozenset[str]:
    """The tools that a file imports, itself or through other files of the repository's own."""
    found = set()
    for _, name in imports(path):
        root = name.partition(".")[0]
        if root in TOOLS:
            found.add(root)
        elif root in ("tests", "tools"):
            found.update(*(tools_behind(file) for file in _files(name)))
    return frozenset(found)


def _files(name: str) -> Iterator[Path]:
    parts = name.split(".")
    # The last part is a module, or a name in the one before it.
    for module in (parts, parts[:-1]):
        file = ROOT.joinpath(*module).with_suffix(".py")
        if file.is_file():
            yield file


def test_tests_that_need_only_python_import_no_tool_of_the_documentation_or_of_checks() -> None:
    files = [file for kind in KINDS for file in sorted((TESTS / kind).rglob("*.py"))]
    found = {str(file.relative_to(ROOT)): tools_behind(file) for file in files}

    assert {name: sorted(tools) for name, tools in found.items() if tools} == {}


def test_the_documentation_s_tools_are_found_behind_modules_of_our_own() -> None:
    assert tools_behind(TESTS / "docs" / "test_typed_pages.py") == {"markdown_it"}
    assert tools_behind(TESTS / "docs" / "test_pages.py") == {"sphinx"}
