"""The base of an upgrade's merge: the frame of a project, as steersman last wrote it.

The frame consists of the project's files that belong to no kind. The base is one JSON file, because
linters, formatters, type checkers and dependency scanners read, or rewrite, Python and TOML files
wherever they find them, also in hidden directories.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from steersman.errors import ProjectError
from steersman.manifests import Tree
from steersman.scaffold.file_writer import read_text

BASE: Final = ".steersman/base.json"

# The format of the base. The first has no field ``format``; a later one must have it.
BASE_FORMAT: Final = 1

# A directory of older projects, into which tools wrote caches and fixes.
_OLD_BASE: Final = ".steersman/base"

_CACHES: Final = frozenset({".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"})

_ABOUT: Final = "The project as steersman wrote it; `steersman upgrade` needs it. Keep it in git."


def base_text(frame: Tree) -> str:
    """Return the text of the base file, which contains all files of ``frame``."""
    document = {"about": _ABOUT, "files": dict(sorted(frame.items()))}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def read_base(directory: Path) -> Tree:
    """Return the files of the frame that steersman last wrote to the project in ``directory``."""
    text = read_text(directory / BASE)
    if text is None:
        paths = [each.relative_to(directory / _OLD_BASE) for each in old_base_files(directory)]
        old = {
            each.as_posix(): read_text(directory / _OLD_BASE / each) or ""
            for each in paths
            if _CACHES.isdisjoint(each.parts)
        }
        if old:
            return old
        raise ProjectError(
            problem=f"{directory / BASE} does not exist. It records what steersman generated;"
            f" without it, `steersman upgrade` cannot find your changes",
            what_now=f"Restore it from your repository: git checkout -- {BASE}",
        )
    try:
        document = json.loads(text)
        files = document["files"]
        frame = {str(path): str(content) for path, content in files.items()}
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise ProjectError(
            problem=f"{directory / BASE} was changed, and cannot be read: {error}",
            what_now=f"Restore it from your repository: git checkout -- {BASE}",
        ) from error
    if document.get("format", 1) != BASE_FORMAT:
        raise ProjectError(
            problem=f"{directory / BASE} has the format of another version of steersman",
            what_now="Upgrade steersman first: pip install --upgrade steersman",
        )
    return frame


def old_base_files(directory: Path) -> Iterable[Path]:
    """Return the base files that an older version of steersman wrote in ``directory``."""
    return sorted(each for each in (directory / _OLD_BASE).rglob("*") if each.is_file())
