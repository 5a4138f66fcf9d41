"""What the repository holds is true on every machine, and complete."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.architecture.tree import ROOT
from tests.conftest import LIMIT_SECONDS

# Taken apart, because no file may name one, this one included.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("proxy", "golang", "org"),
        ("sum", "golang", "org"),
        ("crates", "io"),
        ("repo", "maven", "apache", "org"),
    )
]

# Somebody's own directories. Paths inside a Pod, such as /var/run/secrets, are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.${}/-])/(?:home|root|tmp|Users|work)/\w")

FRAGMENT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")


@cache
def texts() -> dict[str, str]:
    """Every file that is in git, or would be with ``git add .``, unless it is no text."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, str] = {}
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if path.is_file():
            try:
                found[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def fragments() -> list[Path]:
    return [path for path in (ROOT / "changes").iterdir() if path.name != "README.md"]


def wanted() -> list[str]:
    """All that the targets of the Makefile install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    groups = project["dependency-groups"].values()
    return [
        *project["project"]["dependencies"],
        *(requirement for extra in extras for requirement in extra),
        *(requirement for group in groups for requirement in group),
    ]


def with_all_they_bring(requirements: list[str]) -> Iterator[tuple[str, str]]:
    """Name and installed version of each requirement, and of each requirement's requirements."""
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras}:
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += [(Requirement(text), extra) for text in requires(name) or ()]
        yield name, distribution(name).version


def pins() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        name, version = line.split("==")
        found[canonicalize_name(name)] = version
    return found


def test_no_file_names_a_package_registry() -> None:
    assert lines_with(re.compile("|".join(map(re.escape, REGISTRIES)))) == []


def test_no_file_names_a_directory_of_one_machine() -> None:
    assert lines_with(MACHINE_PATH) == []


def test_every_installed_tool_and_dependency_is_at_its_pinned_version() -> None:
    pinned = pins()

    assert [
        (name, version)
        for name, version in with_all_they_bring(wanted())
        if pinned.get(name) != version
    ] == []


def test_every_pinned_version_runs_on_the_first_release_of_the_oldest_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = re.match(r">=(3\.\d+)", project["requires-python"])
    assert oldest is not None

    assert [
        (name, version)
        for name, version in with_all_they_bring(wanted())
        if f"{oldest[1]}.0" not in SpecifierSet(metadata(name)["Requires-Python"] or "")
    ] == []


def test_a_changelog_fragment_says_in_its_name_what_kind_of_change_it_is() -> None:
    assert [path.name for path in fragments() if not FRAGMENT.fullmatch(path.name)] == []


def test_a_changelog_fragment_is_one_paragraph_that_ends_with_a_full_stop() -> None:
    assert [
        path.name
        for path in fragments()
        if not re.fullmatch(r"\S(?:.|\n(?!\n))*\.\n", path.read_text(encoding="utf-8"))
    ] == []


def test_contributors_are_told_how_long_a_test_of_each_kind_may_take() -> None:
    told = re.findall(
        r"^\| `tests/(\w+)` \|.*\| (\d+) s \|$", texts()["CONTRIBUTING.md"], re.MULTILINE
    )

    assert {kind: int(seconds) for kind, seconds in told} == {
        kind: LIMIT_SECONDS[kind] for kind in ("unit", "cluster", "real", "docs")
    }
