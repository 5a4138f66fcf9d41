"""The types of CEL: their names, and their assignability to each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class CelType:
    """A CEL type; an object type contains the types of its fields by their CEL names."""

    kind: str
    name: str = ""
    parameters: "tuple[CelType, ...]" = ()
    fields: "Mapping[str, CelType]" = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        match self.kind:
            case "object" | "parameter":
                return self.name
            case "type" if not self.parameters:
                return "type"
            case "opaque" | "list" | "map" | "type":
                name = self.name or self.kind
                inside = ", ".join(map(str, self.parameters))
                return f"{name}({inside})" if inside else name
            case "error":
                return "!error!"
            case _:
                return self.kind


DYN: Final = CelType("dyn")
ERROR: Final = CelType("error")
NULL: Final = CelType("null")
BOOL: Final = CelType("bool")
INT: Final = CelType("int")
UINT: Final = CelType("uint")
DOUBLE: Final = CelType("double")
STRING: Final = CelType("string")
BYTES: Final = CelType("bytes")
TIMESTAMP: Final = CelType("timestamp")
DURATION: Final = CelType("duration")
TYPE: Final = CelType("type")

_NULLABLE: Final = frozenset(("opaque", "object", "duration", "timestamp"))
_COMPOUND: Final = frozenset(("opaque", "list", "map"))


def list_of(element: CelType) -> CelType:
    return CelType("list", parameters=(element,))


def map_of(key: CelType, value: CelType) -> CelType:
    return CelType("map", parameters=(key, value))


def optional_of(value: CelType) -> CelType:
    return CelType("opaque", "optional_type", (value,))


def type_of(value: CelType) -> CelType:
    return CelType("type", parameters=(value,))


def opaque(name: str) -> CelType:
    return CelType("opaque", name)


def unwrapped(of: CelType) -> tuple[CelType, bool]:
    """Return the type inside the type ``of`` if it is optional, else ``of``.

    The second value is whether ``of`` is an optional type.
    """
    if of.kind == "opaque" and of.name == "optional_type":
        return of.parameters[0], True
    return of, False


class Substitutions:
    """The types inferred for type parameters so far."""

    def __init__(self) -> None:
        self._known: dict[str, CelType] = {}
        self._count = 0

    def fresh(self) -> CelType:
        self._count += 1
        return CelType("parameter", f"_var{self._count - 1}")

    def agree(self, wanted: tuple[CelType, ...], given: tuple[CelType, ...]) -> bool:
        """Whether each type in ``given`` is assignable to its counterpart in ``wanted``.

        If all are, the types inferred for the type parameters are stored.
        """
        before = dict(self._known)
        if len(wanted) == len(given) and all(map(self._fits, wanted, given)):
            return True
        self._known = before
        return False

    def applied(self, to: CelType, *, free: CelType | None = None) -> CelType:
        """Return the type ``to`` with its type parameters replaced by the inferred types.

        ``free`` replaces each parameter for which no type is inferred; without ``free``, it stays.
        """
        if to.kind == "parameter":
            if (known := self._known.get(to.name)) is not None:
                return self.applied(known, free=free)
            return to if free is None else free
        if not to.parameters:
            return to
        inside = tuple(self.applied(each, free=free) for each in to.parameters)
        return CelType(to.kind, to.name, inside, to.fields)

    def _fits(self, first: CelType, second: CelType) -> bool:
        if second.kind == "parameter":
            valid, known = self._substitutes(first, second)
            if valid or known:
                return valid
        if first.kind == "parameter":
            return self._substitutes(second, first)[0]
        if first.kind in ("dyn", "error") or second.kind in ("dyn", "error"):
            return True
        if first.kind == "null" or second.kind == "null":
            other = second if first.kind == "null" else first
            return other.kind == "null" or other.kind in _NULLABLE
        if first.kind == "type":
            return second.kind == "type"
        if first.kind in _COMPOUND:
            return (
                first.kind == second.kind
                and first.name == second.name
                and len(first.parameters) == len(second.parameters)
                and all(map(self._fits, first.parameters, second.parameters))
            )
        return first == second

    def _substitutes(self, value: CelType, parameter: CelType) -> tuple[bool, bool]:
        """Return whether ``parameter`` can stand for the type ``value``, and whether it already
        did.
        """
        if value == parameter:
            return True, True
        known = self._known.get(parameter.name)
        if known is not None:
            if value == known:
                return True, True
            if self._fits(value, known):
                general = more_general(value, known)
                if not self._occurs(parameter, general):
                    self._known[parameter.name] = general
                return True, True
            return False, True
        if self._occurs(parameter, value):
            return False, False
        self._known[parameter.name] = value
        return True, False

    def _occurs(self, parameter: CelType, within: CelType) -> bool:
        if within == parameter:
            return True
        if within.kind == "parameter":
            known = self._known.get(within.name)
            return known is not None and self._occurs(parameter, known)
        return any(self._occurs(parameter, each) for each in within.parameters)


def more_general(first: CelType, second: CelType) -> CelType:
    return first if _at_most_as_specific(first, second) else second


def _at_most_as_specific(first: CelType, second: CelType) -> bool:
    if first.kind in ("dyn", "parameter"):
        return True
    if second.kind in ("dyn", "parameter") or first.kind != second.kind:
        return False
    if first.kind in _COMPOUND:
        return (
            first.name == second.name
            and len(first.parameters) == len(second.parameters)
            and all(map(_at_most_as_specific, first.parameters, second.parameters))
        )
    return first.kind == "type" or first == second
