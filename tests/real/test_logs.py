"""logs: a container's lines, which kube-apiserver proxies from the kubelet."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from steersman.client import Client, LogOptions
from steersman.errors import BadRequest, DeadlinePassed, InvalidResponse, NotFound
from tests.real.kubelet import LogHandler, kubelet
from tests.real.objects import pod


def log_of(*chunks: bytes) -> LogHandler:
    async def log(path: str, query: dict[str, str]) -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return log


async def echo_request(path: str, query: dict[str, str]) -> AsyncIterator[bytes]:
    yield f"{path}\n".encode()
    for name, value in sorted(query.items()):
        yield f"{name} is {value}\n".encode()


async def lines_of(client: Client, namespace: str, options: LogOptions | None = None) -> list[str]:
    async with client.logs("web", namespace=namespace, options=options) as lines:
        return [line async for line in lines]


async def test_a_log_is_read_completely_whatever_its_chunks(client: Client, namespace: str) -> None:
    chunks = (b"on", b"e\ntwo\n", b"\nfo", b"ur ", b"\xff\nthe end")

    async with kubelet(client, log_of(*chunks)) as node:
        await client.create(pod(namespace, "web", node=node))

        assert await lines_of(client, namespace) == ["one", "two", "", "four \ufffd", "the end"]


async def test_an_empty_log_has_no_lines(client: Client, namespace: str) -> None:
    async with kubelet(client, log_of()) as node:
        await client.create(pod(namespace, "web", node=node))

        assert await lines_of(client, namespace) == []


async def test_a_followed_log_delivers_lines_as_they_are_written(
    client: Client, namespace: str
) -> None:
    written = asyncio.Queue[bytes]()

    async def log(path: str, query: dict[str, str]) -> AsyncIterator[bytes]:
        while chunk := await written.get():
            yield chunk

    async with kubelet(client, log) as node:
        await client.create(pod(namespace, "web", node=node))
        async with client.logs(
            "web", namespace=namespace, options=LogOptions(follow=True)
        ) as lines:
            for line in ("first", "second"):
                written.put_nowait(f"{line}\n".encode())
                assert await anext(lines) == line
            written.put_nowait(b"")
            assert [line async for line in lines] == []


async def test_a_stalled_log_fails_at_the_deadline(client: Client, namespace: str) -> None:
    async def log(path: str, query: dict[str, str]) -> AsyncIterator[bytes]:
        yield b"first\n"
        await asyncio.Event().wait()

    short_deadline = client.with_settings(deadline_seconds=0.5)
    async with kubelet(client, log) as node:
        await client.create(pod(namespace, "web", node=node))

        with pytest.raises(DeadlinePassed, match="the log of Pod"):
            await lines_of(short_deadline, namespace)


async def test_every_option_reaches_the_kubelet(client: Client, namespace: str) -> None:
    options = LogOptions(
        container="main",
        follow=True,
        previous=True,
        timestamps=True,
        since_seconds=60,
        tail_lines=5,
        limit_bytes=1000,
    )

    async with kubelet(client, echo_request) as node:
        await client.create(pod(namespace, "web", node=node))

        lines = await lines_of(client, namespace, options)

    assert lines[0] == f"/containerLogs/{namespace}/web/main"
    assert set(lines[1:]) >= {
        "follow is true",
        "limitBytes is 1000",
        "previous is true",
        "sinceSeconds is 60",
        "tailLines is 5",
        "timestamps is true",
    }


async def test_a_log_can_be_read_since_a_given_time(client: Client, namespace: str) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    async with kubelet(client, echo_request) as node:
        await client.create(pod(namespace, "web", node=node))

        lines = await lines_of(client, namespace, LogOptions(since_time=moment))

    assert "sinceTime is 2026-01-02T03:04:05Z" in lines


async def test_an_endless_line_is_rejected(client: Client, namespace: str) -> None:
    async def log(path: str, query: dict[str, str]) -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1000

    limited = client.with_settings(object_limit_bytes=10_000)
    async with kubelet(client, log) as node:
        await client.create(pod(namespace, "web", node=node))

        with pytest.raises(InvalidResponse, match="longer than 10000 bytes"):
            await lines_of(limited, namespace)


async def test_the_log_of_a_missing_pod_or_container_is_an_error(
    client: Client, namespace: str
) -> None:
    with pytest.raises(NotFound, match='"web" not found'):
        await lines_of(client, namespace)

    await client.create(pod(namespace, "web"))

    with pytest.raises(BadRequest, match="container other is not valid"):
        await lines_of(client, namespace, LogOptions(container="other"))
