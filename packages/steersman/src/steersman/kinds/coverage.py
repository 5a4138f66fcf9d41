"""``covers``: whether an object contains all values of another object."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from steersman.kinds.unstructured import Unstructured


def covers(found: Any, wanted: Any) -> bool:
    """Whether ``found`` contains each value of ``wanted``; other fields of ``found`` are ignored.

    Fields that are ``None`` in ``wanted``, and keys that a map in ``wanted`` does not contain, are
    not compared. So server defaults and fields of other managers make no difference. Lists must
    have the same length, and each item must cover the wanted item at the same index.
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
        # The server does not return an empty list: it equals none.
        items = () if found is None else found
        return _is_list(items) and len(items) == len(wanted) and all(map(covers, items, wanted))
    return bool(found == wanted)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
