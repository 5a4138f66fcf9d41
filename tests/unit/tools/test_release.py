"""Releases of two small projects in their own repository."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.release.artifacts import (
    build,
    checksums,
    commit_time,
    export,
    refuse_uncommitted,
    verify_reproducible,
    verify_source_distributions,
)
from tools.release.failure import ReleaseFailure
from tools.release.interpreters import interpreters, refuse_missing
from tools.release.notes import release_notes

EPOCH = 1_700_000_000

SMALL = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1.2.3"
requires-python = ">=3.11"
license-files = ["LICENSE"]

[tool.hatch.build.targets.wheel]
packages = ["src/{package}"]

[tool.hatch.build.targets.sdist]
include = [{include}]
"""


def git(directory: Path, *arguments: str) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": f"{EPOCH} +0000",
        "GIT_COMMITTER_DATE": f"{EPOCH} +0000",
    }
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *author, *arguments], cwd=directory, env=environ, check=True)


def repository(directory: Path, *, include: str = '"/src", "/LICENSE"') -> Path:
    directory.mkdir()
    (directory / "LICENSE").write_text("Free.\n")
    for name in ("steersman", "steersman-cluster"):
        package = name.replace("-", "_")
        project = directory / "packages" / name
        source = project / "src" / package
        source.mkdir(parents=True)
        for module in ("__init__", "b", "a"):
            (source / f"{module}.py").write_text(f'"""The module {module}."""\n')
        (project / "LICENSE").symlink_to("../../LICENSE")
        settings = SMALL.format(name=name, package=package, include=include)
        (project / "pyproject.toml").write_text(settings)
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "first")
    return directory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "root")


@pytest.fixture
def narrow_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_two_builds_of_a_commit_have_the_same_bytes(
    root: Path, tmp_path: Path, narrow_umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(export(root, "HEAD", tmp_path / "a" / "source"), tmp_path / "1", epoch=EPOCH)
    os.umask(0o022)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONHASHSEED", "7")

    again = build(export(root, "HEAD", tmp_path / "other"), tmp_path / "2", epoch=EPOCH)

    assert [path.name for path in first] == [
        "steersman-1.2.3-py3-none-any.whl",
        "steersman-1.2.3.tar.gz",
        "steersman_cluster-1.2.3-py3-none-any.whl",
        "steersman_cluster-1.2.3.tar.gz",
    ]
    verify_reproducible(first, again)


def test_two_builds_that_differ_are_rejected(tmp_path: Path) -> None:
    first, again = (tmp_path / each / "a.whl" for each in ("1", "2"))
    for path in (first, again):
        path.parent.mkdir()
        path.write_text(str(path))

    with pytest.raises(ReleaseFailure, match=r"two builds of the same commit differ: a\.whl"):
        verify_reproducible([first], [again])


def test_a_source_distribution_builds_the_same_wheel(root: Path, tmp_path: Path) -> None:
    files = build(export(root, "HEAD", tmp_path / "source"), tmp_path / "out", epoch=EPOCH)

    verify_source_distributions(files, tmp_path, epoch=EPOCH)


def test_a_source_distribution_without_a_module_is_rejected(tmp_path: Path) -> None:
    root = repository(tmp_path / "root", include='"/src/*/__init__.py", "/src/*/a.py", "/LICENSE"')
    files = build(export(root, "HEAD", tmp_path / "source"), tmp_path / "out", epoch=EPOCH)

    with pytest.raises(ReleaseFailure, match="two builds of the same commit differ"):
        verify_source_distributions(files, tmp_path, epoch=EPOCH)


def test_only_committed_files_are_released(root: Path) -> None:
    refuse_uncommitted(root)
    (root / "new.py").touch()

    with pytest.raises(ReleaseFailure, match=r"new\.py\n\nhint: Commit or remove them"):
        refuse_uncommitted(root)


def test_the_time_of_a_build_is_that_of_its_commit(root: Path) -> None:
    assert commit_time(root, "HEAD") == EPOCH


def test_a_missing_commit_is_an_error_that_says_how_to_get_it(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseFailure, match="git fetch --unshallow --tags"):
        export(root, "v0.1.0", tmp_path / "source")


def test_the_checksums_are_those_of_all_other_files(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"wheel")
    (tmp_path / "a.json").write_bytes(b"{}")
    (tmp_path / "SHA256SUMS").write_text("older\n")

    assert checksums(tmp_path) == (
        f"{hashlib.sha256(b'{}').hexdigest()}  a.json\n"
        f"{hashlib.sha256(b'wheel').hexdigest()}  b.whl\n"
    )


def test_a_named_python_is_used_if_it_is_supported() -> None:
    (found,) = interpreters([sys.executable], supported=">=3.11")

    assert found.program == sys.executable
    assert found.version.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")


def test_a_named_python_that_is_not_supported_is_rejected() -> None:
    with pytest.raises(ReleaseFailure, match="and requires-python is <3"):
        interpreters([sys.executable], supported="<3")


def test_a_program_that_is_not_python_is_rejected() -> None:
    with pytest.raises(ReleaseFailure, match="does not run as a Python"):
        interpreters(["/bin/false"], supported=">=3.11")


def test_a_python_on_the_path_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minor = sys.version_info[1]
    (tmp_path / f"python3.{minor}").symlink_to(sys.executable)
    broken = tmp_path / f"python3.{minor + 1}"
    broken.write_text("#!/bin/false\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("PYENV_ROOT", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))

    (found,) = interpreters([], supported=">=3.11")

    assert found.minor == f"3.{minor}"
    with pytest.raises(ReleaseFailure, match="no Python <3 was found"):
        interpreters([], supported="<3")


def test_a_supported_python_that_is_not_on_the_machine_is_an_error(tmp_path: Path) -> None:
    empty = str(tmp_path)
    environ = {"PATH": empty, "PYENV_ROOT": empty, "XDG_CACHE_HOME": empty}

    with pytest.raises(ReleaseFailure, match=r"no Python 3\.11, .* was found"):
        refuse_missing(environ)


def test_the_notes_of_a_version_are_its_fragments_or_its_section(tmp_path: Path) -> None:
    changes = tmp_path / "changes"
    changes.mkdir()
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(
        "# Changelog\n\n## 0.2.0 (2027-01-31)\n\n- New.\n\n## 0.1.0 (x)\n\n- Old.\n"
    )

    released = release_notes(tmp_path, "0.2.0", date="2027-02-01")
    (changes / "watch.fixed.md").write_text("A watch is resumed.\n")
    upcoming = release_notes(tmp_path, "0.3.0", date="2027-02-01")

    assert released == "## 0.2.0 (2027-01-31)\n\n- New.\n\n"
    assert upcoming == "## 0.3.0 (2027-02-01)\n\n### Fixed\n\n- A watch is resumed.\n"


def test_a_version_without_notes_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "changes").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")

    with pytest.raises(ReleaseFailure, match=r"says what is new in 0\.2\.0"):
        release_notes(tmp_path, "0.2.0", date="2027-02-01")
