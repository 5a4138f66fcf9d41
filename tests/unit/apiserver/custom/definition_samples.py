"""Sample CustomResourceDefinitions, most of them invalid."""

from collections.abc import Iterator
from typing import Any, Final

from tests.unit.apiserver.custom.value_samples import (
    ANYTHING,
    EMBEDDED,
    INTEGER,
    STRING,
    fields,
    items,
    values,
)

GROUP: Final = "definitions.example.com"
OBJECT: Final = {"type": "object"}


def version(name: str = "v1", schema: Any = OBJECT, **rest: Any) -> dict[str, Any]:
    """Return a served version; without a schema if ``schema`` is None."""
    own = {} if schema is None else {"schema": {"openAPIV3Schema": schema}}
    return {"name": name, "served": True, "storage": True, **own, **rest}


def definition(*versions: Any, metadata: Any = None, **spec: Any) -> dict[str, Any]:
    """Return a definition; of Samples by default."""
    complete_spec: dict[str, Any] = {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "samples", "kind": "Sample"},
        "versions": list(versions) or [version()],
        **spec,
    }
    name = f"{complete_spec['names'].get('plural', 'samples')}.{complete_spec['group']}"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, **(metadata or {})},
        "spec": complete_spec,
    }


def of(schema: Any, **rest: Any) -> dict[str, Any]:
    """Return a definition with that schema."""
    return definition(version(schema=schema, **rest))


def field(schema: Any) -> dict[str, Any]:
    """Return a definition with a field of that schema."""
    return of(fields(spec=fields(field=schema)))


def names(**rest: Any) -> dict[str, Any]:
    """Return a definition with these names."""
    return definition(names={"plural": "samples", "kind": "Sample", **rest})


def approved(approval: str | None, group: str = "sample.k8s.io") -> dict[str, Any]:
    """Return a definition in a protected group."""
    annotations = {} if approval is None else {"api-approved.kubernetes.io": approval}
    return definition(group=group, metadata={"annotations": annotations})


def scale(**paths: Any) -> dict[str, Any]:
    """Return a definition with a scale subresource."""
    return of(OBJECT, subresources={"scale": paths})


def column(**settings: Any) -> dict[str, Any]:
    """Return a definition with a printer column."""
    return of(OBJECT, additionalPrinterColumns=[settings])


def selectable(*paths: str) -> dict[str, Any]:
    """Return a definition with selectable fields."""
    spec = fields(
        **{f"f{index}": STRING for index in range(10)},
        number={"type": "number"},
        map=values(STRING),
        list=items(STRING),
        flag={"type": "boolean"},
        count=INTEGER,
    )
    schema = fields(spec=spec, metadata=fields(name=STRING))
    return of(schema, selectableFields=[{"jsonPath": path} for path in paths])


def webhook(**settings: Any) -> dict[str, Any]:
    """Return a definition with a conversion webhook."""
    return definition(conversion={"strategy": "Webhook", "webhook": settings})


def set_of(schema: Any) -> Any:
    """Return the schema of a set."""
    return items(schema, **{"x-kubernetes-list-type": "set"})


def map_of(schema: Any, *keys: str) -> Any:
    """Return the schema of a list with keys."""
    return items(
        schema, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    )


def rule(**settings: Any) -> dict[str, Any]:
    """Return a definition with a CEL rule."""
    return field({**fields(a=STRING, b=values(STRING)), "x-kubernetes-validations": [settings]})


SERVICE: Final = {"name": "hook", "namespace": "default"}
ITEM: Final = {**fields(name=STRING), "required": ["name"]}

