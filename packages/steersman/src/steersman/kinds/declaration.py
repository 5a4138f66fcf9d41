"""The declaration of a part or kind in its class statement: fields, wire names, and keywords."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import Field
from functools import cache, lru_cache, partial
from types import FunctionType
from typing import Any, ClassVar, Final, Literal, get_origin

import msgspec

from steersman.errors import BadName, NotAKind
from steersman.kinds.cel import Cel
from steersman.kinds.crd import Crd, check_crd
from steersman.kinds.read_only import unwrapped
from steersman.names import (
    GroupVersionKind,
    ResourceType,
    check_class_kind,
    check_group,
    check_kind,
    check_plural,
    check_version,
    plural_of,
)

# The most frequent annotations. msgspec compiles each annotation that is a string, and in generated
# kinds all are, many of them equal.
_PLAIN: Final[Mapping[Any, Any]] = {
    "str": str,
    "str | None": str | None,
    "int": int,
    "int | None": int | None,
    "bool": bool,
    "bool | None": bool | None,
    "tuple[str, ...]": tuple[str, ...],
    "tuple[str, ...] | None": tuple[str, ...] | None,
}

# kubectl stores a copy of the whole object in this annotation, including a Secret's data.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@lru_cache(maxsize=1024)  # many classes have fields with the same names
def wire_name(field: str) -> str:
    """Return the wire name of ``field``: ``envFrom`` for ``env_from``, ``from`` for ``from_``."""
    if "_" not in field:
        return field
    first, *rest = field.rstrip("_").split("_")
    return first + "".join([word.capitalize() for word in rest])


class PartInfo(msgspec.Struct, frozen=True):
    """The declarations of a class besides its fields: wire names, sensitive fields, validations."""

    wire_names: Mapping[str, str]
    sensitive: frozenset[str]
    validations: tuple[Cel, ...]

    @classmethod
    def joining(
        cls,
        bases: Iterable[type],
        *,
        wire_names: Mapping[str, str],
        sensitive: Collection[str],
        validations: Sequence[Cel],
    ) -> "PartInfo":
        """Return the declarations of ``bases``, followed by those of the class itself."""
        inherited: list[PartInfo] = [
            info for base in bases if (info := getattr(base, "_part", None)) is not None
        ]
        if len(inherited) == 1 and not (wire_names or sensitive or validations):
            return inherited[0]
        names: dict[str, str] = {}
        hidden: set[str] = set()
        joined: dict[Cel, None] = {}
        for info in inherited:
            names |= info.wire_names
            hidden |= info.sensitive
            joined |= dict.fromkeys(info.validations)
        joined |= dict.fromkeys(validations)
        return cls(names | dict(wire_names), frozenset(hidden.union(sensitive)), tuple(joined))

    def wire_name(self, field: str) -> str:
        """Return the name of ``field`` on the wire."""
        return self.wire_names.get(field) or wire_name(field)

    @property
    def renaming(self) -> Callable[[str], str]:
        """Return a function that returns the name on the wire for the name of a field."""
        return self.wire_name if self.wire_names else wire_name

    def shown(self, field: str, value: object) -> object:
        """Return ``value`` as it appears in a repr: hidden if ``field`` is sensitive."""
        if field in self.sensitive:
            return _HIDDEN
        if isinstance(value, Mapping) and _LAST_APPLIED in value:
            return {**value, _LAST_APPLIED: _HIDDEN}
        return unwrapped(value)


class _Hidden:
    def __repr__(self) -> str:
        return "<hidden>"


_HIDDEN = _Hidden()


class NoResourceType:
    """The ``resource_type`` of a class that is not a kind: reading it raises ``NotAKind``."""

    def __get__(self, obj: object, owner: type) -> ResourceType:
        raise NotAKind(
            wanted="a kind",
            value=owner.__name__,
            rule="its class statement has no group and version; add both, or use Unstructured.of"
            " for a kind without a class",
        )


class ResourceDeclaration(msgspec.Struct, frozen=True):
    """The keywords in the class statement of a kind, after validation."""

    resource_type: ResourceType
    crd: Crd | None

    @classmethod
    def read(
        cls,
        name: str,
        bases: Iterable[type],
        namespace: Mapping[str, Any],
        declared: Mapping[str, Any],
    ) -> "ResourceDeclaration | None":
        """Read the declaration in ``class NAME(..., group=..., version=...)``.

        Return ``None`` if the class statement has no keywords of a kind.
        """
        if not declared:
            return None
        if unknown := declared.keys() - _KEYWORDS:
            raise TypeError(
                f"{name}: unknown class keyword: {', '.join(sorted(unknown))};"
                f" the keywords of a kind are {', '.join(sorted(_KEYWORDS))}"
            )
        version = declared.get("version")
        if version is None:
            raise TypeError(f"{name}: {', '.join(declared)} is set, but version is missing")
        if not any(hasattr(base, "api_version") for base in bases):
            raise TypeError(
                f"{name}: only a subclass of Resource can have the class keywords"
                f" {', '.join(declared)}"
            )
        group = declared.get("group") or ""
        # Built-in groups such as "apps" have no dot; only the generated modules of this package may
        # declare them.
        is_ours = str(namespace.get("__module__", "")).startswith("steersman.kinds.")
        if not is_ours:
            check_group(group)
        kind = check_kind(declared["kind"]) if declared.get("kind") else check_class_kind(name)
        resource_type = ResourceType(
            gvk=GroupVersionKind(group, check_version(version), kind),
            plural=check_plural(declared.get("plural") or plural_of(kind)),
            namespaced=declared.get("namespaced", True) is not False,
        )
        crd = declared.get("crd", None if is_ours else Crd())
        return cls(resource_type, check_crd(name, crd, resource_type))

    def inject_into(self, namespace: dict[str, Any], annotations: dict[str, Any]) -> None:
        """Add the fields ``api_version`` and ``kind`` to the body of a class and its annotations.

        Both fields are always sent and decoded. Their types are literals, so all decoded objects
        share the same two strings.
        """
        gvk = self.resource_type.gvk
        for field, value in (("api_version", gvk.api_version), ("kind", gvk.kind)):
            if field in annotations:
                raise BadName(
                    wanted="a field",
                    value=field,
                    rule="every kind already has it; remove it from the class",
                )
            annotations[field] = Literal[value]
            namespace[field] = _always(value)


def check_validations(name: str, validations: Any) -> tuple[Cel, ...]:
    """Return the value of ``validations=`` in the statement of class ``name``, if valid."""
    if validations == ():
        return ()
    if isinstance(validations, str | Cel) or not all(isinstance(each, Cel) for each in validations):
        raise TypeError(
            f"{name}: validations must be Cels, such as (Cel('self.low <= self.high'),)"
        )
    return tuple(validations)


def check_fields(name: str, keyword: str, named: Iterable[str], fields: Collection[str]) -> None:
    """Raise ``TypeError`` if ``named`` contains a name that is not in ``fields``.

    ``named`` is the value of the keyword ``keyword`` in the statement of class ``name``. The
    keyword would have no effect on an unknown field.
    """
    if missing := [field for field in named if field not in fields]:
        raise TypeError(
            f"{name}: {keyword} contains {', '.join(missing)}, which is not a field of the class"
        )


def check_names(name: str, bases: Iterable[type], fields: Iterable[str]) -> None:
    """Raise ``TypeError`` if one of ``fields`` has the name of a property or method of a base.

    Such names are ``labels`` and ``inlining``, for example.
    """
    for base in bases:
        taken = _properties_and_methods(base)
        if taken.isdisjoint(fields):
            continue
        for field in (each for each in fields if each in taken):
            raise TypeError(
                f"{name}: {field} is already a property or method of {base.__name__}; name the"
                f" field {field}_, which is {wire_name(field)} in JSON"
            )


@cache
def _properties_and_methods(base: type) -> frozenset[str]:
    """Return the names of the class's properties and methods.

    The result is cached, because some bases have hundreds of subclasses.
    """
    found: dict[str, object] = {}
    for each in reversed(base.__mro__):
        found |= vars(each)
    return frozenset(name for name, value in found.items() if isinstance(value, _METHOD_TYPES))


def check_bases(name: str, bases: Iterable[type]) -> None:
    """Raise ``TypeError`` for a base without ``__slots__``.

    With such a base, instances of the class ``name`` would not be immutable.
    """
    for base in bases:
        if base.__dictoffset__:
            raise TypeError(f"{name}: its base {base.__name__} must define `__slots__ = ()`")


def read_fields(name: str, namespace: dict[str, Any], annotations: dict[str, Any]) -> None:
    """Convert the fields of a class body and their annotations for msgspec.

    A default other than ``None`` becomes a factory, so that the value is always sent. A common
    annotation in the form of a string, such as ``"int"``, is replaced by its type.
    """
    for field, annotation in annotations.items():
        if isinstance(annotation, str) and annotation in _PLAIN:
            annotations[field] = _PLAIN[annotation]
        elif _is_class_variable(annotation):
            annotations[field] = ClassVar  # in a string, msgspec only recognizes the usual names
            continue
        default = namespace.get(field)
        if default is None:
            continue
        if isinstance(default, _FIELD_SPECIFIERS):
            raise TypeError(
                f"{name}.{field}: the default must be a plain value, not an object of"
                f" {type(default).__name__}"
            )
        namespace[field] = _always(default)


def _is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        # With any alias of typing: "t.ClassVar[int]".
        is_named = "ClassVar" in annotation
        return is_named and re.match(r"([A-Za-z_]\w*\.)*ClassVar\b", annotation) is not None
    return annotation is ClassVar or get_origin(annotation) is ClassVar


def _always(value: Any) -> Any:
    # A mutable default is copied, so that objects do not share it.
    is_mutable = isinstance(value, dict | list | set)
    factory: Callable[[], Any] = partial(deepcopy, value) if is_mutable else lambda: value
    return msgspec.field(default_factory=factory)


_KEYWORDS = frozenset({"group", "version", "kind", "plural", "namespaced", "crd"})
_METHOD_TYPES = (property, FunctionType, classmethod, staticmethod)
_FIELD_SPECIFIERS = (Field, type(_always(None)))
