"""Go's empty lists: ``null`` where the schema demands a list or a map.

Servers written in Go send a nil slice or map as ``null``, required or not. Optional fields take
that for unset; for required ones it is put right here.
"""

from typing import Any

from msgspec import inspect


def mended(value: Any, info: inspect.Type) -> Any:
    """``value`` with each ``null`` that stands for an empty list or map replaced by one."""
    match info:
        case inspect.CollectionType(item_type=item):
            if value is None:
                return []
            return [mended(each, item) for each in value] if isinstance(value, list) else value
        case inspect.DictType(value_type=item):
            if value is None:
                return {}
            return (
                {key: mended(each, item) for key, each in value.items()}
                if isinstance(value, dict)
                else value
            )
        case inspect.UnionType(types=types):
            if value is None:
                return None
            # A union here is "something or None"; int-or-string has nothing to mend.
            inner = [each for each in types if not isinstance(each, inspect.NoneType)]
            return mended(value, inner[0]) if len(inner) == 1 else value
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            known = {field.encode_name: field.type for field in fields}
            return {
                key: mended(each, known[key]) if key in known else each
                for key, each in value.items()
            }
        case _:
            return value
