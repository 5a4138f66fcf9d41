"""Breaking changes between two definitions are reported with their paths, other changes are not."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadDefinition
from steersman.manifests import BreakingChange, breaking_changes
from steersman_cluster.apiserver.schema.defaults import Defaults
from steersman_cluster.apiserver.schema.node import Schema as Node
from steersman_cluster.apiserver.schema.pruner import prune
from steersman_cluster.apiserver.schema.structural import compile_schema
from steersman_cluster.apiserver.schema.uniqueness import Uniqueness
from steersman_cluster.apiserver.schema.validator import Validator
from tests.unit.manifests.crds import definition, fields, of_versions, rich, version
from tests.unit.manifests.drawn_schemas import schemas, values, variants, wider

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
KEEPS = {"x-kubernetes-preserve-unknown-fields": True}


def paths(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(each.version, each.path) for each in breaking_changes(old, new)]


def of_fields(old: Any, new: Any) -> tuple[BreakingChange, ...]:
    """The breaking changes when the schema of ``spec.it`` changes."""
    return breaking_changes(definition(fields(it=old)), definition(fields(it=new)))


NARROWER: list[tuple[str, Any, Any, str]] = [
    ("type", TEXT, NUMBER, "is now of type integer (previously string)"),
    ("type", {"type": "number"}, NUMBER, "is now of type integer (previously number)"),
    ("either", {"x-kubernetes-int-or-string": True}, NUMBER, "(previously int-or-string)"),
    ("anything", KEEPS, TEXT, "is now of type string (previously anything)"),
    (
        "enum value",
        TEXT | {"enum": ["a", "b"]},
        TEXT | {"enum": ["a", "c"]},
        'no longer accepts "b"',
    ),
    ("enum", TEXT, TEXT | {"enum": ["a"]}, 'now accepts only "a"'),
    ("minimum", NUMBER, NUMBER | {"minimum": 0}, "now has a minimum of 0 (previously none)"),
    ("higher", NUMBER | {"minimum": 0}, NUMBER | {"minimum": 1}, "minimum of 1 (previously 0)"),
    (
        "excluded",
        {"type": "number", "minimum": 0},
        {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "minimum of 0, exclusive (previously 0)",
    ),
    ("maximum", NUMBER | {"maximum": 9}, NUMBER | {"maximum": 5}, "maximum of 5 (previously 9)"),
    ("int32", NUMBER, NUMBER | {"format": "int32"}, "minimum of -2147483648"),
    ("multiple", NUMBER | {"multipleOf": 2}, NUMBER | {"multipleOf": 4}, "a multiple of 4"),
    (
        "minLength",
        TEXT,
        TEXT | {"minLength": 1},
        "must now have at least 1 characters (previously 0)",
    ),
    ("maxLength", TEXT, TEXT | {"maxLength": 5}, "at most 5 characters (previously any number)"),
    (
        "pattern",
        TEXT | {"pattern": "^a"},
        TEXT | {"pattern": "^b"},
        "must now match ^b (previously ^a)",
    ),
    ("format", TEXT, TEXT | {"format": "date-time"}, "must now be of the format date-time"),
    ("null", TEXT | {"nullable": True}, TEXT, "can no longer be null"),
    ("default", TEXT | {"default": "a"}, TEXT | {"default": "b"}, 'now has the default "b"'),
    ("default gone", TEXT | {"default": "a"}, TEXT, 'no longer has a default (previously "a")'),
    ("default new", TEXT, TEXT | {"default": "a"}, 'the default "a" (previously none)'),
    ("rule", TEXT, TEXT | {"x-kubernetes-validations": [{"rule": "self != ''"}]}, "a new rule"),
    (
        "rule changed",
        TEXT | {"x-kubernetes-validations": [{"rule": "self != 'a'"}]},
        TEXT | {"x-kubernetes-validations": [{"rule": "self != 'b'"}]},
        "a changed rule, self != 'b'",
    ),
    ("anyOf", TEXT, TEXT | {"anyOf": [{"minLength": 1}]}, "has a new anyOf"),
    ("allOf", TEXT, TEXT | {"allOf": [{"minLength": 1}]}, "has a new allOf"),
    ("oneOf", TEXT, TEXT | {"oneOf": [{"minLength": 1}]}, "has a new oneOf"),
    ("not", TEXT, TEXT | {"not": {"enum": ["a"]}}, "has a new not"),
    (
        "minItems",
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT, "minItems": 1},
        "must now have at least 1 items",
    ),
    (
        "list type",
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        "now a list of type set (previously atomic)",
    ),
    (
        "unique",
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT, "uniqueItems": True},
        "no longer accepts duplicate items",
    ),
    (
        "map type",
        fields(a=TEXT),
        fields(a=TEXT) | {"x-kubernetes-map-type": "atomic"},
        "now a map of type atomic (previously granular)",
    ),
    ("unknown", fields() | KEEPS, fields(), "no longer keeps fields that its schema does not list"),
    (
        "others",
        {"type": "object", "additionalProperties": TEXT},
        fields(),
        "no longer keeps fields that its schema does not list",
    ),
    (
        "maxProperties",
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "additionalProperties": TEXT, "maxProperties": 3},
        "must now have at most 3 fields",
    ),
    (
        "embedded",
        fields() | KEEPS,
        fields() | KEEPS | {"x-kubernetes-embedded-resource": True},
        "must now be a complete Kubernetes object",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "what"), [each[1:] for each in NARROWER], ids=[each[0] for each in NARROWER]
)
def test_a_narrower_schema_is_reported_with_its_path(old: Any, new: Any, what: str) -> None:
    found = of_fields(old, new)

    assert {(each.version, each.path) for each in found} == {("v1", "spec.it")}
    assert what in " | ".join(map(str, found))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (NUMBER, {"type": "number"}, "is now of type number (previously integer)"),
        (
            NUMBER,
            {"x-kubernetes-int-or-string": True},
            "is now of type int-or-string (previously integer)",
        ),
        (TEXT, KEEPS, "is now of type anything (previously string)"),
    ],
)
def test_a_wider_type_breaks_readers(old: Any, new: Any, what: str) -> None:
    (found,) = of_fields(old, new)

    assert found.what == what
    assert found.why == "clients that expect the previous type cannot read all values"


# Wider schemas, and equivalent ones.
@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((new, old) for name, old, new, _ in NARROWER if name in {"enum", "minimum", "int32"}),
        *((new, old) for name, old, new, _ in NARROWER if name in {"anyOf", "allOf", "not"}),
        *((new, old) for name, old, new, _ in NARROWER if name in {"rule", "format", "null"}),
        (NUMBER | {"minimum": 0, "exclusiveMinimum": True}, NUMBER | {"minimum": 1}),
        (NUMBER | {"enum": [2, 4]}, NUMBER | {"minimum": 1, "maximum": 4, "multipleOf": 2}),
        (TEXT | {"enum": ["ab", "b"]}, TEXT | {"pattern": "b$", "maxLength": 2}),
        ({"type": "boolean"}, {"type": "boolean", "enum": [False, True]}),
        (TEXT, TEXT | {"format": "something-unchecked", "description": "x", "title": "x"}),
        (TEXT | {"format": "uuid4"}, TEXT | {"format": "uuid"}),
        (NUMBER | {"multipleOf": 6}, NUMBER | {"multipleOf": 3}),
        (NUMBER, NUMBER | {"multipleOf": 0.5}),
        (fields("a", a=TEXT), fields(a=TEXT, b=TEXT)),
        (fields(a=TEXT), fields("b", a=TEXT, b=TEXT | {"default": "x"})),
        (fields(a=TEXT), fields(a=TEXT) | KEEPS),
        (fields(a=TEXT), {"type": "object", "additionalProperties": TEXT}),
        (
            {"x-kubernetes-int-or-string": True},
            {
                "x-kubernetes-int-or-string": True,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
            },
        ),
        (TEXT | {"anyOf": [{"minLength": 1}]}, TEXT | {"anyOf": [{"minLength": 1}, {}]}),
        (
            TEXT | {"x-kubernetes-validations": [{"rule": "self != ''", "message": "a"}]},
            TEXT | {"x-kubernetes-validations": [{"rule": "self != ''", "message": "b"}]},
        ),
    ],
)
def test_a_wider_schema_is_not_reported(old: Any, new: Any) -> None:
    assert of_fields(old, new) == ()


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (fields(a=TEXT), fields(), "spec.it.a"),
        (fields(a=TEXT), fields("a", a=TEXT), "spec.it.a"),
        (fields(), fields("a", a=TEXT), "spec.it.a"),
        (fields("a", a=TEXT | {"default": "x"}), fields("a", a=TEXT), "spec.it.a"),
        (
            {"type": "array", "items": fields(a=TEXT)},
            {"type": "array", "items": fields(a=NUMBER)},
            "spec.it[].a",
        ),
        (
            {"type": "object", "additionalProperties": fields(a=TEXT)},
            {"type": "object", "additionalProperties": fields()},
            "spec.it.*.a",
        ),
        (fields() | KEEPS, fields(a=TEXT) | KEEPS, "spec.it.a"),
    ],
)
def test_a_nested_change_is_reported_with_its_path(old: Any, new: Any, path: str) -> None:
    assert {each.path for each in of_fields(old, new)} == {path}


def test_a_change_is_printed_on_one_line() -> None:
    (change,) = of_fields(fields(a=TEXT), fields("a", a=TEXT))

    assert str(change) == "v1 spec.it.a is now required: the server rejects objects without it"


def test_a_rule_of_the_root_is_reported_as_one() -> None:
    old, new = definition(), definition()
    root = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["x-kubernetes-validations"] = [{"rule": "has(self.spec)"}]

    (change,) = breaking_changes(old, new)

    assert str(change).startswith("v1 has a new rule, has(self.spec): ")


def test_metadata_exists_even_if_the_schema_omits_it() -> None:
    old, new = definition(), definition()
    root = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"] |= {"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}}

    assert breaking_changes(old, new) == breaking_changes(new, old) == ()


def test_a_constraint_on_object_names_is_reported() -> None:
    old, new = definition(), definition()
    root = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["metadata"] = fields(name=TEXT | {"maxLength": 5})

    assert paths(old, new) == [("v1", "metadata.name")]
    assert paths(new, old) == []


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"group": "other.example.com"}, "spec.group"),
        ({"scope": "Cluster"}, "spec.scope"),
        ({"names": {"kind": "Widget", "plural": "widgetry"}}, "spec.names.plural"),
        ({"names": {"kind": "Gadget", "plural": "widgets"}}, "spec.names.kind"),
        (
            {"names": {"kind": "Widget", "plural": "widgets", "listKind": "Widgets"}},
            "spec.names.listKind",
        ),
        (
            {"names": {"kind": "Widget", "plural": "widgets", "singular": "one"}},
            "spec.names.singular",
        ),
    ],
)
def test_a_changed_name_or_scope_is_reported(changes: Any, path: str) -> None:
    old, new = definition(), definition()
    new["spec"] |= changes

    assert paths(old, new) == [("", path)]


def test_only_a_removed_short_name_is_reported() -> None:
    old, new = rich(), rich()
    new["spec"]["names"]["shortNames"] = ["gd", "new"]

    (change,) = breaking_changes(old, new)

    assert (change.path, change.what) == ("spec.names.shortNames", "no longer contain gdg")


def test_a_version_that_is_no_longer_served_is_reported() -> None:
    old = of_versions(version("v1"), version("v1beta1"))
    new = of_versions(version("v1"), version("v1beta1", served=False))

    assert paths(old, new) == [("v1beta1", "")]
    assert "no longer served" in str(breaking_changes(old, new)[0])


def test_a_version_that_is_not_served_may_change() -> None:
    old = of_versions(version("v1"), version("v0", fields(a=TEXT), served=False))
    new = of_versions(version("v1"), version("v0", fields(a=NUMBER), served=False))

    assert breaking_changes(old, new) == ()


def test_a_stored_version_cannot_be_removed() -> None:
    old = of_versions(version("v1"), version("v0", served=False))
    old["status"] = {"storedVersions": ["v0", "v1"]}

    (change,) = breaking_changes(old, of_versions(version("v1")))

    assert change.version == "v0"
    assert "storedVersions" in change.why


def test_a_new_version_that_accepts_stored_objects_is_not_reported() -> None:
    old = definition(fields(a=TEXT))
    new = of_versions(version("v1", fields(a=TEXT)), version("v2", fields(a=TEXT, b=TEXT)))

    assert breaking_changes(old, new) == ()


def test_a_new_version_that_rejects_stored_objects_needs_conversion() -> None:
    old = definition(fields(a=TEXT))
    new = of_versions(version("v1", fields(a=TEXT)), version("v2", fields(b=TEXT)))

    assert paths(old, new) == [("v2", "spec.a")]
    new["spec"]["conversion"] = {"strategy": "Webhook"}
    assert paths(old, new) == []


def test_a_changed_storage_version_that_drops_fields_is_reported() -> None:
    was, becomes = fields(a=TEXT, c=TEXT), fields(a=NUMBER, b=TEXT)
    old = of_versions(version("v1", was), version("v2", becomes))
    new = of_versions(version("v1", was), version("v2", becomes, storage=True))

    (change,) = breaking_changes(old, new)

    assert (change.version, change.path) == ("v2", "spec.c")
    assert change.why == "the server drops its value from every object written as v1"
    new["spec"]["conversion"] = {"strategy": "Webhook"}
    assert breaking_changes(old, new) == ()


def test_a_changed_storage_version_with_all_fields_is_not_reported() -> None:
    old = of_versions(version("v1", fields(a=TEXT)), version("v2", fields(a=TEXT, b=TEXT)))
    new = of_versions(
        version("v1", fields(a=TEXT)), version("v2", fields(a=TEXT, b=TEXT), storage=True)
    )

    assert breaking_changes(old, new) == ()


def test_a_removed_conversion_is_reported() -> None:
    old, new = (of_versions(version("v1"), version("v2")) for _ in "ab")
    old["spec"]["conversion"] = {"strategy": "Webhook"}

    assert paths(old, new) == [("", "spec.conversion")]


def test_a_removed_subresource_is_reported() -> None:
    old, new = rich(), rich()
    new["spec"]["versions"][0]["subresources"] = {}

    assert paths(old, new) == [("v1", "/status"), ("v1", "/scale")]


def test_a_new_status_subresource_is_reported() -> None:
    old, new = definition(), of_versions(version("v1", subresources={"status": {}}))

    assert paths(old, new) == [("v1", "status")]


def test_a_changed_path_of_the_scale_is_reported() -> None:
    old, new = rich(), rich()
    new["spec"]["versions"][0]["subresources"]["scale"]["specReplicasPath"] = ".spec.low"

    assert paths(old, new) == [("v1", "/scale specReplicasPath")]


def test_a_removed_selectable_field_is_reported() -> None:
    old, new = rich(), rich()
    del new["spec"]["versions"][0]["selectableFields"]

    assert paths(old, new) == [("v1", "spec.mode")]


def test_columns_and_deprecations_are_not_reported() -> None:
    old, new = rich(), rich()
    new["spec"]["versions"][0] |= {"additionalPrinterColumns": [], "deprecated": True}

    assert breaking_changes(old, new) == ()


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"},
        definition() | {"spec": []},
        definition(versions=[1]),
        definition(versions=[{"name": 1}]),
        definition(fields(a=1)),
        definition({"type": "object", "required": "a"}),
        definition({"type": "array", "items": [TEXT]}),
        definition(TEXT | {"x-kubernetes-validations": ["self"]}),
    ],
)
def test_a_document_that_is_not_a_definition_is_rejected(broken: Any) -> None:
    with pytest.raises(BadDefinition, match="is not a CustomResourceDefinition: "):
        breaking_changes(definition(), broken)


@given(schema=schemas)
def test_an_unchanged_definition_reports_nothing(schema: dict[str, Any]) -> None:
    assert of_fields(schema, deepcopy(schema)) == ()


class Server:
    """The embedded server's handling of values by one schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        written = fields(it=schema)
        self._node = compile_schema(written, object_meta=Node(type="object", preserve_unknown=True))
        self._validator = Validator(written)
        self._defaults, self._sets = Defaults(self._node), Uniqueness(self._node)

    def accepts(self, value: Any) -> bool:
        """Whether the server accepts the value and drops nothing of it."""
        sent = {"it": deepcopy(value)}
        prune(sent, self._node)
        if sent != {"it": value}:
            return False
        self._defaults.fill(sent)
        return not self._validator.errors(sent) and not self._sets.errors(sent)


@given(data=st.data())
def test_without_a_breaking_change_every_stored_object_stays_valid_and_complete(
    data: st.DataObject,
) -> None:
    old = data.draw(schemas)
    new = data.draw(variants(old))
    value = data.draw(values(old))

    breaks = of_fields(old, new) != ()

    assert breaks or not Server(old).accepts(value) or Server(new).accepts(value)


@given(data=st.data())
def test_a_wider_definition_reports_nothing(data: st.DataObject) -> None:
    old = data.draw(schemas)
    new = data.draw(wider(old))

    assert of_fields(old, new) == ()
