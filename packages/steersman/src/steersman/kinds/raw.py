"""JSON that is kept as it came, because hardly anyone looks inside.

``managedFields`` would cost more memory as dictionaries than the rest of its object.
"""

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr

from steersman.kinds.base import Part

# msgspec takes no union with Raw; at run time a missing one is None all the same.
if TYPE_CHECKING:
    RawJson: TypeAlias = msgspec.Raw | None
else:
    RawJson = msgspec.Raw


class HoldsRaw(Part):
    """A part with raw JSON inside; it keeps those bytes, not the whole answer they came in."""

    _may_be_raw: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **declared: Any) -> None:
        super().__init_subclass__(**declared)
        hints = cls.__annotations__.items()
        # Found once, because every object that has managedFields asks for it.
        cls._may_be_raw += tuple(field for field, hint in hints if "Raw" in str(hint))

    def __post_init__(self) -> None:
        for field in self._may_be_raw:
            value = getattr(self, field)
            if isinstance(value, Raw):
                force_setattr(self, field, value.copy())  # type: ignore[arg-type]
