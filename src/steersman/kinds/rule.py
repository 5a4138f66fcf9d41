"""``Rule``: what a field's value must satisfy, beyond its type.

Written beside the type, ``size: Annotated[int, Rule(ge=0)] = 1``, and carried into the CRD, where
the API server enforces it. Decoding does not: an object stored before a rule was tightened must
still be readable.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Constraints on a field's value, in the words of Python; see each for the schema's."""

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

    def __post_init__(self) -> None:
        if (self.list_type == "map") != bool(self.list_map_keys):
            raise ValueError(
                f"list_type='map' and list_map_keys go together,"
                f" got list_type={self.list_type!r} list_map_keys={self.list_map_keys!r}"
            )
        for low, high in (*product(("ge", "gt"), ("le", "lt")), ("min_length", "max_length")):
            least, most = getattr(self, low), getattr(self, high)
            if least is None or most is None:
                continue
            excluded = low == "gt" or high == "lt"
            if least > most or (excluded and least == most):
                raise ValueError(f"no value can satisfy {low}={least} and {high}={most}")
