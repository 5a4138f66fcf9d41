"""How large, how deep and how tangled the source is, by package.

``python -m tests.architecture.measures`` has a row for each package of the source; with the name of
a package, such as steersman_cluster.apiserver, it has one for each package inside that.

- *modules*, *lines*, *median* and *longest* count files that people write, ``__init__`` included;
  *generated* are the others.
- *-ing* counts modules and packages whose name ends in -ing.
- *cyclic* counts modules in import cycles.
- *chain* is the longest chain of imports between modules within the package; a cycle counts as one.
- *level* is the longest chain of imports from a package down, through packages of the table and
  single modules beside them; packages that import each other are on one level.
- *mutual* counts the packages and single modules that import each other, this one among them,
  also through others.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.architecture.graph import between_packages, cycle_sizes, import_graph, levels
from tests.architecture.ing_names import ing_names
from tests.architecture.tree import Module, modules

HEADINGS = [
    *("modules", "lines", "median", "longest", "generated", "-ing", "cyclic"),
    *("chain", "level", "mutual"),
]


@dataclass(frozen=True)
class Row:
    package: str
    values: tuple[float, ...]  # as the headings say


def table(package: str | None) -> list[Row]:
    """A row for each package at one level of the tree, one for the modules beside them, the sum."""
    some = [module for module in modules() if _is_inside(module, package)]
    parts = _Parts(some, depth=2 if package is None else package.count(".") + 2)
    return [
        *(
            Row(name, (*_measures(members), *parts.levels_of(members)))
            for name, members in parts.rows()
        ),
        Row("all", (*_measures(some), *parts.levels_of(some))),
    ]


class _Parts:
    """Modules by package at one depth; a module beside these packages is a part of its own."""

    def __init__(self, some: Sequence[Module], *, depth: int) -> None:
        self._some = some
        self._depth = depth
        self._part_of = {module.name: self._part(module) for module in some}
        graph = between_packages(import_graph(some), self._part_of)
        self._level = levels(graph)
        self._mutual = cycle_sizes(graph)

    def _part(self, module: Module) -> str:
        return ".".join(module.name.split(".")[: self._depth])

    def rows(self) -> Iterator[tuple[str, list[Module]]]:
        packages = {module.name for module in self._some if module.is_package}
        rows: dict[str, list[Module]] = {}
        for module in self._some:
            part = self._part_of[module.name]
            is_beside = part not in packages or part.count(".") < self._depth - 1
            name = "(beside the packages)" if is_beside else part
            rows.setdefault(name, []).append(module)
        return iter(sorted(rows.items()))

    def levels_of(self, members: Sequence[Module]) -> Iterator[float]:
        parts = {self._part_of[module.name] for module in members}
        yield max(self._level[part] for part in parts)
        yield max(self._mutual.get(part, 0) for part in parts)


def _is_inside(module: Module, package: str | None) -> bool:
    return package is None or f"{module.name}.".startswith(f"{package}.")


def _measures(some: Sequence[Module]) -> Iterator[float]:
    lines = [len(module.text.splitlines()) for module in some if not module.is_generated]
    cycles = cycle_sizes(import_graph(modules()))
    yield len(lines)
    yield sum(lines)
    yield median(lines or [0])
    yield max(lines, default=0)
    yield len(some) - len(lines)
    yield len(ing_names(some))
    yield sum(module.name in cycles for module in some)
    yield max(levels(import_graph(some)).values())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.architecture.measures")
    parser.add_argument("package", nargs="?", help="show the packages inside this one")
    package = parser.parse_args(arguments).package
    if not any(_is_inside(module, package) for module in modules()):
        parser.error(f"there is no package {package}")
    rows = table(package)
    width = max(len(row.package) for row in rows)
    lines = [(row.package, [f"{value:,.0f}" for value in row.values]) for row in rows]
    for name, cells in [("package", HEADINGS), *lines]:
        sys.stdout.write(f"{name.ljust(width)} {''.join(cell.rjust(10) for cell in cells)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
