"""The resources that a definition serves."""

from typing import Any

import pytest

from steersman_cluster.apiserver.custom.definition_resources import served
from steersman_cluster.apiserver.request.resources import ScalePaths
from steersman_cluster.apiserver.schema.node import Schema
from tests.unit.apiserver.custom.definition_samples import definition, of, version
from tests.unit.apiserver.custom.stateless_server import StatelessServer
from tests.unit.apiserver.custom.value_samples import (
    INTEGER,
    MAP_LIST,
    STRING,
    VALUE_SAMPLES,
    fields,
)


@pytest.fixture(scope="module")
def server() -> StatelessServer:
    return StatelessServer()


SCALE = {
    "specReplicasPath": ".spec.size",
    "statusReplicasPath": ".status.size",
    "labelSelectorPath": ".status.selector",
}
SIZED = of(
    fields(
        spec=fields(size={**INTEGER, "minimum": 1, "default": 3}, list=MAP_LIST),
        status=fields(size=INTEGER, selector=STRING),
    ),
    subresources={"status": {}, "scale": SCALE},
    selectableFields=[{"jsonPath": ".spec.size"}],
)


def sample(**rest: Any) -> dict[str, Any]:
    return {
        "apiVersion": "definitions.example.com/v1",
        "kind": "Sample",
        "metadata": {"name": "one", "namespace": "default"},
        **rest,
    }


def test_the_served_resources_of_a_crd_depend_only_on_the_crd(
    server: StatelessServer,
) -> None:
    crd = definition(
        version(subresources={"status": {}, "scale": SCALE}),
        names={"plural": "samples", "kind": "Sample", "shortNames": ["s"], "categories": ["all"]},
    )

    (resource,) = server.established(crd)

    assert str(resource.gvk) == "definitions.example.com/v1 Sample"
    assert (resource.plural, resource.singular, resource.list_kind) == (
        "samples",
        "sample",
        "SampleList",
    )
    assert (resource.short_names, resource.categories) == (("s",), ("all",))
    assert (resource.namespaced, resource.custom, resource.strategy.has_status) == (
        True,
        True,
        True,
    )
    assert resource.scale == ScalePaths(
        spec_replicas=("spec", "size"),
        status_replicas=("status", "size"),
        selector=("status", "selector"),
    )
    assert set(resource.subresources) == {"status", "scale"}
    assert not resource.converts


def test_a_definition_without_accepted_names_serves_no_resource() -> None:
    assert served(definition(), object_meta=Schema(type="object")) == ()


def test_only_served_versions_have_a_resource(server: StatelessServer) -> None:
    crd = definition(version("v1"), version("v2", served=False, storage=False))

    assert [each.gvk.version for each in server.established(crd)] == ["v1"]


def test_the_warning_of_a_deprecated_version_names_the_preferred_replacement(
    server: StatelessServer,
) -> None:
    crd = definition(
        version("v1beta1", deprecated=True),
        version("v1", storage=False),
        version("v2alpha1", storage=False),
        version("v1beta2", storage=False),
        version("v0", storage=False, deprecated=True, deprecationWarning="gone soon"),
    )

    warnings = {each.gvk.version: each.deprecation for each in server.established(crd)}

    sentence = "definitions.example.com/v1beta1 Sample is deprecated"
    assert warnings["v1beta1"] == f"{sentence}; use definitions.example.com/v1 Sample"
    assert warnings["v0"] == "gone soon"
    assert warnings["v1"] is None


def test_versions_differ_only_in_their_schemas(server: StatelessServer) -> None:
    crd = definition(
        version("v1", fields(a=STRING, b=STRING)),
        version("v2", fields(a=STRING, c={**STRING, "default": "x"}), storage=False),
    )
    first, second = server.established(crd)
    kept = sample(a="a", b="b")

    shown = second.from_stored(kept)

    assert shown["apiVersion"] == "definitions.example.com/v2"
    # A stored object gets the defaults of its stored version.
    assert {key: shown[key] for key in shown if key in "abc"} == {"a": "a"}
    assert second.to_stored(shown) == sample(a="a")
    assert first.from_stored(kept) is kept


