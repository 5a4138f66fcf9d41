"""JSON that is kept as it came, because hardly anyone looks inside.

``managedFields`` would cost more memory as dictionaries than the rest of its object.
"""

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from steersman.kinds.base import Part

# msgspec takes no union with Raw; at run time a missing one is None all the same.
if TYPE_CHECKING:
    RawJson: TypeAlias = msgspec.Raw | None
else:
    RawJson = msgspec.Raw


class HoldsRaw(Part):
    """A part with raw JSON inside; it keeps those bytes, not the whole answer they came in."""

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:  # type: ignore[attr-defined]
            value = getattr(self, field)
            if isinstance(value, msgspec.Raw):
                msgspec.structs.force_setattr(self, field, value.copy())  # type: ignore[arg-type]
