"""A container's log, line by line."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import datetime

import msgspec

from steersman.client.request.request_sender import RequestSender
from steersman.client.request.request_spec import RequestSpec, query
from steersman.clock import Clock
from steersman.errors import DeadlinePassed, InvalidResponse
from steersman.names import ObjectRef, check_label, check_path_segment
from steersman.units import format_time
from steersman.wire import LineSplitter, Response


class LogOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a log request: the container, and the part of its log."""

    container: str | None = None
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since_seconds: int | None = None
    since_time: datetime | None = None
    tail_lines: int | None = None
    limit_bytes: int | None = None


@asynccontextmanager
async def pod_log(
    sender: RequestSender, pod: str, *, namespace: str, options: LogOptions, clock: Clock
) -> AsyncIterator[AsyncIterator[str]]:
    """Provide the lines of a container's log while the block runs.

    Without ``follow``, the lines end with the last one that exists at the time of the request, and
    ``DeadlinePassed`` is raised if the response stalls.
    """
    check_label(namespace, wanted="a namespace")
    spec = RequestSpec(
        verb="get",
        about="the log of ",
        method="GET",
        path=f"/api/v1/namespaces/{namespace}/pods/{check_path_segment(pod)}/log",
        ref=ObjectRef("Pod", namespace, pod),
        resource="pods/log",
        query=query(
            container=options.container,
            follow=_flag(options.follow),
            previous=_flag(options.previous),
            timestamps=_flag(options.timestamps),
            sinceSeconds=options.since_seconds,
            sinceTime=format_time(options.since_time) if options.since_time else None,
            tailLines=options.tail_lines,
            limitBytes=options.limit_bytes,
        ),
    )
    silence_seconds = None if options.follow else sender.settings.deadline_seconds
    async with sender.stream(spec) as response:
        pieces = _pieces(response, spec.wanted, silence_seconds, clock)
        written = _lines(pieces, spec.wanted, sender.settings.object_limit_bytes)
        async with aclosing(pieces), aclosing(written) as lines:
            yield lines


async def _pieces(
    response: Response, wanted: str, silence_seconds: float | None, clock: Clock
) -> AsyncGenerator[bytes, None]:
    chunks = response.chunks()
    while True:
        try:
            async with clock.timeout(silence_seconds):
                piece = await anext(chunks, None)
        except TimeoutError as error:
            raise DeadlinePassed(
                f"could not {wanted}: no data arrived within {silence_seconds:g} s."
                f" Read it again, or allow more time."
            ) from error
        if piece is None:
            return
        yield piece


async def _lines(
    pieces: AsyncIterator[bytes], wanted: str, limit_bytes: int
) -> AsyncGenerator[str, None]:
    splitter = LineSplitter(limit_bytes, keep_empty=True)
    async for chunk in pieces:
        try:
            lines = splitter.feed(chunk)
        except ValueError as error:
            raise InvalidResponse(
                wanted=wanted,
                problem=f"one line is longer than {limit_bytes} bytes",
                what_now="If this is expected, increase the limit in ClientSettings.",
            ) from error
        for line in lines:
            yield line.decode(errors="replace")
    # The last line of a log may have no newline.
    if splitter.rest:
        yield splitter.rest.decode(errors="replace")


def _flag(value: bool) -> str | None:
    return "true" if value else None
