"""The key of an object is its namespace and name, whatever its class."""

import pytest

from steersman.kinds import Unstructured
from steersman.names import ObjectKey
from steersman.watch import key_of
from tests.unit.cache.sample_objects import BOTH, Thing, as_kind, thing


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("namespace", ["default", None])
def test_the_key_of_an_object_is_its_namespace_and_its_name(
    kind: type[Thing | Unstructured], namespace: str | None
) -> None:
    obj = as_kind(kind, thing("web", namespace=namespace))

    key = key_of(obj)

    assert key == ObjectKey(namespace, "web") == (obj.namespace, obj.name)
    assert type(key) is ObjectKey
    assert hash(key) == hash(ObjectKey(namespace, "web"))


def test_an_object_without_metadata_has_the_key_without_a_name() -> None:
    assert key_of(Unstructured({"apiVersion": "v1", "kind": "Odd"})) == ObjectKey(None, "")
