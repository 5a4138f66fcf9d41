"""A list decoded while it arrives, so that neither its text nor its objects are there twice."""

from collections.abc import AsyncGenerator
from typing import TypeVar

from steersman.client.asking import Asker
from steersman.client.calling import stopped_arriving, too_large
from steersman.client.cutting import ListCutter
from steersman.client.questions import Question
from steersman.clock import Clock
from steersman.kinds import DecodedList, Resource, Unstructured

Obj = TypeVar("Obj", bound=Resource | Unstructured)


async def pieces_of(
    ask: Asker, kind: type[Obj], question: Question, *, clock: Clock
) -> AsyncGenerator[DecodedList[Obj], None]:
    """What the answer to ``question`` has in it; the last piece says what the list says of itself.

    The deadline is that of each piece, and the limit that of what is held at a time.
    """
    codec, wanted = ask.codec, question.wanted
    deadline_seconds, limit_bytes = ask.settings.deadline_seconds, ask.settings.page_limit_bytes
    cutter = ListCutter(lambda block: codec.decode_items(kind, block, wanted=wanted))
    async with ask.stream(question) as response:
        chunks = aiter(response.chunks())
        while True:
            try:
                async with clock.timeout(deadline_seconds):
                    chunk = await anext(chunks, b"")
            except TimeoutError as error:
                raise stopped_arriving(question, deadline_seconds) from error
            if not chunk:
                break
            for piece in cutter.feed(chunk):
                yield piece
            if cutter.held_bytes > limit_bytes:
                raise too_large(question, limit_bytes)
    yield codec.decode_list(kind, cutter.rest, wanted=wanted)
