"""``Rule``: constraints on a field's value, in addition to its type.

A rule is written beside the type, ``size: Annotated[int, Rule(ge=0)] = 1``, and becomes part of the
CRD. The API server enforces it. Decoding does not: an object that was stored before a rule became
stricter must still be readable.
"""

import re
from itertools import product
from math import isfinite
from typing import Any, Final, Literal

import msgspec

# The tokens of a pattern; tokens that contain arbitrary characters come first. The text is compiled
# at first use: compiling it takes longer than the rest of the import, and few rules have a pattern.
_PIECES: Final = r"""
    \\Q .*? (?: \\E | \Z )
    | (?P<back> \\[1-9] )
    | (?P<python> \\Z )
    | \\.
    | \[ \^?+ \]?+ (?: \[:\^?[a-z]+:\] | \\. | [^]\\] )* \]
    | (?P<around> \(\? (?: = | ! | <= | <! | P= ) )
    | (?P<odd> \(\? [>#(] | [*+?] [*+] )
    | \{ (?: [0-9]+, )? (?P<times> [0-9]+ ) ,? \}
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<unclosed> \[ | \\ )
    """

# RE2's limit for repetitions.
_MAX_TIMES: Final = 1000


def _re2_problem(pattern: str) -> str | None:
    """Return why RE2, the regular expressions of Go, rejects ``pattern``, if that is easy to
    detect.
    """
    depth = 0
    for piece in re.finditer(_PIECES, pattern, re.VERBOSE | re.DOTALL):
        match piece.lastgroup:
            case "around" | "back":
                # RE2 reads each character once, without backtracking.
                return "looks around or back"
            case "python" | "odd":
                return f"has {piece[0]}, which only Python knows"
            case "times" if int(piece["times"]) > _MAX_TIMES:
                return f"repeats something more than {_MAX_TIMES} times"
            case "unclosed":
                return f"has {piece[0]} without its other half"
            case "open":
                depth += 1
            case "close" if depth == 0:
                return "closes what was never opened"
            case "close":
                depth -= 1
            case _:
                pass
    return "has a parenthesis that is never closed" if depth else None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """Constraints on a field's value; each attribute's docstring names the schema keyword."""

    ge: float | None = None
    """``minimum``"""
    gt: float | None = None
    """``exclusiveMinimum``"""
    le: float | None = None
    """``maximum``"""
    lt: float | None = None
    """``exclusiveMaximum``"""
    multiple_of: float | None = None
    """``multipleOf``"""
    pattern: str | None = None
    """``pattern``, an RE2 expression that must match somewhere in the text"""
    format: str | None = None
    """``format``, such as ``date-time`` or ``ipv4``"""
    min_length: int | None = None
    """``minLength``, ``minItems`` or ``minProperties``, by the field's type"""
    max_length: int | None = None
    """``maxLength``, ``maxItems`` or ``maxProperties``, by the field's type"""
    list_type: Literal["atomic", "set", "map"] | None = None
    """``x-kubernetes-list-type``: how server-side apply merges a list"""
    list_map_keys: tuple[str, ...] = ()
    """``x-kubernetes-list-map-keys``"""
    map_type: Literal["atomic", "granular"] | None = None
    """``x-kubernetes-map-type``"""
    nullable: bool = False
    """``nullable``: an explicit ``null`` is stored; without it, the server drops a null"""
    opaque: bool = False
    """The contents of the object are not described; any contents are stored unchanged"""
    preserve_unknown_fields: bool = False
    """``x-kubernetes-preserve-unknown-fields``: undescribed fields are stored too"""
    embedded_resource: bool = False
    """``x-kubernetes-embedded-resource``: the object has an apiVersion, a kind and metadata"""
    title: str | None = None
    """``title``"""
    example: Any = None
    """``example``, as it is on the wire"""

    def __post_init__(self) -> None:
        self._check_bounds()
        if isinstance(self.list_map_keys, str):
            raise ValueError(
                f"list_map_keys is a tuple, such as ({self.list_map_keys!r},),"
                f" got {self.list_map_keys!r}"
            )
        if (self.list_type == "map") != bool(self.list_map_keys):
            raise ValueError(
                f"list_type='map' and list_map_keys go together,"
                f" got list_type={self.list_type!r} list_map_keys={self.list_map_keys!r}"
            )
        if self.opaque and self.preserve_unknown_fields:
            raise ValueError("opaque=True has no described fields to preserve unknown ones beside")
        if self.pattern is not None and (problem := _re2_problem(self.pattern)):
            raise ValueError(
                f"pattern={self.pattern!r} {problem}, and RE2, by which the API server matches,"
                f" does not take that"
            )

    def __repr__(self) -> str:
        said = (
            (each.name, getattr(self, each.name), each.default)
            for each in msgspec.structs.fields(self)
        )
        inside = ", ".join(f"{name}={value!r}" for name, value, usual in said if value != usual)
        return f"Rule({inside})"

    def _check_bounds(self) -> None:
        for bound in ("ge", "gt", "le", "lt", "multiple_of"):
            if not isfinite(getattr(self, bound) or 0):
                raise ValueError(f"a bound is a finite number, got {bound}={getattr(self, bound)}")
        for inside, outside in (("ge", "gt"), ("le", "lt")):
            if None not in (getattr(self, inside), getattr(self, outside)):
                raise ValueError(f"{inside} and {outside} are two bounds on one side")
        if self.multiple_of is not None and self.multiple_of <= 0:
            raise ValueError(f"multiple_of is above zero, got {self.multiple_of}")
        for length in ("min_length", "max_length"):
            if (getattr(self, length) or 0) < 0:
                raise ValueError(f"no length is below zero, got {length}={getattr(self, length)}")
        for low, high in (*product(("ge", "gt"), ("le", "lt")), ("min_length", "max_length")):
            least, most = getattr(self, low), getattr(self, high)
            if least is None or most is None:
                continue
            excluded = low == "gt" or high == "lt"
            if least > most or (excluded and least == most):
                raise ValueError(f"no value can satisfy {low}={least} and {high}={most}")
