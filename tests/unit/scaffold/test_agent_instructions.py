"""AGENTS.md, of a project and of this repository, names commands and files that exist."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from steersman.cli.commands import steersman
from steersman.errors import explanations
from steersman.scaffold.frame import ProjectAnswers, frame_of

ROOT = Path(__file__).parents[3]

ANSWERS = ProjectAnswers(name="shop", domain="example.com", package="shop", scaffold="0.1.0")

OF_PROJECT = frame_of(ANSWERS)
OF_REPOSITORY = (ROOT / "AGENTS.md").read_text(encoding="utf-8")

BOTH = pytest.mark.parametrize(
    ("text", "makefile"),
    [
        (OF_PROJECT["AGENTS.md"], OF_PROJECT["Makefile"]),
        (OF_REPOSITORY, (ROOT / "Makefile").read_text(encoding="utf-8")),
    ],
    ids=["project", "repository"],
)


@BOTH
def test_every_target_of_make_in_the_instructions_exists(text: str, makefile: str) -> None:
    named = set(re.findall(r"(?:    |`)make ([a-z-]+)", text))

    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    assert named
    assert named <= targets


@BOTH
def test_every_command_in_the_instructions_exists(text: str, makefile: str) -> None:
    with click.Context(steersman) as context:
        known = steersman.list_commands(context)

    named = set(re.findall(r"(?:    |`|bin/)steersman ([a-z]+)", text))

    assert named
    assert named <= set(known)


def test_the_options_in_the_instructions_exist() -> None:
    shown = CliRunner().invoke(steersman, ["dev", "--help"]).output

    assert "steersman dev --for=30" in OF_PROJECT["AGENTS.md"]
    assert "--for SECONDS" in shown
    assert "NotOurs" in explanations()


def test_every_path_in_the_table_of_the_repository_exists() -> None:
    table = [line for line in OF_REPOSITORY.splitlines() if line.startswith("| `")]

    named = [path for line in table for path in re.findall(r"`([^`]+)`", line.split("|")[1])]

    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).is_dir()] == []


def test_the_files_of_the_instructions_are_those_of_a_project() -> None:
    text = OF_PROJECT["AGENTS.md"]

    assert "`src/shop/operator.py`" in text
    assert "src/shop/operator.py" in OF_PROJECT
