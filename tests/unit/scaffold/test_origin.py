"""The source from which steersman was installed, and the wheel that a project includes."""

import json
import subprocess
import sys
import venv
from importlib.metadata import Distribution, PathDistribution
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from steersman.errors import ProjectError
from steersman.scaffold import Origin
from steersman.scaffold.origin import build_wheel, origin_of, repacked

NAME = "gadget-1.0-py3-none-any.whl"


def installed(
    site: Path, *, direct_url: dict[str, Any] | None = None, version: str = "1.0"
) -> Distribution:
    """A small distribution as pip installs it, with a script, bytecode and metadata."""
    info = site / f"gadget-{version}.dist-info"
    files = {
        "gadget/__init__.py": "ANSWER = 42\n",
        "gadget/data/words.txt": "a word\n",
        "gadget/__pycache__/__init__.cpython-311.pyc": "bytecode",
        f"{info.name}/METADATA": f"Metadata-Version: 2.1\nName: gadget\nVersion: {version}\n",
        f"{info.name}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
        f"{info.name}/INSTALLER": "pip\n",
    }
    if direct_url is not None:
        files[f"{info.name}/direct_url.json"] = json.dumps(direct_url)
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    lines = ["../../../bin/gadget,,", *(f"{path},," for path in files), f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(lines) + "\n")
    return PathDistribution(info)


def not_built(directory: Path) -> tuple[str, bytes]:
    raise AssertionError(f"{directory} was to be built")


def test_a_distribution_from_an_index_is_required_from_the_index(tmp_path: Path) -> None:
    found = origin_of(installed(tmp_path), build=not_built)

    assert found == Origin(source="index")
    assert found.files == {}


def test_a_development_version_is_never_required_from_an_index(tmp_path: Path) -> None:
    found = origin_of(installed(tmp_path, version="1.0.dev3"), build=not_built)

    assert found.source == "unreleased"
    assert list(found.files) == ["vendor/gadget-1.0.dev3-py3-none-any.whl"]


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        (
            {"url": "file:///a/gadget.whl", "archive_info": {"hashes": {"sha256": "00ff"}}},
            "file:///a/gadget.whl#sha256=00ff",
        ),
        ({"url": "file:///a/gadget", "dir_info": {}}, "file:///a/gadget"),
        (
            {
                "url": "ssh://git@example.com/gadget.git",
                "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "abc123"},
            },
            "git+ssh://git@example.com/gadget.git@abc123",
        ),
    ],
)
def test_a_distribution_from_another_source_is_included_as_a_wheel(
    tmp_path: Path, direct_url: dict[str, Any], source: str
) -> None:
    found = origin_of(installed(tmp_path, direct_url=direct_url), build=not_built)

    assert found.source == source
    assert list(found.files) == [f"vendor/{NAME}"]


def test_an_editable_source_is_built(tmp_path: Path) -> None:
    url = {"url": "file:///a%20b/gadget", "dir_info": {"editable": True}}
    asked: list[Path] = []

    def build(directory: Path) -> tuple[str, bytes]:
        asked.append(directory)
        return NAME, b"wheel"

    found = origin_of(installed(tmp_path, direct_url=url), build=build)

    assert asked == [Path("/a b/gadget")]
    assert found.files == {f"vendor/{NAME}": b"wheel"}


def test_a_wheel_is_rebuilt_from_the_installed_files(tmp_path: Path) -> None:
    found = installed(tmp_path, direct_url={"url": "file:///a", "dir_info": {}})

    name, wheel = repacked(found)

    assert name == NAME
    assert sorted(ZipFile(BytesIO(wheel)).namelist()) == [
        "gadget-1.0.dist-info/METADATA",
        "gadget-1.0.dist-info/RECORD",
        "gadget-1.0.dist-info/WHEEL",
        "gadget/__init__.py",
        "gadget/data/words.txt",
    ]
    assert repacked(found) == (name, wheel)


def test_pip_installs_a_rebuilt_wheel(tmp_path: Path) -> None:
    name, wheel = repacked(installed(tmp_path / "site"))
    (tmp_path / name).write_bytes(wheel)
    venv.create(tmp_path / "venv")
    (target,) = (tmp_path / "venv").glob("lib/python*/site-packages")

    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--no-index", "--no-deps"),
            *("--target", str(target), str(tmp_path / name)),
        ],
        check=True,
        capture_output=True,
    )

    said = subprocess.run(
        [tmp_path / "venv/bin/python", "-c", "import gadget; print(gadget.ANSWER)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert said.stdout == "42\n"


def test_a_failed_build_is_reported_with_its_cause(tmp_path: Path) -> None:
    with pytest.raises(
        ProjectError, match=r"nothing, which no longer exists, .* Install steersman again"
    ):
        build_wheel(tmp_path / "nothing")
    with pytest.raises(ProjectError, match=r"cannot be built: .*`project` metadata.* Run `pip"):
        build_wheel(tmp_path)


def test_a_distribution_without_a_record_is_not_packed(tmp_path: Path) -> None:
    found = installed(tmp_path, direct_url={"url": "file:///a", "dir_info": {}})
    (tmp_path / "gadget-1.0.dist-info" / "RECORD").unlink()

    with pytest.raises(ProjectError, match=r"gadget was installed without a list of its files"):
        repacked(found)
