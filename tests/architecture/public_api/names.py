"""The public names of the packages with their signatures, read from the source.

The source has the signatures as they were written; the text of a type at run time differs between
versions of Python.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from tests.architecture.tree import ROOT, Module, modules

Place: TypeAlias = tuple[str, str]

# Methods whose names begin with an underscore, and that users call all the same.
SPECIAL = {
    "__init__",
    "__call__",
    "__aenter__",
    "__aiter__",
    "__contains__",
    "__enter__",
    "__getitem__",
    "__iter__",
    "__len__",
}

# In the generated kinds, a line of a class has its fields; what they are is Kubernetes' API.
GENERATED_KINDS = "steersman.kinds"

# A constant with a longer value is recorded without it.
MAX_VALUE_LENGTH = 200


class Scope(NamedTuple):
    """The top level of a module: what it defines, and what it imports from where."""

    defined: dict[str, ast.stmt]
    imported: dict[str, Place]


@cache
def by_name() -> dict[str, Module]:
    return {module.name: module for module in modules()}


@cache
def scope(module: str) -> Scope:
    found = Scope({}, {})
    for node in _statements(by_name()[module].parsed().body):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                found.defined.setdefault(node.name, node)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.defined.setdefault(name, node)
            case ast.ImportFrom(module=str(origin), names=names):
                for each in names:
                    found.imported[each.asname or each.name] = origin, each.name
            case _:
                pass
    return found


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, also those inside ``if``; the first definition of a name counts."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        else:
            yield node


def found(module: str, name: str) -> tuple[str, ast.stmt | None]:
    """The module that defines a name, and its definition; no definition if it is a module."""
    while True:
        if f"{module}.{name}" in by_name():
            return f"{module}.{name}", None
        here = scope(module)
        if name in here.defined:
            return module, here.defined[name]
        if name not in here.imported:
            lazy = _lazy_place(module, name)
            if lazy is None:
                raise LookupError(f"{module} has no {name}")
            module = lazy
            continue
        module, name = here.imported[name]
        if module not in by_name():
            # Of another library, such as prometheus_client.
            return module, None


def _lazy_place(module: str, name: str) -> str | None:
    for table in ("_LAZY", "_LAZY_MODULES"):
        node = scope(module).defined.get(table)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            places = ast.literal_eval(node.value)
            if name in places:
                place = f"{module}.{places[name]}"
                return place.removesuffix(f".{name}") if table == "_LAZY_MODULES" else place
    return None


def documented_packages() -> list[str]:
    """The packages that have a page in the API reference."""
    pages = sorted((ROOT / "docs" / "reference").rglob("*.md"))
    return [
        name
        for page in pages
        for name in re.findall(r"^```\{package\} (\S+)", page.read_text(encoding="utf-8"), re.M)
    ]


def public_names(package: str) -> list[str]:
    """The names in ``__all__`` of a package, or those of a module without an underscore."""
    listed = scope(package).defined.get("__all__")
    if isinstance(listed, ast.Assign):
        return sorted(ast.literal_eval(listed.value))
    return sorted(name for name in scope(package).defined if not name.startswith("_"))


def lines_of(packages: Sequence[str]) -> Iterator[str]:
    """The lines that describe packages and public modules; one description for each definition."""
    described: dict[int, str] = {}
    for package in packages:
        for name in public_names(package):
            home, node = found(package, name)
            if node is None:
                yield f"{package}.{name} = {home}"
            elif id(node) in described:
                yield f"{package}.{name} = {described[id(node)]}"
            else:
                described[id(node)] = f"{package}.{name}"
                yield from _description(package, name, home, node)


def _description(package: str, name: str, home: str, node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef():
            yield from _class_lines(f"{package}.{name}", home, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for each in _overloads(by_name()[home].parsed().body, name):
                yield _function(f"{package}.{name}", each)
        case ast.Assign() | ast.AnnAssign():
            yield _constant(f"{package}.{name}", node)
        case _:
            raise LookupError(f"{package}.{name} is a {type(node).__name__}")


def kind_lines(module: str) -> Iterator[str]:
    """One line for each class of a generated module: its fields."""
    for name, node in sorted(scope(module).defined.items()):
        if isinstance(node, ast.ClassDef) and not name.startswith("_"):
            yield f"{module}.{name}({', '.join(_field_names(node))})"


def _field_names(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def _class_lines(title: str, home: str, node: ast.ClassDef) -> Iterator[str]:
    keywords = [f"{each.arg}={ast.unparse(each.value)}" for each in node.keywords]
    bases = ", ".join([*map(ast.unparse, node.bases), *keywords])
    yield f"class {title}({bases})" if bases else f"class {title}"
    members: dict[str, list[str]] = {}
    for each in _lineage(home, node):
        for name, texts in _members(each).items():
            if name not in members:
                members[name] = texts
    for _, texts in sorted(members.items()):
        yield from (f"    {text}" for text in texts)


def _lineage(home: str, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """A class and its base classes in this source."""
    yield node
    for base in node.bases:
        name = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
        try:
            module, definition = found(home, name)
        except LookupError:
            continue
        if isinstance(definition, ast.ClassDef):
            yield from _lineage(module, definition)


def _members(node: ast.ClassDef) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in _statements(node.body):
        match each:
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                if not name.startswith("_"):
                    found[name] = [_constant(name, each)]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not each.name.startswith("_") or each.name in SPECIAL:
                    found.setdefault(each.name, []).append(_function(each.name, each))
                if each.name == "__init__":
                    found |= {name: [name] for name in _set_in(each) if name not in found}
            case _:
                pass
    for overloads in found.values():
        # The implementation of overloads, which is last, is not what users see.
        if any("@overload " in text for text in overloads) and "@overload " not in overloads[-1]:
            del overloads[-1]
    return found


def _set_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The public attributes that ``__init__`` sets."""
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                if not name.startswith("_"):
                    yield name
            case _:
                pass


def _overloads(body: Sequence[ast.stmt], name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = [
        each
        for each in _statements(body)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == name
    ]
    overloads = [each for each in nodes if "overload" in map(ast.unparse, each.decorator_list)]
    return overloads or nodes[:1]


def _function(title: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if {"property", "cached_property"}.intersection(decorators):
        return f"{title}{result.replace(' -> ', ': ')}"
    shown = "".join(f"@{each} " for each in decorators)
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{shown}{kind} {title}({ast.unparse(node.args)}){result}"


def _constant(title: str, node: ast.Assign | ast.AnnAssign) -> str:
    annotation = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
    value = f" = {ast.unparse(node.value)}" if node.value is not None else ""
    # A long value is data, which may change.
    return f"{title}{annotation}{value if len(value) <= MAX_VALUE_LENGTH else ''}"
