"""For any response over a real connection, the caller gets one typed error before the deadline."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from steersman.client import Client, ClientSettings, ClusterConfig, RetryPolicy, connect
from steersman.clock import SystemClock
from steersman.errors import (
    ApiError,
    DeadlinePassed,
    InvalidObject,
    InvalidResponse,
    ServerFailed,
    SteersmanError,
    Unreachable,
)
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ignore
from tests.raw_server import Responder, ok, raw_server, respond_with

# Longer than the time limit of a test.
LONG_SECONDS = 3600.0

CUT_OFF = b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"kind": "Pod"'
ENDLESS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"10000\r\n%s\r\n" % (
    b"x" * 0x10000
)
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@asynccontextmanager
async def client_of(
    answer: Responder, *, deadline_seconds: float = LONG_SECONDS
) -> AsyncIterator[Client]:
    settings = ClientSettings(
        deadline_seconds=deadline_seconds,
        object_limit_bytes=8 * 1024,
        retry=RetryPolicy(attempts=1),
    )
    async with raw_server(answer) as server:
        config = ClusterConfig(server=f"http://127.0.0.1:{server.port}", source="a test")
        async with connect(
            config, clock=SystemClock(), rng=Random(0), observe=ignore, settings=settings
        ) as client:
            yield client


@pytest.mark.parametrize(
    ("answer", "error", "says_why"),
    [
        (respond_with(b"garbage\r\n\r\n", then_close=True), Unreachable, "not HTTP"),
        (respond_with(b"", then_close=True), Unreachable, "connection was closed"),
        (respond_with(CUT_OFF, then_close=True), Unreachable, "connection was closed"),
        (respond_with(ENDLESS), InvalidResponse, "larger than 8192 bytes"),
        (respond_with(ok(b" " * 10_000_000)), InvalidResponse, "larger than 8192 bytes"),
        (respond_with(ok(b'{"kind": "Pod", ')), InvalidResponse, "not the expected JSON"),
        (respond_with(ok(b"<html>")), InvalidResponse, "not the expected JSON"),
        (respond_with(ok(b"[" * 8000)), InvalidResponse, "not the expected JSON"),
        (respond_with(ok(b"[]")), InvalidResponse, "expected v1 Pod"),
        (
            respond_with(ok(b'{"apiVersion": "v1", "kind": "Node"}')),
            InvalidResponse,
            "v1 Node; expected v1 Pod",
        ),
        (
            respond_with(ok(b'{"kind": "Pod", "spec": {"containers": 1}}')),
            InvalidObject,
            "containers",
        ),
        (
            respond_with(ok(b"", "Location: http://elsewhere/", status="302 Found")),
            InvalidResponse,
            "a redirect",
        ),
        (respond_with(ok(b"<html>", status="502 Bad Gateway")), ServerFailed, "502"),
        (respond_with(ok(b"no", status="418 Teapot")), ApiError, "418"),
    ],
)
async def test_a_bad_response_to_a_get_is_one_typed_error(
    answer: Responder, error: type[SteersmanError], says_why: str
) -> None:
    async with client_of(answer) as client:
        with pytest.raises(error, match=says_why):
            await client.get(core_v1.Pod, "web", namespace="default")


async def test_a_stalled_response_fails_at_the_deadline() -> None:
    async with client_of(respond_with(CUT_OFF), deadline_seconds=1.0) as client:
        with pytest.raises(DeadlinePassed, match="no response within 1 s"):
            await client.get(core_v1.Pod, "web", namespace="default")


@pytest.mark.parametrize(
    ("body", "error", "says_why"),
    [
        (STREAM + chunk(b'{"type": "ADDED", "obj'), Unreachable, "connection was closed"),
        (STREAM + chunk(b'{"type": "ADD') + b"0\r\n\r\n", Unreachable, "middle of an event"),
        (STREAM + chunk(b"{]\n"), InvalidResponse, "an event cannot be read"),
        (
            STREAM + chunk(b'{"type": "ADDED", "object": {"kind": "Node"}}\n'),
            InvalidResponse,
            "Node",
        ),
        (STREAM + chunk(b"x" * 9000), InvalidResponse, "longer than 8192 bytes"),
        (STREAM + b"nonsense\r\n", Unreachable, "not HTTP"),
    ],
)
async def test_a_bad_response_to_a_watch_is_one_typed_error(
    body: bytes, error: type[SteersmanError], says_why: str
) -> None:
    async def watch(client: Client) -> None:
        async with client.watch(core_v1.Pod) as events:
            async for _ in events:
                pass

    async with client_of(respond_with(body, then_close=True)) as client:
        with pytest.raises(error, match=says_why):
            await watch(client)


async def test_a_write_with_an_undecodable_response_is_reported_as_done() -> None:
    async with client_of(respond_with(ok(b"<html>"))) as client:
        with pytest.raises(InvalidResponse) as refused:
            await client.create(core_v1.Namespace(metadata=meta_v1.ObjectMeta(name="new")))

    assert refused.value.__notes__ == ["The server responded that the write succeeded."]
