"""Loads the facts from this package's files."""

from functools import cache
from pathlib import Path
from typing import Any, Final, TypedDict

import msgspec

VERSION: Final = "1.36"
# The directory of the files: importing importlib.resources takes longer than reading all of them.
DIRECTORY: Final = Path(__file__).parent / f"kubernetes-{VERSION}"


class Facts(TypedDict):
    """The paths of the kinds of one API group version, and the schemas of its types."""

    group: str
    version: str
    resources: dict[str, Any]
    schemas: dict[str, Any]


@cache
def load_facts(module: str) -> Facts:
    """Return the facts of ``module``, a module of built-in kinds such as ``apps_v1``."""
    content = (DIRECTORY / f"{module}.json").read_bytes()
    facts: Facts = msgspec.json.decode(content)
    return facts


def load_all_facts() -> dict[str, Facts]:
    """Return the facts of every module of built-in kinds, by the module's name."""
    return {path.stem: load_facts(path.stem) for path in sorted(DIRECTORY.glob("*.json"))}
