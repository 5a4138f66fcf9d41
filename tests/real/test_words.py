"""kube-apiserver accepts generated samples, and reported breaking changes break objects."""

from typing import Any

import msgspec
import pytest

from steersman.client import Client
from steersman.errors import BadRequest, Invalid
from steersman.kinds import Codec, Unstructured
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman.manifests import breaking_changes, sample_of
from tests.real.definitions import install
from tests.unit.manifests.breaking_examples import BROKEN
from tests.unit.manifests.crds import definition, fields, rich


async def define(client: Client, crd: dict[str, Any]) -> None:
    typed = Codec().decode(CustomResourceDefinition, msgspec.json.encode(crd), wanted="install")
    await install(client, typed)


def in_namespace(obj: dict[str, Any], namespace: str) -> Unstructured:
    kind = Unstructured.of(obj["apiVersion"], obj["kind"])
    return kind({**obj, "metadata": {**obj["metadata"], "namespace": namespace}})


async def test_a_generated_sample_is_accepted_and_stored_completely(
    client: Client, namespace: str
) -> None:
    await define(client, rich())
    sample = dict(sample_of(rich()))

    created = await client.create(in_namespace(sample, namespace))

    assert created.body["spec"] == sample["spec"]


def case(number: int, group: str, value: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Widget",
        "metadata": {"name": f"case-{number}"},
        "spec": {f"case{number}": value},
    }


async def test_a_change_reported_as_breaking_breaks_stored_objects(
    client: Client, namespace: str
) -> None:
    groups = ("old.words.example.com", "new.words.example.com")
    for group, place in zip(groups, (0, 1), strict=True):
        schemas = {f"case{number}": each[place] for number, each in enumerate(BROKEN)}
        crd = definition(fields(**schemas), group=group)
        crd["metadata"]["name"] = f"widgets.{group}"
        await define(client, crd)

    unbroken: list[tuple[Any, ...]] = []
    for number, (old, new, value) in enumerate(BROKEN):
        kept = await client.create(in_namespace(case(number, groups[0], value), namespace))
        try:
            now = await client.create(in_namespace(case(number, groups[1], value), namespace))
        except (BadRequest, Invalid):
            continue
        # Accepted: the change breaks the object only if the server dropped a field.
        if now.body["spec"] == kept.body["spec"]:
            unbroken.append((old, new, value))

    assert unbroken == []
    for old, new, _ in BROKEN:
        assert breaking_changes(definition(fields(it=old)), definition(fields(it=new)))


@pytest.mark.parametrize("change", ["stored version", "scope"])
async def test_the_server_rejects_a_change_reported_as_impossible(
    client: Client, change: str
) -> None:
    group = f"{change.split()[0]}.words.example.com"
    crd = definition(group=group)
    crd["metadata"]["name"] = f"widgets.{group}"
    await define(client, crd)
    kind = Unstructured.of(crd["apiVersion"], crd["kind"], namespaced=False)
    stored = await client.get(kind, crd["metadata"]["name"])

    spec = {**stored.body["spec"]}
    if change == "scope":
        spec["scope"] = "Cluster"
    else:
        spec["versions"] = [{**spec["versions"][0], "name": "v2"}]
    new = {**stored.body, "spec": spec}

    assert breaking_changes(stored.body, new)
    with pytest.raises(Invalid):
        await client.update(kind(new))
