"""Maps that readers cannot change: reading a field returns a view of the stored map.

The cache returns its own objects to every reader, so a reader that changed a map would change the
object for all other readers. Decoding still creates a plain dict, because msgspec does that
fastest. The view is created when the field is read.
"""

import re
import sys
from collections.abc import Callable, Mapping, MutableMapping
from operator import attrgetter
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, NewType, Union, get_args, get_origin

_MAPS: Final = (dict, Mapping, MutableMapping, Any, object)
# A match inside another name only costs a check of the field's value.
_MAPS_IN_TEXT: Final = ("Mapping", "dict", "Dict", "Any", "object")
_SCALARS: Final = (str, bytes, bool, int, float)
_FLAT_IN_TEXT: Final = re.compile(
    r"(Mapping|dict)\[str, (str|bytes|bool|int|float|Quantity)\]( \| None)?"
)
# Types whose targets may not be defined yet. From Python 3.12 on, `type X = …` creates the second.
_LAZY: Final = ("ForwardRef", "TypeAliasType")
_NAME: Final = r"[A-Za-z_]\w*"

# In generated annotations, every map is spelled out, without an alias.
_GENERATED: Final = "steersman.kinds."


class ReadOnlyField:
    """A descriptor for a field of a struct, which returns a map as a read-only view.

    If ``is_flat``, the map contains no maps, so its values are not searched for maps.
    """

    __slots__ = ("_is_flat", "_store", "stored")

    def __init__(self, member: Any, *, is_flat: bool) -> None:
        #: The value without the view, which is decoded, encoded and compared.
        self.stored: Callable[[Any], Any] = member.__get__
        self._store: Callable[[Any, Any], None] = member.__set__
        self._is_flat = is_flat

    def __get__(self, part: object, owner: type | None = None) -> Any:
        if part is None:
            return self
        value = self.stored(part)
        if type(value) is not dict:
            if self._is_flat or type(value) is not tuple:
                return value
            return tuple(read_only(each) if type(each) is dict else each for each in value)
        return MappingProxyType(value) if self._is_flat else read_only(value)

    def __set__(self, part: object, value: object) -> None:
        # A frozen struct raises before this call; ``force_setattr`` does not.
        self._store(part, value)


def stored_field(kind: type[Any], field: str) -> Callable[[Any], Any]:
    """Return a function that reads ``field``, but does not wrap the value in a read-only view.

    Use the function only in code that compares objects and changes nothing.
    """
    member = getattr(kind, field)
    reader: Callable[[Any], Any] = (
        member.stored if isinstance(member, ReadOnlyField) else attrgetter(field)
    )
    return reader


def read_only(map_: dict[Any, Any]) -> Mapping[Any, Any]:
    """Return a read-only view of ``map_``; maps inside it, at any depth, are read-only too."""
    for value in map_.values():
        if type(value) is dict:
            break
    else:
        return MappingProxyType(map_)
    return MappingProxyType(
        {name: read_only(each) if type(each) is dict else each for name, each in map_.items()}
    )


def map_fields(annotations: Mapping[str, Any], *, module: str) -> dict[str, bool]:
    """Return the fields whose annotations permit a map, each with whether that map is flat.

    A map is flat if it contains no maps.
    """
    if module.startswith(_GENERATED) and _is_without_maps(annotations):
        return {}
    return {name: _is_flat(each) for name, each in annotations.items() if _may_be_map(each, module)}


def _is_without_maps(annotations: Mapping[str, Any]) -> bool:
    # One search for the whole class: hundreds of generated classes have no maps.
    try:
        text = " ".join(annotations.values())
    except TypeError:
        return False
    return not any(map(text.__contains__, _MAPS_IN_TEXT))


def protect(cls: type[Any], fields: Mapping[str, bool]) -> None:
    """Replace the descriptors of ``fields`` of ``cls`` by instances of ``ReadOnlyField``.

    ``fields`` is a result of ``map_fields``.
    """
    for field, is_flat in fields.items():
        # Other names are class variables.
        if field in cls.__struct_fields__:
            member = getattr(cls, field)
            if not isinstance(member, ReadOnlyField):
                setattr(cls, field, ReadOnlyField(member, is_flat=is_flat))


def _may_be_map(annotation: Any, module: str) -> bool:
    if isinstance(annotation, str):
        for word in _MAPS_IN_TEXT:
            if word in annotation:
                return True
        return not module.startswith(_GENERATED) and _names_map(annotation, module)
    origin = get_origin(annotation)
    if any(annotation is each or origin is each for each in _MAPS):
        return True
    if type(annotation).__name__ in _LAZY:
        return True
    if isinstance(annotation, NewType):
        return _may_be_map(annotation.__supertype__, module)
    if isinstance(annotation, type) and origin is None and issubclass(annotation, dict):
        return True  # every TypedDict is a dict
    return any(_may_be_map(each, module) for each in get_args(annotation))


def _is_flat(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return _FLAT_IN_TEXT.fullmatch(annotation) is not None
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        return all(each is NoneType or _is_flat(each) for each in get_args(annotation))
    return get_origin(annotation) in (dict, Mapping) and get_args(annotation)[1] in _SCALARS


def _names_map(annotation: str, module: str) -> bool:
    # With `from __future__ import annotations`, aliases are names in the module of the class.
    known = vars(sys.modules[module]) if module in sys.modules else {}
    aliases = (known.get(name) for name in re.findall(_NAME, annotation))
    return any(not isinstance(alias, str) and _may_be_map(alias, module) for alias in aliases)


def unwrapped(value: Any) -> Any:
    """Return ``value`` with every read-only view replaced by a dict; a dict can be copied."""
    if isinstance(value, dict | MappingProxyType):
        return {name: unwrapped(each) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(unwrapped, value))
    return value
