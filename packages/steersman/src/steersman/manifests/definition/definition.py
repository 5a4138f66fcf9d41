"""The fields of a CustomResourceDefinition that the package ``definition`` uses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, TypeAlias

from steersman.errors import BadDefinition
from steersman.manifests.documents import Document

Schema: TypeAlias = Mapping[str, Any]

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_TYPE: Final = "x-kubernetes-list-type"
LIST_MAP_KEYS: Final = "x-kubernetes-list-map-keys"
MAP_TYPE: Final = "x-kubernetes-map-type"
VALIDATIONS: Final = "x-kubernetes-validations"

# The fields of every object, even if its schema omits them.
META_FIELDS: Final = ("apiVersion", "kind", "metadata")

# Many tools write this with int-or-string, for readers that do not support the extension.
INTEGER_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a kind, as its CRD describes the version."""

    name: str
    served: bool
    stored: bool
    schema: Schema
    subresources: Mapping[str, Any]
    columns: tuple[Mapping[str, Any], ...]
    selectable_fields: tuple[str, ...]
    deprecated: bool
    warning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A CustomResourceDefinition, with its versions in the order of the document."""

    name: str
    group: str
    namespaced: bool
    names: Mapping[str, Any]
    conversion: str
    versions: tuple[Version, ...]
    once_stored: tuple[str, ...]
    """Versions in which objects may be stored: ``status.storedVersions``, the storage version."""

    @property
    def kind(self) -> str:
        """``names.kind``"""
        return str(self.names["kind"])

    @property
    def plural(self) -> str:
        """``names.plural``"""
        return str(self.names["plural"])

    @property
    def singular(self) -> str:
        """Return ``names.singular``; by default, the kind in lower case."""
        return str(self.names.get("singular") or self.kind.lower())

    def words(self, field: str) -> tuple[str, ...]:
        """Return ``names.shortNames`` or ``names.categories``, as ``field`` selects."""
        return tuple(map(str, self.names.get(field) or ()))

    def version(self, name: str | None = None) -> Version:
        """Return the version called ``name``; without a name, return the storage version."""
        for each in self.versions:
            if each.stored if name is None else each.name == name:
                return each
        there = ", ".join(each.name for each in self.versions) or "none"
        wanted = "no version that is stored" if name is None else f"no version {name}"
        raise BadDefinition(
            source=self.name,
            problem=f"it has {wanted}; its versions are: {there}",
            what_now="Name one of them." if name else "Mark one of them with `storage: true`.",
        )


def read_definition(document: Document) -> Definition:
    """Read ``document``, a CustomResourceDefinition, and check the fields that are read."""
    reader = _Reader(document)
    if document.get("kind") != "CustomResourceDefinition":
        raise reader.refused(f"its kind is {document.get('kind')!r}")
    if document.get("apiVersion") != "apiextensions.k8s.io/v1":
        raise reader.refused(f"its apiVersion is {document.get('apiVersion')!r}")
    spec = reader.mapping(document, "spec")
    names = reader.mapping(spec, "names")
    for field in ("kind", "plural"):
        reader.text(names, field)
    for field in ("shortNames", "categories"):
        if not _is_names(names.get(field) or []):
            raise reader.refused(f"{field!r} is not a list of names")
    versions = tuple(reader.version(each) for each in reader.mappings(spec, "versions"))
    status = reader.mapping(document, "status", may_lack=True)
    conversion = reader.mapping(spec, "conversion", may_lack=True)
    return Definition(
        name=reader.source,
        group=reader.text(spec, "group"),
        namespaced=reader.text(spec, "scope") != "Cluster",
        names=names,
        conversion=str(conversion.get("strategy") or "None"),
        versions=versions,
        once_stored=tuple(
            dict.fromkeys(
                [
                    *map(str, status.get("storedVersions") or ()),
                    *(each.name for each in versions if each.stored),
                ]
            )
        ),
    )


class _Reader:
    """A reader of one document, which raises ``BadDefinition`` for a malformed field."""

    def __init__(self, document: Document) -> None:
        metadata = document.get("metadata")
        name = metadata.get("name") if isinstance(metadata, Mapping) else None
        self.source = str(name or "the document")

    def version(self, found: Mapping[str, Any]) -> Version:
        schema = self.mapping(found, "schema", may_lack=True)
        written = self.mapping(schema, "openAPIV3Schema", may_lack=True)
        name = self.text(found, "name")
        self._check(written, f"the schema of {name}")
        subresources = self.mapping(found, "subresources", may_lack=True)
        for each in ("status", "scale"):
            self.mapping(subresources, each, may_lack=True)
        return Version(
            name=name,
            served=found.get("served") is not False,
            stored=found.get("storage") is True,
            schema=written,
            subresources=subresources,
            columns=self.mappings(found, "additionalPrinterColumns", may_lack=True),
            selectable_fields=tuple(
                self.text(each, "jsonPath")
                for each in self.mappings(found, "selectableFields", may_lack=True)
            ),
            deprecated=found.get("deprecated") is True,
            warning=str(found.get("deprecationWarning") or ""),
        )

    def _check(self, schema: Any, where: str) -> None:
        """Raise ``BadDefinition`` unless ``schema`` and all schemas inside it are well-formed.

        The other modules walk a schema without further checks.
        """
        if not isinstance(schema, Mapping):
            raise self.refused(f"{where} is not an object")
        for keyword, (words, is_right) in _KEYWORDS.items():
            if schema.get(keyword) is not None and not is_right(schema[keyword]):
                raise self.refused(f"{keyword!r} in {where} is not {words}")
        for place, each in inside(schema):
            self._check(each, f"{where}.{place}")

    def mapping(
        self, owner: Mapping[str, Any], field: str, *, may_lack: bool = False
    ) -> Mapping[str, Any]:
        found = owner.get(field)
        if found is None and may_lack:
            return {}
        if not isinstance(found, Mapping):
            raise self.refused(f"{field!r} is not an object")
        return found

    def mappings(
        self, owner: Mapping[str, Any], field: str, *, may_lack: bool = False
    ) -> tuple[Mapping[str, Any], ...]:
        found = owner.get(field)
        if found is None and may_lack:
            return ()
        if not isinstance(found, Sequence) or not all(isinstance(each, Mapping) for each in found):
            raise self.refused(f"{field!r} is not a list of objects")
        return tuple(found)

    def text(self, owner: Mapping[str, Any], field: str) -> str:
        found = owner.get(field)
        if not isinstance(found, str) or not found:
            raise self.refused(f"{field!r} is not a string")
        return found

    def refused(self, problem: str) -> BadDefinition:
        return BadDefinition(
            source=self.source,
            problem=problem,
            what_now="Use a CustomResourceDefinition of apiextensions.k8s.io/v1.",
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_mappings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _is_named(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, str) for each in value)


# The type of the value of each keyword; the server validates the meaning.
_KEYWORDS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    **dict.fromkeys(
        ("type", "format", "pattern", "description", "title", LIST_TYPE, MAP_TYPE),
        ("a string", _is_text),
    ),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), ("a number", _is_number)),
    **dict.fromkeys(
        (
            f"{bound}{what}"
            for bound in ("min", "max")
            for what in ("Length", "Items", "Properties")
        ),
        ("a whole number", _is_size),
    ),
    **dict.fromkeys(
        (
            *("nullable", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum"),
            *(PRESERVE, EMBEDDED, INT_OR_STRING),
        ),
        ("true or false", _is_flag),
    ),
    "enum": ("a list", _is_list),
    **dict.fromkeys(("required", LIST_MAP_KEYS), ("a list of names", _is_names)),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", VALIDATIONS), ("a list of objects", _is_mappings)),
    "properties": ("an object with names", _is_named),
}


def inside(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield each direct subschema of ``schema`` with its path, such as ``anyOf[0]``."""
    for name, each in (schema.get("properties") or {}).items():
        yield str(name), each
    if schema.get("items") is not None:
        yield "items", schema["items"]
    if not isinstance(schema.get("additionalProperties"), bool | None):
        yield "additionalProperties", schema["additionalProperties"]
    for junctor in ("allOf", "anyOf", "oneOf"):
        for number, each in enumerate(schema.get(junctor) or ()):
            yield f"{junctor}[{number}]", each
    if schema.get("not") is not None:
        yield "not", schema["not"]


def properties_of(schema: Schema) -> Mapping[str, Schema]:
    """Return the ``properties`` of ``schema``; empty if there are none."""
    found: Mapping[str, Schema] = schema.get("properties") or {}
    return found


def required_of(schema: Schema) -> tuple[str, ...]:
    """Return the names of the fields that ``schema`` requires."""
    return tuple(schema.get("required") or ())


def default_of(schema: Schema) -> Any:
    """Return the default that the server sets; ``None`` if there is no default, or it is null."""
    return schema.get("default")


def alternatives(schema: Schema, name: str) -> list[Schema]:
    """Return the schemas under ``name``, which is ``anyOf``, ``allOf`` or ``oneOf``.

    A schema that only repeats that the value is an integer or a string is left out.
    """
    found: list[Schema] = list(schema.get(name) or ())
    if not schema.get(INT_OR_STRING):
        return found
    if name == "anyOf" and found == INTEGER_OR_STRING:
        return []
    if name == "allOf" and found[:1] == [{"anyOf": INTEGER_OR_STRING}]:
        return found[1:]
    return found
