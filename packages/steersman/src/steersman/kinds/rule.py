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
_TOKENS: Final = r"""
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
_MAX_REPEATS: Final = 1000


def _re2_problem(pattern: str) -> str | None:
    """Return why RE2, the regular expressions of Go, rejects ``pattern``, if that is easy to
    detect.
    """
    depth = 0
    for token in re.finditer(_TOKENS, pattern, re.VERBOSE | re.DOTALL):
        match token.lastgroup:
            case "around" | "back":
                # RE2 reads each character once, without backtracking.
                return f"contains {token[0]}, a lookaround or backreference"
            case "python" | "odd":
                return f"contains {token[0]}, which is Python syntax"
            case "times" if int(token["times"]) > _MAX_REPEATS:
                return f"contains a repetition of more than {_MAX_REPEATS}"
            case "unclosed":
                return f"contains an unterminated {token[0]}"
            case "open":
                depth += 1
            case "close" if depth == 0:
                return "contains a closing parenthesis without an opening one"
            case "close":
                depth -= 1
            case _:
                pass
    return "contains an opening parenthesis without a closing one" if depth else None


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
                f"list_map_keys must be a tuple, such as ({self.list_map_keys!r},),"
                f" got {self.list_map_keys!r}"
            )
        if (self.list_type == "map") != bool(self.list_map_keys):
            raise ValueError(
                f"list_type='map' and list_map_keys must be set together,"
                f" got list_type={self.list_type!r} list_map_keys={self.list_map_keys!r}"
            )
        if self.opaque and self.preserve_unknown_fields:
            raise ValueError(
                "opaque=True already preserves all fields; remove preserve_unknown_fields"
            )
        if self.pattern is not None and (problem := _re2_problem(self.pattern)):
            raise ValueError(
                f"pattern={self.pattern!r} {problem}, which RE2, the syntax of the API server,"
                f" does not support"
            )

    def __repr__(self) -> str:
        fields = (
            (each.name, getattr(self, each.name), each.default)
            for each in msgspec.structs.fields(self)
        )
        set_fields = ", ".join(
            f"{name}={value!r}" for name, value, usual in fields if value != usual
        )
        return f"Rule({set_fields})"

    def _check_bounds(self) -> None:
        for bound in ("ge", "gt", "le", "lt", "multiple_of"):
            if not isfinite(getattr(self, bound) or 0):
                raise ValueError(f"{bound} must be a finite number, got {getattr(self, bound)}")
        for inclusive, exclusive in (("ge", "gt"), ("le", "lt")):
            if None not in (getattr(self, inclusive), getattr(self, exclusive)):
                raise ValueError(f"{inclusive} and {exclusive} exclude each other; set one of them")
        if self.multiple_of is not None and self.multiple_of <= 0:
            raise ValueError(f"multiple_of must be positive, got {self.multiple_of}")
        for length in ("min_length", "max_length"):
            if (getattr(self, length) or 0) < 0:
                raise ValueError(f"{length} must not be negative, got {getattr(self, length)}")
        for low, high in (*product(("ge", "gt"), ("le", "lt")), ("min_length", "max_length")):
            least, most = getattr(self, low), getattr(self, high)
            if least is None or most is None:
                continue
            excluded = low == "gt" or high == "lt"
            if least > most or (excluded and least == most):
                raise ValueError(f"no value can satisfy {low}={least} and {high}={most}")
