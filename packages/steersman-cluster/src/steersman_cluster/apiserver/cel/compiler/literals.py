"""Checks of constants in an expression that would certainly fail at its evaluation."""

from collections.abc import Iterator
from typing import Any

from steersman_cluster.apiserver.cel import nodes
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.compiler.checker import Checked
from steersman_cluster.apiserver.cel.errors import Issue, NotCompiled, NotEvaluated, shown_issues
from steersman_cluster.apiserver.cel.library.operators import to_timestamp
from steersman_cluster.apiserver.cel.library.string_format import (
    NOT_NUMBERS,
    TAKES,
    BadFormat,
    clauses,
    type_name,
    unfit,
)
from steersman_cluster.apiserver.cel.library.strings import searching
from steersman_cluster.apiserver.cel.library.times import parse_duration
from steersman_cluster.apiserver.schema.patterns import BadPattern


def check_literals(checked: Checked) -> None:
    """Raise ``NotCompiled`` for an invalid constant in the expression ``checked``.

    The constants are timestamps, durations, regular expressions and format strings.
    """
    tree = checked.tree
    issues = [
        Issue(tree.positions.get(node.id, 0), message)
        for call in nodes.parts(tree.root)
        if isinstance(call, nodes.FunctionCall)
        for node, message in _problems(call, checked)
    ]
    issues += [
        Issue(tree.positions.get(node.id, 0), f"expected type '{wanted}' but found '{found}'")
        for node, wanted, found in _mixed(tree.root, checked)
    ]
    if issues:
        raise NotCompiled(shown_issues(tree.text, issues))


def _problems(call: nodes.FunctionCall, checked: Checked) -> Iterator[tuple[nodes.Node, str]]:
    match call.function, call.args:
        case "duration", (nodes.Literal() as only,):
            if not isinstance(only.value, str) or parse_duration(only.value) is None:
                yield only, "invalid duration argument"
        case "timestamp", (nodes.Literal() as only,):
            if not _is_timestamp(only.value):
                yield only, "invalid timestamp argument"
        case "matches", (nodes.Literal(value=str() as text) as last,) | (
            _,
            nodes.Literal(value=str() as text) as last,
        ):
            try:
                searching(text)
            except BadPattern:
                yield last, "invalid matches argument"
        case "format", (nodes.ListLiteral() as given,):
            if isinstance(call.target, nodes.Literal) and isinstance(call.target.value, str):
                yield from _format_problems(call, call.target.value, given, checked)
        case _:
            pass


def _mixed(node: nodes.Node, checked: Checked) -> Iterator[tuple[nodes.Node, CelType, CelType]]:
    """Yield each element of a list or map whose type differs from that of the first element.

    Arguments of ``format`` are skipped, because they may have different types.
    """
    if isinstance(node, nodes.FunctionCall) and node.function == "format":
        return
    match node:
        case nodes.ListLiteral(elements=elements, optional=optional):
            found = [
                (each, _held(checked.types[each.id], index in optional))
                for index, each in enumerate(elements)
            ]
            yield from list(_unlike(found))[:1]
        case nodes.MapLiteral(entries=entries):
            yield from _unlike([(each.key, checked.types[each.key.id]) for each in entries])
            yield from _unlike(
                [
                    (each.value, _held(checked.types[each.value.id], each.optional))
                    for each in entries
                ]
            )
        case _:
            pass
    for each in nodes.children(node):
        yield from _mixed(each, checked)


def _held(of: CelType, optional: bool) -> CelType:
    return of.parameters[0] if optional and of.parameters else of


def _unlike(
    typed: list[tuple[nodes.Node, CelType]],
) -> Iterator[tuple[nodes.Node, CelType, CelType]]:
    for node, of in typed[1:]:
        if of != typed[0][1]:
            yield node, typed[0][1], of


def _is_timestamp(value: Any) -> bool:
    try:
        to_timestamp(value)
    except NotEvaluated:
        return False
    return True


def _format_problems(
    call: nodes.FunctionCall, text: str, given: nodes.ListLiteral, checked: Checked
) -> Iterator[tuple[nodes.Node, str]]:
    index = 0
    try:
        for _, letter, _ in clauses(text):
            if letter == "?" and index >= len(given.elements):
                raise BadFormat(f"index {index} out of range")
            if letter and letter != "?":
                found = _unfit(given.elements[index], letter, checked)
                if found is not None:
                    yield found
                    return
                index += 1
    except BadFormat as error:
        yield call, str(error)
        return
    if len(given.elements) > index:
        yield (
            call,
            "too many arguments supplied to string.format"
            f" (expected {index}, got {len(given.elements)})",
        )


def _unfit(node: nodes.Node, letter: str, checked: Checked) -> tuple[nodes.Node, str] | None:
    of = checked.types[node.id]
    if of.kind in ("dyn", "error"):
        return None
    if letter in "fe" and isinstance(node, nodes.Literal) and node.value in NOT_NUMBERS:
        return None
    if letter != "s":
        return None if of.kind in TAKES[letter] else (node, unfit(letter, _kind(of)))
    match node:
        case nodes.ListLiteral(elements=elements):
            inside = [_unfit(each, "s", checked) for each in elements]
            return next((each for each in inside if each is not None), None)
        case nodes.MapLiteral(entries=entries):
            inside = [_unfit(each.value, "s", checked) for each in entries]
            return next((each for each in inside if each is not None), None)
        case _:
            return None if of.kind in TAKES["s"] else (node, unfit("s", _kind(of)))


def _kind(of: CelType) -> str:
    return type_name(of)
