"""The declarations of a custom resource schema for expressions: types and maximum sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.cel import cel_types
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.field_selection import escaped

Written: TypeAlias = Mapping[str, Any]

# The largest request that the server reads, and so the largest object.
REQUEST_BYTES: Final = 3 * 1024 * 1024

_DATE_BYTES: Final = 12
_TIME_BYTES: Final = 32  # the longest; the shortest moment has 21
# Of a text in each format: its type, its least size as JSON, and its most.
_FORMATS: Final = {
    "duration": (cel_types.DURATION, 3, _TIME_BYTES),
    "date": (cel_types.TIMESTAMP, _DATE_BYTES, _DATE_BYTES),
    "date-time": (cel_types.TIMESTAMP, 21, _TIME_BYTES),
}
_TEXT: Final[Written] = {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A type, the maximum number of its values' elements or characters, and their minimum size."""

    type: CelType
    most: int = 0
    least_bytes: int = 1
    keys: "Declared | None" = None
    elements: "Declared | None" = None
    fields: "Mapping[str, Declared]" = field(default_factory=dict)

    def named(self, name: str) -> "Declared":
        """Return the same declaration with names for its object types, which messages show."""
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


_KEY: Final = Declared(type=cel_types.STRING, least_bytes=2)


def declared(written: Written, *, is_resource: bool) -> Declared | None:
    """Return the declaration of a schema; None if expressions cannot read such values."""
    if written.get("x-kubernetes-int-or-string"):
        return Declared(type=cel_types.DYN, most=_or_any(_characters(written, 4)))
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
            return Declared(type=cel_types.BOOL, least_bytes=4)
        case "number":
            return Declared(type=cel_types.DOUBLE)
        case "integer":
            return Declared(type=cel_types.INT)
        case _:
            return None


def _inside(written: Written) -> Declared | None:
    return declared(written, is_resource=bool(written.get("x-kubernetes-embedded-resource")))


def _characters(written: Written, factor: int) -> int | None:
    """Return the maximum length, multiplied by ``factor`` bytes a character; None if unlimited."""
    limit = written.get("maxLength")
    return None if limit is None else max(0, int(limit)) * factor


def _list(written: Written) -> Declared | None:
    items = written.get("items")
    elements = _inside(items) if isinstance(items, Mapping) else None
    if elements is None:
        return None
    limit = written.get("maxItems")
    most = (REQUEST_BYTES - 2) // (elements.least_bytes + 1)
    return Declared(
        type=cel_types.list_of(elements.type),
        most=most if limit is None else max(0, int(limit)),
        least_bytes=2,
        elements=elements,
    )


def _object(written: Written) -> Declared | None:
    additional = written.get("additionalProperties")
    if isinstance(additional, Mapping):
        values = _inside(additional)
        if values is None:
            return None
        limit = written.get("maxProperties")
        most = (REQUEST_BYTES - 2) // (values.least_bytes + 6)
        return Declared(
            type=cel_types.map_of(cel_types.STRING, values.type),
            most=most if limit is None else max(0, int(limit)),
            least_bytes=2,
            keys=_KEY,
            elements=values,
        )
    fields: dict[str, Declared] = {}
    needed = set(written.get("required") or ())
    least = 2
    for name, each in (written.get("properties") or {}).items():
        found = _inside(each)
        if found is None:
            continue
        if (spelled := escaped(name)) is not None:
            fields[spelled] = found
        if name in needed and each.get("default") is None:
            least += len(name.encode()) + found.least_bytes + 4
    inside = {key: each.type for key, each in fields.items()}
    return Declared(
        type=CelType("object", "object", fields=inside), least_bytes=least, fields=fields
    )


def _text(written: Written) -> Declared:
    kind = written.get("format")
    if kind in _FORMATS:
        of, least, most = _FORMATS[kind]
        return Declared(type=of, most=most, least_bytes=least)
    if kind == "byte":
        return Declared(type=cel_types.BYTES, most=_or_any(_characters(written, 1)), least_bytes=2)
    limit = _characters(written, 4)
    if limit is None and written.get("enum"):
        texts = [each.encode() for each in written["enum"] if isinstance(each, str)]
        limit = max(map(len, texts), default=0)
    return Declared(type=cel_types.STRING, most=_or_any(limit), least_bytes=2)


def _or_any(limit: int | None) -> int:
    """Return the limit, by default the longest quoted text that fits into a request."""
    return REQUEST_BYTES - 2 if limit is None else limit


def with_resource_fields(written: Written) -> Written:
    """Add kind and name to the schema of a resource's root, because every object has them."""
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
