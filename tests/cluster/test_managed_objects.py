"""Objects that the server itself creates and deletes, such as APIServices."""

from typing import Any

from steersman_cluster.apiserver import RevisionLog
from tests.embedded import EmbeddedServer

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
SERVICES = "/api/v1/namespaces/default/services"


def definition(plural: str, *versions: str) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.capitalize()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[0],
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
                for version in versions
            ],
        },
    }


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], **spec},
    }


async def registered(api: EmbeddedServer) -> set[str]:
    found = await api.asked("GET", API_SERVICES)
    return {
        each["metadata"]["name"]
        for each in found["items"]
        if each["spec"].get("group") == "example.com"
    }


async def owners(api: EmbeddedServer) -> dict[str, str]:
    found = await api.asked("GET", ADDRESSES)
    return {each["metadata"]["name"]: each["spec"]["parentRef"]["name"] for each in found["items"]}


async def test_every_version_of_a_group_with_kinds_has_an_api_service(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition("kites", "v1", "v2"))
    await api.asked("POST", DEFINITIONS, definition("winds", "v1"))
    assert await registered(api) == {"v1.example.com", "v2.example.com"}

    await api.asked("DELETE", f"{DEFINITIONS}/kites.example.com")
    assert await registered(api) == {"v1.example.com"}

    await api.asked("DELETE", f"{DEFINITIONS}/winds.example.com")
    assert await registered(api) == set()


async def test_built_in_groups_have_api_services(api: EmbeddedServer) -> None:
    apps = await api.asked("GET", f"{API_SERVICES}/v1.apps")

    assert apps["spec"]["groupPriorityMinimum"] == 17800
    assert [each["type"] for each in apps["status"]["conditions"]] == ["Available"]


async def test_managed_objects_are_restored_after_a_deletion(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, definition("kites", "v1"))
    first = await api.asked("GET", f"{API_SERVICES}/v1.example.com")

    await api.asked("DELETE", f"{API_SERVICES}/v1.example.com")
    second = await api.asked("GET", f"{API_SERVICES}/v1.example.com")
    change = {**second, "spec": {**second["spec"], "versionPriority": 7}}
    await api.asked("PUT", f"{API_SERVICES}/v1.example.com", change)
    third = await api.asked("GET", f"{API_SERVICES}/v1.example.com")
    await api.asked("DELETE", f"{DEFINITIONS}/kites.example.com")

    assert first["metadata"]["uid"] != second["metadata"]["uid"] == third["metadata"]["uid"]
    assert first["spec"] == second["spec"] == third["spec"]


async def test_initial_objects_are_restored_only_at_the_next_start() -> None:
    log = RevisionLog()
    api = EmbeddedServer(log=log)

    await api.asked("DELETE", f"{API_SERVICES}/v1.batch")
    gone = await api.ask("GET", f"{API_SERVICES}/v1.batch")

    again = await EmbeddedServer(log=log).ask("GET", f"{API_SERVICES}/v1.batch")
    assert (gone.status, again.status) == (404, 200)


async def test_a_request_for_another_server_is_not_found(
    api: EmbeddedServer,
) -> None:
    spec = {
        "group": "away.example.com",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 15,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "missing"},
    }
    body = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.away.example.com"},
        "spec": spec,
    }
    await api.asked("POST", API_SERVICES, body)

    responses = [
        await api.ask("GET", f"/apis/away.example.com/v1{rest}")
        for rest in ("", "/things", "/namespaces/default/things/one")
    ]
    response = await api.asked("GET", f"{API_SERVICES}/v1.away.example.com")
    await api.asked("DELETE", f"{API_SERVICES}/v1.away.example.com")
    afterwards = await api.ask("GET", "/apis/away.example.com/v1/things")

    assert {(each.status, each.body) for each in responses} == {(503, b"service unavailable\n")}
    assert response["status"]["conditions"][0]["reason"] == "ServiceNotFound"
    assert afterwards.status == 404


async def test_missing_control_plane_components_are_reported_as_unhealthy(
    api: EmbeddedServer,
) -> None:
    listed = await api.asked("GET", "/api/v1/componentstatuses")

    health = {each["metadata"]["name"]: each["conditions"][0]["status"] for each in listed["items"]}
    assert health == {"scheduler": "False", "controller-manager": "False", "etcd-0": "True"}


async def test_a_service_address_is_unique_while_the_service_exists(api: EmbeddedServer) -> None:
    before = await owners(api)
    web = await api.asked("POST", SERVICES, service("web"))
    await api.asked("POST", SERVICES, service("headless", clusterIP="None"))
    address = web["spec"]["clusterIP"]
    assert await owners(api) == {**before, address: "web"}

    web["metadata"]["labels"] = {"a": "b"}
    await api.asked("PUT", f"{SERVICES}/web", web)
    assert await owners(api) == {**before, address: "web"}

    await api.asked("DELETE", f"{SERVICES}/web")
    assert await owners(api) == before == {"10.0.0.1": "kubernetes"}


async def test_a_dry_run_allocates_no_address(api: EmbeddedServer) -> None:
    before = await owners(api)

    await api.asked("POST", f"{SERVICES}?dryRun=All", service("web"))

    assert await owners(api) == before


async def test_a_restarted_server_has_the_same_managed_objects() -> None:
    log = RevisionLog()
    api = EmbeddedServer(log=log)
    await api.asked("POST", DEFINITIONS, definition("kites", "v1"))
    await api.asked("POST", SERVICES, service("web"))
    before, revision = (await registered(api), await owners(api)), log.revision

    again = EmbeddedServer(log=log)

    assert (await registered(again), await owners(again)) == before
    assert log.revision == revision
