"""The parser: from an expression's text to its tree, by Google's parser library.

The library implements the grammar, the macros and the error messages. It serializes its tree as
protobuf; this module reads the few message types of that tree. ``macros`` expands the macros that
the library lacks.
"""

import re
import struct
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from steersman_cluster.apiserver.cel import nodes
from steersman_cluster.apiserver.cel.compiler.macros import MacroExpansion
from steersman_cluster.apiserver.cel.errors import Issue, NotCompiled, shown_issues
from steersman_cluster.apiserver.cel.values import Uint
from steersman_cluster.apiserver.meta import status_errors

_NO_BUILD = "it has no build for Python 3.15, so use Python 3.14, or a kind without CEL rules"

_COMPLAINT = re.compile(
    r"^(?:INVALID_ARGUMENT: )?ERROR: <input>:(\d+):(\d+): (.*?)(?: \[INVALID_ARGUMENT\]\Z)?$",
    re.MULTILINE,
)
_TOO_DEEP = re.compile("recursion (?:limit|depth)")
_TOO_LONG = re.compile(r"codepoint limit\. input size: (\d+), limit: (\d+)")

_WORDS = (
    (re.compile(r"'\\u003F'"), "'?'"),
    (re.compile("invalid hex (u?int) literal"), r"invalid \1 literal"),
    (re.compile(r"has\(\) argument must be a field selection"), "invalid argument to has() macro"),
    (
        re.compile(r"(?:all|exists|exists_one)\(\) variable name must be a simple identifier"),
        "argument must be a simple name",
    ),
    (
        re.compile(r"(?:map|filter)\(\) variable name must be a simple identifier"),
        "argument is not an identifier",
    ),
    (
        re.compile(r"\w+\(\) variable name cannot be __result__"),
        "iteration variable overwrites accumulator variable",
    ),
)


@cache
def _environment() -> Any:
    # A deferred import, so that a server without rules does not load the library; by name, because
    # the library has no type information.
    try:
        cel = import_module("cel_expr_python.cel")
        optional = import_module("cel_expr_python.ext.ext_optional")
    except ImportError:
        # As in the environment marker of the requirement.
        has_build = sys.version_info < (3, 15)
        raise status_errors.internal_error(
            "expressions in CEL are read by the package cel-expr-python, which is not installed; "
            + ("it comes with steersman[dev]" if has_build else _NO_BUILD)
        ) from None
    return cel.NewEnv(variables={}, extensions=[optional.ExtOptional()])


# Cached because a definition is compiled when it is written and when it is first used, and its
# versions often have the same rules.
@lru_cache(maxsize=1024)
def parse(text: str) -> nodes.Tree:
    """Return the tree of the expression ``text``; raise ``NotCompiled`` if it is invalid."""
    try:
        parsed = _environment().compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        raise NotCompiled(_reworded(str(error), text)) from None
    tree = read_tree(parsed, text)
    escaped = [
        Issue(position + 1, "unsupported syntax: '`'")
        for position in tree.positions.values()
        if text[position : position + 2] == ".`"
    ]
    if escaped:
        raise NotCompiled(shown_issues(text, escaped))
    return tree


def _reworded(sentence: str, text: str) -> str:
    """Return the library's error message in the wording of kube-apiserver."""
    if _TOO_DEEP.search(sentence):
        # The library's limit is 32 already, and cannot be configured.
        return "ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
    if (found := _TOO_LONG.search(sentence)) is not None:
        size = f"size: {found[1]}, limit {found[2]}"
        return f"ERROR: <input>:-1:0: expression code point size exceeds limit: {size}"
    for pattern, words in _WORDS:
        sentence = pattern.sub(words, sentence)
    starts = [0, *(each.end() for each in re.finditer("\n", text))]
    issues = [
        Issue(starts[int(line) - 1] + int(column) - 1, message)
        for line, column, message in _COMPLAINT.findall(sentence)
        if 0 < int(line) <= len(starts)
    ]
    return shown_issues(text, issues) if issues else sentence


