"""The in-process transport."""

from collections.abc import AsyncGenerator

import pytest

from steersman.wire import CertificateIdentity, Reply, Request, Transport
from steersman_cluster.apiserver import InProcessTransport
from tests.embedded import TOKEN, EmbeddedServer

GET = Request(method="GET", path="/version")


class Echo:
    """Sends a fixed reply, and records the certificates of the requests."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.certificates: list[CertificateIdentity | None] = []

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        self.certificates.append(certificate)
        return self._reply


async def test_a_reply_is_returned_as_a_response() -> None:
    headers = (("content-type", "x"), ("warning", '299 - "a"'), ("warning", '299 - "b"'))
    transport: Transport = InProcessTransport(
        Echo(Reply(status=201, headers=headers, body=b"hello"))
    )

    async with transport.open(GET) as response:
        body = await response.read(limit_bytes=5)

    assert (response.status, body) == (201, b"hello")
    assert response.headers["content-type"] == "x"
    assert response.warnings == ('299 - "a"', '299 - "b"')


async def test_a_body_over_the_limit_is_rejected() -> None:
    transport = InProcessTransport(Echo(Reply(status=200, body=b"hello")))

    async with transport.open(GET) as response:
        with pytest.raises(ValueError, match="longer than 4 bytes"):
            await response.read(limit_bytes=4)


async def test_a_stream_is_closed_when_its_block_exits() -> None:
    ended: list[bool] = []

    async def lines() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"line\n"
        finally:
            ended.append(True)

    transport = InProcessTransport(Echo(Reply(status=200, stream=lines())))
    async with transport.open(GET) as response:
        first = await anext(aiter(response.chunks()))

    assert first == b"line\n"
    assert ended == [True]


async def test_a_request_without_a_token_has_the_administrators_certificate() -> None:
    echo = Echo(Reply(status=200))
    transport = InProcessTransport(echo)
    with_token = Request(method="GET", path="/", headers=(("Authorization", f"Bearer {TOKEN}"),))

    for request in (GET, with_token):
        async with transport.open(request):
            pass

    assert echo.certificates == [
        CertificateIdentity(common_name="admin", organizations=("system:masters",)),
        None,
    ]


async def test_a_rejection_is_returned_as_a_response(api: EmbeddedServer) -> None:
    transport = InProcessTransport(api.server, user="jane", groups=())

    async with transport.open(Request(method="GET", path="/api/v1/pods")) as response:
        assert response.status == 403


async def test_a_request_whose_guard_raises_is_not_sent() -> None:
    echo = Echo(Reply(status=200))

    def fail() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        async with InProcessTransport(echo).open(Request(method="PUT", path="/x", guard=fail)):
            pass

    assert echo.certificates == []
