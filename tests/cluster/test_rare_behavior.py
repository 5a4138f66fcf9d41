"""Rare behavior of the real server that clients can observe."""

from typing import Any

import pytest

from tests.embedded import MERGE_PATCH, EmbeddedServer, config_map

MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v1/things"
OTHER_UID = "00000000-0000-0000-0000-000000000000"
INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
APPLY_PATCH = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


@pytest.fixture
def api() -> EmbeddedServer:
    """A new server for each test: most tests are about its initial state."""
    return EmbeddedServer()


def deployment(name: str) -> Any:
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "a", "image": "b"}]},
    }
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def definition() -> Any:
    status = {"type": "object", "properties": {"ready": {"type": "integer"}}}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {}}, "status": status},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [version],
        },
    }


def thing(**parts: Any) -> Any:
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one"}, **parts}


async def test_a_bookmark_has_the_zero_values_that_go_encodes(api: EmbeddedServer) -> None:
    async with api.watch(f"{DEPLOYMENTS}?{INITIAL}") as events:
        [bookmark] = await events.first(1)

    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["status"] == {}
    assert bookmark["object"]["spec"]["replicas"] == 0
    assert bookmark["object"]["spec"]["template"]["spec"] == {"containers": None}


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/watch/configmaps?labelSelector=one=1",
        "/api/v1/watch/namespaces/default/configmaps?labelSelector=one=1",
        "/api/v1/watch/namespaces/default/configmaps/one",
    ],
)
async def test_the_deprecated_watch_path_is_served(api: EmbeddedServer, path: str) -> None:
    await api.asked("POST", MAPS, config_map("one", labels={"one": "1"}))
    await api.asked("POST", MAPS, config_map("two"))

    async with api.watch(path) as events:
        seen = await events.seen(1)
        await api.asked("DELETE", f"{MAPS}/one")
        seen += await events.seen(1)

    assert seen == [("ADDED", "one"), ("DELETED", "one")]


async def test_a_watch_of_one_name_has_only_that_object(api: EmbeddedServer) -> None:
    path = "/api/v1/watch/namespaces/default/configmaps/one?fieldSelector=metadata.name=two"

    response = await api.ask("GET", path)

    assert response.status == 400
    assert "doesn't match requested name" in response.json["message"]


async def test_only_get_requests_can_watch(api: EmbeddedServer) -> None:
    response = await api.ask("POST", "/api/v1/watch/namespaces/default/configmaps", {})

    assert response.status == 405


@pytest.mark.parametrize(("method", "path"), [("GET", MAPS), ("POST", MAPS), ("GET", "/version")])
async def test_an_invalid_timeout_is_rejected(api: EmbeddedServer, method: str, path: str) -> None:
    response = await api.ask(method, f"{path}?timeout=soon", {} if method == "POST" else None)

    assert response.status == 400
    assert response.json["message"] == (
        'invalid timeout specified in the request URL - time: invalid duration "soon"'
    )


PATCHES: dict[str, tuple[bytes, str]] = {
    MERGE_PATCH: (b'{"data":{"a":"1","a":"2"}}', 'duplicate field "data.a"'),
    STRATEGIC_PATCH: (b'{"data":{"a":"1","a":"2"}}', 'duplicate field "data.a"'),
    JSON_PATCH: (
        b'[{"op":"add","op":"add","path":"/data","value":{}}]',
        'json patch duplicate field "[0].op"',
    ),
}


@pytest.mark.parametrize("language", PATCHES)
async def test_a_duplicate_field_in_a_patch_follows_fieldvalidation(
    api: EmbeddedServer, language: str
) -> None:
    patch, complaint = PATCHES[language]
    await api.asked("POST", MAPS, config_map("one"))

    asked = {
        way: await api.ask("PATCH", f"{MAPS}/one?fieldValidation={way}", patch, sends=language)
        for way in ("Strict", "Warn", "Ignore")
    }

    assert asked["Strict"].status == 422
    assert f"strict decoding error: {complaint}" in asked["Strict"].json["message"]
    assert asked["Warn"].warnings == [complaint]
    assert (asked["Ignore"].status, asked["Ignore"].warnings) == (200, [])


