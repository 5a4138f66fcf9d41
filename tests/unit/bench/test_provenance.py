"""The commit of the measured sources, and the build of Python."""

import subprocess
from pathlib import Path

import pytest

from bench.harness.machine import versions
from bench.harness.provenance import build_kind, combined, python_build, source

UNKNOWN = {"commit": "unknown", "changes": "unknown"}

# configure sets these for every GCC, whether it uses them or not.
PLAIN = {"PGO_PROF_GEN_FLAG": "-fprofile-generate", "PGO_PROF_USE_FLAG": "-fprofile-use"}


def git(root: Path, *arguments: str) -> str:
    me = ("-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *me, *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository with committed sources."""
    for name in (
        "packages/steersman.py",
        "bench/README.md",
        "bench/results/client.json",
        "docs/a.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "all")
    return tmp_path


def commit(root: Path, name: str) -> str:
    """Change a file and commit it."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("after")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", name)
    return git(root, "rev-parse", "--short=10", "HEAD")


def test_the_source_is_the_last_commit_that_changes_measured_files(committed: Path) -> None:
    last = commit(committed, "packages/steersman.py")

    assert source(committed) == {"commit": last, "changes": "none"}


@pytest.mark.parametrize(
    "name",
    ["bench/results/client.json", "tests/test_a.py", "examples/appservice/tests/test_a.py"],
)
def test_a_commit_of_only_results_or_tests_is_ignored(committed: Path, name: str) -> None:
    before = source(committed)

    commit(committed, name)

    assert source(committed) == before


@pytest.mark.parametrize("name", ["packages/steersman.py", "packages/new.py", "bench/new.py"])
def test_changed_and_new_measured_files_are_reported(committed: Path, name: str) -> None:
    (committed / name).write_text("after")

    assert source(committed)["changes"] == "uncommitted"


@pytest.mark.parametrize("name", ["bench/README.md", "bench/results/client.json", "docs/a.md"])
def test_output_of_a_run_and_unmeasured_files_are_not_reported(committed: Path, name: str) -> None:
    (committed / name).write_text("after")

    assert source(committed)["changes"] == "none"


def test_without_a_repository_the_source_is_unknown(committed: Path) -> None:
    assert source(committed / "packages") == UNKNOWN
    assert source(committed / "nowhere") == UNKNOWN


def test_a_commit_made_during_the_run_is_reported() -> None:
    before, after = ({"commit": commit, "changes": "none"} for commit in ("abc", "def"))

    assert combined(before, before) == before
    assert combined(before, after) == {"commit": "abc", "changes": "during the measurement"}


@pytest.mark.parametrize(
    ("variables", "build"),
    [
        (PLAIN, "plain"),
        ({**PLAIN, "CONFIG_ARGS": "'--enable-optimizations'"}, "optimized"),
        ({**PLAIN, "CONFIG_ARGS": "'--enable-optimizations' '--with-lto'"}, "optimized, LTO"),
        ({**PLAIN, "PY_CORE_CFLAGS": "-O3 -fprofile-use -flto"}, "optimized, LTO"),
        # As on Debian.
        ({**PLAIN, "PGO_PROF_USE_FLAG": ""}, "optimized"),
        ({}, "plain"),
    ],
)
def test_the_build_of_python_is_detected_by_its_own_variables(
    variables: dict[str, str], build: str
) -> None:
    assert build_kind(variables) == build


def test_the_versions_include_dependencies_and_the_build_of_python() -> None:
    found = versions()

    assert {"steersman", "httptools", "msgspec", "prometheus-client"} <= set(found)
    assert found["Python"].endswith(f"({python_build()})")
