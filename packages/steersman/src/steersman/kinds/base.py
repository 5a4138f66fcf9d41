"""``Part``: a frozen piece of a Kubernetes object, with its metaclass, and ``Condition``.

Every kind, built-in or custom, consists of parts. The metaclass ensures that:

- fields are keyword-only and frozen, and named in camelCase on the wire unless ``wire_names``
  says otherwise;
- a field whose default is ``None`` is not sent while it is ``None``. Any other value is sent, even
  if it equals the default: ``0``, ``False``, ``""`` and ``()`` are sent. (msgspec itself would
  omit a value that equals a plain default, and server-side apply removes a field that its manager
  no longer sends. msgspec never omits a value whose default comes from a factory, so the metaclass
  converts such defaults to factories.)
- a map is read-only: reading a field returns a view of its map;
- fields named in ``sensitive`` are hidden in reprs.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar, dataclass_transform

import msgspec

from steersman.errors import BadValue
from steersman.kinds.annotations import store_annotations
from steersman.kinds.cel import Cel
from steersman.kinds.declaration import (
    PartInfo,
    ResourceDeclaration,
    check_bases,
    check_fields,
    check_names,
    check_validations,
    read_fields,
)
from steersman.kinds.part_conversion import PartConversion
from steersman.kinds.read_only import map_fields, protect, unwrapped

if TYPE_CHECKING:
    # msgspec's type hints cannot express that ``frozen`` and ``kw_only`` are inherited, so type
    # checkers get this declaration instead, here and nowhere else.

    @dataclass_transform(kw_only_default=True, frozen_default=True)
    class Part:
        """A frozen piece of a Kubernetes object.

        The class statement has three keywords. ``wire_names={"cluster_ip": "clusterIP"}`` names
        fields that are not plain camelCase on the wire. ``sensitive={"password"}`` names fields
        that are hidden in reprs. ``validations=(Cel("self.low <= self.high"),)`` are the validation
        rules for the objects of the class.
        """

        def __init_subclass__(
            cls,
            *,
            wire_names: Mapping[str, str] | None = None,
            sensitive: Collection[str] = (),
            validations: Sequence[Cel] = (),
        ) -> None: ...

        @classmethod
        def inlining(cls, other: "Part | None") -> Self:
            """Return an object of this class, with the values of the fields shared with ``other``.

            If ``other`` is ``None``, no field is set.
            """
            ...

        def with_condition(self, condition: "Condition") -> Self:
            """Return a copy with ``condition``, which replaces a condition of the same type."""
            ...

else:

    class _PartMeta(type(msgspec.Struct)):
        def __new__(
            mcls,
            name: str,
            bases: tuple[type, ...],
            namespace: dict[str, Any],
            *,
            wire_names: Mapping[str, str] | None = None,
            sensitive: Collection[str] = (),
            validations: Sequence[Cel] = (),
            **declared: Any,
        ) -> type:
            check_bases(name, bases)
            annotations = store_annotations(namespace)
            check_names(name, bases, annotations)
            maps = map_fields(annotations, module=namespace.get("__module__", ""))
            read_fields(name, namespace, annotations)
            declaration = ResourceDeclaration.read(name, bases, namespace, declared)
            if declaration is not None:
                declaration.inject_into(namespace, annotations)
            info = PartInfo.joining(
                bases,
                wire_names=wire_names or {},
                sensitive=sensitive,
                validations=check_validations(name, validations),
            )
            cls = super().__new__(
                mcls,
                name,
                bases,
                namespace,
                frozen=True,
                kw_only=True,
                omit_defaults=True,
                # Frozen trees have no cycles, so the garbage collector need not track them: less
                # memory for each, and no pauses that grow with the cache.
                gc=False,
                rename=info.renaming,
            )
            if wire_names:
                check_fields(name, "wire_names", wire_names, annotations)
            if sensitive:
                check_fields(name, "sensitive", sensitive, cls.__struct_fields__)
            protect(cls, maps)
            cls._part = info
            cls._conversion = PartConversion(cls)
            if declaration is not None:
                cls.resource_type = declaration.resource_type
                cls.declared_crd = declaration.crd
            return cls

    class Part(msgspec.Struct, metaclass=_PartMeta):
        """A frozen piece of a Kubernetes object."""

        # ``_part`` and ``_conversion`` have no annotation, which msgspec would read for each class.

        @classmethod
        def inlining(cls, other: "Part | None") -> Self:
            """Return an object with the fields that the class shares with ``other``.

            ``None`` has no fields.
            """
            return cls._conversion.convert(other)

        def with_condition(self, condition: "Condition") -> Self:
            """Return a copy with this condition, which replaces a condition of the same type."""
            return self._conversion.with_condition(self, condition)

        def __reduce__(self) -> tuple[Any, ...]:
            # A map from another part is a view, and views cannot be copied.
            rebuild, (cls, fields) = super().__reduce__()
            return rebuild, (cls, {name: unwrapped(value) for name, value in fields.items()})

        def __repr__(self) -> str:
            inside = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
            return f"{type(self).__name__}({inside})"

        def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
            for field in self.__struct_fields__:
                value = getattr(self, field)
                if value is not None:
                    yield field, self._part.shown(field, value)


class Condition(Part):
    """A condition of an object: true, false or unknown, with the time of its last change.

    Every built-in condition class is a subclass.
    """

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None
    observed_generation: int | None = None

    @property
    def is_true(self) -> bool:
        """Whether the condition's ``status`` is ``True``, and not ``False`` or ``Unknown``."""
        return self.status == "True"

    @staticmethod
    def true(type: str, *, reason: str, message: str = "") -> "Condition":
        """Return a condition of ``type`` whose ``status`` is ``True``."""
        return Condition(type=type, status="True", reason=reason, message=message)

    @staticmethod
    def false(type: str, *, reason: str, message: str = "") -> "Condition":
        """Return a condition of ``type`` whose ``status`` is ``False``."""
        return Condition(type=type, status="False", reason=reason, message=message)

    @staticmethod
    def unknown(type: str, *, reason: str, message: str = "") -> "Condition":
        """Return a condition of ``type`` whose ``status`` is ``Unknown``."""
        return Condition(type=type, status="Unknown", reason=reason, message=message)

    @staticmethod
    def when(holds: bool, type: str, *, yes: str, no: str, message: str = "") -> "Condition":
        """Return a condition of ``type``, with ``status`` ``True`` if ``holds``, else ``False``.

        ``yes`` is the reason if ``holds`` is true, and ``no`` the reason if it is false.
        """
        return Condition(
            type=type,
            status="True" if holds else "False",
            reason=yes if holds else no,
            message=message,
        )


P = TypeVar("P", bound=Part)


def validations_of(part: type[Part]) -> tuple[Cel, ...]:
    """Return the CEL validation rules of the class ``part`` and its bases."""
    info: PartInfo = part._part  # type: ignore[attr-defined]
    return info.validations


def replace(part: P, /, **changes: Any) -> P:
    """Return a copy of ``part`` in which the fields in ``changes`` have new values."""
    try:
        return msgspec.structs.replace(part, **changes)  # type: ignore[type-var]
    except TypeError:
        fields: tuple[str, ...] = part.__struct_fields__  # type: ignore[attr-defined]
        unknown = next((name for name in changes if name not in fields), None)
        if unknown is None:
            raise
    raise BadValue(
        wanted=f"a field of {type(part).__name__}",
        value=unknown,
        rule=f"the fields are {', '.join(fields)}",
    )
