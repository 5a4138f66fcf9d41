"""The index functions for namespace, owner, controller and label."""

import pytest

from steersman.cache.store.indexes import by_controller, by_label, by_namespace, by_owner
from steersman.kinds import Unstructured
from tests.unit.cache.sample_objects import BOTH, Thing, as_kind, thing

Kind = type[Thing | Unstructured]


@pytest.mark.parametrize("kind", BOTH)
def test_a_namespaced_object_is_indexed_by_its_namespace(kind: Kind) -> None:
    assert list(by_namespace(as_kind(kind, thing("a", namespace="blue")))) == ["blue"]
    assert list(by_namespace(as_kind(kind, thing("a", namespace=None)))) == []


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_indexed_by_each_of_its_owners(kind: Kind) -> None:
    owned = as_kind(kind, thing("a", owners=("one", "two"), controller="boss"))

    assert list(by_owner(owned)) == ["one", "two", "boss"]
    assert list(by_owner(as_kind(kind, thing("a")))) == []


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_indexed_by_its_controller_only(kind: Kind) -> None:
    owned = as_kind(kind, thing("a", owners=("one",), controller="boss"))

    assert list(by_controller(owned)) == ["boss"]
    assert list(by_controller(as_kind(kind, thing("a", owners=("one",))))) == []


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_indexed_by_the_value_of_a_label_even_if_it_is_empty(kind: Kind) -> None:
    by_app = by_label("app")

    assert list(by_app(as_kind(kind, thing("a", labels={"app": "web"})))) == ["web"]
    assert list(by_app(as_kind(kind, thing("a", labels={"app": ""})))) == [""]
    assert list(by_app(as_kind(kind, thing("a", labels={"tier": "web"})))) == []
    assert list(by_app(as_kind(kind, thing("a")))) == []
