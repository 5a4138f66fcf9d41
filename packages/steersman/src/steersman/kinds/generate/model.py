"""The model of the generated source: modules, classes, fields and types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Import: TypeAlias = tuple[str, str]
"""A module, and a name in it."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type as written in an annotation, and the imports that it needs."""

    text: str
    imports: frozenset[Import] = frozenset()

    def or_none(self) -> "Type":
        """Return the union of this type and ``None``."""
        return self if self in _NONE_INCLUDED else Type(f"{self.text} | None", self.imports)


def imported(module: str, name: str) -> Type:
    """Return a type that is imported by its name."""
    return Type(name, frozenset({(module, name)}))


def tuple_of(item: Type) -> Type:
    """Return the type of a tuple with any number of items of type ``item``."""
    return Type(f"tuple[{item.text}, ...]", item.imports)


def mapping_of(value: Type) -> Type:
    """Return the type of a map from names to ``value``."""
    mapping = imported("collections.abc", "Mapping")
    return Type(f"Mapping[str, {value.text}]", value.imports | mapping.imports)


BOOL = Type("bool")
BYTES = Type("bytes")
FLOAT = Type("float")
INT = Type("int")
STR = Type("str")
ANY = imported("typing", "Any")
CONDITION = imported("steersman.kinds.base", "Condition")
DATETIME = imported("datetime", "datetime")
INT_OR_STRING = imported("steersman.units", "IntOrString")
LITERAL = imported("typing", "Literal")
MICRO_TIME = imported("steersman.units", "MicroTime")
QUANTITY = imported("steersman.units", "Quantity")
RAW_JSON = imported("steersman.kinds.raw", "RawJson")
TYPE_ALIAS = imported("typing", "TypeAlias")

_NONE_INCLUDED = (ANY, RAW_JSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a class; a field that is not required is ``None`` until set."""

    name: str
    wire: str
    type: Type
    required: bool
    nullable: bool = False
    sensitive: bool = False
    description: str = ""

    @property
    def annotation(self) -> str:
        """Return the type as written after the field's name."""
        may_be_none = self.nullable or not self.required
        return (self.type.or_none() if may_be_none else self.type).text


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A class, its base, and the keywords of its class statement."""

    name: str
    base: Type
    keywords: Mapping[str, str | bool | None]
    fields: tuple[Field, ...]
    docstring: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Permitted values with a named alias, because they do not fit on one line."""

    name: str
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of classes; ``comment`` is its first line."""

    comment: str
    docstring: str
    classes: tuple[Class, ...]
    choices: tuple[Choices, ...] = ()
    reexports: frozenset[Import] = frozenset()
    """Names that the module re-exports from other modules."""
