"""A list decoded while it arrives, so that neither its text nor its objects are there twice."""

from collections.abc import AsyncGenerator
from typing import TypeVar

from steersman.client.caller import stopped_arriving, too_large
from steersman.client.list_splitter import ListSplitter
from steersman.client.request_sender import RequestSender
from steersman.client.request_spec import RequestSpec
from steersman.clock import Clock
from steersman.kinds import DecodedList, Resource, Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)


async def pieces_of(
    sender: RequestSender, kind: type[Obj], spec: RequestSpec, *, clock: Clock
) -> AsyncGenerator[DecodedList[Obj], None]:
    """What the answer to ``spec`` has in it; the last piece says what the list says of itself.

    The deadline is that of each piece, and the limit that of what is held at a time.
    """
    codec, wanted = sender.codec, spec.wanted
    deadline_seconds, limit_bytes = (
        sender.settings.deadline_seconds,
        sender.settings.page_limit_bytes,
    )
    splitter = ListSplitter(lambda block: codec.decode_items(kind, block, wanted=wanted))
    async with sender.stream(spec) as response:
        chunks = aiter(response.chunks())
        while True:
            try:
                async with clock.timeout(deadline_seconds):
                    chunk = await anext(chunks, b"")
            except TimeoutError as error:
                raise stopped_arriving(spec, deadline_seconds) from error
            if not chunk:
                break
            for piece in splitter.feed(chunk):
                yield piece
            if splitter.held_bytes > limit_bytes:
                raise too_large(spec, limit_bytes)
    yield codec.decode_list(kind, splitter.rest, wanted=wanted)
