"""Renders the model of a module as source text, formatted as by ruff at 100 columns."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from steersman.kinds.declaration import wire_name
from steersman.kinds.generate.docstrings import docstring
from steersman.kinds.generate.model import (
    LITERAL,
    TYPE_ALIAS,
    Choices,
    Class,
    Field,
    Import,
    Module,
)

_COLUMNS = 100
_INDENT = "    "


def rendered(module: Module) -> str:
    """Return the source of a module."""
    head = [
        module.comment,
        f'"""{module.docstring}"""',
        "",
        # Types are then evaluated when a kind is first decoded, not when its module is imported.
        # They may refer to their own class and to later ones.
        "from __future__ import annotations",
        "",
        *_imports(module),
        *(line for each in module.choices for line in ("", *_choices(each))),
    ]
    classes = ("\n".join(_class(each)) for each in module.classes)
    return "\n\n\n".join(("\n".join(head), *classes)) + "\n"


def table_of_kinds(comment: str, kinds: Mapping[tuple[str, str], str]) -> str:
    """Return the source of the module that contains the Python module of each built-in kind."""
    rows = [
        _row(_text(api_version), _text(kind), _text(module))
        for (api_version, kind), module in sorted(kinds.items())
    ]
    return "\n".join(
        (
            comment,
            '"""Which module of this package holds the class of each built-in kind."""',
            "",
            "from collections.abc import Mapping",
            "from types import MappingProxyType",
            "",
            "BUILTIN_KINDS: Mapping[tuple[str, str], str] = MappingProxyType(",
            f"{_INDENT}{{",
            *rows,
            f"{_INDENT}}}",
            ")",
            "",
        )
    )


def _row(api_version: str, kind: str, module: str) -> str:
    margin = _INDENT * 2
    line = f"{margin}({api_version}, {kind}): {module},"
    if len(line) <= _COLUMNS:
        return line
    return "\n".join(
        (
            f"{margin}(",
            f"{margin}{_INDENT}{api_version},",
            f"{margin}{_INDENT}{kind},",
            f"{margin}): {module},",
        )
    )


def _imports(module: Module) -> Iterator[str]:
    needed = {(place, f"{name} as {name}") for place, name in module.reexports}
    if module.choices:
        needed |= LITERAL.imports | TYPE_ALIAS.imports
    for each in module.classes:
        needed |= each.base.imports
        for field in each.fields:
            needed |= field.type.imports
    ours = {one for one in needed if one[0].startswith("steersman")}
    yield from _import_lines(needed - ours)
    if ours and needed - ours:
        yield ""
    yield from _import_lines(ours)


def _import_lines(needed: Iterable[Import]) -> Iterator[str]:
    for module, names in groupby(sorted(needed), key=itemgetter(0)):
        plain = []
        for _, name in names:
            # ruff requires a separate line for each alias.
            if " as " in name:
                yield f"from {module} import {name}"
            else:
                plain.append(name)
        if plain:
            yield f"from {module} import {', '.join(plain)}"


def literal(values: Iterable[str | int]) -> str:
    """Return a ``Literal`` type with ``values``, as source text."""
    return f"Literal[{', '.join(map(_value, values))}]"


def _choices(model: Choices) -> Iterator[str]:
    line = f"{model.name}: TypeAlias = {literal(model.values)}"
    if len(line) <= _COLUMNS:
        yield line
    else:
        yield f"{model.name}: TypeAlias = Literal["
        yield from (f"{_INDENT}{_value(each)}," for each in model.values)
        yield "]"


def _class(model: Class) -> Iterator[str]:
    yield from _class_statement(model)
    if model.docstring:
        yield from docstring(model.docstring, indent=_INDENT, columns=_COLUMNS)
    if model.docstring and model.fields:
        yield ""
    for field in model.fields:
        yield from _field(field)


def _class_statement(model: Class) -> Iterator[str]:
    arguments = [model.base.text]
    arguments += [f"{keyword}={_literal(value)}" for keyword, value in model.keywords.items()]
    names = {f.name: f.wire for f in model.fields if wire_name(f.name) != f.wire}
    if names:
        pairs = [f"{_text(name)}: {_text(wire)}" for name, wire in names.items()]
        arguments.append(_bracketed("wire_names={", pairs, "}"))
    if hidden := [_text(field.name) for field in model.fields if field.sensitive]:
        arguments.append(_bracketed("sensitive={", hidden, "}"))
    line = f"class {model.name}({', '.join(arguments)}):"
    if len(line) <= _COLUMNS and "\n" not in line:
        yield line
    else:
        yield f"class {model.name}("
        yield from (f"{_INDENT}{argument}," for argument in arguments)
        yield "):"


def _bracketed(opening: str, items: list[str], closing: str) -> str:
    """Return an argument on one line, or on several if it does not fit."""
    line = f"{opening}{', '.join(items)}{closing}"
    if len(_INDENT + line + ",") <= _COLUMNS:
        return line
    return "\n".join((opening, *(f"{_INDENT * 2}{item}," for item in items), _INDENT + closing))


def _field(field: Field) -> Iterator[str]:
    annotation = field.annotation
    default = "" if field.required else " = None"
    line = f"{_INDENT}{field.name}: {annotation}{default}"
    if len(line) <= _COLUMNS or " | " not in annotation:
        yield line
    else:
        yield f"{_INDENT}{field.name}: ("
        yield f"{_INDENT * 2}{annotation}"
        yield f"{_INDENT}){default}"
    if field.description:
        yield from docstring(field.description, indent=_INDENT, columns=_COLUMNS)


def _value(value: str | int) -> str:
    return _text(value) if isinstance(value, str) else str(value)


def _literal(value: str | bool | None) -> str:
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    # As ruff formats it: in double quotes, unless that requires more escapes.
    written = ascii(value)
    if '"' in value and "'" in value:
        inside = written[1:-1].replace("\\'", "'")
        if inside.count('"') > inside.count("'"):
            return written
        escaped = inside.replace('"', '\\"')
        return f'"{escaped}"'
    return written if '"' in value or "'" in value else f'"{written[1:-1]}"'
