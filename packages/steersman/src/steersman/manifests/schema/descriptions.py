"""Descriptions in a schema: docstrings of classes, and string literals after fields.

At run time, no object contains the string after a field, and with ``-OO`` there are no docstrings
either. So both are read from the source. Where there is no source, as in a frozen program, there is
no description.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from steersman.kinds.annotations import own_annotations

# Their docstrings are for authors of kinds, not for the users of a kind.
_OURS: Final = "steersman.kinds"

# A line that does not continue the previous one.
_stands_alone: Final = re.compile(r"\s|[-*+] |\d+[.)] ").match


def class_description(cls: type[Any]) -> str | None:
    """Return the docstring in the class ``cls`` itself; ``None`` if it has none."""
    if cls.__module__.startswith(_OURS):
        return None
    return _flowing(cls.__dict__.get("__doc__") or _source_of_class(cls).docstring)


def field_description(cls: type[Any], field: str) -> str | None:
    """Return the string literal after ``field``, in ``cls`` or in the first base that has one."""
    for base in cls.__mro__:
        if field in own_annotations(vars(base)) and (
            found := _source_of_class(base).fields.get(field)
        ):
            return _flowing(found)
    return None


def _flowing(text: str | None) -> str | None:
    """Return the text without the line breaks that only wrap the source."""
    if not text:
        return None
    lines: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if lines and lines[-1] and line and not _stands_alone(line):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(lines).strip() or None


class _Source(NamedTuple):
    """The docstring of a class and the strings after its fields."""

    docstring: str | None
    fields: Mapping[str, str]


_SILENT: Final = _Source(None, {})


def _source_of_class(cls: type[Any]) -> _Source:
    if cls.__module__.startswith(_OURS):
        return _SILENT
    declared = own_annotations(vars(cls)).keys()
    for source in _classes_in(_source_of(cls.__module__)).get(cls.__qualname__, ()):
        # Several classes may have the same name; the one with these fields is meant.
        if declared >= source.fields.keys():
            return source
    return _SILENT


def _source_of(module: str) -> str:
    try:
        return inspect.getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):
        return ""


@lru_cache(maxsize=64)
def _classes_in(source: str) -> Mapping[str, tuple[_Source, ...]]:
    """Return the descriptions of the classes in ``source``, by qualified name.

    If several classes share a name, the last one in the source is first.
    """
    found: dict[str, tuple[_Source, ...]] = {}
    try:
        # Not ast.parse: with -OO, Python 3.14 and newer would remove docstrings from the tree too.
        tree = compile(source, "<source>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True, optimize=0)
    except SyntaxError:
        return found
    for name, node in _classes_below(tree, ""):
        described = _Source(ast.get_docstring(node, clean=False), _fields(node.body))
        found[name] = (described, *found.get(name, ()))
    return found


def _classes_below(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        inside = prefix
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            inside = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{prefix}{child.name}.<locals>."
        yield from _classes_below(child, inside)


def _fields(body: list[ast.stmt]) -> dict[str, str]:
    fields: dict[str, str] = {}
    last = ""
    for statement in body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=last)):
                fields[last] = ""
            case ast.Expr(value=ast.Constant(value=str(text))) if last:
                fields[last] = text
                last = ""
            case _:
                last = ""
    return fields
