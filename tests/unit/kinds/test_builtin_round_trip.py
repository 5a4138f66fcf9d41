"""Every object that the schema of a built-in kind allows round-trips, except for nulls."""

import json
from importlib import import_module
from random import Random
from typing import Any

import msgspec
import pytest

from steersman.kinds import Codec, Part
from steersman.kinds.builtin import BUILTIN_KINDS
from steersman.kinds.generate.facts import module_of
from steersman.openapi import load_all_facts
from tests.unit.kinds.schemas import schemas
from tests.unit.kinds.specimens import (
    AllEmpty,
    AllFilled,
    RandomChooser,
    RequiredOnly,
    ValueChooser,
    specimen,
    without_nulls,
)

# The number of random objects of each kind, beside the extreme ones.
RANDOM_OBJECTS = 100


def components() -> list[str]:
    """The schemas of all kinds, and of the types that they share."""
    return [
        name
        for each in load_all_facts().values()
        for name, schema in each["schemas"].items()
        if "properties" in schema
        and not name.endswith("List")
        and ("x-kubernetes-group-version-kind" in schema or module_of(name) == "meta_v1")
    ]


def kind_of(component: str) -> type[Part]:
    module = import_module(f"steersman.kinds.{module_of(component)}")
    kind: type[Part] = getattr(module, component.rpartition(".")[2])
    return kind


def choosers(component: str) -> list[ValueChooser]:
    random = [RandomChooser(Random(f"{component} {seed}")) for seed in range(RANDOM_OBJECTS)]
    return [RequiredOnly(), AllEmpty(), AllFilled(), *random]


@pytest.mark.parametrize("component", components(), ids=lambda name: name.removeprefix("io.k8s."))
def test_every_built_in_kind_round_trips(component: str) -> None:
    codec, kind = Codec(), kind_of(component)

    for chooser in choosers(component):
        made = specimen(component, chooser)
        again = codec.encode(codec.decode(kind, json.dumps(made).encode(), wanted="read"))
        assert without_nulls(msgspec.json.decode(again)) == without_nulls(made)


def test_the_round_trip_covers_every_kind_in_the_table() -> None:
    found = {
        (f"{gvk['group']}/{gvk['version']}".lstrip("/"), gvk["kind"])
        for component in components()
        for gvk in schemas()[component].get("x-kubernetes-group-version-kind", ())
    }

    assert found >= set(BUILTIN_KINDS)


def test_the_round_trip_covers_every_field() -> None:
    """Together, the generated objects have every field of a Pod's spec."""
    pod: Any = specimen("io.k8s.api.core.v1.Pod", AllFilled())

    spec = schemas()["io.k8s.api.core.v1.PodSpec"]["properties"]
    volume = schemas()["io.k8s.api.core.v1.Volume"]["properties"]
    assert pod["spec"].keys() == spec.keys()
    assert pod["spec"]["volumes"][0].keys() == volume.keys()