def read_tree(serialized: bytes, text: str) -> nodes.Tree:
    """Return the tree of the expression ``text`` from the output of the parser library.

    ``serialized`` is that output: an ``Any`` that contains a ``cel.expr.ParsedExpr``.
    """
    parsed = _message(_message(serialized)[2][0])
    positions: dict[int, int] = {}
    for entry in _message(parsed[3][0]).get(4, ()):
        fields = _message(entry)
        positions[_number(fields, 1)] = _number(fields, 2)
    expansion = MacroExpansion(text, positions)
    root = _node(parsed[2][0], expansion)
    if expansion.issues:
        raise NotCompiled(shown_issues(text, expansion.issues))
    return nodes.Tree(text=text, root=root, positions=positions)


def _node(data: bytes, expansion: MacroExpansion) -> nodes.Node:
    fields = _message(data)
    number = _number(fields, 2)

    def below(inner: dict[int, list[Any]], field: int) -> nodes.Node:
        return _node(inner[field][0], expansion)

    if 4 in fields:
        return nodes.Ident(number, _text(_message(fields[4][0]), 1))
    if 5 in fields:
        inner = _message(fields[5][0])
        return nodes.Select(number, below(inner, 1), _text(inner, 2), bool(_number(inner, 3)))
    if 6 in fields:
        inner = _message(fields[6][0])
        target = below(inner, 1) if 1 in inner else None
        args = tuple(_node(each, expansion) for each in inner.get(3, ()))
        return expansion.expanded(nodes.FunctionCall(number, _text(inner, 2), target, args))
    if 7 in fields:
        inner = _message(fields[7][0])
        optional = frozenset(index for each in inner.get(2, ()) for index in _packed(each))
        elements = tuple(_node(each, expansion) for each in inner.get(1, ()))
        return nodes.ListLiteral(number, elements, optional)
    if 8 in fields:
        inner = _message(fields[8][0])
        if name := _text(inner, 1):
            expansion.starts_at_brace(number)
            return nodes.MessageLiteral(number, name)
        entries = tuple(_entry(_message(each), expansion) for each in inner.get(2, ()))
        return nodes.MapLiteral(number, entries)
    if 9 in fields:
        inner = _message(fields[9][0])
        return nodes.Fold(
            id=number,
            variable=_text(inner, 1),
            second_variable=_text(inner, 8) or None,
            range=below(inner, 2),
            accumulator=_text(inner, 3),
            initial=below(inner, 4),
            condition=below(inner, 5),
            step=below(inner, 6),
            result=below(inner, 7),
        )
    return nodes.Literal(number, _constant(_message(fields[3][0])))


def _entry(fields: dict[int, list[Any]], expansion: MacroExpansion) -> nodes.MapEntry:
    key, value = (_node(fields[field][0], expansion) for field in (3, 4))
    return nodes.MapEntry(_number(fields, 1), key, value, bool(_number(fields, 5)))


def _constant(fields: dict[int, list[Any]]) -> Any:
    for field, (value, *_) in fields.items():
        match field:
            case 2:
                return bool(value)
            case 3:
                return value - (1 << 64) if value >= 1 << 63 else value
            case 4:
                return Uint(value)
            case 5:
                return struct.unpack("<d", value)[0]
            case 6:
                return value.decode()
            case 7:
                return bytes(value)
            case _:
                return None
    return None


def _number(fields: dict[int, list[Any]], field: int) -> int:
    return int(fields[field][0]) if field in fields else 0


def _text(fields: dict[int, list[Any]], field: int) -> str:
    return str(fields[field][0], "utf-8") if field in fields else ""


def _packed(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield number


def _message(data: bytes) -> dict[int, list[Any]]:
    """Return the values of each field of a protobuf message, in order: numbers or bytes."""
    fields: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        value: int | bytes
        match tag & 7:
            case 0:
                value, at = _varint(data, at)
            case 1:
                value, at = data[at : at + 8], at + 8
            case 5:
                value, at = data[at : at + 4], at + 4
            case _:
                length, at = _varint(data, at)
                value, at = data[at : at + length], at + length
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
