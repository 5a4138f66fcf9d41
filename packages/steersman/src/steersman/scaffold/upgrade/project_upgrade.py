"""Brings a project to what this steersman would write: a three-way merge with the previous output.

    base       what steersman wrote before, stored in .steersman/base.json
    yours      the file as it is
    theirs     what steersman would write today

    yours equals base             theirs
    yours was deleted             stays deleted
    theirs equals base            yours
    both differ                   merged by ``git merge-file``; conflicts are marked in the file
    a new file                    added, unless a file of that name exists
    a file no longer written      removed, unless it was changed

Only the frame of a project is merged: files that were created for a kind are the author's. In all
files that people write, renamed steersman names are replaced. The steersman wheels that a project
carries are replaced by those of this steersman.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from steersman.errors import ProjectError
from steersman.manifests import Tree
from steersman.scaffold.base import BASE, base_text, old_base_files, read_base
from steersman.scaffold.creation import version_of_steersman
from steersman.scaffold.file_writer import read_text, write_files
from steersman.scaffold.frame import ProjectAnswers, frame_of
from steersman.scaffold.origin import Origin, carried_wheels, index_origin, kept_origin
from steersman.scaffold.project import CHOOSE, PYPROJECT, Project, has_conflict_markers
from steersman.scaffold.upgrade.project_names import ProjectNames, other_texts

_YOURS: Final = "yours"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeResult:
    """The result of an upgrade: the versions of steersman, and sorted paths of files.

    ``before`` and ``after`` are the versions. ``conflicts`` are files with conflict markers.
    """

    before: str
    after: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    # Files of the author at paths that are no longer written, or written for the first time.
    kept: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    # Files outside the frame in which names were replaced, and the names: old and new.
    renamed: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


@dataclass
class _Plan:
    """The files to write and remove, and their paths by the action taken."""

    texts: dict[str, str] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)

    def do(self, what: str, path: str, text: str | None = None) -> None:
        self.done.setdefault(what, []).append(path)
        if text is not None:
            self.texts[path] = text


def upgrade_project(
    project: Project, *, search_path: str | None, origin: Callable[[], Origin] = index_origin
) -> UpgradeResult:
    """Upgrade a project to this version of steersman; the author's changes are kept.

    The frame of the project, which consists of the files that belong to no kind, is merged.
    ``search_path`` is the PATH on which to look for the git program. ``origin`` returns the origin
    of the installed steersman.
    """
    git = shutil.which("git", path=search_path)
    if git is None:
        raise ProjectError(
            problem="steersman upgrade needs git, which is not on the PATH, to merge",
            what_now="Install git; the project itself need not be in a repository.",
        )
    directory = project.directory
    after = version_of_steersman()
    if _release(project.scaffold) > _release(after):
        raise ProjectError(
            problem=f"this is steersman {after}, and {project.name} was last upgraded by"
            f" {project.scaffold}",
            what_now="Upgrade steersman first: pip install --upgrade steersman",
        )
    base = read_base(directory)
    found = kept_origin(origin(), directory=directory, source=project.origin)
    theirs = frame_of(
        ProjectAnswers(
            name=project.name,
            domain=project.domain,
            package=project.package,
            scaffold=after,
            origin=found.source,
        )
    )
    yours = {path: read_text(directory / path) for path in sorted({*base, *theirs})}
    _refuse_markers(yours)
    names = ProjectNames.of(directory, project.package)
    renewed = _Renewal(project, after=after, origin=found.source, names=names)
    plan = _planned(
        {path: renewed.of(path, text) for path, text in base.items()},
        {path: None if text is None else renewed.of(path, text) for path, text in yours.items()},
        theirs,
        merger=_Merger(git, after=after),
    )
    texts = {path: text for path, text in plan.texts.items() if text != yours[path]}
    for path in texts:
        if not any(path in paths for paths in plan.done.values()):  # only the version differs
            plan.do("replaced" if yours[path] == base.get(path) else "merged", path)
    for path, text in other_texts(directory, besides=yours):
        today = names.renamed(path, text)
        if today != text:
            plan.do("renamed", path, today)
            texts[path] = today
    carried = _plan_wheels(plan, directory, found)
    fresh = {BASE: base_text(theirs)} if _is_stale(directory, theirs) else {}
    gone = [each.relative_to(directory).as_posix() for each in old_base_files(directory)]
    removed = plan.done.get("removed", [])
    write_files(directory, {**texts, **carried, **fresh}, removed=[*removed, *gone])
    return UpgradeResult(
        before=project.scaffold,
        after=after,
        names=tuple(sorted(names.found)),
        **{what: tuple(sorted(paths)) for what, paths in plan.done.items()},
    )


class _Merger:
    """Merges with ``git merge-file``, which needs no repository."""

    def __init__(self, git: str, *, after: str) -> None:
        self._git = git
        self._theirs = f"steersman {after}"

    def merge(self, path: str, *, base: str, yours: str, theirs: str) -> tuple[str, bool]:
        """Return both changes in one text, and whether they conflict."""
        with tempfile.TemporaryDirectory(prefix="steersman-") as scratch:
            names = ("yours", "base", "theirs")
            for name, text in zip(names, (yours, base, theirs), strict=True):
                Path(scratch, name).write_bytes(text.encode("utf-8"))
            labels = ("-L", _YOURS, "-L", "before", "-L", self._theirs)
            finished = subprocess.run(
                [self._git, "merge-file", "-p", "-q", "--no-diff3", *labels, *names],
                cwd=scratch,
                capture_output=True,
                check=False,
            )
        # The number of conflicts, up to 127; higher values are errors.
        if not 0 <= finished.returncode <= 127:
            message = finished.stderr.decode(errors="replace").strip()
            raise ProjectError(
                problem=f"git could not merge {path}: {message or finished.returncode}",
                what_now="Nothing was changed. Check that it is a text file, and try again.",
            )
        return finished.stdout.decode("utf-8"), finished.returncode > 0


def _planned(
    base: Tree, yours: Mapping[str, str | None], theirs: Tree, *, merger: _Merger
) -> _Plan:
    plan = _Plan()
    for path, mine in yours.items():
        before, new = base.get(path), theirs.get(path)
        if new is None:
            _plan_gone(plan, path, before, mine)
        elif before is None:
            _plan_new(plan, path, mine, new)
        elif mine is None:
            continue  # the author deleted it
        elif mine == before:
            plan.texts[path] = new
            if new != before:
                plan.do("replaced", path)
        elif new in (before, mine):
            plan.texts[path] = mine
        else:
            text, in_the_way = merger.merge(path, base=before, yours=mine, theirs=new)
            plan.do("conflicts" if in_the_way else "merged", path, text)
    return plan


def _plan_gone(plan: _Plan, path: str, before: str | None, mine: str | None) -> None:
    if mine is not None:
        plan.do("removed" if mine == before else "kept", path)


def _plan_new(plan: _Plan, path: str, mine: str | None, new: str) -> None:
    if mine is None:
        plan.do("added", path, new)
    elif mine != new:
        plan.do("kept", path)


def _release(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version; a prerelease compares equal to its release."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _is_stale(directory: Path, theirs: Tree) -> bool:
    return read_text(directory / BASE) != base_text(theirs)


def _plan_wheels(plan: _Plan, directory: Path, origin: Origin) -> dict[str, bytes]:
    """Return the wheels to write, and plan the removal of those from another steersman."""
    wanted = origin.files
    there = {
        each.relative_to(directory).as_posix(): each.read_bytes()
        for each in carried_wheels(directory)
    }
    for path in there:
        if path not in wanted:
            plan.do("removed", path)
    changed = {path: wheel for path, wheel in wanted.items() if there.get(path) != wheel}
    for path in changed:
        plan.do("replaced" if path in there else "added", path)
    return changed


class _Renewal:
    """Replaces old names in a file, and in pyproject.toml the version and origin of steersman.

    The replacement takes place before the merge, in the base and in the author's file alike, so
    that an author's change to an adjacent line does not conflict.
    """

    def __init__(self, project: Project, *, after: str, origin: str, names: ProjectNames) -> None:
        self._names = names
        self._words = (
            (f'scaffold = "{project.scaffold}"', f'scaffold = "{after}"'),
            (f'"steersman[tls]>={project.scaffold}"', f'"steersman[tls]>={after}"'),
            (f'origin = "{project.origin}"', f'origin = "{origin}"'),
        )

    def of(self, path: str, text: str) -> str:
        text = self._names.renamed(path, text)
        if path == PYPROJECT:
            for before, after in self._words:
                text = text.replace(before, after)
        return text


def _refuse_markers(yours: Mapping[str, str | None]) -> None:
    conflicted = [
        path for path, text in yours.items() if text is not None and has_conflict_markers(text)
    ]
    if conflicted:
        raise ProjectError(
            problem=f"{', '.join(conflicted)} {'has' if len(conflicted) == 1 else 'have'} marks"
            " of a merge that was never finished",
            what_now=CHOOSE,
        )
