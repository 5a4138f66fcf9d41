"""The Python function for each CEL call, and the check of argument types at runtime."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.compiler.declarations import functions
from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.library import (
    authorizer,
    lists,
    named_formats,
    networks,
    operators,
    optionals,
    quantities,
    semantic_versions,
    strings,
    times,
    urls,
)
from steersman_cluster.apiserver.cel.values import Function, kind_of

CONVERSIONS: Final = frozenset(
    ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")
)
# Functions that check the types of their arguments themselves.
_CAREFUL: Final = frozenset(operators.IMPLEMENTATIONS) | frozenset(times.IMPLEMENTATIONS)


@cache
def implementations() -> Mapping[str, Function]:
    return {
        **operators.IMPLEMENTATIONS,
        **times.IMPLEMENTATIONS,
        **strings.IMPLEMENTATIONS,
        **lists.IMPLEMENTATIONS,
        **optionals.IMPLEMENTATIONS,
        **authorizer.IMPLEMENTATIONS,
        **named_formats.IMPLEMENTATIONS,
        **networks.IMPLEMENTATIONS,
        **quantities.IMPLEMENTATIONS,
        **semantic_versions.IMPLEMENTATIONS,
        **urls.IMPLEMENTATIONS,
    }


def implementation(
    function: str,
    overloads: Sequence[str],
    given: Sequence[CelType],
    constants: tuple[Any, ...],
) -> Function:
    """Return the Python function for a call of the CEL function ``function``.

    ``overloads`` are the possible overloads, ``given`` the argument types, and ``constants`` the
    arguments that are constant. If the type checker could not determine all argument types, the
    returned function checks them in each call.
    """
    if function == "matches" and isinstance(constants[1], str):
        return strings.matcher(constants[1])
    if function in ("find", "findAll") and isinstance(constants[1], str):
        strings.matcher(constants[1])  # rejects an invalid pattern at compile time
    if function == "sum" and len(overloads) == 1:
        zero = lists.ZEROS.get(overloads[0], 0)
        return lambda values: lists.total(values) if values else zero
    call = implementations()[function]
    if function in _CAREFUL or all(each.kind not in ("dyn", "parameter") for each in given):
        return call
    wanted = [
        tuple(_kind(each) for each in overload.parameters)
        for overload in functions()[function]
        if overload.id in overloads
    ]

    def guarded(*args: Any) -> Any:
        kinds = tuple(map(kind_of, args))
        for each in wanted:
            if all(kind in ("", found) for kind, found in zip(each, kinds, strict=True)):
                return call(*args)
        raise NotEvaluated

    return guarded


def _kind(of: CelType) -> str:
    """Return the kind that a value must have; an empty text if every kind is accepted."""
    if of.kind in ("parameter", "dyn"):
        return ""
    return of.name if of.kind == "opaque" else of.kind
