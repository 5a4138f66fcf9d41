"""The explanations of errors, and the messages that name them."""

import inspect
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner

from steersman import errors
from steersman.cli.commands.explain import explain
from steersman.errors import Permanent, SteersmanError, explanations
from steersman.errors.explanation import ENTRY_POINTS, Explanation, explanations_in
from steersman_cluster import errors as cluster_errors

PACKAGES = (errors, cluster_errors)
ENTRIES = {each.__name__: explanations_in(each.__name__) for each in PACKAGES}

PYPROJECT = Path(__file__).parents[2] / "packages/steersman-cluster/pyproject.toml"


class OutOfStock(Permanent):
    """An error of an operator."""


def classes(package: ModuleType) -> Iterator[type[SteersmanError]]:
    for name in package.__all__:
        each = getattr(package, name)
        if inspect.isclass(each) and issubclass(each, SteersmanError):
            yield each


@pytest.mark.parametrize("package", PACKAGES, ids=lambda each: each.__name__)
def test_every_public_error_has_an_explanation_and_every_explanation_an_error(
    package: ModuleType,
) -> None:
    assert sorted(ENTRIES[package.__name__]) == sorted(each.__name__ for each in classes(package))


@pytest.mark.parametrize(
    "entry",
    [each for entries in ENTRIES.values() for each in entries.values()],
    ids=lambda each: each.name,
)
def test_an_explanation_has_a_cause_a_fix_and_an_example(entry: Explanation) -> None:
    bases = {"SteersmanError", "CacheError", "Undeclared"}

    for text in (entry.meaning, entry.cause, entry.fix):
        assert text[0] == text[0].upper()
        assert text.endswith(".")
    assert bool(entry.example) == (entry.name not in bases)


@pytest.mark.parametrize(
    "error",
    [each for package in PACKAGES for each in classes(package)],
    ids=lambda each: each.__name__,
)
def test_every_public_error_is_explained_under_its_own_name(error: type[SteersmanError]) -> None:
    assert error.explained_as == error.__name__


def test_the_error_of_an_operator_is_explained_under_the_name_of_its_base_class() -> None:
    assert OutOfStock("sold").explained_as == "Permanent"


def test_explain_prints_the_explanation_of_a_class() -> None:
    entry = ENTRIES["steersman.errors"]["NotOurs"]

    named, with_its_module = (
        CliRunner().invoke(explain, [name]) for name in ("NotOurs", "steersman.errors.NotOurs")
    )

    assert named.output == with_its_module.output == f"{entry}\n"
    assert "**Cause:** A dependent has the name of an object" in named.output


def test_explain_without_a_name_lists_all_errors() -> None:
    listed = CliRunner().invoke(explain, []).output.splitlines()

    assert [line.split()[0] for line in listed] == list(explanations())


def test_explain_suggests_the_name_of_a_mistyped_error() -> None:
    result = CliRunner().invoke(explain, ["notour"])

    assert result.exit_code == 2
    assert "No such error 'notour'. Did you mean NotOurs?" in result.output


def test_the_errors_of_other_distributions_are_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]
    entries = [SimpleNamespace(value=value) for value in groups[ENTRY_POINTS].values()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: entries)

    found = explanations()

    assert found["CrashSweepFailed"] == ENTRIES["steersman_cluster.errors"]["CrashSweepFailed"]


def test_the_program_names_the_explanation_of_its_error(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "steersman", "generate"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert finished.stderr.endswith("\nsee: steersman explain ProjectError\n")
