"""The source tree, as the architecture tests see it."""

import ast
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[2]
# The source of each distribution, by the name of its one package.
SOURCES = {
    "steersman": ROOT / "packages" / "steersman" / "src",
    "steersman_cluster": ROOT / "packages" / "steersman-cluster" / "src",
}
TESTS = ROOT / "tests"

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Module:
    """One file of Python: its path within the source, and its text."""

    path: str  # as people write it: steersman/wire/transport/network.py
    text: str

    @cached_property
    def name(self) -> str:
        """The dotted name: ``steersman.wire.transport.network``, or ``steersman.wire`` for the package."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def package(self) -> str:
        """The package that other packages import from: ``steersman.wire``."""
        return ".".join(self.name.split(".")[:2])

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def is_generated(self) -> bool:
        """Whether the first line says that the file is generated."""
        return "generated" in self.text.partition("\n")[0].lower()

    def parsed(self) -> ast.Module:
        """The syntax tree, which is not kept: all of them together slow the collector down."""
        return ast.parse(self.text, filename=self.path)

    @cached_property
    def _facts(self) -> tuple[list[ast.Import | ast.ImportFrom], frozenset[str]]:
        imports: list[ast.Import | ast.ImportFrom] = []
        functions: set[str] = set()
        for node in ast.walk(self.parsed()):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports.append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.add(node.name)
        return imports, frozenset(functions)

    @property
    def functions(self) -> frozenset[str]:
        """The names of all functions and methods."""
        return self._facts[1]

    @cached_property
    def imports(self) -> list[tuple[int, str]]:
        """Every imported thing by its full name, with its line: ``from a import b`` is ``a.b``.

        Imports under ``TYPE_CHECKING`` and inside functions are among them.
        """
        return list(_imports(self._facts[0]))

    @cached_property
    def bound(self) -> dict[str, str]:
        """What each imported name means: ``from datetime import datetime as d`` binds ``d``."""
        bound: dict[str, str] = {}
        for node in self._facts[0]:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    bound[alias.asname or top] = alias.name if alias.asname else top
            elif node.module is not None:
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return bound

    def full_name(self, node: ast.expr) -> str | None:
        """The imported thing that an expression names: ``d.now`` is ``datetime.datetime.now``."""
        match node:
            case ast.Name(id=name):
                return self.bound.get(name)
            case ast.Attribute(value=value, attr=attribute):
                owner = self.full_name(value)
                return f"{owner}.{attribute}" if owner else None
            case _:
                return None


def _imports(nodes: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif node.module is not None:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


@cache
def module_at(path: Path, *, base: Path = ROOT) -> Module:
    return Module(path.relative_to(base).as_posix(), path.read_text(encoding="utf-8"))


@cache
def modules() -> tuple[Module, ...]:
    """All modules of both distributions, each sorted by path."""
    return tuple(
        module_at(path, base=source)
        for source in SOURCES.values()
        for path in sorted(source.rglob("*.py"))
    )


def packages() -> list[Module]:
    return [module for module in modules() if module.is_package]


@cache
def module_names() -> frozenset[str]:
    return frozenset(module.name for module in modules())


@cache
def texts() -> dict[str, str]:
    """Every text file that is in git, or would be with ``git add .``, by its path."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, str] = {}
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            try:
                found[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def offenders(
    rule: Callable[[T], Iterable[str]], items: Iterable[T], *, bad: Iterable[T]
) -> list[str]:
    """What the rule finds in the items, after it has found something in each bad example."""
    accepted = [example for example in bad if not list(rule(example))]
    assert accepted == [], f"{rule.__name__} accepts what it is there to refuse"
    return [line for item in items for line in rule(item)]


def assert_none(found: Iterable[str]) -> None:
    """Fail with a line for each offender; pytest itself would show only the first."""
    lines = list(found)
    assert not lines, "\n".join(["", *lines])
