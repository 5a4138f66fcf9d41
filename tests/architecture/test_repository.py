"""The repository is complete, and independent of any machine."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, metadata, requires
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.architecture.tree import ROOT, assert_none, offenders, texts
from tests.conftest import CPU_SECONDS
from tools.constraints import pins

# In parts, because no file may contain one, not even this file.
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
REGISTRY = re.compile("|".join(map(re.escape, REGISTRIES)))

# A developer's own directories. Paths in a Pod, such as /var/run/secrets, are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.${}/-])/(?:home|root|tmp|Users|work)/\w")

FRAGMENT = re.compile(r"changes/[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")
PARAGRAPH = re.compile(r"\S(?:.|\n(?!\n))*\.\n")

TextFile = tuple[str, str]  # its path and its content


def registries_and_machines(file: TextFile) -> Iterator[str]:
    name, text = file
    for pattern in (REGISTRY, MACHINE_PATH):
        # The whole text first: most files contain none, and searching lines is slow.
        if pattern.search(text):
            for number, line in enumerate(text.splitlines(), start=1):
                if pattern.search(line):
                    yield f"{name}:{number}: {line.strip()}"


def malformed_fragments(file: TextFile) -> Iterator[str]:
    name, text = file
    if not FRAGMENT.fullmatch(name):
        yield f"{name}: the name does not end in .added.md, .changed.md, .fixed.md or .removed.md"
    if not PARAGRAPH.fullmatch(text):
        yield f"{name}: not one paragraph that ends with a full stop"


DISTRIBUTIONS = ("steersman", "steersman-cluster")


def settings(directory: str = ".") -> dict[str, Any]:
    return tomllib.loads((ROOT / directory / "pyproject.toml").read_text(encoding="utf-8"))


def projects() -> list[dict[str, Any]]:
    return [settings(f"packages/{name}")["project"] for name in DISTRIBUTIONS]


def wanted() -> list[str]:
    """All requirements that the Makefile's targets install."""
    groups = [
        *settings()["dependency-groups"].values(),
        *(project["dependencies"] for project in projects()),
        *(extra for project in projects() for extra in project["optional-dependencies"].values()),
    ]
    return [
        each for group in groups for each in group if Requirement(each).name not in DISTRIBUTIONS
    ]


def with_dependencies(requirements: list[str]) -> Iterator[tuple[str, str]]:
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


@cache
def pinned() -> dict[str, str]:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return {canonicalize_name(name): version for name, version in pins(text).items()}


def oldest_python() -> str:
    """The first release of the oldest Python that is supported."""
    (wanted,) = {project["requires-python"] for project in projects()}
    oldest = re.match(r">=(3\.\d+)", wanted)
    assert oldest is not None
    return f"{oldest[1]}.0"


class Installed(NamedTuple):
    library: str
    version: str
    pythons: str


def all_installed() -> Iterator[Installed]:
    for name, version in with_dependencies(wanted()):
        yield Installed(name, version, metadata(name)["Requires-Python"] or "")


def unfit_versions(installed: Installed) -> Iterator[str]:
    library, version, pythons = installed
    pin = pinned().get(library)
    if pin != version:
        yield f"{library} {version} is installed, {pin} is pinned"
    if oldest_python() not in SpecifierSet(pythons):
        yield f"{library} {version} needs Python {pythons}"


def test_no_file_names_a_package_registry_or_a_directory_of_one_machine() -> None:
    bad = [("a", f"https://{REGISTRIES[0]}/simple"), ("a", "open('" + "/home" + "/me')")]

    assert_none(offenders(registries_and_machines, texts().items(), bad=bad))


def test_every_dependency_is_at_its_pinned_version_which_runs_on_the_oldest_python() -> None:
    bad = [
        Installed("pytest", "1.0", ""),
        Installed("no-such-library", "1.0", ""),
        Installed("pytest", pinned()["pytest"], f">{oldest_python()}"),
    ]

    assert_none(offenders(unfit_versions, all_installed(), bad=bad))


def test_both_distributions_have_one_version_and_the_second_requires_exactly_the_first() -> None:
    base, cluster = projects()

    assert cluster["version"] == base["version"]
    own = f"=={base['version']}"
    assert [each for each in cluster["dependencies"] if each.startswith("steersman")] == [
        f"steersman[cli]{own}"
    ]
    assert base["optional-dependencies"]["dev"] == ["steersman[cli]", f"steersman-cluster{own}"]


def test_every_changelog_fragment_is_named_after_its_kind_and_is_one_paragraph() -> None:
    fragments = [
        (name, text)
        for name, text in texts().items()
        if name.startswith("changes/") and name != "changes/README.md"
    ]
    bad = [
        ("changes/a.md", "One sentence.\n"),
        ("changes/a.added.md", "No full stop\n"),
        ("changes/a.added.md", "One.\n\nTwo.\n"),
    ]

    assert_none(offenders(malformed_fragments, fragments, bad=bad))


def test_the_contributing_guide_has_the_time_limits_of_the_tests() -> None:
    written = re.findall(
        r"^\| `tests/(\w+)` \|.*\| (\d+) s \|$", texts()["CONTRIBUTING.md"], re.MULTILINE
    )

    assert {kind: int(seconds) for kind, seconds in written} == {
        kind: seconds for kind, seconds in CPU_SECONDS.items() if kind != "property"
    }
