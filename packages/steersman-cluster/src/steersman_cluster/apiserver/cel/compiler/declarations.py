"""The functions and named types that expressions can use, parsed once from text tables."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from steersman_cluster.apiserver.cel import cel_types
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.compiler.declared_functions import FUNCTIONS
from steersman_cluster.apiserver.cel.compiler.declared_operators import OPERATORS


class Overload(NamedTuple):
    """One overload of a function; the first parameter of a method is its receiver."""

    id: str
    is_method: bool
    parameters: tuple[CelType, ...]
    result: CelType
    names: tuple[str, ...]  # the type parameters


_TOKEN: Final = re.compile(r"[\w.]+|[(),]")
_SIMPLE: Final = {
    each.kind: each
    for each in (
        cel_types.DYN,
        cel_types.NULL,
        cel_types.BOOL,
        cel_types.INT,
        cel_types.UINT,
        cel_types.DOUBLE,
        cel_types.STRING,
        cel_types.BYTES,
        cel_types.TIMESTAMP,
        cel_types.DURATION,
    )
}

# The names of types as values.
TYPE_NAMES: Final[Mapping[str, CelType]] = {
    "bool": cel_types.BOOL,
    "bytes": cel_types.BYTES,
    "double": cel_types.DOUBLE,
    "google.protobuf.Duration": cel_types.DURATION,
    "google.protobuf.Timestamp": cel_types.TIMESTAMP,
    "int": cel_types.INT,
    "list": cel_types.list_of(CelType("parameter", "A")),
    "map": cel_types.map_of(CelType("parameter", "A"), CelType("parameter", "B")),
    "null_type": cel_types.NULL,
    "optional_type": cel_types.optional_of(CelType("parameter", "V")),
    "string": cel_types.STRING,
    "type": cel_types.TYPE,
    "uint": cel_types.UINT,
}


@cache
def functions() -> Mapping[str, tuple[Overload, ...]]:
    """Return the overloads of each function by its name, in resolution order."""
    found: dict[str, tuple[Overload, ...]] = {}
    for table in (OPERATORS, FUNCTIONS):
        for line in re.sub(r"\n +", " ", table.strip()).splitlines():
            name, overloads = line.split(": ", 1)
            found[name] = tuple(map(_overload, overloads.split("; ")))
    return found


def _overload(written: str) -> Overload:
    name, rest = written.split("(", 1)
    tokens = iter([*_TOKEN.findall(f"({rest}"), ""])
    next(tokens)
    parameters = tuple(_list(tokens))
    result, _ = _type(next(tokens), next(tokens, ""), tokens)
    names = {each.name for whole in (*parameters, result) for each in _parameters(whole)}
    return Overload(name.lstrip("."), name[0] == ".", parameters, result, tuple(sorted(names)))


def _list(tokens: Iterator[str]) -> Iterator[CelType]:
    name = next(tokens)
    while name != ")":
        if name == ",":
            name = next(tokens)
        found, name = _type(name, next(tokens), tokens)
        yield found


def _type(name: str, following: str, tokens: Iterator[str]) -> tuple[CelType, str]:
    """Return the type that starts at ``name``, and the token after the type."""
    inside: tuple[CelType, ...] = ()
    if following == "(":
        inside = tuple(_list(tokens))
        following = next(tokens, "")
    if name in _SIMPLE:
        return _SIMPLE[name], following
    if name in ("list", "map", "type"):
        return CelType(name, parameters=inside), following
    if len(name) == 1:
        return CelType("parameter", name), following
    return CelType("opaque", name, inside), following


def _parameters(within: CelType) -> Iterator[CelType]:
    if within.kind == "parameter":
        yield within
    for each in within.parameters:
        yield from _parameters(each)
