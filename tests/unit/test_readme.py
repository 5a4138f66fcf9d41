"""What the README shows is code that exists."""

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SHOWN = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize(
    ("block", "file"),
    [
        (0, "examples/appservice/src/opdemo/appservice.py"),
        (1, "examples/appservice/tests/test_appservice.py"),
        (2, "tests/typing/accepts/readme.py"),
        (3, "examples/podwatch/src/podwatch/podwatch.py"),
        (4, "tests/typing/accepts/readme.py"),
    ],
)
def test_every_line_that_the_readme_shows_stands_in_a_file_that_is_tested(
    block: int, file: str
) -> None:
    lines = [line.strip() for line in textwrap.dedent(SHOWN[block]).splitlines()]
    code = {line.strip() for line in (ROOT / file).read_text().splitlines()}

    assert [line for line in lines if line not in {*code, "", "..."}] == []


def test_every_block_of_python_in_the_readme_is_checked() -> None:
    assert len(SHOWN) == 5
