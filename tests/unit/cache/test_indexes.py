"""Objects are found by namespace, owner, controller and label, typed or not."""

import pytest

from steersman.cache.indexes import by_controller, by_label, by_namespace, by_owner
from steersman.kinds import Unstructured
from tests.unit.cache.things import BOTH, Thing, built, thing

Kind = type[Thing | Unstructured]


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_under_its_namespace_if_it_has_one(kind: Kind) -> None:
    assert list(by_namespace(built(kind, thing("a", namespace="blue")))) == ["blue"]
    assert list(by_namespace(built(kind, thing("a", namespace=None)))) == []


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_under_each_of_its_owners(kind: Kind) -> None:
    owned = built(kind, thing("a", owners=("one", "two"), controller="boss"))

    assert list(by_owner(owned)) == ["one", "two", "boss"]
    assert list(by_owner(built(kind, thing("a")))) == []


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_under_its_controller_only(kind: Kind) -> None:
    owned = built(kind, thing("a", owners=("one",), controller="boss"))

    assert list(by_controller(owned)) == ["boss"]
    assert list(by_controller(built(kind, thing("a", owners=("one",))))) == []


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_is_under_its_value_of_a_label_even_an_empty_one(kind: Kind) -> None:
    by_app = by_label("app")

    assert list(by_app(built(kind, thing("a", labels={"app": "web"})))) == ["web"]
    assert list(by_app(built(kind, thing("a", labels={"app": ""})))) == [""]
    assert list(by_app(built(kind, thing("a", labels={"tier": "web"})))) == []
    assert list(by_app(built(kind, thing("a")))) == []
