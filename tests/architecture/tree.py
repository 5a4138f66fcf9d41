"""The source tree, as the architecture tests see it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
TESTS = ROOT / "tests"

MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))
FRONT_DOOR = SOURCE / "steersman"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def is_generated(path: Path) -> bool:
    """Whether the file's first line says that it is generated."""
    with path.open(encoding="utf-8") as lines:
        return "generated" in lines.readline().lower()


def within(path: Path) -> str:
    """The path as people write it: ``steersman/wire/network.py``."""
    return path.relative_to(SOURCE).as_posix()


def dotted(package: Path) -> str:
    return ".".join(package.relative_to(SOURCE).parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every imported thing by its full name, with its line: ``from a import b`` is ``a.b``."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
