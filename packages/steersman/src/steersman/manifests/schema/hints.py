"""Splits an annotation into a type, its rules, and whether ``None`` is allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, Union, get_args, get_origin

from msgspec.structs import fields

from steersman.kinds import Cel, Rule
from steersman.manifests.schema.place import Place


@dataclass(frozen=True, slots=True)
class Hint:
    """An annotation's type without ``None``, its rules, and whether ``None`` is allowed."""

    type: Any
    """The type; ``int | str`` is the only union that is supported."""
    rule: Rule
    rules: tuple[Cel, ...]
    may_be_none: bool


def parse_annotation(annotation: Any, place: Place) -> Hint:
    """Split ``annotation``, whose type may be in ``Annotated`` or in a union with ``None``.

    Errors name ``place``.
    """
    rules: list[Rule] = []
    cels: list[Cel] = []
    may_be_none = False
    hint = annotation
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            hint, *beside = get_args(hint)
            # The inner rules follow, and earlier rules have precedence.
            rules += [each for each in beside if isinstance(each, Rule)]
            cels += [each for each in beside if isinstance(each, Cel)]
        elif origin in (Union, UnionType):
            choices = [each for each in get_args(hint) if each is not NoneType]
            may_be_none |= len(choices) < len(get_args(hint))
            if len(choices) == 1:
                hint = choices[0]
            elif set(choices) == {int, str}:
                return Hint(int | str, _merged(rules, place), tuple(cels), may_be_none)
            else:
                raise place.refused(
                    f"its type is one of {_type_names(choices)}, but a schema allows only one",
                    "Choose one of them, define a field for each, or use Any.",
                )
        elif origin is Literal and None in get_args(hint):
            may_be_none = True
            hint = Literal[tuple(each for each in get_args(hint) if each is not None)]
        elif isinstance(hint, NewType):
            hint = hint.__supertype__
        elif (alias := getattr(hint, "__value__", None)) is not None:
            hint = alias  # type Alias = ..., since Python 3.12
        else:
            return Hint(hint, _merged(rules, place), tuple(cels), may_be_none)


def is_sequence(origin: Any) -> bool:
    """Whether ``origin``, the origin of a type, represents a JSON array."""
    return origin in (tuple, list, Sequence)


def is_mapping(origin: Any) -> bool:
    """Whether ``origin``, the origin of a type, represents a JSON object with arbitrary keys."""
    return origin in (dict, Mapping)


def type_name(hint: Any) -> str:
    """Return the type ``hint`` as it is written in source code."""
    if get_args(hint):
        return str(hint).replace("typing.", "").replace("collections.abc.", "")
    return str(getattr(hint, "__name__", hint))


def _type_names(hints: list[Any]) -> str:
    return " or ".join(map(type_name, hints))


def _merged(rules: list[Rule], place: Place) -> Rule:
    if len(rules) < 2:
        return rules[0] if rules else _NO_RULE
    constraints: dict[str, Any] = {}
    for rule in rules:
        for field in fields(Rule):
            value = getattr(rule, field.name)
            if value == field.default:
                continue
            if constraints.setdefault(field.name, value) != value:
                raise place.refused(
                    f"two rules set its {field.name}, {constraints[field.name]!r} and {value!r}",
                    "Remove one of them.",
                )
    try:
        return Rule(**constraints)
    except ValueError as error:
        raise place.refused(str(error), "Change one of its rules.") from None


_NO_RULE: Final = Rule()
