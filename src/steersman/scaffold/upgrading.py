"""A project brought to what this steersman would write: three-way, over what was written before.

    base       what steersman wrote, kept in .steersman/base
    yours      the file as it is
    theirs     what steersman would write today

    yours is base                 theirs
    yours was deleted             stays deleted
    theirs is base                yours
    both differ                   merged by ``git merge-file``; where they cannot be, with markers
    a new file                    added, unless there is one of that name
    a file no longer written      removed, unless it was changed

Only the frame of a project is looked at: what was made for a kind is its author's.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from steersman.errors import ProjectError
from steersman.manifests import Tree, under
from steersman.scaffold.making import BASE, version_of_steersman
from steersman.scaffold.project import CHOOSE, PYPROJECT, Project, is_torn
from steersman.scaffold.rendering import Answers, frame_of
from steersman.scaffold.writing import read_text, write_files

_YOURS: Final = "yours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """What an upgrade did, as sorted paths; ``conflicts`` are files in which there are markers."""

    before: str
    after: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    # Written by steersman no more, or for the first time: and of the author's making, either way.
    kept: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


@dataclass
class _Plan:
    """Files to be written and removed, and the names of them by what is done."""

    texts: dict[str, str] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)

    def do(self, what: str, path: str, text: str | None = None) -> None:
        self.done.setdefault(what, []).append(path)
        if text is not None:
            self.texts[path] = text


def upgrade_project(project: Project, *, search_path: str | None) -> Upgraded:
    """Bring the frame of a project to what this steersman writes; nothing of the author's is lost.

    ``search_path`` is where git is looked for.
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
    base = _base(directory)
    theirs = frame_of(
        Answers(name=project.name, domain=project.domain, package=project.package, scaffold=after)
    )
    yours = {path: read_text(directory / path) for path in sorted({*base, *theirs})}
    _refuse_markers(yours)
    plan = _planned(
        {path: _renewed(path, text, project.scaffold, after) for path, text in base.items()},
        {
            path: None if text is None else _renewed(path, text, project.scaffold, after)
            for path, text in yours.items()
        },
        theirs,
        merger=_Merger(git, after=after),
    )
    texts = {path: text for path, text in plan.texts.items() if text != yours[path]}
    for path in texts:
        if not any(path in paths for paths in plan.done.values()):  # only the version is another
            plan.do("replaced" if yours[path] == base.get(path) else "merged", path)
    gone = [f"{BASE}/{path}" for path in base if path not in theirs]
    fresh = {path: text for path, text in theirs.items() if base.get(path) != text}
    removed = plan.done.get("removed", [])
    write_files(directory, {**texts, **under(BASE, fresh)}, removed=[*removed, *gone])
    return Upgraded(
        before=project.scaffold,
        after=after,
        **{what: tuple(sorted(paths)) for what, paths in plan.done.items()},
    )


class _Merger:
    """``git merge-file``, which needs no repository."""

    def __init__(self, git: str, *, after: str) -> None:
        self._git = git
        self._theirs = f"steersman {after}"

    def merge(self, path: str, *, base: str, yours: str, theirs: str) -> tuple[str, bool]:
        """Both changes in one text, and whether they get in each other's way."""
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
        # The number of conflicts, up to 127; what is more is an error of its own.
        if not 0 <= finished.returncode <= 127:
            said = finished.stderr.decode(errors="replace").strip()
            raise ProjectError(
                problem=f"git could not merge {path}: {said or finished.returncode}",
                what_now="Nothing was changed. See that it is a text, and try again.",
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
    """What counts when versions are compared; to what is before a release, it is that release."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _base(directory: Path) -> Tree:
    root = directory / BASE
    paths = sorted(each for each in root.rglob("*") if each.is_file())
    if not paths:
        raise ProjectError(
            problem=f"{root} is gone, which says what steersman once wrote, and without it nobody"
            f" knows what you have changed since",
            what_now=f"Bring it back from your repository: git checkout -- {BASE}",
        )
    texts = {each.relative_to(root).as_posix(): read_text(each) for each in paths}
    return {path: text for path, text in texts.items() if text is not None}


def _renewed(path: str, text: str, before: str, after: str) -> str:
    """The version is written anew whatever stands beside it: no change of the author's to a line
    next to it is ever in its way."""
    if path != PYPROJECT:
        return text
    for said in ('scaffold = "{}"', '"steersman[webhooks]>={}"'):
        text = text.replace(said.format(before), said.format(after))
    return text


def _refuse_markers(yours: Mapping[str, str | None]) -> None:
    torn = [path for path, text in yours.items() if text is not None and is_torn(text)]
    if torn:
        raise ProjectError(
            problem=f"{', '.join(torn)} {'has' if len(torn) == 1 else 'have'} marks of a merge that"
            f" was never finished",
            what_now=CHOOSE,
        )
