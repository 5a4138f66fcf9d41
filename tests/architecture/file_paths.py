"""The files that a module opens by path, as far as its source shows.

The paths are those from ``__file__``, ``importlib.resources.files``, ``pkgutil.get_data`` and
jinja2's ``PackageLoader``, and those derived from them with ``/``, ``parent``, ``parents[n]`` and
``joinpath``, also through names. ``os.path`` is not covered: ruff rejects it.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from tests.architecture.tree import SOURCES, Module

SOURCE = PurePosixPath("/src")

# Functions that return files of the package that is named by the first argument.
RESOURCE_FUNCTIONS = {
    *("PackageLoader", "files", "get_data"),
    *("contents", "is_resource", "open_binary", "open_text", "path", "read_binary", "read_text"),
}

SAME_PATH = {"absolute", "as_posix", "expanduser", "resolve"}
SIBLING = {"with_name", "with_stem", "with_suffix"}
CONVERSIONS = {"Path", "PurePath", "str", "Traversable", "as_file", "fspath"}

MENTIONS = re.compile(r"__file__|resources|get_data|PackageLoader")


def paths_outside(module: Module) -> Iterator[str]:
    """The paths in the source that lead out of the module's own package."""
    if not MENTIONS.search(module.text):
        return
    reader = _Reader(module)
    own = SOURCE / module.package.replace(".", "/")
    for path in reader.paths():
        if not path.is_relative_to(own):
            yield str(path).removeprefix("/src/").removeprefix("/")


def opened_paths(modules: Iterable[Module]) -> dict[str, int]:
    """The paths outside its package that each module opens, with their counts."""
    return Counter(f"{module.name}: {path}" for module in modules for path in paths_outside(module))


class _Reader:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._tree = module.parsed()
        self._names: dict[str, PurePosixPath] = {}
        assigned = list(_assignments(self._tree))
        while True:  # a name may be derived from one that is assigned later
            known = dict(self._names)
            for name, value in assigned:
                if path := self._path(value):
                    self._names[name] = path
            if self._names == known:
                break

    def paths(self) -> Iterator[PurePosixPath]:
        """The path that each expression gives, without those of its parts and of plain names."""
        waiting: list[ast.AST] = [self._tree]
        while waiting:
            node = waiting.pop()
            path = self._path(node)
            if path is None:
                waiting += ast.iter_child_nodes(node)
            elif not isinstance(node, ast.Name):
                yield path

    def _path(self, node: ast.AST | None) -> PurePosixPath | None:
        match node:
            case ast.Name(id="__file__"):
                return SOURCE / self._module.path
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.Attribute(value=value, attr="__file__"):
                place = self._place(self._dotted(value))
                return place / "__init__.py" if place else None
            case ast.Attribute(value=value, attr="parent"):
                path = self._path(value)
                return path.parent if path else None
            case ast.Subscript(
                value=ast.Attribute(value=value, attr="parents"), slice=ast.Constant(value=int(up))
            ):
                path = self._path(value)
                return path.parents[min(up, len(path.parents) - 1)] if path else None
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                path = self._path(left)
                return path / _part(right) if path else None
            case ast.Call(func=function, args=arguments):
                return self._result(function, arguments)
            case _:
                return None

    def _result(self, function: ast.expr, arguments: list[ast.expr]) -> PurePosixPath | None:
        name = function.attr if isinstance(function, ast.Attribute) else ""
        name = function.id if isinstance(function, ast.Name) else name
        if isinstance(function, ast.Attribute) and (path := self._path(function.value)):
            if name == "joinpath":
                return path.joinpath(*map(_part, arguments))
            if name in SAME_PATH:
                return path
            return path.parent / "*" if name in SIBLING else None
        if name in CONVERSIONS and arguments:
            path = self._path(arguments[0])
            return path.joinpath(*map(_part, arguments[1:])) if path else None
        if name in RESOURCE_FUNCTIONS and arguments:
            match arguments[0]:
                case ast.Constant(value=str(package)):
                    return self._place(package)
                case package:
                    return self._place(self._dotted(package))
        return None

    def _dotted(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name) and node.id in {"__name__", "__package__"}:
            return self._module.package
        return self._module.full_name(node)

    def _place(self, package: str | None) -> PurePosixPath | None:
        """The path of one of steersman's packages, or None for another package."""
        if package is None or package.partition(".")[0] not in SOURCES:
            return None
        return SOURCE / package.replace(".", "/")


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from (
                    (target.id, value) for target in targets if isinstance(target, ast.Name)
                )
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                yield name, value
            case ast.arguments():
                yield from _defaults(node)
            case _:
                pass


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    for argument, value in zip(with_default, arguments.defaults, strict=True):
        yield argument.arg, value
    for argument, keyword_value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_value is not None:
            yield argument.arg, keyword_value


def _part(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "*"
