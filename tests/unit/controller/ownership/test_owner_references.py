"""Owner references of typed and unstructured objects."""

from typing import Any

import msgspec
import pytest

from steersman.controller.ownership.owner_references import (
    controller_of,
    owned_by,
    owner_reference,
    owner_text,
)
from steersman.errors import BadOwner
from steersman.kinds import Codec, Unstructured, core_v1, meta_v1, rbac_v1

AnyConfigMap = Unstructured.of("v1", "ConfigMap")
AnyRole = Unstructured.of("rbac.authorization.k8s.io/v1", "ClusterRole", namespaced=False)


def config_map(name: str = "child", **metadata: Any) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name=name, **metadata), data={"a": "b"})


def untyped(obj: core_v1.ConfigMap) -> Unstructured:
    return AnyConfigMap(msgspec.json.decode(Codec().encode(obj)))


def same(obj: Any) -> Any:
    return obj


FORMS = pytest.mark.parametrize("form", [same, untyped])
OWNER = config_map("owner", namespace="here", uid="1234")


def role(**metadata: Any) -> rbac_v1.ClusterRole:
    return rbac_v1.ClusterRole(metadata=meta_v1.ObjectMeta(name="role", **metadata))


@FORMS
def test_a_child_gets_its_owners_namespace_and_is_controlled_by_it(form: Any) -> None:
    child = owned_by(form(config_map()), form(OWNER))

    assert child.namespace == "here"
    assert controller_of(child) == owner_reference(OWNER)
    assert controller_of(child) == meta_v1.OwnerReference(
        api_version="v1",
        kind="ConfigMap",
        name="owner",
        uid="1234",
        controller=True,
        block_owner_deletion=True,
    )


@FORMS
def test_other_fields_of_the_child_and_the_given_object_are_unchanged(form: Any) -> None:
    given = form(config_map(labels={"a": "b"}))

    child = owned_by(given, OWNER)

    assert given == form(config_map(labels={"a": "b"}))
    assert child.labels == {"a": "b"}
    assert (child.get("data") if isinstance(child, Unstructured) else child.data) == {"a": "b"}


@FORMS
def test_other_owners_stay_unless_they_are_controllers(form: Any) -> None:
    other = owner_reference(config_map("other", uid="5"), controller=False)
    rival = owner_reference(config_map("rival", uid="6"))
    stale = owner_reference(OWNER, controller=False)
    given = form(config_map(owner_references=(rival, other, stale)))

    twice = owned_by(owned_by(given, OWNER), OWNER)

    body = msgspec.json.decode(Codec().encode(twice))
    assert [each["name"] for each in body["metadata"]["ownerReferences"]] == ["owner", "other"]
    assert "controller" not in body["metadata"]["ownerReferences"][1]


@FORMS
def test_an_object_without_a_controller_reference_has_no_controller(form: Any) -> None:
    owner = owner_reference(OWNER, controller=False)

    assert controller_of(form(config_map())) is None
    assert controller_of(form(config_map(owner_references=(owner,)))) is None


@FORMS
def test_an_owner_in_another_namespace_is_rejected(form: Any) -> None:
    with pytest.raises(BadOwner, match="ConfigMap here/owner cannot own ConfigMap there/child"):
        owned_by(form(config_map(namespace="there")), OWNER)


@pytest.mark.parametrize(
    "child",
    [
        role(),
        AnyRole(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": "role"},
            }
        ),
    ],
)
def test_a_cluster_scoped_object_cannot_have_an_owner_in_a_namespace(child: Any) -> None:
    with pytest.raises(BadOwner, match="cluster-scoped"):
        owned_by(child, OWNER)


def test_a_cluster_scoped_object_can_own_one_in_a_namespace() -> None:
    child = owned_by(config_map(namespace="there"), role(uid="7"))

    assert child.namespace == "there"
    reference = controller_of(child)
    assert reference is not None
    assert owner_text(reference, None) == "ClusterRole role"


def test_an_owner_without_a_uid_is_rejected() -> None:
    with pytest.raises(BadOwner, match="uid"):
        owned_by(config_map(), config_map("owner", namespace="here"))
