"""Commands of other distributions, found by the entry point group ``steersman.commands``."""

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner, Result

from steersman.cli.commands.root import RootGroup

COMMAND = """
import click


@click.command()
def greet():
    click.echo("hello")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution with one command and one module on the path."""

    def install(distribution: str, *, command: str, value: str, source: str = "") -> None:
        home = tmp_path / distribution
        info = home / f"{distribution}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\n")
        (info / "entry_points.txt").write_text(f"[steersman.commands]\n{command} = {value}\n")
        (home / f"{value.partition(':')[0]}.py").write_text(source)
        monkeypatch.syspath_prepend(home)

    return install


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No distribution has a command."""
    empty = importlib.metadata.EntryPoints(())
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: empty)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(RootGroup("steersman"), arguments, prog_name="steersman")


def names_in_help() -> list[str]:
    _, _, commands = run("--help").output.partition("Commands:\n")
    return [line.split()[0] for line in commands.splitlines()]


def completion_candidates() -> list[str]:
    shell = BashComplete(RootGroup("steersman"), {}, "steersman", "_STEERSMAN_COMPLETE")
    return [each.value for each in shell.get_completions([], "")]


def test_help_lists_the_commands_of_all_distributions_in_order_of_first_use(
    install: Install,
) -> None:
    install("greeter", command="greet", value="greeter_of_help:greet", source=COMMAND)

    assert names_in_help() == [
        *("init", "create", "generate", "dev", "run", "demo", "cluster", "upgrade", "explain"),
        "completion",
        "greet",
    ]
    assert completion_candidates() == names_in_help()


def test_a_command_of_another_distribution_runs(install: Install) -> None:
    install("greeter", command="greet", value="greeter_that_runs:greet", source=COMMAND)

    answer = run("greet")

    assert (answer.exit_code, answer.output) == (0, "hello\n")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("up", "--port=0")])
@pytest.mark.parametrize("name", ["dev", "demo", "cluster"])
@pytest.mark.usefixtures("nothing_installed")
def test_the_error_for_a_command_that_is_not_installed_says_what_to_install(
    name: str, arguments: tuple[str, ...]
) -> None:
    answer = run(name, *arguments)

    # Not 2, which means wrong usage: as without click, the command line is valid.
    assert answer.exit_code == 1
    assert answer.stderr == (
        f"steersman: `{name}` comes with steersman-cluster, which is not installed\n"
        "\nhint: pip install 'steersman[dev]'\n"
    )


@pytest.mark.usefixtures("nothing_installed")
def test_help_and_completion_omit_commands_that_are_not_installed() -> None:
    assert names_in_help() == [
        "init",
        "create",
        "generate",
        "run",
        "upgrade",
        "explain",
        "completion",
    ]
    assert completion_candidates() == names_in_help()


def test_the_error_for_a_command_of_two_distributions_has_their_names(install: Install) -> None:
    install("greeter", command="greet", value="greeter_one:greet", source=COMMAND)
    install("welcome", command="greet", value="greeter_two:greet", source=COMMAND)

    answer = run("greet")

    assert answer.exit_code == 1
    assert answer.stderr == (
        "steersman: `greet` comes with several distributions: greeter, welcome\n"
        "\nhint: pip uninstall welcome\n"
    )


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("x = 1", "AttributeError: module '{module}' has no attribute 'greet'"),
        ("raise RuntimeError('a')", "RuntimeError: a"),
        ("greet = 'hello'", "it is not a click command"),
    ],
)
def test_the_error_for_a_command_that_does_not_load_has_its_distribution(
    install: Install, source: str, problem: str
) -> None:
    module = f"greeter_{abs(hash(source))}"
    install("greeter", command="greet", value=f"{module}:greet", source=source)

    answer = run("greet", "--loud")

    assert answer.exit_code == 1
    assert answer.stderr == (
        f"steersman: `greet` of greeter cannot be loaded from {module}:greet:"
        f" {problem.format(module=module)}\n"
        "\nhint: pip install --force-reinstall greeter\n"
    )
    assert "greet" in names_in_help()
    assert "Cannot be used; run it to see why." in run("--help").output


def test_a_command_of_another_distribution_does_not_slow_down_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(importlib.metadata, "entry_points")

    assert run("completion", "bash").exit_code == 0