def test_an_object_is_defaulted_and_validated_by_its_schema(server: StatelessServer) -> None:
    (resource,) = server.established(SIZED)

    good, bad = (
        server.create(resource, sample(spec={})),
        server.create(resource, sample(spec={"size": 0})),
    )

    assert good.obj == {**sample(spec={"size": 3}), "metadata": {"name": "one"}}
    assert [field for field, _, _ in bad.causes] == ["spec.size"]


def test_replicas_are_validated_at_the_path_of_the_scale_subresource(
    server: StatelessServer,
) -> None:
    (resource,) = server.established(SIZED)

    errors = resource.strategy.validate_create(sample(spec={"size": 1 << 31}))

    assert [str(each) for each in errors] == [
        ".spec.size: Invalid value: 2147483648: should be less than or equal to 2147483647"
    ]


def test_a_status_update_is_validated_by_the_schema_of_the_status(
    server: StatelessServer,
) -> None:
    (resource,) = server.established(SIZED)
    old = sample(spec={"size": 0})

    errors = resource.strategy.validate_status({**old, "status": {"size": "x"}}, old)

    assert [each.field for each in errors] == ["status.size", ".status.size"]


def test_an_unchanged_duplicate_item_is_accepted(server: StatelessServer) -> None:
    (resource,) = server.established(SIZED)
    twice, once = [{"name": "a"}, {"name": "a"}], [{"name": "a"}]
    old = sample(spec={"size": 1, "list": twice})
    fresh = sample(spec={"size": 1, "list": once})

    assert resource.strategy.validate_update(old, old) == []
    assert [each.field for each in resource.strategy.validate_update(old, fresh)] == [
        "spec.list[1]"
    ]


def test_rules_that_were_not_evaluated_are_reported(server: StatelessServer) -> None:
    rules = [{"rule": "self.a == 'x'"}]
    schema = fields(spec={**fields(a=STRING), "x-kubernetes-validations": rules})
    (resource,) = server.established(of(schema))

    *_, last = resource.strategy.validate_create(sample(spec={"a": 5}))

    assert str(last).startswith(
        "<nil>: Invalid value: null: some validation rules were not checked"
    )


def test_an_object_can_be_selected_by_its_selectable_fields(server: StatelessServer) -> None:
    (resource,) = server.established(SIZED)

    assert resource.strategy.selectable(sample(spec={"size": 5})) == {
        "metadata.name": "one",
        "metadata.namespace": "default",
        "spec.size": "5",
    }


def test_a_finalizer_without_a_domain_gets_a_warning(server: StatelessServer) -> None:
    (resource,) = server.established(definition())
    obj = sample()
    obj["metadata"]["finalizers"] = ["mine", "a.b", "a.b/c", "orphan"]

    warnings = resource.strategy.warnings(obj, None)

    prefer = "prefer a domain-qualified finalizer name"
    avoid = "to avoid accidental conflicts with other finalizer writers"
    assert warnings == [
        f'metadata.finalizers: "a.b": {prefer} including a path (/) {avoid}',
        f'metadata.finalizers: "mine": {prefer} {avoid}',
    ]
    assert resource.strategy.warnings(obj, obj) == []


def test_every_sample_value_is_accepted_or_rejected(server: StatelessServer) -> None:
    schemas = {f"f{index}": schema for index, (schema, _) in enumerate(VALUE_SAMPLES)}
    (resource,) = server.established(of(fields(**schemas)))

    codes = {
        server.create(resource, sample(**{f"f{index}": value})).code
        for index, (_, values) in enumerate(VALUE_SAMPLES)
        for value in values
    }

    assert codes == {201, 400, 422}
