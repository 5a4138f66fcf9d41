"""Encoding of replies: documents, errors and warnings."""

import msgspec
import pytest
import yaml

from steersman.wire import Reply
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.request import replies
from steersman_cluster.apiserver.request.negotiation import YAML
from tests.unit.apiserver.urls import request, request_info

BODY = b'{"kind":"Pod","spec":{"a":"\xc3\xa9"}}'


def test_a_document_is_sent_unchanged_with_a_final_newline() -> None:
    reply = replies.document(200, BODY)

    assert reply.body == BODY + b"\n"
    assert dict(reply.headers)["content-type"] == "application/json"


def test_a_yaml_document_has_the_same_content() -> None:
    reply = replies.document(200, BODY, language=YAML)

    assert yaml.safe_load(reply.body) == msgspec.json.decode(BODY)
    assert dict(reply.headers)["content-type"] == "application/yaml"


def test_a_pretty_document_is_indented() -> None:
    reply = replies.document(200, BODY, pretty=True)

    assert reply.body.decode() == '{\n  "kind": "Pod",\n  "spec": {\n    "a": "é"\n  }\n}'


READERS = {
    ("/", "curl/8.0"): True,
    ("/", "Mozilla/5.0 (X11)"): True,
    ("/", "kubectl/v1.36"): False,
    ("/?pretty=true", "kubectl/v1.36"): True,
    ("/?pretty=false", "curl/8.0"): False,
}


@pytest.mark.parametrize(("url", "agent"), READERS)
def test_browsers_and_curl_get_pretty_documents_by_default(url: str, agent: str) -> None:
    found = replies.is_pretty(request(url, user_agent=agent), request_info(url))

    assert found is READERS[url, agent]


def test_an_error_contains_its_retry_delay() -> None:
    rejection = status_errors.timeout("not now", retry_after_seconds=7)

    reply = replies.error_reply(rejection)

    assert (reply.status, dict(reply.headers)["retry-after"]) == (504, "7")
    assert msgspec.json.decode(reply.body)["details"]["retryAfterSeconds"] == 7


def test_each_warning_is_sent_once_and_escaped() -> None:
    reply = replies.with_warnings(Reply(status=200), ["old", 'a "b" \\ c\r\nx: y', "old"])

    assert [value for name, value in reply.headers if name == "warning"] == [
        '299 - "old"',
        '299 - "a \\"b\\" \\\\ c  x: y"',
    ]


def test_long_warnings_are_truncated() -> None:
    reply = replies.with_warnings(
        Reply(status=200), [f"{number} {'x' * 500}" for number in range(100)]
    )

    warnings = [value for _, value in reply.headers]
    assert len(warnings) == 16
    assert warnings[0] == f'299 - "0 {"x" * 254}"'
