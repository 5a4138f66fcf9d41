"""Sends the requests of all verbs, and decodes the responses."""

from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from steersman.client.request.caller import ApiCall, Caller
from steersman.client.request.request_spec import Query, RequestSpec, write_query
from steersman.client.settings import ClientSettings
from steersman.errors import InvalidObject, InvalidResponse
from steersman.kinds import Codec, Part, Unstructured
from steersman.wire import Request, Response

T = TypeVar("T", bound=Part | Unstructured)


class RequestSender:
    """A sender of the requests of one client, with the client's settings."""

    def __init__(self, caller: Caller, codec: Codec, settings: ClientSettings) -> None:
        self.settings = settings
        self.codec = codec
        self._caller = caller
        self._headers = (
            ("User-Agent", settings.user_agent),
            *(settings.impersonate.headers() if settings.impersonate else ()),
        )

    def with_settings(self, settings: ClientSettings) -> "RequestSender":
        """Return a sender with other settings, with the same connections and retry budget."""
        return RequestSender(self._caller, self.codec, settings)

    @property
    def last_response_at(self) -> float | None:
        """The monotonic time of the API server's last response; ``None`` means never."""
        return self._caller.last_response_at

    async def body(self, spec: RequestSpec) -> bytes:
        """Send the request ``spec`` and return the body of the response."""
        return await self._caller.fetch(self._call(spec), self.settings.retry)

    async def object(self, kind: type[T], spec: RequestSpec) -> T:
        """Send the request ``spec`` and return the object in the response, as a ``kind``."""
        answer = await self._caller.fetch(self._call(spec), self.settings.retry)
        return self.decoded(kind, spec, answer)

    def decoded(self, kind: type[T], spec: RequestSpec, answer: bytes) -> T:
        """Return the object in ``answer``, the body of the response to ``spec``."""
        # Most responses decode without an error, and need no error text.
        fitting = self.codec.decode_fast(kind, answer)
        if fitting is not None:
            return fitting
        try:
            return self.codec.decode_slowly(kind, answer, wanted=spec.wanted)
        except (InvalidResponse, InvalidObject) as error:
            if spec.method != "GET":
                error.add_note("The server responded that the write succeeded.")
            raise

    def stream(self, spec: RequestSpec) -> AbstractAsyncContextManager[Response]:
        """Send the request ``spec`` and provide the response, to be read while it arrives."""
        return self._caller.stream(self._call(spec))

    def write_query(
        self, field_manager: str | None, dry_run: bool | None, *, force: bool = False
    ) -> Query:
        """Return the query options that every write with a body has."""
        validation = self.settings.field_validation
        return write_query(field_manager, validation, self.dry_run(dry_run), force=force)

    def dry_run(self, asked: bool | None) -> str | None:
        """Return ``All`` for a dry run, otherwise ``None``.

        ``asked`` is the argument of the call; if it is ``None``, the client's setting applies.
        """
        wanted = self.settings.dry_run if asked is None else asked
        return "All" if wanted else None

    def _call(self, spec: RequestSpec) -> ApiCall:
        body = None if spec.body is None else self.codec.encode(spec.body)
        headers: Query = (("Accept", spec.accept), *self._headers)
        if body is not None:
            headers = (*headers, ("Content-Type", spec.content_type))
        return ApiCall(
            spec=spec,
            request=Request(
                method=spec.method,
                path=spec.path,
                query=spec.query,
                headers=headers,
                body=body,
                # Only lists and pages of lists have their own limit.
                is_large=self.settings.compress_lists and spec.limit_bytes is not None,
            ),
            deadline_seconds=self.settings.deadline_seconds,
            limit_bytes=spec.limit_bytes or self.settings.object_limit_bytes,
        )
