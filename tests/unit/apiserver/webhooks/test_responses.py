from typing import Any

import msgspec
import pytest

from steersman_cluster.apiserver.webhooks import WebhookResponse
from steersman_cluster.apiserver.webhooks.responses import BadResponse, document


def delivered(body: bytes, *, status: int = 200, content_type: str = "") -> WebhookResponse:
    return WebhookResponse(status, {"content-type": content_type} if content_type else {}, body)


@pytest.mark.parametrize("body", [b'{"a": 1}', b"a: 1\n"])
def test_a_response_is_json_or_yaml(body: bytes) -> None:
    assert document(delivered(body)) == {"a": 1}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (delivered(b"hello"), "couldn't get version/kind; json parse error: json: cannot unmarsh"),
        (delivered(b"[]"), "couldn't get version/kind; json parse error: json: cannot unmarsh"),
        (delivered(b'{"kind": 7}'), "json: cannot unmarshal number into Go struct field .kind of"),
        (
            delivered(b"", content_type="text/plain"),
            "0-length response with status code: 200 and content type: text/plain",
        ),
        (delivered(b"x", status=404), "the server could not find the requested resource"),
        (delivered(b"mine", status=403), "mine"),
        (
            delivered(b" oops\n", status=500),
            'an error on the server ("oops") has prevented the request from succeeding',
        ),
        (
            delivered(b"{}", status=500, content_type="application/json"),
            'an error on the server ("unknown") has prevented the request from succeeding',
        ),
        (
            delivered(b"", status=302),
            "the server responded with the status code 302 but did not return more information",
        ),
    ],
)
def test_an_invalid_response_is_reported_with_the_message_of_client_go(
    answer: WebhookResponse, why: str
) -> None:
    with pytest.raises(BadResponse) as raised:
        document(answer)

    assert why in str(raised.value)


def test_a_status_response_is_reported_with_its_message() -> None:
    status: Any = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "mine"}

    with pytest.raises(BadResponse, match=r"^mine$"):
        document(delivered(msgspec.json.encode(status), status=500))