async def test_a_duplicate_field_in_an_apply_is_reported_after_a_conflict(
    api: EmbeddedServer,
) -> None:
    one = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata:\n  a: '1'\n  a: '2'\n"
    strict = f"{MAPS}/one?fieldValidation=Strict&fieldManager="
    await api.asked("POST", MAPS, config_map("one", a="0"))

    conflict = await api.ask("PATCH", f"{strict}mine", one, sends=APPLY_PATCH)
    refused = await api.ask("PATCH", f"{strict}mine&force=true", one, sends=APPLY_PATCH)

    assert conflict.status == 409
    assert refused.status == 400
    assert 'line 6: key "a" already set in map' in refused.json["message"]


async def test_deletion_preconditions_can_be_query_parameters(api: EmbeddedServer) -> None:
    made = await api.asked("POST", MAPS, config_map("one"))
    version = made["metadata"]["resourceVersion"]

    other = await api.ask("DELETE", f"{MAPS}/one?uid={OTHER_UID}")
    right = await api.ask("DELETE", f"{MAPS}/one?resourceVersion={version}")

    assert (other.status, right.status) == (409, 200)


async def test_a_terminating_namespace_has_its_own_message_and_finalizers(
    api: EmbeddedServer,
) -> None:
    name = await api.namespace()
    path = f"/api/v1/namespaces/{name}"

    refused = await api.ask("DELETE", path, {"preconditions": {"uid": OTHER_UID}})
    ending = await api.asked("DELETE", f"{path}?orphanDependents=false")
    again = await api.asked("DELETE", f"{path}?propagationPolicy=Orphan")

    assert "Precondition failed: UID in precondition" in refused.json["message"]
    assert ending["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert again == ending


async def test_a_scale_with_another_uid_is_a_conflict(api: EmbeddedServer) -> None:
    await api.asked("POST", DEPLOYMENTS, deployment("web"))
    scale = await api.asked("GET", f"{DEPLOYMENTS}/web/scale")
    scale["metadata"]["uid"] = OTHER_UID
    patch = {"metadata": {"uid": OTHER_UID}, "spec": {"replicas": 5}}

    written = await api.ask("PUT", f"{DEPLOYMENTS}/web/scale", scale)
    patched = await api.ask("PATCH", f"{DEPLOYMENTS}/web/scale", patch, sends=MERGE_PATCH)

    assert (written.status, patched.status) == (409, 409)
    assert 'deployments/scale.apps "web"' in patched.json["message"]
    assert (await api.asked("GET", f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 1


async def test_the_first_update_of_a_claim_is_a_write_and_the_second_is_not(
    api: EmbeddedServer,
) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "one"}, "spec": spec}
    made = await api.asked("POST", CLAIMS, claim)

    first = await api.asked("PUT", f"{CLAIMS}/one", made)
    second = await api.asked("PUT", f"{CLAIMS}/one", first)

    versions = [each["metadata"].pop("resourceVersion") for each in (made, first, second)]
    assert versions[0] != versions[1] == versions[2]
    assert made == first


async def test_initial_objects_are_managed_by_kube_apiserver(api: EmbeddedServer) -> None:
    flows = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    namespace = await api.asked("GET", "/api/v1/namespaces/default")
    flow = await api.asked("GET", f"{flows}/exempt")

    [server] = namespace["metadata"]["managedFields"]
    assert (server["manager"], list(server["fieldsV1"])) == ("kube-apiserver", ["f:metadata"])
    assert {each["operation"] for each in flow["metadata"]["managedFields"]} == {"Apply", "Update"}


async def test_a_malformed_status_leaves_a_new_custom_resource_without_managed_fields(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition())

    unfit = await api.asked("POST", THINGS, thing(status={"ready": "x"}))
    await api.asked("DELETE", f"{THINGS}/one")
    fit = await api.asked("POST", THINGS, thing(status={"ready": 1}, spec={}))

    assert "managedFields" not in unfit["metadata"]
    assert "managedFields" in fit["metadata"]


async def test_unknown_fields_of_a_body_in_another_version_are_reported(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition())
    newer = {**thing(spec={}), "apiVersion": "example.com/v9"}

    warned = await api.ask("POST", THINGS, newer)
    strict = await api.ask("POST", f"{THINGS}?fieldValidation=Strict", newer)

    assert (warned.status, warned.warnings) == (400, ['unknown field "spec"'])
    assert 'in version "v9"' in strict.json["message"]
    assert 'strict decoding error: unknown field "spec"' in strict.json["message"]


async def test_the_version_endpoint_has_the_compiler_and_platform(api: EmbeddedServer) -> None:
    version = await api.asked("GET", "/version")

    assert version["compiler"]
    assert version["platform"].count("/") == 1
