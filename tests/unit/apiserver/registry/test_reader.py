"""Continue tokens and versions: opaque to clients, checked here."""

import base64

import msgspec
import pytest

from tests.embedded import EmbeddedServer, config_map


def token(**fields: object) -> str:
    whole = {"v": "meta.k8s.io/v1", "rv": 5, "start": "a\0", **fields}
    encoded = base64.urlsafe_b64encode(msgspec.json.encode(whole))
    return encoded.rstrip(b"=").decode()


BAD_TOKENS = {
    "no base64": "!!!",
    "no JSON": base64.urlsafe_b64encode(b"nonsense").decode(),
    "no map": base64.urlsafe_b64encode(b"[]").decode(),
    "another version": token(v="meta.k8s.io/v2"),
    "no revision": token(rv=0),
    "a revision in letters": token(rv="five"),
    "no beginning": token(start=""),
    "a way out": token(start="../../secrets/default/db\0"),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
async def test_a_token_that_the_server_did_not_make_is_refused(
    case: str, api: EmbeddedServer
) -> None:
    answer = await api.ask("GET", f"/api/v1/configmaps?limit=1&continue={BAD_TOKENS[case]}")

    assert answer.status == 400
    assert answer.json["message"].startswith("invalid continue token: continue key is not valid")


async def test_a_token_goes_on_in_the_namespace_that_it_was_made_for(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name in ("a", "b", "c"):
        await api.asked("POST", path, config_map(name))

    first = await api.ask("GET", f"{path}?limit=2")
    rest = await api.ask("GET", f"{path}?continue={first.json['metadata']['continue']}")

    assert first.names == ["a", "b"]
    assert rest.names == ["c"]
    assert "continue" not in rest.json["metadata"]


async def test_a_token_from_the_future_is_refused_with_a_delay(api: EmbeddedServer) -> None:
    answer = await api.ask("GET", f"/api/v1/configmaps?continue={token(rv=10**9)}")

    assert (answer.status, answer.json["reason"]) == (504, "Timeout")
    assert "Too large resource version: 1000000000" in answer.json["message"]


async def test_a_token_and_a_version_are_not_given_together(api: EmbeddedServer) -> None:
    answer = await api.ask("GET", f"/api/v1/configmaps?continue={token()}&resourceVersion=5")

    assert answer.status == 400
    assert answer.json["message"] == (
        "specifying resource version is not allowed when using continue"
    )


async def test_the_newest_of_all_is_given_whole_whatever_the_limit(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name in ("a", "b", "c"):
        await api.asked("POST", path, config_map(name))

    listed = await api.ask("GET", f"{path}?limit=1&resourceVersion=0")

    assert listed.names == ["a", "b", "c"]


async def test_a_limited_list_from_a_version_is_exactly_of_that_version(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", path, config_map("a"))
    then = (await api.asked("GET", path))["metadata"]["resourceVersion"]
    await api.asked("POST", path, config_map("b"))

    limited = await api.ask("GET", f"{path}?limit=5&resourceVersion={then}")
    unlimited = await api.ask("GET", f"{path}?resourceVersion={then}")

    assert limited.names == ["a"]
    assert unlimited.names == ["a", "b"]


async def test_one_object_is_read_and_not_watched_whatever_the_query_says(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", path, config_map("a"))

    found = await api.ask("GET", f"{path}/a?watch=1")
    missing = await api.ask("GET", f"{path}/b?watch=1")

    assert found.json["kind"] == "ConfigMap"
    assert missing.status == 404
