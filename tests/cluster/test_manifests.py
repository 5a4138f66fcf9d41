"""Generated manifests on the embedded server: accepted unchanged, with restricted Pods."""

from copy import deepcopy
from typing import Any

import pytest
from opdemo import appservice

import steersman as sm
from steersman.client import Client
from steersman.errors import Forbidden, SteersmanError
from steersman.kinds import Unstructured, is_ready
from steersman.manifests import Document, Installation, install_documents, parts_of
from steersman.observe import ApiWarned
from tests.embedded import EmbeddedServer
from tests.unit.manifests.operators import REGIONS, SHOPS

OPERATORS: dict[str, tuple[sm.Controller[Any], ...]] = {
    "appservice": (appservice.controller,),
    "shops": (SHOPS, REGIONS),
}


def installation_of(name: str, *namespaces: str) -> Installation:
    return Installation(
        name=name,
        controllers=OPERATORS[name],
        image=f"{name}:0.1.0",
        version="0.1.0",
        namespaces=namespaces,
    )


def as_object(document: Document) -> Unstructured:
    kind = Unstructured.of(
        document["apiVersion"],
        document["kind"],
        namespaced="namespace" in document["metadata"],
    )
    return kind(document)


async def apply(client: Client, document: Document) -> Unstructured:
    return await client.apply(as_object(document), field_manager="installer", force=True)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("is_limited", [True, False], ids=["some namespaces", "everywhere"])
async def test_the_server_accepts_every_object_unchanged(
    api: EmbeddedServer, client: Client, namespace: str, name: str, *, is_limited: bool
) -> None:
    documents = install_documents(installation_of(name, *([namespace] if is_limited else ())))

    applied = [await apply(client, document) for document in documents]
    again = [await apply(client, document) for document in documents]

    assert [each.body["spec"] for each in again if "spec" in each.body] == [
        each.body["spec"] for each in applied if "spec" in each.body
    ]
    definitions = [each for each in again if each.gvk.kind == "CustomResourceDefinition"]
    assert all(is_ready(each) for each in definitions)
    assert [each for each in api.observed if isinstance(each, ApiWarned)] == []


async def test_an_unknown_field_is_rejected(client: Client) -> None:
    (role, *_) = parts_of(installation_of("shops")).user_roles

    with pytest.raises(SteersmanError, match="rulez"):
        await apply(client, {**role, "rulez": []})


async def test_its_pods_are_admitted_to_a_restricted_namespace(
    api: EmbeddedServer, client: Client
) -> None:
    what = installation_of("shops")
    parts = parts_of(what)
    template = parts.deployment["spec"]["template"]
    twin = deepcopy(template)
    twin["spec"]["containers"][0]["securityContext"]["privileged"] = True

    def pod(name: str, template: Any) -> Unstructured:
        metadata = {**template["metadata"], "name": name, "namespace": what.namespace}
        return as_object(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        )

    await apply(client, parts.namespace)
    await apply(client, parts.account)
    await client.create(pod("ours", template))

    # A control: the server rejects the same Pod with privileges.
    del twin["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"]
    with pytest.raises(Forbidden, match="violates PodSecurity"):
        await client.create(pod("twin", twin))
    spec = {**parts.deployment["spec"], "template": twin}
    await apply(client, {**parts.deployment, "spec": spec})
    (warned,) = (each for each in api.observed if isinstance(each, ApiWarned))
    assert "would violate PodSecurity" in warned.text
