"""What the pages have readers type works, and shows what they say. tests/real has kubectl too."""

from pathlib import Path

import pytest

from tools.sessions import DOCS, follow, pages_with_sessions

PAGES = pages_with_sessions()


def test_the_tutorial_is_among_them() -> None:
    assert DOCS / "tutorial.md" in PAGES


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_shows_what_its_commands_show(page: Path) -> None:
    done = list(follow(page, kubectl=None))

    assert done
