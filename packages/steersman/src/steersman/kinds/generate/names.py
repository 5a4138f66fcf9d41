"""Python names for names on the wire: ``pod_cidrs`` for ``podCIDRs``."""

import keyword
import re
from collections.abc import Callable, Collection, Iterable

_words = re.compile(
    r"IPv[46]"
    r"|[A-Z]{2,}s(?![a-z])"  # the plural of an acronym: CIDRs
    r"|[A-Z]+(?=V[0-9])"  # an acronym before a version: API, V3
    r"|[A-Z]?[a-z0-9]+"
    r"|[A-Z]+(?![a-z])"
).findall

# In a class body, a field named ``int`` would shadow the type in the next fields.
_TYPES = {"bool", "bytes", "datetime", "float", "int", "str", "tuple"}
_TAKEN = _TYPES.union(keyword.kwlist)


def field_name(wire: str, *, taken: Collection[str] = ()) -> str:
    """Return ``wire`` in snake case; a reserved name gets a trailing underscore."""
    name = "_".join(_words(wire)).lower() or "field"
    if name[0].isdigit():
        name = f"field_{name}"
    return f"{name}_" if name in _TAKEN or name in taken else name


def field_names(wires: Iterable[str], *, taken: Collection[str] = ()) -> dict[str, str]:
    """Return a unique Python name for each field of a class; ``wires`` are the wire names."""
    names: dict[str, str] = {}
    for wire in wires:
        names[wire] = unique_name(names.values(), field_name(wire, taken=taken), "{}_{}".format)
    return names


def class_name(*parts: str) -> str:
    """Return ``parts`` in CamelCase: ``WidgetSpecPorts`` for ``Widget``, ``spec``, ``ports``."""
    words = [word for part in parts for word in re.findall(r"[A-Za-z0-9]+", part)]
    return "".join(word[0].upper() + word[1:] for word in words)


def unique_name(others: Collection[str], name: str, numbered: Callable[[str, int], str]) -> str:
    """Return ``name`` if it is not in ``others``; otherwise ``name`` with a number.

    ``numbered`` adds the number, which is the first one that makes the name unique.
    """
    candidate, number = name, 2
    while candidate in others:
        candidate, number = numbered(name, number), number + 1
    return candidate
