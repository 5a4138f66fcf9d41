"""The bytes of a reply."""

from collections.abc import AsyncGenerator

import pytest

from steersman.wire.messages import Reply
from steersman.wire.server.replies import chunk, error_reply, has_body, reply_head


async def nothing() -> AsyncGenerator[bytes, None]:
    return
    yield b""


def lines(reply: Reply, *, version: str = "1.1", is_last: bool = False) -> list[str]:
    head = reply_head(reply, version=version, is_last=is_last)
    assert head.endswith(b"\r\n\r\n")
    return head.decode()[:-4].split("\r\n")


def test_a_complete_reply_has_a_content_length() -> None:
    reply = Reply(status=201, headers=(("X-A", "é"), ("X-A", "2")), body=b"done")

    assert lines(reply) == ["HTTP/1.1 201 Created", "X-A: é", "X-A: 2", "Content-Length: 4"]


def test_a_stream_uses_chunked_encoding() -> None:
    reply = Reply(status=200, stream=nothing())

    assert lines(reply) == ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"]
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"


def test_a_stream_to_a_client_without_chunks_has_none() -> None:
    reply = Reply(status=200, stream=nothing())

    assert lines(reply, version="1.0", is_last=True) == ["HTTP/1.0 200 OK", "Connection: close"]


def test_an_http_1_0_client_gets_a_keep_alive_header() -> None:
    assert "Connection: keep-alive" in lines(Reply(status=200), version="1.0")
    assert "Connection: close" in lines(Reply(status=200), is_last=True)


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_a_body_has_no_content_length(status: int) -> None:
    assert not any("Content-Length" in line for line in lines(Reply(status=status)))
    assert not has_body(status, "GET")
    assert not any("Transfer" in line for line in lines(Reply(status=status, stream=nothing())))


def test_a_head_request_gets_only_headers() -> None:
    assert not has_body(200, "HEAD")
    assert has_body(200, "GET")


@pytest.mark.parametrize("value", ["a\r\nX-Evil: yes", "a\nX-Evil: yes", "a\rX-Evil: yes"])
def test_no_header_value_can_inject_a_second_header(value: str) -> None:
    head = reply_head(Reply(status=200, headers=(("X", value),)), version="1.1", is_last=False)

    names = [line.partition(b":")[0] for line in head.splitlines()]
    assert names == [b"HTTP/1.1 200 OK", b"X", b"Content-Length", b""]


def test_an_unknown_status_has_an_empty_reason() -> None:
    assert lines(Reply(status=599))[0] == "HTTP/1.1 599 "


def test_a_rejection_closes_the_connection() -> None:
    head, _, text = error_reply(431).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b"Connection: close" in head
    assert text == b"Request Header Fields Too Large\n"
