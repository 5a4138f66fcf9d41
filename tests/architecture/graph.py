"""The graph of imports: which modules import which, in cycles or in layers.

An edge is any import of one module by another: at the top of a file, under ``TYPE_CHECKING`` and
inside a function. An import inside a function hides a cycle from Python, but the two modules still
cannot be understood, tested or moved separately.

Importing a module loads its package too; only an import that names the package is an edge to it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from tests.architecture.tree import Module

Graph = Mapping[str, frozenset[str]]


def import_graph(modules: Iterable[Module]) -> dict[str, frozenset[str]]:
    """The modules that each module imports, out of the given ones."""
    known = {module.name: module for module in modules}
    return {name: frozenset(_imported(module, known)) - {name} for name, module in known.items()}


def _imported(module: Module, known: Mapping[str, Module]) -> Iterator[str]:
    for _, name in module.imports:
        # The last part is a module, or a name in the one before it.
        for candidate in (name, name.rpartition(".")[0]):
            if candidate in known:
                yield candidate
                break


def components(graph: Graph) -> list[list[str]]:
    """Groups of nodes that reach each other, each after the groups that it imports (Tarjan)."""
    order = count()
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    groups: list[list[str]] = []
    done: set[str] = set()

    def visit(node: str) -> None:
        index[node] = lowest[node] = next(order)
        path.append(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
            if target not in done:
                lowest[node] = min(lowest[node], lowest[target])
        if lowest[node] == index[node]:
            group = path[path.index(node) :]
            del path[-len(group) :]
            done.update(group)
            groups.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return groups


def cycle_sizes(graph: Graph) -> dict[str, int]:
    """For each module in an import cycle, the number of modules that reach each other with it."""
    return {
        name: len(group) for group in components(graph) if len(group) > 1 for name in sorted(group)
    }


def shortest_cycle(graph: Graph, start: str) -> list[str]:
    """The shortest path from a module through its imports back to itself, or None."""
    ways = deque([[start]])
    seen: set[str] = set()
    while ways:
        way = ways.popleft()
        for target in sorted(graph[way[-1]]):
            if target == start:
                return [*way, start]
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
    return []


def levels(graph: Graph) -> dict[str, int]:
    """The length of the longest chain of imports below each node, itself included.

    Nodes of one cycle are on the same level.
    """
    found: dict[str, int] = {}
    for group in components(graph):
        below = {target for node in group for target in graph[node]} - set(group)
        level = 1 + max((found[target] for target in below), default=0)
        found.update(dict.fromkeys(group, level))
    return found


def between_packages(graph: Graph, package_of: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The same graph, with each module replaced by its package."""
    targets: dict[str, set[str]] = {package: set() for package in package_of.values()}
    for name, imported in graph.items():
        package = package_of[name]
        targets[package].update(package_of[each] for each in imported)
    return {package: frozenset(found - {package}) for package, found in targets.items()}
