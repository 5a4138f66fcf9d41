"""The code in the README exists in tested files."""

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
def test_every_line_of_code_in_the_readme_is_in_a_tested_file(block: int, file: str) -> None:
    lines = [line.strip() for line in textwrap.dedent(SHOWN[block]).splitlines()]
    code = {line.strip() for line in (ROOT / file).read_text().splitlines()}

    assert [line for line in lines if line not in {*code, "", "..."}] == []


def test_every_python_block_in_the_readme_is_type_checked() -> None:
    assert len(SHOWN) == 5
