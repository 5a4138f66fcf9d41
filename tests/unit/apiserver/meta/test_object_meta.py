"""Validation of the metadata of all kinds."""

from random import Random
from typing import Any
from uuid import UUID

import pytest

from steersman_cluster.apiserver.meta import object_meta as rules
from steersman_cluster.apiserver.meta.name_validation import subdomain_name
from steersman_cluster.apiserver.meta.status_errors import StatusError

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


def problems(**metadata: Any) -> list[str]:
    wanted = {"name": "a", "namespace": "n", **metadata}
    found = rules.validate_create(wanted, namespaced=True, name_errors=subdomain_name)
    return [str(each) for each in found]


def test_a_generated_name_starts_with_its_prefix_and_fits_a_label() -> None:
    short = rules.generate_name("web-", Random(1))
    long = rules.generate_name("a" * 70, Random(1))

    assert short.startswith("web-")
    assert len(short) == 9
    assert set(short[4:]) <= set(rules.ALPHABET)
    assert long[:58] == "a" * 58
    assert len(long) == 63


def test_uids_are_random_and_have_version_4() -> None:
    rng = Random(1)

    first, second = UUID(rules.new_uid(rng)), UUID(rules.new_uid(rng))

    assert first != second
    assert first.version == 4
    assert first.variant == "specified in RFC 4122"


def test_an_object_gets_the_namespace_of_the_request() -> None:
    unsaid: dict[str, Any] = {}
    clusterwide = {"namespace": "n"}

    rules.set_namespace(unsaid, "n")
    rules.set_namespace(clusterwide, "")

    assert unsaid == {"namespace": "n"}
    assert clusterwide == {}


def test_an_object_with_another_namespace_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        rules.set_namespace({"namespace": "a"}, "b")

    assert raised.value.code == 400
    assert raised.value.message == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"name": "x"}, "the name of the object (x) does not match the name on the URL (m)"),
        (
            {},
            "the name of the object (m based on URL) was undeterminable: name must be provided",
        ),
    ],
)
def test_an_object_with_another_name_is_rejected(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as raised:
        rules.check_name(metadata, "m")

    assert (raised.value.code, raised.value.message) == (400, message)


def test_the_server_sets_the_system_fields_of_a_new_object() -> None:
    metadata: dict[str, Any] = {
        "name": "a",
        "uid": "mine",
        "creationTimestamp": "1999-01-01T00:00:00Z",
        "deletionTimestamp": "1999-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 5,
        "selfLink": "/x",
    }

    rules.prepare_create(metadata, rng=Random(1), time="2020-01-01T00:00:00Z")

    assert metadata == {
        "name": "a",
        "uid": rules.new_uid(Random(1)),
        "creationTimestamp": "2020-01-01T00:00:00Z",
    }


def test_a_new_object_with_a_resource_version_is_rejected() -> None:
    rules.reject_resource_version({"name": "a"})

    with pytest.raises(StatusError) as raised:
        rules.reject_resource_version({"resourceVersion": "5"})

    assert raised.value.status()["message"] == (
        "resourceVersion should not be set on objects to be created"
    )
    assert (raised.value.code, raised.value.reason) == (500, "")


def test_an_update_keeps_the_system_fields() -> None:
    old = {"uid": "u", "creationTimestamp": "then", "generation": 3}
    deleted = {**old, "deletionTimestamp": "soon", "deletionGracePeriodSeconds": 30}
    new: dict[str, Any] = {"name": "a", "generation": 9, "creationTimestamp": "now"}

    rules.prepare_update(new, old)
    assert new == {"name": "a", **old}

    rules.prepare_update(new, deleted)
    assert new == {"name": "a", **deleted}


def test_an_update_does_not_add_a_generation() -> None:
    new: dict[str, Any] = {"generation": 9}

    rules.prepare_update(new, {"uid": "u"})

    assert new == {"uid": "u"}


def test_valid_metadata_has_no_errors() -> None:
    fine = {
        "generateName": "a-",
        "labels": {"app": "web", "example.com/Tier": ""},
        "annotations": {"Example.com/Any": "thing at all"},
        "ownerReferences": [{**OWNER, "controller": True}, {**OWNER, "uid": "v"}],
        "finalizers": ["example.com/held", "orphan"],
        "managedFields": [{"manager": "me", "operation": "Apply", "fieldsType": "FieldsV1"}],
    }

    assert problems(**fine) == []


NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"name": ""}, ["metadata.name: Required value: name or generateName is required"]),
        ({"namespace": ""}, ["metadata.namespace: Required value"]),
        (
            {"generation": -1},
            ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"],
        ),
        ({"labels": {"-a": "b"}}, [f'metadata.labels: Invalid value: "-a": {NAME_PART}']),
        (
            {"annotations": {"-A": "b"}},
            [f'metadata.annotations: Invalid value: "-A": {NAME_PART}'],
        ),
        (
            {"annotations": {"a": "x" * 262_144}},
            ["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
        (
            {"finalizers": ["orphan", "foregroundDeletion"]},
            [
                'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]:'
                " finalizer orphan and foregroundDeletion cannot be both set"
            ],
        ),
        (
            {"finalizers": ["kubernetes", "foo"]},
            [
                'metadata.finalizers[1]: Invalid value: "foo": name is neither a standard'
                " finalizer name nor is it fully qualified"
            ],
        ),
        (
            {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]},
            [
                'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
                'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
                'metadata.ownerReferences.name: Invalid value: "": must not be empty',
                'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
            ],
        ),
        (
            {"ownerReferences": [{**OWNER, "kind": "Event"}]},
            [
                'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event",'
                '"name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner'
            ],
        ),
        (
            {"managedFields": [{"operation": "Foo", "fieldsType": "x", "manager": "a\n"}]},
            [
                'metadata.managedFields[0].operation: Invalid value: "Foo": must be `Apply` or'
                " `Update`",
                'metadata.managedFields[0].fieldsType: Invalid value: "x": must be `FieldsV1`',
                'metadata.managedFields[0].manager: Invalid value: "a\\n": invalid character'
                " U+000A (at position 1)",
            ],
        ),
    ],
)
def test_invalid_metadata_is_rejected_with_the_message_of_kube_apiserver(
    metadata: dict[str, Any], expected: list[str]
) -> None:
    assert problems(**metadata) == expected


