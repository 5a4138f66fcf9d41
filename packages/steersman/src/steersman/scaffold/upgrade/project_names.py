"""Replaces old steersman names in all files of a project; ``project_upgrade`` writes the files."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, TypeVar

from steersman.errors import ProjectError
from steersman.manifests import generated_paths
from steersman.scaffold.file_writer import read_text
from steersman.scaffold.upgrade.python_source import (
    RenamedFile,
    imported_elsewhere,
    renamed_python,
)
from steersman.scaffold.upgrade.rename_map import PACKAGES, RenameMap, rename_map
from steersman.scaffold.upgrade.text_source import renamed_text

_SUFFIXES: Final = (
    *(".cfg", ".env", ".ini", ".jinja", ".json", ".md", ".mk", ".rst", ".sh", ".toml", ".txt"),
    *(".yaml", ".yml"),
)
_NAMES: Final = ("Containerfile", "Dockerfile", "Justfile", "Makefile")
_SKIPPED: Final = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages"})

T = TypeVar("T")

_BLOCK: Final = re.compile(r"^```python\n.*?^```", re.MULTILINE | re.DOTALL)

# A changelog keeps the old names.
_HISTORY: Final = "CHANGELOG"


@dataclass
class ProjectNames:
    """Replaces old steersman names in one project's files, and records these names."""

    package: str = ""
    exported: Collection[str] = frozenset()
    renames: RenameMap = field(default_factory=rename_map)
    found: set[tuple[str, str]] = field(default_factory=set)
    # Changed lines of the project's code, to update pages that contain them.
    lines: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: Path, package: str) -> "ProjectNames":
        """Return an instance for the project in ``directory``.

        The instance contains the names that the project's modules import from each other.
        """
        exported: set[str] = set()
        for path in project_files(directory):
            if _is_python(path):
                text = read_text(directory / path) or ""
                exported.update(_parsed(path, text, imported_elsewhere) or ())
        names = cls(package=package, exported=exported)
        for path in project_files(directory):
            if _is_python(path):
                names._note_lines(path, read_text(directory / path) or "")
        return names

    def _note_lines(self, path: str, text: str) -> None:
        renamed = _parsed(path, text, self._renamed_python)
        before, after = text.split("\n"), (renamed.text if renamed else text).split("\n")
        # A rename may also add or join lines, of imports above all.
        for _, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if b - a == d - c:
                for old, new in zip(before[a:b], after[c:d], strict=True):
                    self.lines.setdefault(old, set()).add(new)

    def renamed(self, path: str, text: str) -> str:
        """Return ``text``, the text of the file ``path``, with current names.

        Raise ``ProjectError`` for invalid Python that mentions steersman; other invalid Python is
        returned unchanged.
        """
        if _is_python(path):
            done = _parsed(path, text, self._renamed_python) or RenamedFile(text)
        else:
            programs = [each for each in (self.package, self.package.replace("_", "-")) if each]
            if path.endswith(".md"):
                text = _BLOCK.sub(self._renamed_excerpt, text)
            done = renamed_text(text, self.renames, path=path, programs=programs)
        self.found |= done.names
        return done.text

    def _renamed_excerpt(self, block: re.Match[str]) -> str:
        """Return a code block in which lines of the project's code are renamed as in that code."""
        lines = block[0].split("\n")
        return "\n".join(
            next(iter(self.lines[line])) if len(self.lines.get(line, ())) == 1 else line
            for line in lines
        )

    def _renamed_python(self, text: str) -> RenamedFile:
        return renamed_python(text, self.renames, exported=self.exported)


def project_files(directory: Path) -> Iterator[str]:
    """Yield the paths of the files in ``directory`` that people write, sorted.

    Generated files, and files of tools and virtual environments, are left out.
    """
    generated = generated_paths(directory)
    for folder, folders, names in os.walk(directory):
        here = Path(folder).relative_to(directory)
        folders[:] = sorted(
            each
            for each in folders
            if each not in _SKIPPED
            and (not each.startswith(".") or each == ".github")
            and not (directory / here / each / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = (here / name).as_posix()
            is_text = name.endswith((".py", ".pyi", *_SUFFIXES)) or name.startswith(_NAMES)
            if (
                is_text
                and path not in generated
                and not name.startswith(_HISTORY)
                and not (directory / path).is_symlink()
            ):
                yield path


def other_texts(directory: Path, *, besides: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file that people write, except the paths in ``besides``."""
    for path in project_files(directory):
        if path in besides:
            continue
        try:
            text = (directory / path).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            if _is_python(path):
                read_text(directory / path)  # its error states the problem
            continue
        except OSError:
            read_text(directory / path)
            continue
        yield path, text


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def _parsed(path: str, text: str, read: Callable[[str], T]) -> T | None:
    """Return ``read(text)``; ``None`` for invalid Python that contains no steersman name."""
    try:
        return read(text)
    except (SyntaxError, ValueError) as error:
        if not any(package in text for package in PACKAGES):
            return None
        line = getattr(error, "lineno", None)
        raise ProjectError(
            problem=f"{path}{f':{line}' if line else ''} is not valid Python, and nothing was"
            f" changed: {getattr(error, 'msg', error)}",
            what_now="Correct the file, and run `steersman upgrade` again.",
        ) from error
