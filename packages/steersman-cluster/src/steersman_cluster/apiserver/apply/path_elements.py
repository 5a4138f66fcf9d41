"""The elements of a path, as managedFields write them.

``f:replicas`` is a field, ``k:{"name":"web"}`` the list item with these keys, ``v:"x"`` the item of
a set, ``i:0`` a list item by index.
"""

import json
import re
from typing import Any, Literal

import msgspec

from steersman_cluster.apiserver.schema.node import UNSET, Schema

_UNSAFE = re.compile("[<>&\u2028\u2029]")
# Text that needs no escapes in JSON: names and types, which are nearly all values of keys.
_PLAIN = re.compile(r"[\w./:-]*", re.ASCII)


class NoElement(ValueError):
    """A list item cannot be identified, or a text is not a path element."""


def written(value: Any, *, order: Literal["sorted"] | None = None) -> str:
    """Return ``value`` as JSON with escaped HTML characters, as in path elements."""
    if value.__class__ is str and _PLAIN.fullmatch(value):
        return f'"{value}"'
    if type(value) is float and value.is_integer() and abs(value) < 1e21:
        value = int(value)
    text = msgspec.json.encode(value, order=order).decode()
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def element_of(item: Any, of: Schema) -> str:
    """Return the path element of ``item``, an item of a list with the schema ``of``.

    The list's type is set or map.
    """
    if not of.list_map_keys:
        return _element_of_set(item)
    if item.__class__ is not dict:
        kind = "a null element" if item is None else "non-map elements"
        raise NoElement(f"associative list with keys may not have {kind}")
    keys = []
    for name in sorted(of.list_map_keys):
        if name in item:
            value = item[name]
        elif of.items is not None and (key := of.items.properties.get(name)):
            value = key.default
        else:
            value = UNSET
        # A key field without a value is left out of the path element.
        if value is not UNSET:
            keys.append(f'"{name}":{written(value)}')
    if not keys:
        names = " ".join(json.dumps(name) for name in of.list_map_keys)
        raise NoElement(
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    return "k:{" + ",".join(keys) + "}"


def _element_of_set(item: Any) -> str:
    if isinstance(item, dict):
        raise NoElement("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NoElement("not supported: associative list with lists as elements")
    if item is None:
        raise NoElement("associative list without keys has an element that's an explicit null")
    return "v:" + written(item)


def canonical(element: str) -> str | None:
    """Return the path element ``element`` in canonical form; None for an unknown prefix."""
    if element[1:2] != ":":
        raise NoElement(f"no path element: {element}")
    if element[0] == "f":
        return element
    if element[0] not in "kvi":
        return None
    try:
        value = msgspec.json.decode(element[2:])
    except ValueError as error:
        raise NoElement(f"no path element: {element}") from error
    if element[0] == "v":
        return "v:" + written(value)
    if element[0] == "i" and type(value) is int:
        return element
    if element[0] == "k" and isinstance(value, dict):
        return "k:{" + ",".join(f'"{key}":{written(value[key])}' for key in sorted(value)) + "}"
    raise NoElement(f"no path element: {element}")


def shown(element: str) -> str:
    """Return the path element as messages show it: ``.spec``, ``[name="web"]``, ``[="x"]``."""
    if element[0] == "f":
        return "." + element[2:]
    if element[0] == "i":
        return f"[{element[2:]}]"
    value = msgspec.json.decode(element[2:])
    if element[0] == "v":
        return f"[={_quoted(value)}]"
    return "[" + ",".join(f"{key}={_quoted(each)}" for key, each in value.items()) + "]"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def sort_key(element: str) -> tuple[Any, ...]:
    """Return the sort key of a path element: fields by name, then list items by key or value."""
    if element[0] in ".f":
        return (0, element)
    value = msgspec.json.decode(element[2:])
    if element[0] == "k":
        return (1, *((name, *_rank(each)) for name, each in value.items()))
    return (2 if element[0] == "v" else 3, *_rank(value))


def _rank(value: Any) -> tuple[int, Any]:
    """Return a sort key for values of any type: numbers before strings before booleans."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 3, written(value)
