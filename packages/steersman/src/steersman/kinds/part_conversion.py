"""``PartConversion``: converts parts to other classes, and sets a condition of a part.

The shared fields of two classes are computed once for each pair of classes, because operators
convert in every reconcile.
"""

from collections.abc import Callable
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from steersman.errors import BadValue

# The fields that two classes share, each with the conversion of its value; ``None`` for the same
# type.
_Plan: TypeAlias = tuple[tuple[str, Callable[[Any], Any] | None], ...]


class PartConversion:
    """Converts parts of other classes to parts of one class, and sets conditions of its parts."""

    __slots__ = ("_cls", "_condition", "_plans")

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls
        self._plans: dict[type[Any], _Plan] = {}
        self._condition: tuple[type[Any], type[Any]] | None = None

    def convert(self, other: Any) -> Any:
        """Return an object of the class with the value of each field that ``other`` has too."""
        if other is None:
            return self._made({}, "None")
        plan = self._plans.get(type(other))
        if plan is None:
            plan = self._plans[type(other)] = self._plan_for(type(other))
        values: dict[str, Any] = {}
        for name, converted in plan:
            # ``None`` is unset; the default of this class applies then.
            if (value := getattr(other, name)) is not None:
                values[name] = value if converted is None else converted(value)
        return self._made(values, type(other).__name__)

    def with_condition(self, part: Any, condition: Any) -> Any:
        """Return a copy of ``part`` with ``condition``.

        ``condition`` replaces a condition of the same type, or is appended.
        """
        sequence, wanted = self._condition or self._find_condition()
        if type(condition) is not wanted:
            condition = wanted.inlining(condition)
        conditions: list[Any] = list(part.conditions or ())
        places = [at for at, each in enumerate(conditions) if each.type == condition.type]
        if places:
            conditions[places[0]] = condition
        else:
            conditions.append(condition)
        return msgspec.structs.replace(part, conditions=sequence(conditions))

    def _made(self, values: dict[str, Any], source: str) -> Any:
        try:
            return self._cls(**values)
        except TypeError:
            fields = msgspec.structs.fields(self._cls)
            missing = [each.name for each in fields if each.required and each.name not in values]
            raise BadValue(
                wanted=f"a source for {self._cls.__name__}",
                value=source,
                rule=f"it does not have {', '.join(missing)}; give such a field a default, or"
                f" create the {self._cls.__name__} from its fields",
            ) from None

    def _plan_for(self, source: type[Any]) -> _Plan:
        if not hasattr(source, "__struct_fields__"):
            raise BadValue(
                wanted=f"a source for {self._cls.__name__}",
                value=source.__name__,
                rule="it must be a Part or None",
            )
        theirs = {field.name: field.type for field in msgspec.structs.fields(source)}
        # A field with only one possible value, such as apiVersion, needs no conversion.
        shared = [
            each
            for each in msgspec.structs.fields(self._cls)
            if each.name in theirs and get_origin(each.type) is not Literal
        ]
        return tuple(
            (field.name, None if _same(field.type, theirs[field.name]) else self._converter(field))
            for field in shared
        )

    def _converter(self, field: FieldInfo) -> Callable[[Any], Any]:
        return partial(_converted, f"{self._cls.__name__}.{field.name}", field.type)

    def _find_condition(self) -> tuple[type[Any], type[Any]]:
        hints = {field.name: field.type for field in msgspec.structs.fields(self._cls)}
        for hint in _alternatives(hints.get("conditions")):
            item, *_ = *get_args(hint), None
            if {"type", "status"} <= set(getattr(item, "__struct_fields__", ())):
                self._condition = (list if get_origin(hint) is list else tuple, item)
                return self._condition
        raise BadValue(
            wanted="a class whose objects have conditions",
            value=self._cls.__name__,
            rule="add `conditions: tuple[sm.Condition, ...] | None = None` to its fields",
        )


def _same(ours: Any, theirs: Any) -> bool:
    """Whether every value of type ``theirs``, except ``None``, is also a valid value of type
    ``ours``.
    """
    allowed = _alternatives(ours)
    return Any in allowed or all(each in allowed for each in _alternatives(theirs))


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types in a union, without ``None``: ``int`` and ``str`` for ``int | str |
    None``.
    """
    if get_origin(hint) is Annotated:
        return _alternatives(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return tuple(each for choice in get_args(hint) for each in _alternatives(choice))
    return () if hint in (None, NoneType) else (hint,)


def _converted(place: str, hint: Any, value: Any) -> Any:
    try:
        # An object of a base or derived class becomes one of exactly this class: other fields are
        # not in the schema, and the server would refuse them.
        return msgspec.convert(value, hint, from_attributes=True)
    except msgspec.ValidationError as error:
        # The type only: the value may be secret.
        raise BadValue(wanted=f"a {place}", value=type(value).__name__, rule=str(error)) from None
