"""Every code block of a page is in a tested file, or is typed by a test of the page."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.sessions import Written, acts, pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

PAGES = pages()

# Blocks without code of their own; tools/pages.py fills in some of them.
DIRECTIVES = {
    "command-help",
    "error-index",
    "include",
    "note",
    "package",
    "public-names",
    "toctree",
    "versions",
    "warning",
}

# Tests beside these files run them, or compare them with the output of a terminal.
TESTED = (ROOT / "examples", ROOT / "tests", DOCS / "captures")


@cache
def text_of_tests() -> str:
    """All text of the tests: a test that runs a file contains its name."""
    files = [*(ROOT / "tests").rglob("*.py"), *(DOCS / "code").rglob("test_*.py")]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def created_by_readers() -> frozenset[Path]:
    """The files that a reader creates while following a page, as the script does."""
    return frozenset(
        act.source.resolve() for page in PAGES for act in acts(page) if isinstance(act, Written)
    )


def is_tested(file: Path) -> bool:
    if any(file.is_relative_to(directory) for directory in TESTED) or file in created_by_readers():
        return True
    if not file.is_relative_to(DOCS / "code"):
        return False
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return file.name.startswith("test_") or any(
        name in text_of_tests() for name in (module, f'"{file.name}"')
    )


def unexplained(page: Path, text: str) -> Iterator[str]:
    for token in MarkdownIt().enable("table").parse(text):
        if token.type in ("fence", "code_block") and (reason := _why_not(page, token)):
            assert token.map is not None
            yield f"{page.name}:{token.map[0] + 1}: {reason}"


def _why_not(page: Path, token: Token) -> str | None:
    kind, _, rest = token.info.strip().partition(" ")
    if token.type == "code_block":
        return "is indented: take a fence, so that it says what it is"
    if kind in ("console", "text") and not rest:
        return None
    directive = re.fullmatch(r"\{([a-z-]+)\}", kind)
    if directive and directive[1] == "literalinclude":
        file = (page.parent / rest).resolve()
        if not file.is_file():
            return f"{rest} is not there"
        return None if is_tested(file) else f"no test runs {rest}"
    if directive and directive[1] in DIRECTIVES:
        return None
    return "is neither included from a file, nor a console, nor a drawing (text)"


def test_there_are_pages() -> None:
    assert DOCS / "tutorial.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_code_block_is_from_a_tested_file(page: Path) -> None:
    assert list(unexplained(page, page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "block",
    [
        "```python\nprint()\n```",
        "```\nprint()\n```",
        "text\n\n    print()\n",
        "```{code-block} python\nprint()\n```",
        "```{literalinclude} code/missing.py\n```",
        "```{literalinclude} ../tools/pages.py\n```",
    ],
)
def test_any_other_block_is_reported(block: str) -> None:
    assert len(list(unexplained(DOCS / "index.md", block))) == 1