# Whole definitions.
_DEFINITIONS: Final = (
    definition(),
    definition(group=""),
    definition(group="nodots"),
    definition(group="Upper.example.com"),
    definition(scope="Other"),
    definition(scope=""),
    definition(versions=[]),
    definition(version(storage=False)),
    definition(version("v1"), version("v2")),
    definition(version("v1"), version("v1", storage=False)),
    definition(version("v1", fields(a=STRING)), version("v2", fields(a=INTEGER))),
    definition(version("V1")),
    definition(version("v1"), version("2", storage=False)),
    definition(version("")),
    definition(version(schema=None)),
    definition(version("v1"), version("v2", None, storage=False)),
    definition(metadata={"name": "other.example.com"}),
    definition(metadata={"name": "Bad_Name"}),
    definition(preserveUnknownFields=True),
    definition(preserveUnknownFields=False),
    names(plural=""),
    names(plural="Samples"),
    names(kind=""),
    names(kind="under_score"),
    names(singular="Sample"),
    names(listKind="Sample"),
    names(listKind="a b"),
    names(shortNames=["ok", "Not", ""]),
    names(categories=["all", "A"]),
    names(plural="x" * 64),
    approved(None),
    approved(""),
    approved("unapproved, for now"),
    approved("https://example.com/pull/1"),
    approved("yes"),
    approved("/pull/1"),
    approved(None, group="x.kubernetes.io"),
    approved(None, group="kubernetes.io"),
    definition(version(deprecated=True, deprecationWarning="soon gone")),
    definition(version(deprecationWarning="soon gone")),
    definition(version(deprecated=True, deprecationWarning="")),
    definition(version(deprecated=True, deprecationWarning="x" * 257)),
    definition(version(deprecated=True, deprecationWarning="a\nb")),
    scale(),
    scale(specReplicasPath=".spec.replicas", statusReplicasPath=".status.replicas"),
    scale(specReplicasPath="spec.replicas", statusReplicasPath=".spec.replicas"),
    scale(specReplicasPath=".status.x", statusReplicasPath=".", labelSelectorPath=".x.y"),
    scale(specReplicasPath=".spec.x", statusReplicasPath=".status.x", labelSelectorPath="status.y"),
    column(name="A", type="string", jsonPath=".spec.a"),
    column(),
    column(name="A", type="text", format="x", jsonPath="spec.a"),
    column(name="A", type="date", format="date-time", jsonPath=".spec['a']"),
    definition(
        version("v1", additionalPrinterColumns=[{"name": "A", "type": "x", "jsonPath": ".a"}]),
        version("v2", storage=False, subresources={"scale": {}}),
    ),
    selectable(".spec.f0", ".spec.count", ".spec.flag"),
    selectable(".spec.nothing", "spec.f0", ".spec.list[0]", ".spec.number", ".spec"),
    selectable(".spec.f0", ".spec.f0", ".metadata.name", ".spec.map.a", ".spec.", ""),
    selectable(*(f".spec.f{index}" for index in range(9))),
    definition(conversion={"strategy": "Other"}),
    definition(conversion={"strategy": ""}),
    definition(conversion={"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}),
    webhook(conversionReviewVersions=["v1"]),
    webhook(clientConfig={}, conversionReviewVersions=["v1"]),
    webhook(clientConfig={"url": "http://x/y"}, conversionReviewVersions=["v2", "v2", "X"]),
    webhook(clientConfig={"url": "https://a:b@x/y?z#w"}, conversionReviewVersions=["v1beta1"]),
    webhook(clientConfig={"url": "https://x/y"}, conversionReviewVersions=[]),
    webhook(clientConfig={"url": "https://x", "service": SERVICE}, conversionReviewVersions=["v1"]),
    webhook(clientConfig={"service": {**SERVICE, "port": 0}}, conversionReviewVersions=["v1"]),
    webhook(
        clientConfig={"service": {"name": "", "namespace": "x", "path": "a//b_", "port": 70000}},
        conversionReviewVersions=["v1"],
    ),
    # Schemas at the root.
    of({}),
    of(STRING),
    of({"type": "array", "items": STRING}),
    of({"type": "nothing"}),
    of({"type": "null"}),
    of(values(STRING)),
    of({**OBJECT, "nullable": True}),
    of({**OBJECT, **ANYTHING}),
    of(ANYTHING),
    of(fields(metadata=OBJECT)),
    of(fields(metadata={**OBJECT, "description": "x"})),
    of(fields(metadata=fields(name={**STRING, "pattern": "^a"}, generateName=STRING))),
    of(fields(metadata=fields(labels=values(STRING)))),
    of(fields(metadata=fields(name={**STRING, "default": "x"}))),
    of(fields(metadata=STRING, kind=INTEGER, apiVersion=OBJECT)),
    of(fields(kind={**STRING, "default": "x"})),
    of({**OBJECT, "default": {}}),
    of({**OBJECT, "oneOf": [{"required": ["a"]}]}, subresources={"status": {}}),
    of({**fields(a=STRING), "minProperties": 1}, subresources={"status": {}}),
    of({**fields(a=STRING), "required": ["a"]}, subresources={"status": {}}),
    of(STRING, subresources={"status": {}}),
    of({**OBJECT, "anyOf": [{"properties": {"a": {"minimum": 1}}}]}),
    of({**fields(a=INTEGER), "anyOf": [{"properties": {"a": {"minimum": 1}}}]}),
    of({**fields(a=items(INTEGER)), "not": {"properties": {"a": {"items": {"minimum": 1}}}}}),
    of({**fields(a=STRING), "allOf": [{"properties": {"metadata": {}}}]}),
    of(
        {
            **fields(a=OBJECT),
            "oneOf": [{"allOf": [{"properties": {"a": {"properties": {"b": {}}}}}]}],
        }
    ),
)

# Schemas of a field.
_FIELDS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"description": "x"},
    {"type": "text"},
    {"type": "null"},
    {"type": "array"},
    items({}),
    items({"description": "x"}),
    {"type": "array", "items": [STRING]},
    {"type": "array", "items": []},
    {**STRING, "$ref": "#/x"},
    {**STRING, "id": "x"},
    {**STRING, "$schema": "x"},
    {**OBJECT, "patternProperties": {"a": STRING}},
    {**OBJECT, "definitions": {"a": {"type": "x"}}},
    {**OBJECT, "dependencies": {"a": ["b"]}},
    {**OBJECT, "dependencies": {"a": {"type": "x", "uniqueItems": True}}},
    {**items(STRING), "additionalItems": True},
    {**items(STRING), "uniqueItems": True},
    {**fields(a=STRING), "additionalProperties": STRING},
    {**fields(a=STRING), "additionalProperties": True},
    {**fields(a=STRING), "additionalProperties": False},
    values({"description": "x"}),
    {**STRING, "x-kubernetes-preserve-unknown-fields": False},
    {**STRING, "pattern": "("},
    {**STRING, "pattern": ")"},
    {**STRING, "pattern": "a(b"},
    {**STRING, "pattern": "[a"},
    {**STRING, "pattern": "[z-a]"},
    {**STRING, "pattern": "*a"},
    {**STRING, "pattern": "a**"},
    {**STRING, "pattern": "a*+"},
    {**STRING, "pattern": "a{1001}"},
    {**STRING, "pattern": "a{3,2}"},
    {**STRING, "pattern": "(?=a)"},
    {**STRING, "pattern": "(?!a)b"},
    {**STRING, "pattern": "(?<=a)b"},
    {**STRING, "pattern": "(?<!a)b"},
    {**STRING, "pattern": "(?>a)"},
    {**STRING, "pattern": r"(a)\1"},
    {**STRING, "pattern": r"a\Z"},
    {**STRING, "pattern": "a\\"},
    {**STRING, "pattern": r"\p{Nothing}"},
    {**STRING, "pattern": "[[:nothing:]]"},
    {**STRING, "pattern": "(?P<a"},
    {**STRING, "pattern": "(?z)a"},
    {**STRING, "anyOf": [{"type": "string"}]},
    {**STRING, "allOf": [{"default": "x"}]},
    {**STRING, "oneOf": [{"title": "x", "description": "y", "nullable": True}]},
    {**STRING, "not": {**ANYTHING, "x-kubernetes-int-or-string": True}},
    {**items(STRING), "anyOf": [{"x-kubernetes-list-type": "set"}]},
    {**OBJECT, "allOf": [{"x-kubernetes-map-type": "atomic", "additionalProperties": STRING}]},
    {**OBJECT, "allOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]},
    {**OBJECT, "allOf": [EMBEDDED]},
    {**STRING, "anyOf": [{"pattern": "("}]},
    {"x-kubernetes-int-or-string": True, **ANYTHING},
    {"x-kubernetes-int-or-string": True, "x-kubernetes-embedded-resource": True},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "string"}, {"type": "integer"}]},
    {
        "x-kubernetes-int-or-string": True,
        "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"type": "string"}],
    },
    {"x-kubernetes-int-or-string": True, "default": 1.5},
    {"x-kubernetes-int-or-string": True, "default": "x"},
    {"x-kubernetes-embedded-resource": True},
    {**STRING, "x-kubernetes-embedded-resource": True},
    {**OBJECT, "x-kubernetes-embedded-resource": True},
    {**values(STRING), "x-kubernetes-embedded-resource": True, **ANYTHING},
    {**EMBEDDED, "properties": {"metadata": STRING, "kind": INTEGER}},
    {**EMBEDDED, "properties": {"metadata": fields(labels=values(STRING))}},
    {**EMBEDDED, "properties": {"metadata": fields(labels=values({**STRING, "default": "x"}))}},
    {**EMBEDDED, "properties": {"metadata": fields(x=EMBEDDED)}},
    {**EMBEDDED, "default": {}},
    {**EMBEDDED, "default": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a/b"}}},
    {**EMBEDDED, "default": {"apiVersion": "v1", "kind": "A", "x": 1}},
    {**EMBEDDED, "default": {"apiVersion": 5, "kind": "A"}},
    {**STRING, "x-kubernetes-map-type": "atomic"},
    {**ANYTHING, "x-kubernetes-map-type": "atomic"},
    {**OBJECT, "x-kubernetes-map-type": "other"},
    {**STRING, "x-kubernetes-list-type": "set"},
    {**ANYTHING, "x-kubernetes-list-type": "atomic"},
    items(STRING, **{"x-kubernetes-list-type": "other"}),
    set_of(items(STRING, **{"x-kubernetes-list-type": "set"})),
    set_of(items(STRING)),
    set_of(OBJECT),
    set_of({**OBJECT, "x-kubernetes-map-type": "atomic"}),
    set_of({**STRING, "nullable": True}),
    items(STRING, **{"x-kubernetes-list-map-keys": ["name"]}),
    items(STRING, **{"x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["name"]}),
    map_of(ITEM, "name"),
    map_of(ITEM),
    map_of(ITEM, "other"),
    map_of(ITEM, "name", "name"),
    map_of(STRING, "name"),
    map_of(fields(name=STRING), "name"),
    map_of(fields(name={**STRING, "default": "x"}), "name"),
    map_of({**fields(name=OBJECT), "required": ["name"]}, "name"),
    map_of({**fields(name={**STRING, "nullable": True}), "required": ["name"]}, "name"),
    map_of({**ITEM, "nullable": True}, "name"),
    {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
    {**STRING, "default": 5},
    {**STRING, "default": None},
    {**STRING, "default": "abc", "maxLength": 2, "pattern": "x"},
    {**STRING, "default": "c", "enum": ["a", "b"]},
    {**INTEGER, "default": "x"},
    {**INTEGER, "default": 1.5},
    {**fields(a=STRING), "default": {"b": 1}},
    {**fields(a=STRING), "default": {"a": 1}},
    {**fields(a=fields(b=STRING)), "default": {"a": {"c": 1}}},
    {**fields(a={**STRING, "default": 1}), "default": {"a": "x"}},
    {**fields(a=STRING), "required": ["a"], "default": {}},
    {**items(INTEGER), "default": ["x"]},
    items({**INTEGER, "default": "x"}),
    values({**INTEGER, "default": 1}),
    values({**INTEGER, "default": "x"}),
    {**fields(a=STRING), "default": {"a": 1, "b": 1}},
    {**items(STRING), "additionalItems": {}},
    {**STRING, "format": "no-such-format"},
    {**INTEGER, "format": "date"},
    {**STRING, "externalDocs": {"url": "x"}, "example": {"a": 1}, "title": "t"},
)

_RULES: Final = (
    rule(rule=""),
    rule(rule="self.a == 'x'", message=" "),
    rule(rule="self.a == 'x'", message="a\nb"),
    rule(rule="self.a ==\n'x'"),
    rule(rule="self.a == 'x'", messageExpression=" "),
    rule(rule="self.a == 'x'", reason="Other"),
    rule(rule="self.a == 'x'", reason="FieldValueForbidden", fieldPath=".a"),
    rule(rule="self.a == 'x'", fieldPath=" "),
    rule(rule="self.a == 'x'", fieldPath=".c"),
    rule(rule="self.a == 'x'", fieldPath=".b['x']"),
    rule(rule="self.a == 'x'", fieldPath=".b[0]"),
)


def _by(url: str) -> dict[str, Any]:
    return webhook(clientConfig={"url": url}, conversionReviewVersions=["v1"])


def _selectable_alone() -> dict[str, Any]:
    """Return a definition with selectable fields in one of its two versions."""
    same = version("v1", fields(a=STRING)), version("v2", fields(a=STRING), storage=False)
    return definition({**same[0], "selectableFields": [{"jsonPath": ".a"}]}, same[1])


_ADDRESSES: Final = (
    _by("https://hook.example.com/convert"),
    _by("https://[::1]:8443"),
    _by("://"),
    _by("hook:x"),
    _by("https://a b"),
    _by("https://a/%zz"),
    _by("https://a:x"),
    _by("a:b/c"),
    _by("1a:b"),
    _by("https://a\n"),
    _by(""),
    webhook(),
    definition(conversion={"strategy": "None", "webhook": {"clientConfig": {}}}),
    _selectable_alone(),
)


def definition_samples() -> Iterator[dict[str, Any]]:
    """Yield all samples."""
    yield from _DEFINITIONS
    for schema in _FIELDS:
        yield field(schema)
    yield from _RULES
    yield from _ADDRESSES
