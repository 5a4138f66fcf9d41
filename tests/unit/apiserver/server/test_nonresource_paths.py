"""Health, version, discovery and OpenAPI paths."""

import pytest

from tests.embedded import EmbeddedServer

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping", "/healthz/etcd"])
async def test_health_checks_return_ok(path: str, api: EmbeddedServer) -> None:
    answer = await api.ask("GET", path)

    assert (answer.status, answer.body) == (200, b"ok")


async def test_a_verbose_health_response_lists_the_checks(api: EmbeddedServer) -> None:
    answer = await api.ask("GET", "/readyz?verbose")

    assert b"[+]ping ok" in answer.body
    assert answer.body.endswith(b"readyz check passed\n")


async def test_a_health_check_can_be_excluded(api: EmbeddedServer) -> None:
    answer = await api.ask("GET", "/livez?verbose&exclude=etcd&exclude=none")

    lines = answer.body.decode().splitlines()
    assert "[+]etcd excluded: ok" in lines
    assert lines[-2:] == [
        'warn: some health checks cannot be excluded: no matches for "none"',
        "livez check passed",
    ]


@pytest.mark.parametrize("path", ["/healthz/shutdown", "/readyz/none", "/healthzzz"])
async def test_an_unknown_health_check_is_not_found(path: str, api: EmbeddedServer) -> None:
    answer = await api.ask("GET", path)

    assert (answer.status, answer.body) == (404, b"404 page not found\n")


async def test_the_version_is_that_of_the_emulated_kubernetes(api: EmbeddedServer) -> None:
    version = await api.asked("GET", "/version")

    assert (version["major"], version["minor"]) == ("1", "36")


async def test_every_discovered_resource_is_served(api: EmbeddedServer) -> None:
    discovered = await api.asked("GET", "/apis", accept=AGGREGATED)

    missing = [
        (group["metadata"]["name"], version["version"], resource["resource"])
        for group in discovered["items"]
        for version in group["versions"]
        for resource in version["resources"]
        if api.server.registry.find(
            group["metadata"]["name"], version["version"], resource["resource"]
        )
        is None
    ]
    assert missing == []


@pytest.mark.parametrize("path", ["/apis", "/api"])
async def test_a_document_with_a_matching_etag_is_not_sent_again(
    path: str, api: EmbeddedServer
) -> None:
    first = await api.ask("GET", path, accept=AGGREGATED)
    etag = first.header("etag")
    assert etag

    again = await api.ask("GET", path, accept=AGGREGATED, if_none_match=etag)

    assert (again.status, again.body) == (304, b"")


async def test_the_openapi_index_contains_the_urls_of_its_documents(api: EmbeddedServer) -> None:
    index = await api.asked("GET", "/openapi/v3")

    found = await api.asked("GET", index["paths"]["api/v1"]["serverRelativeURL"])

    assert "io.k8s.api.core.v1.Pod" in found["components"]["schemas"]


NOT_FOUND = {
    "/nowhere": ("text/plain; charset=utf-8", b"404 page not found\n"),
    "/apis/nowhere.example.com/v1": ("text/plain; charset=utf-8", b"404 page not found\n"),
}


@pytest.mark.parametrize("path", NOT_FOUND)
async def test_an_unknown_page_is_not_found(path: str, api: EmbeddedServer) -> None:
    answer = await api.ask("GET", path)

    assert answer.status == 404
    assert (answer.header("content-type"), answer.body) == NOT_FOUND[path]


async def test_a_document_does_not_allow_post(api: EmbeddedServer) -> None:
    assert (await api.ask("POST", "/version", {})).status == 405
