"""Every command: its help, its completion and its errors."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from steersman.cli.commands import steersman

LOADED_BY_HELP = """
import json, sys
from steersman.cli.commands import steersman
try:
    steersman(["--help"])
finally:
    sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def commands(group: click.Group = steersman, *path: str) -> Iterator[tuple[str, ...]]:
    """All commands, each with its path of words."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            yield (*path, name)
            if isinstance(found, click.Group):
                yield from commands(found, *path, name)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(steersman, arguments, prog_name="steersman")


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_every_command_describes_its_purpose_with_an_example(path: tuple[str, ...]) -> None:
    result = run(*path, "--help")

    assert result.exit_code == 0
    usage, _, rest = result.output.partition("\n\n")
    assert usage.startswith(f"Usage: steersman {' '.join(path)}")
    about, _, examples = rest.partition("Example")
    assert about.strip()
    assert "steersman " in examples


def test_the_list_of_commands_is_complete() -> None:
    assert {" ".join(path) for path in commands()} == {
        "cluster",
        "cluster envtest",
        "cluster up",
        "completion",
        "create",
        "create api",
        "create controller",
        "demo",
        "dev",
        "explain",
        "generate",
        "generate bundle",
        "generate chart",
        "generate crd",
        "generate deploy",
        "generate docs",
        "generate models",
        "generate rbac",
        "generate samples",
        "init",
        "run",
        "upgrade",
    }


def test_help_is_shown_before_anything_heavy_is_loaded() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", LOADED_BY_HELP], capture_output=True, text=True, check=True
    )

    loaded = {name.partition(".")[0] for name in json.loads(finished.stderr)}
    ours = {name for name in json.loads(finished.stderr) if name.startswith("steersman.")}
    assert not {"asyncio", "cryptography", "jinja2", "msgspec", "yaml"} & loaded
    assert {name.split(".")[1] for name in ours} <= {"_lazy", "cli", "commands"}


def test_a_command_that_does_not_exist_is_rejected_with_status_2() -> None:
    result = run("crate", "api")

    assert result.exit_code == 2
    assert "No such command 'crate'" in result.output


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("crate", "api"), "create"),
        (("upgade",), "upgrade"),
        (("gen",), "generate"),
        (("generate", "crds"), "crd"),
        (("create", "controler"), "controller"),
        (("cluster", "ups"), "up"),
        (("api",), "create api"),
        (("chrat",), "generate chart"),
    ],
)
def test_a_mistyped_command_is_rejected_with_a_suggestion(
    words: tuple[str, ...], meant: str
) -> None:
    result = run(*words)

    assert result.exit_code == 2
    assert f"Did you mean {meant}?" in result.output


@pytest.mark.parametrize("word", ["xyz", "replay", "simulate"])
def test_an_unknown_command_is_rejected_without_a_suggestion(word: str) -> None:
    result = run(word)

    assert result.exit_code == 2
    assert f"No such command '{word}'.\n" in result.output


def test_the_version_is_printed() -> None:
    result = run("--version")

    assert result.exit_code == 0
    assert result.output.startswith("steersman, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_command_prints_a_shell_script(shell: str) -> None:
    result = run("completion", shell)

    assert result.exit_code == 0
    assert "_STEERSMAN_COMPLETE" in result.stdout


def test_a_completion_request_lists_candidates() -> None:
    environ = {"_STEERSMAN_COMPLETE": "bash_complete", "COMP_WORDS": "steersman ge"}

    finished = subprocess.run(
        [sys.executable, "-m", "steersman"],
        env={**environ, "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert finished.stdout == "plain,generate\n"


def test_every_setting_of_a_manager_is_an_option_of_run() -> None:
    from steersman.manager import SETTINGS

    said = run("run", "--help").output

    assert [each.flag for each in SETTINGS if f"  {each.flag} " not in said] == []


def test_a_mistyped_option_is_rejected_with_a_suggestion() -> None:
    result = run("run", "x.py", "--contxt=a")

    assert result.exit_code == 2
    assert "--context" in result.output


def test_outside_a_project_a_target_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("run")

    assert str(result.exception) == (
        "TARGET is missing, and this directory is not part of a project. Name a module:attribute"
        " or a file, or change to the directory of a project: `steersman init DIR` creates one."
    )
