"""Defaulting and validation of definitions."""

from typing import Any

import pytest

from steersman_cluster.apiserver.custom.definition_status import accepted
from steersman_cluster.apiserver.custom.definition_strategy import DEFINITION
from tests.unit.apiserver.custom.definition_samples import (
    approved,
    definition,
    definition_samples,
    field,
    names,
    of,
    selectable,
    version,
)
from tests.unit.apiserver.custom.stateless_server import NOW, NOWHERE, StatelessServer
from tests.unit.apiserver.custom.value_samples import INTEGER, STRING, fields


@pytest.fixture(scope="module")
def server() -> StatelessServer:
    return StatelessServer()


def created(crd: dict[str, Any]) -> dict[str, Any]:
    DEFINITION.default(crd)
    DEFINITION.prepare_create(crd, NOWHERE)
    return accepted(crd, (), now=NOW)


def causes(server: StatelessServer, crd: dict[str, Any]) -> list[tuple[str, str]]:
    return [(where, what) for where, _, what in server.define(crd).causes]


def test_names_and_conversion_are_defaulted() -> None:
    crd = definition()

    DEFINITION.default(crd)

    assert crd["spec"]["names"] == {
        "plural": "samples",
        "kind": "Sample",
        "singular": "sample",
        "listKind": "SampleList",
    }
    assert crd["spec"]["conversion"] == {"strategy": "None"}


def test_the_status_of_a_new_definition_contains_only_its_storage_version() -> None:
    crd = {**definition(), "status": {"conditions": [{"type": "Established"}]}}

    DEFINITION.prepare_create(crd, NOWHERE)

    assert crd["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }


@pytest.mark.parametrize(
    ("crd", "found"),
    [
        (definition(group="nodots"), ("spec.group", "should be a domain with at least one dot")),
        (names(plural="Samples"), ("spec.names.plural", "a DNS-1035 label must consist of")),
        (
            names(listKind="Sample"),
            ("spec.names.listKind", "kind and listKind may not be the same"),
        ),
        (definition(version(storage=False)), ("spec.versions", "must have exactly one version")),
        (definition(version(schema=None)), ("spec.versions[0].schema.openAPIV3Schema", "Required")),
        (definition(preserveUnknownFields=True), ("spec.preserveUnknownFields", "cannot set to")),
        (definition(metadata={"name": "x.y"}), ("metadata.name", 'must be spec.names.plural+"."')),
        (approved(None), ("metadata.annotations[api-approved.kubernetes.io]", "Required value")),
        (selectable(".spec.list"), ("spec.selectableFields[0].jsonPath", "must point to a field")),
        (
            field({}),
            ("spec.validation.openAPIV3Schema.properties[spec].properties[field].type", ""),
        ),
        (
            definition(version("v1", fields(a={})), version("v2", storage=False)),
            ("spec.versions[0].schema.openAPIV3Schema.properties[a].type", "Required value"),
        ),
    ],
)
def test_an_invalid_definition_is_rejected_with_the_invalid_field(
    server: StatelessServer, crd: dict[str, Any], found: tuple[str, str]
) -> None:
    where, what = found

    assert any(each == where and what in why for each, why in causes(server, crd))


def test_every_sample_definition_is_accepted_or_rejected(server: StatelessServer) -> None:
    codes = {server.define(crd).code for crd in definition_samples()}

    assert codes == {201, 400, 422} or codes == {201, 422}


def test_an_unknown_format_gets_a_warning(server: StatelessServer) -> None:
    result = server.define(field({**STRING, "format": "colour"}))

    assert result.warnings == ('unrecognized format "colour"',)


def test_an_unchanged_unknown_format_gets_no_warning() -> None:
    old = field({**STRING, "format": "colour"})

    assert DEFINITION.warnings(old, old) == []


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("spec.scope", {"scope": "Cluster"}),
        ("spec.names.kind", {"names": {"plural": "samples", "kind": "Other"}}),
        ("spec.group", {"group": "other.example.com"}),
        ("spec.names.plural", {"names": {"plural": "others", "kind": "Sample"}}),
    ],
)
def test_the_identity_of_a_definition_is_immutable(path: str, change: dict[str, Any]) -> None:
    old = created(definition())

    new = {**old, "spec": {**old["spec"], **change}}
    DEFINITION.default(new)
    errors = DEFINITION.validate_update(new, old)

    assert [(each.field, each.detail) for each in errors] == [(path, "field is immutable")]


def test_scope_and_kind_can_change_before_the_names_are_accepted() -> None:
    old = definition()
    DEFINITION.default(old)
    DEFINITION.prepare_create(old, NOWHERE)
    new = {**old, "spec": {**old["spec"], "scope": "Cluster"}}

    assert DEFINITION.validate_update(new, old) == []


def test_a_stored_version_cannot_be_removed() -> None:
    two = [version("v1", fields(a=STRING)), version("v2", fields(a=INTEGER), storage=False)]
    old = created(definition(*two))
    new = created(definition(version("v2")))

    DEFINITION.prepare_update(new, old, NOWHERE)
    errors = DEFINITION.validate_update(new, old)

    assert new["status"]["storedVersions"] == ["v1", "v2"]
    assert [each.field for each in errors] == ["status.storedVersions[0]"]
    assert old["status"]["storedVersions"] == ["v1"]


def test_a_schema_with_a_status_subresource_cannot_have_constraints_at_its_root(
    server: StatelessServer,
) -> None:
    schema = {**fields(a=STRING), "minProperties": 1}

    ((where, what),) = causes(server, of(schema, subresources={"status": {}}))

    assert where == "spec.validation.openAPIV3Schema"
    assert what.startswith('Invalid value: {"ID":"","Schema":"","Ref":null,"Description":""')
