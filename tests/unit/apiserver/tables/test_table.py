"""Requests for tables, and the responses."""

from typing import Any

import pytest

from tests.embedded import EmbeddedServer

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


def cells(table: Any) -> list[list[Any]]:
    return [row["cells"] for row in table["rows"]]


async def table(api: EmbeddedServer, url: str) -> Any:
    return await api.asked("GET", url, accept=TABLE)


@pytest.fixture
async def maps(api: EmbeddedServer, namespace: str) -> str:
    """Return the URL of two ConfigMaps, created a minute apart."""
    url = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", url, config_map("a", x="1"))
    api.clock.advance(60.0)
    await api.asked("POST", url, config_map("b", x="1", y="2"))
    return url


async def test_a_list_has_a_row_for_each_object(api: EmbeddedServer, maps: str) -> None:
    found = await table(api, maps)

    assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [each["name"] for each in found["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert cells(found) == [["a", 1, "60s"], ["b", 2, "0s"]]
    assert found["metadata"] == (await api.asked("GET", maps))["metadata"]


async def test_a_page_has_a_continue_token(api: EmbeddedServer, maps: str) -> None:
    first = await table(api, f"{maps}?limit=1")
    rest = await table(api, f"{maps}?limit=1&continue={first['metadata']['continue']}")

    assert first["metadata"]["remainingItemCount"] == 1
    assert (cells(first), cells(rest)) == ([["a", 1, "60s"]], [["b", 2, "0s"]])
    assert rest["metadata"].keys() == {"resourceVersion"}


async def test_the_table_of_one_object_has_its_resource_version(
    api: EmbeddedServer, maps: str
) -> None:
    whole = await api.asked("GET", f"{maps}/a")

    found = await table(api, f"{maps}/a")

    assert found["metadata"] == {"resourceVersion": whole["metadata"]["resourceVersion"]}
    assert cells(found) == [["a", 1, "60s"]]


async def test_a_row_contains_as_much_of_its_object_as_requested(
    api: EmbeddedServer, maps: str
) -> None:
    whole = await api.asked("GET", f"{maps}/a")

    carried = {
        include: (await table(api, f"{maps}/a?includeObject={include}"))["rows"][0]["object"]
        for include in ("None", "Metadata", "Object", "")
    }

    metadata = {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": whole["metadata"],
    }
    assert carried == {"None": None, "Metadata": metadata, "Object": whole, "": metadata}


async def test_an_invalid_include_object_parameter_is_rejected(
    api: EmbeddedServer, maps: str
) -> None:
    answer = await api.ask("GET", f"{maps}?includeObject=Some", accept=TABLE)

    assert (answer.status, answer.json["reason"]) == (400, "BadRequest")
    assert "includeObject: Invalid value" in answer.json["message"]


async def test_an_object_is_created_even_if_its_table_cannot_be_printed(
    api: EmbeddedServer, namespace: str
) -> None:
    crd = {
        "metadata": {"name": f"things.{namespace}.example.com"},
        "spec": {
            "group": f"{namespace}.example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }

    answer = await api.ask("POST", f"{DEFINITIONS}?includeObject=Some", crd, accept=TABLE)

    assert answer.status == 400
    url = f"/apis/{namespace}.example.com/v1/things"
    assert cells(await table(api, url)) == []


async def test_writes_return_tables_and_deletions_return_a_status(
    api: EmbeddedServer, namespace: str
) -> None:
    url = f"/api/v1/namespaces/{namespace}/configmaps"

    created = await api.asked("POST", url, config_map("a", x="1"), accept=TABLE)
    dry = await api.asked("POST", f"{url}?dryRun=All", config_map("b"), accept=TABLE)
    deleted = await api.asked("DELETE", f"{url}/a", accept=TABLE)

    assert (cells(created), cells(dry)) == ([["a", 1, "0s"]], [["b", 0, "0s"]])
    assert (deleted["kind"], deleted["status"]) == ("Status", "Success")


async def test_a_watch_sends_the_column_definitions_once(api: EmbeddedServer, maps: str) -> None:
    async with api.watch(f"{maps}?{INITIAL}", accept=TABLE) as lines:
        first, second, end = await lines.first(3)
        await api.asked("DELETE", f"{maps}/a")
        gone = await anext(lines)

    sent = [each["object"]["columnDefinitions"] is not None for each in (first, second, end, gone)]
    assert sent == [True, False, False, False]
    assert [each["type"] for each in (first, end, gone)] == ["ADDED", "BOOKMARK", "DELETED"]
    assert (cells(gone["object"])[0][:2], cells(end["object"])) == (
        ["a", 1],
        [["", 0, "<unknown>"]],
    )
    marked = end["object"]["rows"][0]["object"]["metadata"]
    assert marked["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_an_empty_table_has_null_rows_where_kube_apiserver_has_null(
    api: EmbeddedServer, namespace: str
) -> None:
    roles = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles"
    secrets = f"/api/v1/namespaces/{namespace}/secrets"

    assert (await table(api, roles))["rows"] is None
    assert (await table(api, secrets))["rows"] == []


async def test_objects_of_a_sorted_kind_are_listed_in_its_order(api: EmbeddedServer) -> None:
    found = await table(api, "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas")

    precedences = [row[2] for row in cells(found)]
    assert precedences == sorted(precedences)
    assert len(precedences) > 3
