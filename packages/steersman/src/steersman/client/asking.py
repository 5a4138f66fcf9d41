"""From a verb and a path to a call, and from its answer to an object: what all verbs share."""

from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from steersman.client.calling import Call, Caller
from steersman.client.questions import Query, Question, write_query
from steersman.client.settings import ClientSettings
from steersman.errors import BadAnswer, InvalidObject
from steersman.kinds import Codec, Part, Unstructured
from steersman.wire import Request, Response

T = TypeVar("T", bound=Part | Unstructured)


class Asker:
    """Asks the questions of one client, under its settings."""

    def __init__(self, caller: Caller, codec: Codec, settings: ClientSettings) -> None:
        self.settings = settings
        self.codec = codec
        self._caller = caller
        self._headers = (
            ("User-Agent", settings.user_agent),
            *(settings.impersonate.headers() if settings.impersonate else ()),
        )

    def under(self, settings: ClientSettings) -> "Asker":
        """The same connections, decoders and retry budget, under other settings."""
        return Asker(self._caller, self.codec, settings)

    @property
    def answered_at(self) -> float | None:
        """When the server last answered, on the monotonic clock; ``None`` if it never did."""
        return self._caller.answered_at

    async def body(self, question: Question) -> bytes:
        """The answer's body."""
        return await self._caller.fetch(self._call(question), self.settings.retry)

    async def object(self, kind: type[T], question: Question) -> T:
        """The answer, as an object."""
        answer = await self._caller.fetch(self._call(question), self.settings.retry)
        return self.decoded(kind, question, answer)

    def decoded(self, kind: type[T], question: Question, answer: bytes) -> T:
        """The body of an answer, as an object."""
        # Most fit, and of those nobody has to be told what they were wanted for.
        fitting = self.codec.decode_fitting(kind, answer)
        if fitting is not None:
            return fitting
        try:
            return self.codec.decode_closely(kind, answer, wanted=question.wanted)
        except (BadAnswer, InvalidObject) as error:
            if question.method != "GET":
                error.add_note("The server had answered that it was carried out.")
            raise

    def stream(self, question: Question) -> AbstractAsyncContextManager[Response]:
        """The answer, to be read while it goes on."""
        return self._caller.stream(self._call(question))

    def write_query(
        self, field_manager: str | None, dry_run: bool | None, *, force: bool = False
    ) -> Query:
        """The options that every write of a body takes."""
        validation = self.settings.field_validation
        return write_query(field_manager, validation, self.dry_run(dry_run), force=force)

    def dry_run(self, asked: bool | None) -> str | None:
        """``All`` where a write is to be tried only, by the call's word or the client's."""
        wanted = self.settings.dry_run if asked is None else asked
        return "All" if wanted else None

    def _call(self, question: Question) -> Call:
        body = None if question.body is None else self.codec.encode(question.body)
        headers: Query = (("Accept", question.accept), *self._headers)
        if body is not None:
            headers = (*headers, ("Content-Type", question.content_type))
        return Call(
            question=question,
            request=Request(
                method=question.method,
                path=question.path,
                query=question.query,
                headers=headers,
                body=body,
                # What has a limit of its own is a page of a list, or the whole of it.
                is_large=self.settings.compress_lists and question.limit_bytes is not None,
            ),
            deadline_seconds=self.settings.deadline_seconds,
            limit_bytes=question.limit_bytes or self.settings.object_limit_bytes,
        )
