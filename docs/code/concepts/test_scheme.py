"""Tests of the code in the page about schemes."""

import pytest

from docs.code.concepts.scheme import OldSail, OldSpec, Sail, scheme
from steersman.errors import UnknownKind
from steersman.kinds import apps_v1, meta_v1


def test_a_kind_has_a_class_and_a_class_has_a_kind() -> None:
    assert scheme.class_of("sea.example.com/v2", "Sail") is Sail
    assert str(Sail.resource_type.gvk) == "sea.example.com/v2 Sail"


def test_every_scheme_contains_the_built_in_kinds() -> None:
    assert scheme.class_of("apps/v1", "Deployment") is apps_v1.Deployment


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(UnknownKind, match=r"Add its class with Scheme\.with_kinds"):
        scheme.class_of("sea.example.com/v3", "Sail")


def test_an_object_converts_between_its_versions() -> None:
    old = OldSail(metadata=meta_v1.ObjectMeta(name="jib"), spec=OldSpec(width_cm=120))

    new = scheme.convert(old, Sail)

    assert new.spec.width_mm == 1200
    assert scheme.convert(new, OldSail) == old
