"""Finds the operator that a command processes: the one it names, or that of the project."""

from dataclasses import dataclass
from pathlib import Path

from steersman.cli.targets import is_file, place_of
from steersman.errors import ProjectError
from steersman.scaffold import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTarget:
    """The target of a command, the directory in which to find it, and its project, if any."""

    target: str
    directory: Path
    project: Project | None

    @property
    def sources(self) -> tuple[Path, ...]:
        """The directories of the operator's own modules, as far as is known without an import."""
        if self.project is not None:
            root = self.project.source
            return (root, *(each for each in root.rglob("*") if _holds_modules(each)))
        if is_file(self.target):
            return ((self.directory / place_of(self.target)).parent,)
        return (self.directory,)


def find_operator(target: str | None, *, directory: Path) -> OperatorTarget:
    """Return the operator that ``target`` names; by default, the operator of the project.

    The project is the one in ``directory`` or its nearest parent directory.
    """
    if target is not None:
        return OperatorTarget(target=target, directory=directory, project=None)
    project = Project.maybe(directory)
    if project is None:
        raise ProjectError(
            problem="TARGET is missing, and this directory is not part of a project",
            what_now="Name a module:attribute or a file, or change to the directory of a project:"
            " `steersman init DIR` creates one.",
        )
    return OperatorTarget(target=project.target, directory=project.directory, project=project)


def _holds_modules(path: Path) -> bool:
    return path.is_dir() and path.name != "__pycache__" and not path.name.endswith(".egg-info")
