"""``python -m tools.examples``: upgrade the example projects after a change of the scaffold.

This is ``steersman upgrade`` in each example, with a steersman that comes from a package index:
an example has no ``vendor/``.
"""

import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from steersman.scaffold import Project, UpgradeResult, upgrade_project

EXAMPLES = Path(__file__).parents[1] / "examples"


def projects() -> Iterator[Path]:
    """The examples with ``[tool.steersman]``; the others have no scaffold."""
    for path in sorted(EXAMPLES.glob("*/pyproject.toml")):
        if "steersman" in tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}):
            yield path.parent


def upgrade(directory: Path) -> UpgradeResult:
    """Upgrade the project in ``directory`` to the steersman of this tree."""
    return upgrade_project(Project.find(directory), search_path=os.environ.get("PATH"))


def main() -> None:
    """Upgrade each example, and exit with 1 if a file has conflict markers."""
    conflicts = [
        str(directory / name)
        for directory in list(projects())
        for name in upgrade(directory).conflicts
    ]
    if conflicts:
        sys.exit(f"resolve the conflicts in {', '.join(conflicts)}")


if __name__ == "__main__":
    main()
