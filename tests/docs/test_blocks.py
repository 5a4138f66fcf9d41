"""What a page shows as code is a file that tests run, or is typed by a test from the page."""

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

# Those that show no code of their own; tools/pages.py fills in some of them.
DIRECTIVES = {"command-help", "front-door", "include", "note", "package", "toctree", "warning"}

# What lies there is run by tests beside it, or compared with what a terminal shows.
TESTED = (ROOT / "examples", ROOT / "tests", DOCS / "captures")


@cache
def words_of_tests() -> str:
    """All that is written in tests: who runs a file names it."""
    files = [*(ROOT / "tests").rglob("*.py"), *(DOCS / "code").rglob("test_*.py")]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def typed() -> frozenset[Path]:
    """The files that a reader writes while following some page, as the script does."""
    return frozenset(
        act.source.resolve() for page in PAGES for act in acts(page) if isinstance(act, Written)
    )


def is_run(file: Path) -> bool:
    if any(file.is_relative_to(directory) for directory in TESTED) or file in typed():
        return True
    if not file.is_relative_to(DOCS / "code"):
        return False
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return file.name.startswith("test_") or any(
        name in words_of_tests() for name in (module, f'"{file.name}"')
    )


def refused(page: Path, text: str) -> Iterator[str]:
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
        return None if is_run(file) else f"no test runs {rest}"
    if directive and directive[1] in DIRECTIVES:
        return None
    return "is neither included from a file, nor a console, nor a drawing (text)"


def test_there_are_pages() -> None:
    assert DOCS / "tutorial.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_block_of_code_is_a_file_that_tests_run(page: Path) -> None:
    assert list(refused(page, page.read_text(encoding="utf-8"))) == []


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
def test_any_other_is_refused(block: str) -> None:
    assert len(list(refused(DOCS / "index.md", block))) == 1
