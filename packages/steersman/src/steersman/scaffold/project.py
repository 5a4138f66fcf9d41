"""``Project``: the settings in ``[tool.steersman]`` of a project's pyproject.toml, checked."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from steersman.errors import BadName, ProjectError
from steersman.names import check_label
from steersman.scaffold.deploy_table import (
    BundleTable,
    DeployTable,
    bundle_table,
    deploy_table,
)
from steersman.scaffold.name_rules import check_domain, check_package, check_project_name
from steersman.scaffold.table import TomlTable

PYPROJECT: Final = "pyproject.toml"

_MARKER: Final = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)

# What to do with a file that has conflict markers.
CHOOSE: Final = "Resolve the conflicts between <<<<<<< and >>>>>>>, and try again."

# ``module:attribute``; the first part of the module is the project's package.
_TARGET: Final = re.compile(r"(?P<module>\w+(\.\w+)*)(:\w+)?")
_SETTINGS: Final = ("target", "name", "domain", "image", "scaffold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """An operator's project: its directory, and the settings in its pyproject.toml."""

    directory: Path

    # From the table tool.steersman.
    target: str
    name: str
    domain: str
    image: str
    scaffold: str  # the version of steersman that created or last upgraded it
    origin: str = "index"  # the origin of that steersman
    namespaces: tuple[str, ...] = ()
    deploy: DeployTable = field(default_factory=DeployTable)
    bundle: BundleTable = field(default_factory=BundleTable)

    # From the table project.
    version: str
    description: str = ""
    maintainers: tuple[tuple[str, str], ...] = ()  # name and e-mail
    dependencies: tuple[str, ...] = ()

    @classmethod
    def find(cls, directory: Path) -> "Project":
        """Return the project in ``directory`` or in its nearest parent directory that has one.

        Raise ``ProjectError`` if there is no project.
        """
        found = cls.maybe(directory)
        if found is None:
            raise ProjectError(
                problem=f"neither {directory.absolute()} nor a directory above it is a steersman"
                f" project: there is no {PYPROJECT} with [tool.steersman]",
                what_now="Change to the directory of a project, or create one: steersman init DIR"
                " --domain example.com",
            )
        return found

    @classmethod
    def maybe(cls, directory: Path) -> "Project | None":
        """Return the project that ``find`` would return; ``None`` if there is no project."""
        directory = directory.absolute()
        for each in (directory, *directory.parents):
            path = each / PYPROJECT
            if path.is_file():
                document = _read(path)
                if "steersman" in document.get("tool", {}):
                    return cls.read(each, document)
        return None

    @classmethod
    def read(cls, directory: Path, document: Mapping[str, Any]) -> "Project":
        """Return the project in ``directory``; ``document`` is its parsed pyproject.toml."""
        settings = _SettingsTable(directory / PYPROJECT, document["tool"]["steersman"])
        about = document.get("project", {})
        try:
            project = cls(
                directory=directory,
                **{each: settings.text(each) for each in _SETTINGS},
                origin=settings.text("origin", usual="index"),
                namespaces=settings.texts("namespaces"),
                deploy=deploy_table(settings.table("deploy")),
                bundle=bundle_table(settings.table("bundle"), directory=directory),
                version=str(about.get("version", "0.0.0")),
                description=str(about.get("description", "")),
                maintainers=_people(about),
                dependencies=tuple(map(str, about.get("dependencies", ()))),
            )
            settings.check_known((*_SETTINGS, "origin", "namespaces", "deploy", "bundle"))
            check_project_name(project.name)
            check_domain(project.domain)
            check_package(project.package)
            for namespace in project.namespaces:
                check_label(namespace, wanted="a namespace")
        except BadName as error:
            raise settings.wrong(str(error)) from error
        return project

    @property
    def package(self) -> str:
        """The name of the project's Python package, which is a directory under ``src``."""
        return self.target.partition(":")[0].partition(".")[0]

    @property
    def source(self) -> Path:
        """The directory that must be on ``sys.path`` to import the project's package."""
        return self.directory / "src"


class _SettingsTable:
    """A table of pyproject.toml, with typed access to its values and errors that name the key."""

    def __init__(self, path: Path, table: object) -> None:
        self._path = path
        if not isinstance(table, Mapping):
            raise self.wrong("it is not a table")
        self._table: Mapping[str, object] = table

    def text(self, key: str, *, usual: str | None = None) -> str:
        value = self._table.get(key, usual)
        if value is None:
            raise self.wrong(f"{key!r} is missing")
        if not isinstance(value, str) or not value:
            raise self.wrong(f"{key!r} is {value!r}, not a string")
        if key == "target" and not _TARGET.fullmatch(value):
            raise self.wrong(f"{key!r} is {value!r}, not MODULE:ATTRIBUTE")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(f"{key!r} is {value!r}, not a list of strings")
        return tuple(value)

    def table(self, key: str) -> TomlTable:
        return TomlTable(self._path, f"tool.steersman.{key}", self._table.get(key, {}))

    def check_known(self, known: tuple[str, ...]) -> None:
        unknown = sorted(set(self._table).difference(known))
        if unknown:
            like = get_close_matches(unknown[0], known, n=1)
            hint = f" (did you mean {like[0]}?)" if like else ""
            raise self.wrong(f"the key {unknown[0]!r} is unknown{hint}")

    def wrong(self, problem: str) -> ProjectError:
        return ProjectError(
            problem=f"[tool.steersman] in {self._path} cannot be used: {problem.rstrip('.')}",
            what_now='It must have the strings target = "PACKAGE.operator:manager", name, domain,'
            " image and scaffold, and can have namespaces = [] and the tables deploy and bundle.",
        )


def has_conflict_markers(text: str) -> bool:
    """Whether ``text`` contains the conflict markers of a merge."""
    return _MARKER.search(text) is not None


def _read(path: Path) -> Mapping[str, Any]:
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problem, what_now = (
            f"{path} is not valid TOML: {error}",
            CHOOSE if has_conflict_markers(text) else "Correct it.",
        )
    except OSError as error:
        problem, what_now = f"{path} cannot be read: {error.strerror}", "Check its permissions."
    raise ProjectError(problem=problem, what_now=what_now)


def _people(about: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    people = about.get("maintainers") or about.get("authors") or []
    return tuple((str(each.get("name", "")), str(each.get("email", ""))) for each in people)
