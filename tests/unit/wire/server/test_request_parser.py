"""The request parser, for any boundaries of the received chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.wire.server.request_parser import HEAD_BYTES, ParsedRequest, RequestParser

LARGEST = 100

PUT = b"PUT /a%20b?x=1&y=&x=%C3%A9 HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nX-Two: 2\r\n"
WHOLE = PUT + b"Content-Length: 4\r\n\r\nbody"
IN_CHUNKS = (
    PUT + b"Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\nTrailer: t\r\n\r\n"
)


def parsed(*pieces: bytes) -> RequestParser:
    parser = RequestParser(max_body_bytes=LARGEST)
    for piece in pieces:
        parser.feed(piece)
    return parser


def only(parser: RequestParser) -> ParsedRequest:
    (each,) = parser.requests
    return each


@given(data=st.data(), said=st.sampled_from([WHOLE, IN_CHUNKS]))
def test_chunk_boundaries_do_not_change_a_request(data: st.DataObject, said: bytes) -> None:
    places = data.draw(st.lists(st.integers(0, len(said)), max_size=8).map(sorted))
    ends = [0, *places, len(said)]

    found = only(parsed(*[said[a:b] for a, b in pairwise(ends)]))

    request = found.request
    assert (request.method, request.path) == ("PUT", "/a b")
    assert request.query == (("x", "1"), ("y", ""), ("x", "é"))
    assert [value for name, value in request.headers if name == "X-Two"] == ["1", "2"]
    assert "Trailer" not in dict(request.headers)
    assert request.body == b"body"
    assert (found.version, found.is_last) == ("1.1", False)


@given(st.lists(st.sampled_from([WHOLE, IN_CHUNKS]), min_size=1, max_size=5))
def test_pipelined_requests_are_parsed_one_after_the_other(said: list[bytes]) -> None:
    parser = parsed(b"".join(said))

    assert [each.request.body for each in parser.requests] == [b"body"] * len(said)
    assert not parser.is_over


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/", "/", ()),
        (b"//api//v1", "//api//v1", ()),
        (b"/a?", "/a", ()),
        (b"/a?b?c=d", "/a", (("b?c", "d"),)),
        (b"/a/%2e%2e/b", "/a/../b", ()),
        (b"/%ff", "/\ufffd", ()),
        (b"http://proxied:80/a?b=c", "/a", (("b", "c"),)),
        (b"http://proxied", "/", ()),
    ],
)
def test_a_target_is_a_path_and_a_query(
    target: bytes, path: str, query: tuple[tuple[str, str], ...]
) -> None:
    request = only(parsed(b"GET " + target + b" HTTP/1.1\r\n\r\n")).request

    assert (request.path, request.query) == (path, query)


@pytest.mark.parametrize(
    "said",
    [
        b"\0\1\2\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / ICY/1.0\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\n\r\n",
        b"GET http://[::1/x HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody",
        b"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"DELETE /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_an_invalid_request_is_rejected_and_ends_parsing(said: bytes) -> None:
    parser = parsed(said, WHOLE)

    assert (parser.error_status, parser.is_over) == (400, True)
    assert not parser.requests


def test_requests_before_invalid_data_are_parsed() -> None:
    parser = parsed(WHOLE + b"\0nonsense")

    assert only(parser).request.body == b"body"
    assert parser.error_status == 400


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"GET /", b"x" * 1000),
        (b"GET / HTTP/1.1\r\nX: ", b"x" * 1000),
        (b"GET / HTTP/1.1\r\n", b"X: y\r\n" * 170),
    ],
)
def test_an_endless_head_is_rejected(start: bytes, more: bytes) -> None:
    parser = parsed(start)

    pieces = 0
    while not parser.is_over:
        parser.feed(more)
        pieces += 1

    assert parser.error_status == 431
    assert pieces <= HEAD_BYTES // len(more) + 1


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"0\r\nT: ", b"x" * 1000),
        (b"0\r\n", b"T: y\r\n" * 170),
        (b"1;", b"x" * 1000),
    ],
)
def test_trailers_and_chunk_extensions_have_a_length_limit(start: bytes, more: bytes) -> None:
    parser = parsed(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + start)

    pieces = 0
    while not parser.is_over:
        parser.feed(more)
        pieces += 1

    assert parser.error_status == 431
    assert pieces <= HEAD_BYTES // len(more) + 1


def test_an_oversized_head_in_one_chunk_is_rejected() -> None:
    field = b"X: " + b"x" * (HEAD_BYTES // 2) + b"\r\n"

    assert parsed(b"GET / HTTP/1.1\r\n" + 2 * field + b"\r\n").error_status == 431
    assert parsed(b"GET / HTTP/1.1\r\n" + field + b"\r\n").error_status is None


@pytest.mark.parametrize("said", [b"GET /\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n"])
def test_only_http_1_versions_are_accepted(said: bytes) -> None:
    parser = parsed(said)

    assert parser.error_status in {400, 505}
    assert not parser.requests


def test_whitespace_around_a_header_value_is_stripped() -> None:
    request = only(parsed(b"GET / HTTP/1.1\r\nAuthorization:  Bearer t \t\r\n\r\n")).request

    assert request.headers == (("Authorization", "Bearer t"),)


def test_the_parser_keeps_no_data_of_a_parsed_request() -> None:
    parser = parsed(b"PUT / HTTP/1.1\r\nContent-Length: 90\r\n\r\n" + b"x" * 90)
    parser.requests.clear()

    assert not any(
        value for value in vars(parser).values() if isinstance(value, bytes | bytearray | list)
    )


def test_bytes_of_a_body_do_not_count_for_the_head() -> None:
    said = b"PUT / HTTP/1.1\r\nContent-Length: 90\r\n\r\n" + b"x" * 90
    parser = RequestParser(max_body_bytes=LARGEST)

    for _ in range(2 * HEAD_BYTES // len(said)):
        parser.feed(said)

    assert parser.error_status is None


@pytest.mark.parametrize("size", [LARGEST - 1, LARGEST])
def test_a_body_within_the_limit_is_complete(size: int) -> None:
    parser = parsed(b"PUT / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size, b"x" * size)

    assert only(parser).request.body == b"x" * size
    assert not parser.is_cut_short


@pytest.mark.parametrize("size", [LARGEST + 1, 10 * LARGEST])
@pytest.mark.parametrize("piece", [1, 7, 10 * LARGEST])
def test_an_oversized_body_is_cut_one_byte_beyond_the_limit(size: int, piece: int) -> None:
    body = b"x" * size
    pieces = [body[start : start + piece] for start in range(0, size, piece)]
    parser = parsed(b"PUT / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size, *pieces, WHOLE)

    found = only(parser)
    assert found.request.body == b"x" * (LARGEST + 1)
    assert found.is_last
    assert parser.is_cut_short


@pytest.mark.parametrize("head", [b"Content-Length: 0\r\n", b""])
def test_a_request_without_a_body_has_none(head: bytes) -> None:
    assert only(parsed(b"POST / HTTP/1.1\r\n" + head + b"\r\n")).request.body is None


@pytest.mark.parametrize(
    ("version", "connection", "is_last"),
    [
        (b"1.1", b"", False),
        (b"1.1", b"Connection: close\r\n", True),
        (b"1.0", b"", True),
        (b"1.0", b"Connection: keep-alive\r\n", False),
    ],
)
def test_connection_close_marks_the_last_request(
    version: bytes, connection: bytes, is_last: bool
) -> None:
    found = only(parsed(b"GET / HTTP/" + version + b"\r\n" + connection + b"\r\n"))

    assert (found.version, found.is_last) == (version.decode(), is_last)


def test_an_upgrade_request_is_the_last_of_its_connection() -> None:
    parser = parsed(
        b"GET /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00", WHOLE
    )

    found = only(parser)
    assert (found.request.path, found.is_last) == ("/a", True)
    assert parser.error_status is None


def test_expect_100_continue_waits_until_the_body_arrives() -> None:
    head = b"PUT / HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n"

    assert parsed(head).is_waiting
    assert not parsed(head.replace(b"1.1", b"1.0")).is_waiting
    assert not parsed(head, b"bo").is_waiting
    assert not parsed(head + b"body").is_waiting
