"""Raw JSON that stays undecoded, because it is rarely read.

As dictionaries, ``managedFields`` would need more memory than the rest of the object.
"""

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr

from steersman.kinds.annotations import own_annotations
from steersman.kinds.base import Part

# msgspec supports no union with Raw; at run time, a missing value is None anyway.
if TYPE_CHECKING:
    RawJson: TypeAlias = msgspec.Raw | None
else:
    RawJson = msgspec.Raw


class HoldsRaw(Part):
    """A part that contains raw JSON.

    The part copies the bytes of its raw JSON, so that the complete response can be freed.
    """

    _may_be_raw: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **declared: Any) -> None:
        super().__init_subclass__(**declared)
        hints = own_annotations(vars(cls)).items()
        # Computed once, because every object with managedFields needs it.
        cls._may_be_raw += tuple(field for field, hint in hints if "Raw" in str(hint))

    def __post_init__(self) -> None:
        for field in self._may_be_raw:
            value = getattr(self, field)
            if isinstance(value, Raw):
                force_setattr(self, field, value.copy())  # type: ignore[arg-type]
