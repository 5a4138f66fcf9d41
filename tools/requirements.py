"""``python -m tools.requirements PYPROJECT…``: print what these projects require from the index.

These are their dependencies and extras, without the projects themselves. pip cannot verify an
editable project by a hash, so the Makefile installs these first, with hashes, and then the
projects without dependencies. It runs before anything is installed.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def requirements(projects: Sequence[dict[str, Any]]) -> list[str]:
    """What the projects require, without the projects themselves; sorted."""
    own = {_name(project["name"]) for project in projects}
    groups = [
        group
        for project in projects
        for group in (
            project.get("dependencies", []),
            *project.get("optional-dependencies", {}).values(),
        )
    ]
    return sorted({each for group in groups for each in group if _name(each) not in own})


def _name(requirement: str) -> str:
    """The normalized name at the start of a requirement."""
    (written,) = re.findall(r"^[\w.-]*\w", requirement)
    return re.sub(r"[-_.]+", "-", written).lower()


def main(paths: Sequence[str]) -> None:
    """Print one requirement a line."""
    texts = [Path(path).read_text(encoding="utf-8") for path in paths]
    for line in requirements([tomllib.loads(text)["project"] for text in texts]):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
