"""Answers as they go out."""

import msgspec
import pytest
import yaml

from steersman.wire import Reply
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.request import replies
from steersman_cluster.apiserver.request.negotiation import YAML
from tests.unit.apiserver.urls import asking, request

BODY = b'{"kind":"Pod","spec":{"a":"\xc3\xa9"}}'


def test_a_document_goes_out_as_it_is_on_a_line_of_its_own() -> None:
    reply = replies.document(200, BODY)

    assert reply.body == BODY + b"\n"
    assert dict(reply.headers)["content-type"] == "application/json"


def test_a_document_in_yaml_says_the_same() -> None:
    reply = replies.document(200, BODY, language=YAML)

    assert yaml.safe_load(reply.body) == msgspec.json.decode(BODY)
    assert dict(reply.headers)["content-type"] == "application/yaml"


def test_a_document_for_people_is_laid_out() -> None:
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
def test_people_are_known_by_their_programs_unless_they_say_otherwise(url: str, agent: str) -> None:
    found = replies.is_pretty(request(url, user_agent=agent), asking(url))

    assert found is READERS[url, agent]


def test_a_refusal_says_when_to_come_back() -> None:
    refusal = status_errors.timeout("not now", retry_after_seconds=7)

    reply = replies.error_reply(refusal)

    assert (reply.status, dict(reply.headers)["retry-after"]) == (504, "7")
    assert msgspec.json.decode(reply.body)["details"]["retryAfterSeconds"] == 7


def test_each_warning_is_sent_once_and_cannot_break_its_header() -> None:
    reply = replies.with_warnings(Reply(status=200), ["old", 'a "b" \\ c\r\nx: y', "old"])

    assert [value for name, value in reply.headers if name == "warning"] == [
        '299 - "old"',
        '299 - "a \\"b\\" \\\\ c  x: y"',
    ]


def test_so_many_warnings_are_cut_short_that_a_client_can_read_them() -> None:
    reply = replies.with_warnings(
        Reply(status=200), [f"{number} {'x' * 500}" for number in range(100)]
    )

    said = [value for _, value in reply.headers]
    assert len(said) == 16
    assert said[0] == f'299 - "0 {"x" * 254}"'
