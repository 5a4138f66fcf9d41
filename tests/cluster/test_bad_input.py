"""Invalid input is rejected with a known reason, and changes nothing."""

import pytest

from tests.embedded import EmbeddedServer, config_map

MAPS = "/api/v1/namespaces/default/configmaps"
YAML = "application/yaml"
ELSEWHERE = {"metadata": {"name": "a", "namespace": "elsewhere"}}
FIVE_MEGABYTES = b'{"data": {"a": "' + b"x" * 5 * 2**20 + b'"}}'

BAD_REQUESTS: dict[str, tuple[tuple[str, str, object], dict[str, str], int, str]] = {
    "malformed JSON": (("POST", MAPS, b'{"metadata": {'), {}, 400, "BadRequest"),
    "malformed YAML": (("POST", MAPS, b"a: ["), {"sends": YAML}, 400, "BadRequest"),
    "no body": (("POST", MAPS, b""), {}, 400, "BadRequest"),
    "a list for an object": (("POST", MAPS, []), {}, 400, "BadRequest"),
    "another kind": (("POST", MAPS, {"kind": "Pod", "apiVersion": "v1"}), {}, 400, "BadRequest"),
    "no name": (("POST", MAPS, {"metadata": {}}), {}, 422, "Invalid"),
    "a bad name": (("POST", MAPS, config_map("A B")), {}, 422, "Invalid"),
    "another name": (("PUT", f"{MAPS}/a", config_map("b")), {}, 400, "BadRequest"),
    "another namespace": (("POST", MAPS, ELSEWHERE), {}, 400, "BadRequest"),
    "an unknown field": (
        ("POST", f"{MAPS}?fieldValidation=Strict", {**config_map("a"), "dada": {}}),
        {},
        400,
        "BadRequest",
    ),
    "an unknown language": (
        ("POST", MAPS, b"<a/>"),
        {"sends": "application/xml"},
        415,
        "UnsupportedMediaType",
    ),
    "an unknown patch": (("PATCH", f"{MAPS}/a", {}), {}, 415, "UnsupportedMediaType"),
    "an answer in an unknown language": (
        ("GET", MAPS, None),
        {"accept": "application/xml"},
        406,
        "NotAcceptable",
    ),
    "an unknown resource": (("GET", "/api/v1/gadgets", None), {}, 404, "NotFound"),
    "an unknown method": (("TRACE", MAPS, None), {}, 405, "MethodNotAllowed"),
    "a method of collections": (
        ("POST", f"{MAPS}/a", config_map("a")),
        {},
        405,
        "MethodNotAllowed",
    ),
    "an object of five megabytes": (
        ("POST", MAPS, FIVE_MEGABYTES),
        {},
        413,
        "RequestEntityTooLarge",
    ),
    "an object of two megabytes": (
        ("POST", MAPS, config_map("a", a="x" * 2**21)),
        {},
        422,
        "Invalid",
    ),
}


@pytest.mark.parametrize("case", BAD_REQUESTS)
async def test_invalid_input_is_rejected_with_a_reason(case: str, api: EmbeddedServer) -> None:
    request, how, status, reason = BAD_REQUESTS[case]
    revision = api.log.revision

    response = await api.ask(*request, **how)

    assert (response.status, response.json["reason"]) == (status, reason), response.body
    assert api.log.revision == revision
