"""The commands and files of tutorial pages work, and print the shown output."""

from pathlib import Path

import pytest

from tools.sessions import DOCS, follow, pages_with_sessions

PAGES = pages_with_sessions()


def test_the_tutorial_is_tested() -> None:
    assert DOCS / "tutorial.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_has_the_output_of_its_commands(page: Path) -> None:
    done = list(follow(page, kubectl=None))

    assert done