def test_only_one_owner_can_be_the_controller() -> None:
    owners = [{**OWNER, "controller": True}, {**OWNER, "name": "q", "controller": True}]

    (problem,) = problems(ownerReferences=owners)

    assert problem.endswith(
        "Only one reference can have Controller set to true."
        ' Found "true" in references for Pod/p and Pod/q'
    )


def test_the_namespace_of_a_cluster_scoped_object_is_rejected() -> None:
    found = rules.validate_create(
        {"name": "a", "namespace": "n"}, namespaced=False, name_errors=subdomain_name
    )

    assert [str(each) for each in found] == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_some_kinds_accept_finalizers_with_any_name() -> None:
    metadata = {"name": "a", "finalizers": ["foo"]}

    found = rules.validate_create(
        metadata, namespaced=False, name_errors=subdomain_name, standard_finalizers=False
    )

    assert found == []
    assert rules.has_standard_finalizers("apps", custom=False)
    assert not rules.has_standard_finalizers("coordination.k8s.io", custom=False)
    assert not rules.has_standard_finalizers("example.com", custom=True)


def test_uid_and_timestamps_are_immutable() -> None:
    old = {"name": "a", "uid": "u", "creationTimestamp": "then"}
    new = {**old, "uid": "v", "deletionTimestamp": "2020-01-01T00:00:00Z"}

    found = rules.validate_update(new, old)

    assert [str(each) for each in found] == [
        'metadata.uid: Invalid value: "v": field is immutable',
        'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("labels", {"-": "x"}),
        ("annotations", {"-": "x"}),
        ("ownerReferences", [{**OWNER, "kind": ""}]),
        ("finalizers", ["-"]),
        ("managedFields", [{"operation": "Guess"}]),
    ],
)
def test_an_update_validates_only_changed_fields(field: str, value: Any) -> None:
    old = {"name": "a", "uid": "u"}
    new = {**old, field: value}

    changed = rules.validate_update(new, old, standard_finalizers=False)
    kept = rules.validate_update(new, {**new}, standard_finalizers=False)

    assert changed
    assert all(each.field.startswith(f"metadata.{field}") for each in changed)
    assert kept == []


def test_an_object_that_is_being_deleted_cannot_get_new_finalizers() -> None:
    old = {"name": "a", "deletionTimestamp": "soon", "finalizers": ["x/a"]}

    found = rules.validate_update({**old, "finalizers": ["x/c", "x/b", "x/a"]}, old)

    assert [str(each) for each in found] == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being"
        ' deleted, found new finalizers []string{"x/b", "x/c"}'
    ]
    assert rules.validate_update({**old, "finalizers": []}, old) == []


def test_a_duplicate_owner_is_removed_with_a_warning() -> None:
    other = {**OWNER, "name": "q"}
    metadata: dict[str, Any] = {"ownerReferences": [OWNER, other, dict(OWNER)]}

    (warning,) = rules.drop_repeated_owners(metadata)

    assert metadata["ownerReferences"] == [OWNER, other]
    assert warning.endswith("duplicate UID(s) observed: u")
    assert rules.drop_repeated_owners(metadata) == []


def test_thousands_of_owners_are_compared_in_linear_time() -> None:
    owners = [{**OWNER, "uid": str(each)} for each in range(20_000)]

    assert rules.drop_repeated_owners({"ownerReferences": owners}) == []


def test_the_number_of_controller_errors_is_limited() -> None:
    owners = [{**OWNER, "uid": str(each), "controller": True} for each in range(500)]

    assert len(problems(ownerReferences=owners)) == rules.MAX_CONTROLLER_ERRORS
