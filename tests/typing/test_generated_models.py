"""Models generated from definitions with many features pass both type checkers and the linter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from steersman.kinds.generate import models_from_crd
from tests.unit.kinds.generate.test_crd import WIDGETS
from tests.unit.kinds.generate.test_crd_contents import NASTY
from tests.unit.manifests.crds import definition, fields, rich

ROOT = Path(__file__).parents[2]

# Names with a meaning in Python, in a class body, or in every resource.
TRICKY = ["from", "class", "type", "int", "str", "tuple", "datetime", "None", "labels", "metadata"]

USE = """
from gadget import Gadget, GadgetSpec, GadgetSpecLimits, GadgetSpecPorts
from datetime import UTC, datetime
from steersman.kinds import Condition
from steersman.kinds.meta_v1 import ObjectMeta


def made() -> Gadget:
    return Gadget(
        metadata=ObjectMeta(name="one"),
        spec=GadgetSpec(
            image="a",
            mode="fast",
            owner=None,
            from_="b",
            when=datetime(2026, 1, 1, tzinfo=UTC),
            host="c",
            address="d",
            code="e",
            surge="25%",
            ports=(GadgetSpecPorts(name="f", port=1, protocol="TCP"),),
            limits={"g": GadgetSpecLimits(most=1)},
        ),
    )


def conditions(gadget: Gadget) -> tuple[Condition, ...]:
    return (gadget.status and gadget.status.conditions) or ()
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with generated modules, and a module that uses them."""
    tricky = fields(*TRICKY[:3], **{name: {"type": "string"} for name in TRICKY})
    words = {
        f"w{number}": {"type": "string", "description": text} for number, text in enumerate(NASTY)
    }
    found = {
        "widget": yaml.safe_load(WIDGETS),
        "gadget": rich(),
        "tricky": definition(fields(tricky=tricky, words=fields(**words))),
    }
    directory = tmp_path_factory.mktemp("models")
    for name, crd in found.items():
        (directory / f"{name}.py").write_text(models_from_crd(crd), "utf-8")
    (directory / "use.py").write_text(USE, "utf-8")
    return directory


def run(*command: str, cwd: Path) -> str:
    finished = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True
    )
    return finished.stdout + finished.stderr


def test_mypy_accepts_generated_models(models: Path) -> None:
    said = run("mypy", "--strict", "--no-error-summary", "--config-file=", ".", cwd=models)

    assert said == ""


def test_pyright_accepts_generated_models(models: Path) -> None:
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}
    (models / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")

    said = run("pyright", "--outputjson", "--pythonpath", sys.executable, cwd=models)

    report = json.loads(said[said.index("{") :])
    assert report["generalDiagnostics"] == []
    assert report["summary"]["filesAnalyzed"] == 4


def test_ruff_accepts_generated_models(models: Path) -> None:
    checks = "--select=E,F,I,N,PIE,RUF,UP,W"
    config = ("--isolated", "--line-length=100", "--target-version=py311")
    # An author's text is kept unchanged: long words, and letters that resemble others.
    ignored = "--ignore=E501,RUF001,RUF002,RUF003"
    files = [str(path) for path in sorted(models.glob("*.py")) if path.name != "use.py"]

    assert run("ruff", "check", "-q", checks, ignored, *config, *files, cwd=ROOT) == ""
    assert (
        run("ruff", "format", "-q", "--diff", "--isolated", "--line-length=100", *files, cwd=ROOT)
        == ""
    )
