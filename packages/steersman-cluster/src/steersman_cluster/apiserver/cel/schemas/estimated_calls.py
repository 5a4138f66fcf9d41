"""The maximum cost of single CEL calls, and the maximum size of their results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final, TypeAlias

from steersman_cluster.apiserver.cel import nodes
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.schemas.estimates import (
    ONE,
    UNKNOWN,
    Estimate,
    exactly,
)
from steersman_cluster.apiserver.cel.values import MAX_UINT

_TRAVERSAL: Final = 0.1
_REGEX: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """The receiver or an argument of a call."""

    node: nodes.Node
    type: CelType
    path: tuple[str, ...]
    size: Estimate | None

    @property
    def known(self) -> Estimate:
        return UNKNOWN if self.size is None else self.size


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The estimated cost of a CEL call, and the size of its result, if known."""

    cost: Estimate
    size: Estimate | None = None


# Returns the type and the size of a list's elements; None if the operand is not a list.
ElementSize: TypeAlias = Callable[[Operand], tuple[CelType, Estimate] | None]
_Operands: TypeAlias = list[Operand]

_CHEAP: Final = frozenset(
    [
        "serviceAccount",
        "path",
        "group",
        "resource",
        "subresource",
        "namespace",
        "name",
        "allowed",
        "reason",
        "error",
        "errored",
        "masked",
        "prefixLength",
        "family",
        "isUnspecified",
        "isLoopback",
        "isLinkLocalMulticast",
        "isLinkLocalUnicast",
        "isGlobalUnicast",
        "format.named",
        "sign",
        "asInteger",
        "isInteger",
        "asApproximateFloat",
        "isGreaterThan",
        "isLessThan",
        "compareTo",
        "add",
        "sub",
        "major",
        "minor",
        "patch",
        "getScheme",
        "getHostname",
        "getHost",
        "getPort",
        "getEscapedPath",
        "getQuery",
    ]
)
_WALKS: Final = frozenset(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"))
_READS: Final = frozenset(
    ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver")
)
_COMPARES: Final = frozenset(
    [
        f"{order}_{kind}"
        for order in ("less", "greater", "less_equals", "greater_equals")
        for kind in ("string", "bytes")
    ]
    + ["equals", "not_equals"]
)


def known_call(
    name: str,
    overload: str,
    target: Operand | None,
    args: _Operands,
    element_size: ElementSize,
) -> CallEstimate:
    """Return the estimate for a call of the function ``name``, without its operands' cost."""
    if (found := _of_lists(overload, target, args)) is not None:
        return found
    if (found := _of_kubernetes(name, overload, target, args, element_size)) is not None:
        return found
    return _of_cel(overload, target, args) or CallEstimate(ONE)


def _of_lists(overload: str, target: Operand | None, args: _Operands) -> CallEstimate | None:
    """Return the estimate of a call of CEL's list and set functions; None for other functions."""

    def listed(size: Estimate, factor: float = 1) -> CallEstimate:
        return CallEstimate(size.scaled(factor).plus(exactly(11)), size)

    if overload.startswith("list_sets_"):
        factor = 2 if overload == "list_sets_equivalent_list" else 1
        return CallEstimate(args[0].known.times(args[1].known).scaled(factor).plus(ONE))
    if overload == "lists_range":
        return listed(exactly(_number(args[0], MAX_UINT)))
    if target is None:
        return None
    if overload == "list_slice":
        start, end = _number(args[0], 0), _number(args[1], target.known.maximum)
        return listed(exactly((end - start) % (MAX_UINT + 1)))
    if overload == "list_reverse":
        return listed(target.known)
    if overload in ("list_flatten", "list_flatten_int"):
        return listed(target.known, _number(args[0], MAX_UINT) if args else 1)
    if overload == "list_distinct":
        return listed(target.known.times(target.known), 2)
    if overload.endswith(("_sort", "_sortByAssociatedKeys")):
        keys = target if overload.endswith("_sort") else args[0]
        texts = overload.startswith(("list_string", "list_bytes"))
        return listed(keys.known.times(keys.known), 2 + (_TRAVERSAL if texts else 0))
    return None


def _number(operand: Operand, otherwise: int) -> int:
    node = operand.node
    if not isinstance(node, nodes.Literal) or type(node.value) is not int:
        return otherwise
    return max(0, node.value)


def _of_kubernetes(
    name: str,
    overload: str,
    target: Operand | None,
    args: _Operands,
    element_size: ElementSize,
) -> CallEstimate | None:
    if name == "check":
        return CallEstimate(exactly(350_000))
    if name in _CHEAP or overload == "cidr_ip":
        return CallEstimate(ONE)
    if name in _READS or name == "ip":
        return CallEstimate(args[0].known.scaled(_TRAVERSAL))
    if name == "ip.isCanonical":
        return CallEstimate(args[0].known.scaled(2 * _TRAVERSAL))
    if name == "url":
        return CallEstimate(args[0].known.scaled(_TRAVERSAL), args[0].known)
    if name in ("containsIP", "containsCIDR"):
        return _containing(name, overload, args)
    if name == "validate":
        return CallEstimate(args[0].known.scaled(_TRAVERSAL).scaled(128 * _REGEX))
    if name in ("fieldSelector", "labelSelector"):
        size = args[0].known
        return CallEstimate(
            exactly(10).plus(size.scaled(_TRAVERSAL)).plus(size.scaled(0.5).scaled(50))
        )
    if name == "_==_":
        return _equality(args)
    if target is None:
        return None
    if name in _WALKS:
        return _walking(target, element_size)
    return _of_texts(name, target, args, element_size)


def _containing(name: str, overload: str, args: _Operands) -> CallEstimate:
    address = Estimate(4, 16)
    cost = address.plus(address).scaled(_TRAVERSAL)
    if name == "containsCIDR":
        cost = cost.plus(address.scaled(_TRAVERSAL)).plus(ONE)
    if overload.endswith("_string"):
        cost = cost.plus(args[0].known.scaled(_TRAVERSAL))
    return CallEstimate(cost)


def _equality(args: _Operands) -> CallEstimate | None:
    first, second = args
    if first.type != second.type or first.type.kind != "opaque":
        return None
    match first.type.name:
        case "optional_type":
            return None
        case "kubernetes.NamedFormat":
            return CallEstimate(Estimate(1, 64).scaled(_TRAVERSAL))
        case "kubernetes.URL":
            size = ONE if second.size is None else second.size
            return CallEstimate(Estimate(1, size.maximum).scaled(_TRAVERSAL))
        case _:
            return CallEstimate(ONE)


def _walking(target: Operand, element_size: ElementSize) -> CallEstimate:
    elements = element_size(target)
    if elements is None:
        return CallEstimate(target.known.scaled(_TRAVERSAL))
    of, size = elements
    cost = ONE
    if of.kind in ("string", "bytes"):
        cost = cost.plus(size.scaled(_TRAVERSAL))
    return CallEstimate(target.known.times(cost))


def _of_texts(
    name: str, target: Operand, args: _Operands, element_size: ElementSize
) -> CallEstimate | None:
    size = target.known
    match name:
        case "lowerAscii" | "upperAscii" | "substring" | "trim":
            return CallEstimate(size.scaled(_TRAVERSAL), size)
        case "replace":
            return CallEstimate(
                size.scaled(2 * _TRAVERSAL), _replaced(size, args[0].known, args[1].known)
            )
        case "split":
            most = size.maximum
            if len(args) > 1 and isinstance(args[1].node, nodes.Literal):
                most = args[1].node.value % (MAX_UINT + 1)
            return CallEstimate(size.scaled(2 * _TRAVERSAL), Estimate(0, most))
        case "join":
            joined = Estimate(0, 0)
            if (elements := element_size(target)) is not None:
                joined = size.times(elements[1])
            if args:
                between = Estimate(max(0, size.minimum - 1), max(0, size.maximum - 1))
                joined = joined.plus(args[0].known.times(between))
            return CallEstimate(joined.scaled(_TRAVERSAL), joined)
        case "find" | "findAll":
            text = size.plus(ONE).scaled(_TRAVERSAL)
            return CallEstimate(text.times(args[0].known.scaled(_REGEX)), Estimate(0, size.maximum))
        case _:
            return None


def _replaced(size: Estimate, old: Estimate, new: Estimate) -> Estimate:
    """Return the size of a text after each possible occurrence of a part is replaced."""
    if old.minimum == 0:
        most_often, most_kept = min(MAX_UINT, size.maximum + 1), size.maximum
    elif new.maximum <= old.minimum:
        most_often, most_kept = 0, size.maximum
    else:
        most_often, most_kept = ceil(float(size.maximum) / float(old.minimum)), 0
    if old.maximum == 0:
        least_often, least_kept = min(MAX_UINT, size.minimum + 1), size.minimum
    elif old.maximum <= new.minimum:
        least_often, least_kept = 0, size.minimum
    else:
        least_often, least_kept = ceil(float(size.minimum) / float(old.maximum)), 0
    often = Estimate(least_often, most_often)
    return often.times(new).plus(Estimate(least_kept, most_kept))


def _of_cel(overload: str, target: Operand | None, args: _Operands) -> CallEstimate | None:
    if overload in _COMPARES:
        most = min(args[0].known.maximum, args[1].known.maximum)
        return CallEstimate(Estimate(1 if most > 0 else 0, most).scaled(_TRAVERSAL))
    if overload in ("starts_with_string", "ends_with_string"):
        return CallEstimate(args[0].known.scaled(_TRAVERSAL))
    if overload == "in_list":
        return CallEstimate(args[1].known.scaled(1))
    if overload in ("add_string", "add_bytes", "add_list"):
        size = args[0].known.plus(args[1].known)
        return CallEstimate(ONE if overload == "add_list" else size.scaled(_TRAVERSAL), size)
    if overload in _CONVERTED:
        size = args[0].known
        return CallEstimate(size.scaled(_TRAVERSAL), _CONVERTED[overload](size))
    if target is None:
        return None
    if overload == "string_format":
        return CallEstimate(target.known.scaled(_TRAVERSAL))
    if overload == "matches_string":
        text = target.known.plus(ONE).scaled(_TRAVERSAL)
        return CallEstimate(text.times(args[0].known.scaled(_REGEX)))
    if overload == "contains_string":
        return CallEstimate(target.known.scaled(_TRAVERSAL).times(args[0].known.scaled(_TRAVERSAL)))
    return None


_CONVERTED: Final[Mapping[str, Callable[[Estimate], Estimate]]] = {
    "bytes_to_string": lambda size: Estimate(size.minimum // 4, size.maximum),
    "string_to_bytes": lambda size: Estimate(size.minimum, (size.maximum * 4) % (MAX_UINT + 1)),
    "strings_quote": lambda size: Estimate(
        (size.minimum + 2) % (MAX_UINT + 1), (size.maximum * 2 + 2) % (MAX_UINT + 1)
    ),
}
