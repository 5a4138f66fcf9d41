"""Continue tokens and resource versions of lists."""

import base64

import msgspec
import pytest

from tests.embedded import EmbeddedServer, config_map


def token(**fields: object) -> str:
    whole = {"v": "meta.k8s.io/v1", "rv": 5, "start": "a\0", **fields}
    encoded = base64.urlsafe_b64encode(msgspec.json.encode(whole))
    return encoded.rstrip(b"=").decode()


BAD_TOKENS = {
    "not base64": "!!!",
    "not JSON": base64.urlsafe_b64encode(b"nonsense").decode(),
    "not an object": base64.urlsafe_b64encode(b"[]").decode(),
    "another version": token(v="meta.k8s.io/v2"),
    "no revision": token(rv=0),
    "a revision that is not a number": token(rv="five"),
    "no start key": token(start=""),
    "a start key outside the prefix": token(start="../../secrets/default/db\0"),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
async def test_an_invalid_continue_token_is_rejected(case: str, api: EmbeddedServer) -> None:
    answer = await api.ask("GET", f"/api/v1/configmaps?limit=1&continue={BAD_TOKENS[case]}")

    assert answer.status == 400
    assert answer.json["message"].startswith("invalid continue token: continue key is not valid")


async def test_a_continue_token_continues_in_its_namespace(
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


async def test_a_continue_token_from_the_future_is_rejected_with_a_retry_delay(
    api: EmbeddedServer,
) -> None:
    answer = await api.ask("GET", f"/api/v1/configmaps?continue={token(rv=10**9)}")

    assert (answer.status, answer.json["reason"]) == (504, "Timeout")
    assert "Too large resource version: 1000000000" in answer.json["message"]


async def test_a_continue_token_excludes_a_resource_version(api: EmbeddedServer) -> None:
    answer = await api.ask("GET", f"/api/v1/configmaps?continue={token()}&resourceVersion=5")

    assert answer.status == 400
    assert answer.json["message"] == (
        "specifying resource version is not allowed when using continue"
    )


async def test_a_list_at_version_0_ignores_the_limit(api: EmbeddedServer, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name in ("a", "b", "c"):
        await api.asked("POST", path, config_map(name))

    listed = await api.ask("GET", f"{path}?limit=1&resourceVersion=0")

    assert listed.names == ["a", "b", "c"]


async def test_a_limited_list_with_a_version_is_of_exactly_that_version(
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


async def test_a_get_ignores_the_watch_parameter(api: EmbeddedServer, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", path, config_map("a"))

    found = await api.ask("GET", f"{path}/a?watch=1")
    missing = await api.ask("GET", f"{path}/b?watch=1")

    assert found.json["kind"] == "ConfigMap"
    assert missing.status == 404
