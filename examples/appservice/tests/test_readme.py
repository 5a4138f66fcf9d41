"""Tests of the README."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text()


def test_the_readme_shows_code_of_the_operator() -> None:
    lines = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL)).splitlines()
    code = (PROJECT / "src/opdemo/appservice.py").read_text().splitlines()

    assert lines
    assert [line for line in lines if line not in code] == []


def test_the_object_in_the_readme_is_the_sample() -> None:
    shown = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)

    assert shown == [(PROJECT / "samples/appservice.yaml").read_text()]


def test_every_file_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"\b(?:deploy|samples|src|docs)/[\w./-]*\w", README))

    assert named
    assert [each for each in sorted(named) if not (PROJECT / each).exists()] == []
