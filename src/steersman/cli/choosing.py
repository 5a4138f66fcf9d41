"""Which operator a command is about: the one that is named, or the one of the project around."""

from dataclasses import dataclass
from pathlib import Path

from steersman.cli.targets import is_file, place_of
from steersman.errors import ProjectError
from steersman.scaffold import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A target, where to look for it, and the project that it is of, if it is."""

    target: str
    directory: Path
    project: Project | None

    @property
    def sources(self) -> tuple[Path, ...]:
        """Where its own modules are, as far as can be told without loading it."""
        if self.project is not None:
            root = self.project.source
            return (root, *(each for each in root.rglob("*") if _holds_modules(each)))
        if is_file(self.target):
            return ((self.directory / place_of(self.target)).parent,)
        return (self.directory,)


def chosen(target: str | None, *, directory: Path) -> Chosen:
    """What ``target`` means in this directory; without one, the project that it is in."""
    if target is not None:
        return Chosen(target=target, directory=directory, project=None)
    project = Project.maybe(directory)
    if project is None:
        raise ProjectError(
            problem="no TARGET is given, and this directory is in no project",
            what_now="Name a module:attribute or a file, or go into a project:"
            " `steersman init DIR` makes one.",
        )
    return Chosen(target=project.target, directory=project.directory, project=project)


def _holds_modules(path: Path) -> bool:
    return path.is_dir() and path.name != "__pycache__" and not path.name.endswith(".egg-info")
