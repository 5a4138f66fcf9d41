"""``covers``: whether an object says all that is wanted of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from steersman.kinds.unstructured import Unstructured


def covers(found: Any, wanted: Any) -> bool:
    """Whether ``found`` has each value that ``wanted`` has; what ``wanted`` leaves out may be any.

    A field that is ``None`` is left out, as on the wire, and so is a key that a map does not have:
    what the server fills in, and what others add, makes no difference. Lists have the same length,
    and each item covers the one at its place.
    """
    if wanted is None:
        return True
    if isinstance(wanted, Unstructured):
        return isinstance(found, Unstructured) and covers(found.body, wanted.body)
    if isinstance(wanted, msgspec.Struct):
        fields = wanted.__struct_fields__
        return found is not None and all(
            covers(getattr(found, field, None), getattr(wanted, field)) for field in fields
        )
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and covers(found[name], value) for name, value in wanted.items()
        )
    if _is_list(wanted):
        # An empty list is not sent back, and is the same as none.
        items = () if found is None else found
        return _is_list(items) and len(items) == len(wanted) and all(map(covers, items, wanted))
    return bool(found == wanted)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
