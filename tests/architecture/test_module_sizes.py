"""A module can be read in one sitting."""

from pathlib import Path

import pytest

from tests.architecture.tree import MODULES, is_generated, within

# 400 lines is long already; from here on, there are two modules in one file.
MOST_LINES = 600

WRITTEN = [path for path in MODULES if not is_generated(path)]


@pytest.mark.parametrize("path", WRITTEN, ids=within)
def test_no_module_written_by_hand_is_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
