"""Whether one class for a kind names all that another does. Pure.

An author's class may name a few fields of many. An object of such a class cannot stand for one of
a class that names more: what it does not name would seem not to be there.
"""

from typing import Any

from msgspec import inspect

from steersman.kinds import Resource, Unstructured


def names_all_of(wide: type[Resource], narrow: type[Resource] | type[Unstructured]) -> bool:
    """Whether every field of ``narrow``, however deep, is one of ``wide``."""
    if issubclass(narrow, Unstructured):
        return False  # It would have had every field there is.
    return _covers(inspect.type_info(wide), inspect.type_info(narrow), set())


def _covers(wide: Any, narrow: Any, seen: set[tuple[type, type]]) -> bool:
    wide, narrow = _something(wide), _something(narrow)
    match wide, narrow:
        case inspect.StructType(), inspect.StructType():
            both = (wide.cls, narrow.cls)
            if wide.cls is narrow.cls or both in seen:
                return True
            seen.add(both)
            theirs = {field.encode_name: field.type for field in wide.fields}
            return all(
                field.encode_name in theirs and _covers(theirs[field.encode_name], field.type, seen)
                for field in narrow.fields
            )
        case inspect.VarTupleType(), inspect.VarTupleType():
            return _covers(wide.item_type, narrow.item_type, seen)
        case inspect.DictType(), inspect.DictType():
            return _covers(wide.value_type, narrow.value_type, seen)
        case ((inspect.StructType() | inspect.VarTupleType() | inspect.DictType()), _):
            return False  # Whatever the other is, it may hold more than these fields.
        case _:
            return True  # A single value is whole; whether it fits is for the decoder to say.


def _something(info: Any) -> Any:
    """The type of what is there, if something is."""
    if isinstance(info, inspect.UnionType):
        types = [each for each in info.types if not isinstance(each, inspect.NoneType)]
        if len(types) == 1:
            return types[0]
    return info
