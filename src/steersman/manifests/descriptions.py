"""Descriptions: the docstring of a class, and the text that stands right after a field.

The second kind is in no object at run time, so it is read from the source. Where there is none, as
in a frozen program, there is no description either.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

# Their docstrings speak to those who write kinds, and not to those who use them.
_OURS: Final = "steersman.kinds"

# A line that stands for itself, and is not the rest of the one before.
_stands_alone: Final = re.compile(r"\s|[-*+] |\d+[.)] ").match


def class_description(cls: type[Any]) -> str | None:
    """What the docstring of the class says; ``None`` without one of its own."""
    if cls.__module__.startswith(_OURS):
        return None
    return _flowing(cls.__dict__.get("__doc__"))


def field_description(cls: type[Any], field: str) -> str | None:
    """What stands after the field in the class, or else in the first of its bases that has it."""
    for base in cls.__mro__:
        if field in inspect.get_annotations(base) and (
            found := _texts_after_fields(base).get(field)
        ):
            return _flowing(found)
    return None


def _flowing(text: str | None) -> str | None:
    """The text without the line breaks that only the source needs."""
    if not text:
        return None
    lines: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if lines and lines[-1] and line and not _stands_alone(line):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(lines).strip() or None


def _texts_after_fields(cls: type[Any]) -> Mapping[str, str]:
    if cls.__module__.startswith(_OURS):
        return {}
    declared = set(inspect.get_annotations(cls))
    for fields in _classes_in(_source_of(cls.__module__)).get(cls.__qualname__, ()):
        # A name may be given to several classes in turn; the one with these fields is meant.
        if declared >= fields.keys():
            return {name: text for name, text in fields.items() if text}
    return {}


def _source_of(module: str) -> str:
    try:
        return inspect.getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):
        return ""


@lru_cache(maxsize=64)
def _classes_in(source: str) -> Mapping[str, tuple[Mapping[str, str], ...]]:
    """For each class, by its qualified name, the fields and the text after each."""
    found: dict[str, tuple[Mapping[str, str], ...]] = {}
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return found
    for name, body in _class_bodies(tree, ""):
        found[name] = (_fields(body), *found.get(name, ()))
    return found


def _class_bodies(node: ast.AST, prefix: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    for child in ast.iter_child_nodes(node):
        inside = prefix
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child.body
            inside = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{prefix}{child.name}.<locals>."
        yield from _class_bodies(child, inside)


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
