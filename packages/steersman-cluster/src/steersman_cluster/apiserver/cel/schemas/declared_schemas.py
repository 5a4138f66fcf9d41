"""The CEL declarations of a custom resource's schema: types and maximum sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.cel import cel_types
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.field_selection import escaped

Written: TypeAlias = Mapping[str, Any]

# The maximum size of a request, and thus of an object.
REQUEST_BYTES: Final = 3 * 1024 * 1024

_DATE_BYTES: Final = 12
_TIME_BYTES: Final = 32  # the longest timestamp; the shortest has 21 bytes
# The type of a string of each format, and its minimum and maximum size as JSON.
_FORMATS: Final = {
    "duration": (cel_types.DURATION, 3, _TIME_BYTES),
    "date": (cel_types.TIMESTAMP, _DATE_BYTES, _DATE_BYTES),
    "date-time": (cel_types.TIMESTAMP, 21, _TIME_BYTES),
}
_TEXT: Final[Written] = {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclType:
    """A CEL type, with two limits of its values.

    ``max_elements`` is the maximum number of list elements, map entries or characters of a value,
    ``min_serialized_size`` the minimum size of a value in a request.
    """

    type: CelType
    max_elements: int = 0
    min_serialized_size: int = 1
    keys: "DeclType | None" = None
    elements: "DeclType | None" = None
    fields: "Mapping[str, DeclType]" = field(default_factory=dict)

    def named(self, name: str) -> "DeclType":
        """Return this declaration with ``name`` as its type name, if it is an object type.

        Object types inside it get names that start with ``name``. Error messages contain these
        names.
        """
        if self.type.kind == "object":
            fields = {key: each.named(f"{name}.{key}") for key, each in self.fields.items()}
            inside = {key: each.type for key, each in fields.items()}
            return replace(self, type=CelType("object", name, fields=inside), fields=fields)
        if self.elements is None:
            return self
        if self.type.kind == "map":
            elements = self.elements.named(f"{name}.@elem")
            of = cel_types.map_of(cel_types.STRING, elements.type)
        else:
            elements = self.elements.named(f"{name}.@idx")
            of = cel_types.list_of(elements.type)
        return replace(self, type=of, elements=elements)


_KEY: Final = DeclType(type=cel_types.STRING, min_serialized_size=2)


def declared(written: Written, *, is_resource: bool) -> DeclType | None:
    """Return the declaration for the schema ``written``.

    The result is None if CEL expressions cannot read values of the schema. ``is_resource`` is true
    for a schema of a complete object.
    """
    if written.get("x-kubernetes-int-or-string"):
        return DeclType(type=cel_types.DYN, max_elements=_or_any(_characters(written, 4)))
    if is_resource:
        written = with_resource_fields(written)
    match written.get("type"):
        case "array":
            return _list(written)
        case "object":
            return _object(written)
        case "string":
            return _text(written)
        case "boolean":
            return DeclType(type=cel_types.BOOL, min_serialized_size=4)
        case "number":
            return DeclType(type=cel_types.DOUBLE)
        case "integer":
            return DeclType(type=cel_types.INT)
        case _:
            return None


def _inside(written: Written) -> DeclType | None:
    return declared(written, is_resource=bool(written.get("x-kubernetes-embedded-resource")))


def _characters(written: Written, factor: int) -> int | None:
    """Return the maximum length, multiplied by ``factor`` bytes a character; None if unlimited."""
    limit = written.get("maxLength")
    return None if limit is None else max(0, int(limit)) * factor


def _list(written: Written) -> DeclType | None:
    items = written.get("items")
    elements = _inside(items) if isinstance(items, Mapping) else None
    if elements is None:
        return None
    limit = written.get("maxItems")
    max_elements = (REQUEST_BYTES - 2) // (elements.min_serialized_size + 1)
    return DeclType(
        type=cel_types.list_of(elements.type),
        max_elements=max_elements if limit is None else max(0, int(limit)),
        min_serialized_size=2,
        elements=elements,
    )


def _object(written: Written) -> DeclType | None:
    additional = written.get("additionalProperties")
    if isinstance(additional, Mapping):
        values = _inside(additional)
        if values is None:
            return None
        limit = written.get("maxProperties")
        max_elements = (REQUEST_BYTES - 2) // (values.min_serialized_size + 6)
        return DeclType(
            type=cel_types.map_of(cel_types.STRING, values.type),
            max_elements=max_elements if limit is None else max(0, int(limit)),
            min_serialized_size=2,
            keys=_KEY,
            elements=values,
        )
    fields: dict[str, DeclType] = {}
    needed = set(written.get("required") or ())
    min_size = 2
    for name, each in (written.get("properties") or {}).items():
        found = _inside(each)
        if found is None:
            continue
        if (spelled := escaped(name)) is not None:
            fields[spelled] = found
        if name in needed and each.get("default") is None:
            min_size += len(name.encode()) + found.min_serialized_size + 4
    inside = {key: each.type for key, each in fields.items()}
    return DeclType(
        type=CelType("object", "object", fields=inside), min_serialized_size=min_size, fields=fields
    )


def _text(written: Written) -> DeclType:
    kind = written.get("format")
    if kind in _FORMATS:
        of, min_size, max_elements = _FORMATS[kind]
        return DeclType(type=of, max_elements=max_elements, min_serialized_size=min_size)
    if kind == "byte":
        return DeclType(
            type=cel_types.BYTES,
            max_elements=_or_any(_characters(written, 1)),
            min_serialized_size=2,
        )
    limit = _characters(written, 4)
    if limit is None and written.get("enum"):
        texts = [each.encode() for each in written["enum"] if isinstance(each, str)]
        limit = max(map(len, texts), default=0)
    return DeclType(type=cel_types.STRING, max_elements=_or_any(limit), min_serialized_size=2)


def _or_any(limit: int | None) -> int:
    """Return ``limit``; if it is None, the length of the longest quoted text that fits into a
    request.
    """
    return REQUEST_BYTES - 2 if limit is None else limit


def with_resource_fields(written: Written) -> Written:
    """Return the schema of an object with its kind, apiVersion and names declared.

    Every object contains them, although its schema does not have to declare them.
    """
    properties = written.get("properties") or {}
    metadata = properties.get("metadata") or {}
    names = metadata.get("properties") or {}
    texts = (properties.get("kind"), properties.get("apiVersion"), *map(names.get, _NAMES))
    if metadata.get("type") == "object" and all(
        each is not None and each.get("type") == "string" for each in texts
    ):
        return written
    return {
        **written,
        "properties": {
            **properties,
            "kind": _TEXT,
            "apiVersion": _TEXT,
            "metadata": {"type": "object", "properties": dict.fromkeys(_NAMES, _TEXT)},
        },
    }


_NAMES: Final = ("name", "generateName")
