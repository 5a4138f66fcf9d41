"""`make test` installs only the test tools, so its tests import no others."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.tree import ROOT, TESTS, assert_none, module_at, offenders

# The packages of the groups `docs` and `check`, by their import names.
TOOLS = {"docutils", "furo", "importlinter", "markdown_it", "mypy", "myst_parser", "sphinx"}

KINDS = ("unit", "cluster", "simulation")


@cache
def imported_tools(path: Path) -> frozenset[str]:
    """The tools that a file imports, itself or through other files of the repository."""
    found = set()
    for _, name in module_at(path).imports:
        root = name.partition(".")[0]
        if root in TOOLS:
            found.add(root)
        elif root in ("tests", "tools"):
            found.update(*(imported_tools(file) for file in _files(name)))
    return frozenset(found)


def _files(name: str) -> Iterator[Path]:
    parts = name.split(".")
    # The last part is a module, or a name in the module before it.
    for module in (parts, parts[:-1]):
        file = ROOT.joinpath(*module).with_suffix(".py")
        if file.is_file():
            yield file


def tool_imports(path: Path) -> Iterator[str]:
    for tool in sorted(imported_tools(path)):
        yield f"{path.relative_to(ROOT)} imports {tool}"


def test_tests_that_need_only_python_import_no_tool_of_the_documentation_or_of_checks() -> None:
    files = [file for kind in KINDS for file in sorted((TESTS / kind).rglob("*.py"))]
    # Both import a module of the repository that imports a tool.
    bad = [TESTS / "docs" / "test_typed_pages.py", TESTS / "docs" / "test_pages.py"]

    assert_none(offenders(tool_imports, files, bad=bad))
