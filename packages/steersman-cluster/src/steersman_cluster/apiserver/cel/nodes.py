"""The tree of a parsed CEL expression: macros are expanded to loops; each node has an id."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    id: int
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Ident:
    id: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    id: int
    operand: "Node"
    field: str
    test_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class FunctionCall:
    id: int
    function: str
    target: "Node | None"
    args: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class ListLiteral:
    id: int
    elements: "tuple[Node, ...]"
    optional: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class MapEntry:
    """One entry of a map literal."""

    id: int
    key: "Node"
    value: "Node"
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MapLiteral:
    id: int
    entries: tuple[MapEntry, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MessageLiteral:
    """A protobuf message literal.

    Its fields are not stored, because the schemas of Kubernetes objects contain no messages.
    """

    id: int
    name: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fold:
    """A loop over ``range`` that computes ``accumulator``, and then evaluates ``result``."""

    id: int
    variable: str
    second_variable: str | None = None
    range: "Node"
    accumulator: str
    initial: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"


Node: TypeAlias = (
    Literal | Ident | Select | FunctionCall | ListLiteral | MapLiteral | MessageLiteral | Fold
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A parsed CEL expression, and the position of each node in the text."""

    text: str
    root: Node
    positions: Mapping[int, int]


def parts(node: Node) -> Iterator[Node]:
    """Yield ``node`` and all its descendants."""
    yield node
    for each in children(node):
        yield from parts(each)


def children(node: Node) -> Iterator[Node]:
    """Yield the child nodes of ``node``, sorted as in the text or in the macro expansion."""
    match node:
        case Select(operand=operand):
            yield operand
        case FunctionCall(target=target, args=args):
            if target is not None:
                yield target
            yield from args
        case ListLiteral(elements=elements):
            yield from elements
        case MapLiteral(entries=entries):
            for entry in entries:
                yield entry.key
                yield entry.value
        case Fold():
            yield from (node.range, node.initial, node.condition, node.step, node.result)
        case _:
            pass


def qualified_name(node: Node) -> str | None:
    """Return a name such as ``a.b.c`` if ``node`` consists only of names, else None."""
    match node:
        case Ident(name=name):
            return name
        case Select(operand=operand, field=field, test_only=False):
            prefix = qualified_name(operand)
            return None if prefix is None else f"{prefix}.{field}"
        case _:
            return None
