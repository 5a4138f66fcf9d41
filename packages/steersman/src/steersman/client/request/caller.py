"""Sends calls to the API server within a deadline, and retries where that is safe."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import msgspec

from steersman.client.request.request_spec import RequestSpec
from steersman.client.request.responses import error_from
from steersman.client.request.retries import RetryBudget, RetryPolicy
from steersman.clock import Clock
from steersman.errors import ApiError, DeadlinePassed, InvalidResponse, SteersmanError
from steersman.observe import ApiWarned, Observer, RequestFinished, RequestRetried, RetriesSpent
from steersman.wire import Request, Response, Transport

# An error is a Status of a few lines; a longer body is not one.
ERROR_LIMIT_BYTES = 1024 * 1024


class ApiCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the API server, and the limits of its response."""

    spec: RequestSpec
    request: Request
    deadline_seconds: float
    limit_bytes: int

    @property
    def reads(self) -> bool:
        """Whether the request only reads, so that sending it twice changes nothing."""
        return self.request.method == "GET"


class Caller:
    """A sender of API calls over one transport, with one retry budget."""

    def __init__(
        self, transport: Transport, *, clock: Clock, rng: Random, observe: Observer
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._rng = rng
        self._observe = observe
        self._budget = RetryBudget()
        # The monotonic time of the last response that was not a server error.
        self.last_response_at: float | None = None

    async def fetch(self, call: ApiCall, policy: RetryPolicy) -> bytes:
        """Send ``call``, retry it as ``policy`` permits, and return the body of the response."""
        started_at = self._clock.monotonic()
        self._budget.request()
        attempt = 1
        try:
            async with self._clock.timeout(call.deadline_seconds):
                while True:
                    try:
                        code, body = await self._attempt(call)
                    except SteersmanError as error:
                        wait = self._wait_after(error, call, policy, attempt, started_at)
                        if wait is None:
                            raise
                        await self._clock.sleep(wait)
                        attempt += 1
                    else:
                        self._finished(call, started_at, attempt, code=code)
                        return body
        except TimeoutError as error:
            late = _late(call)
            self._finished(call, started_at, attempt, error=late)
            raise late from error
        except SteersmanError as error:
            self._finished(call, started_at, attempt, error=error)
            raise

    @asynccontextmanager
    async def stream(self, call: ApiCall) -> AsyncIterator[Response]:
        """Provide a successful response whose body has not been read; reading has no time limit.

        The deadline applies to the beginning of the response. The request is never retried, because
        only the reader can determine how much was received.
        """
        started_at = self._clock.monotonic()
        async with AsyncExitStack() as held:
            try:
                async with self._clock.timeout(call.deadline_seconds):
                    response = await held.enter_async_context(self._transport.open(call.request))
                    await self._check(call, response)
            except TimeoutError as error:
                late = _late(call)
                self._finished(call, started_at, 1, error=late)
                raise late from error
            except SteersmanError as error:
                self._finished(call, started_at, 1, error=error)
                raise
            self._finished(call, started_at, 1, code=response.status)
            yield response

    async def _attempt(self, call: ApiCall) -> tuple[int, bytes]:
        async with self._transport.open(call.request) as response:
            # ``_check`` costs a second coroutine; most responses do not need it.
            if response.status >= 300 or response.warnings:
                await self._check(call, response)
            try:
                return response.status, await response.read(limit_bytes=call.limit_bytes)
            except ValueError as error:
                raise too_large(call.spec, call.limit_bytes) from error

    async def _check(self, call: ApiCall, response: Response) -> None:
        """Report the warnings in the response, and raise its error if the response is not a
        success.
        """
        for header in response.warnings:
            self._observe(
                ApiWarned(
                    verb=call.spec.verb,
                    resource=call.spec.resource,
                    ref=call.spec.ref,
                    text=_warning(header),
                )
            )
        if response.status < 300:
            return
        try:
            body = await response.read(limit_bytes=ERROR_LIMIT_BYTES)
        except ValueError:
            body = b""
        raise error_from(
            call.spec.wanted,
            code=response.status,
            body=body,
            retry_after=response.headers.get("retry-after"),
        )

    def _wait_after(
        self,
        error: SteersmanError,
        call: ApiCall,
        policy: RetryPolicy,
        attempt: int,
        started_at: float,
    ) -> float | None:
        wait = policy.wait_seconds(error, reads=call.reads, attempt=attempt, rng=self._rng)
        if wait is None:
            return None
        left_seconds = started_at + call.deadline_seconds - self._clock.monotonic()
        if wait >= left_seconds:
            # This error explains more than a passed deadline would, and it is raised sooner.
            return None
        if not self._budget.withdraw():
            self._observe(
                RetriesSpent(
                    verb=call.spec.verb,
                    resource=call.spec.resource,
                    ref=call.spec.ref,
                    error=error,
                )
            )
            return None
        self._observe(
            RequestRetried(
                verb=call.spec.verb,
                resource=call.spec.resource,
                ref=call.spec.ref,
                attempt=attempt,
                wait_seconds=wait,
                error=error,
            )
        )
        return wait

    def _finished(
        self,
        call: ApiCall,
        started_at: float,
        attempts: int,
        *,
        code: int | None = None,
        error: SteersmanError | None = None,
    ) -> None:
        now_at = self._clock.monotonic()
        if isinstance(error, ApiError):
            code = error.code
        if code is not None and code < 500:
            # Proxies respond with 502 to 504 if the server itself does not respond.
            self.last_response_at = now_at
        self._observe(
            RequestFinished(
                verb=call.spec.verb,
                resource=call.spec.resource,
                ref=call.spec.ref,
                code=code,
                took_seconds=now_at - started_at,
                attempts=attempts,
                error=error,
            )
        )


def _late(call: ApiCall) -> DeadlinePassed:
    what_now = (
        "Retry, or allow more time."
        if call.reads
        else "The write may have happened: read before writing again."
    )
    within = f"within {call.deadline_seconds:g} s"
    return DeadlinePassed(f"could not {call.spec.wanted}: no response {within}. {what_now}")


def response_stalled_error(spec: RequestSpec, seconds: float) -> DeadlinePassed:
    """Return the error for a response that began and then stalled for ``seconds``."""
    silence = f"the rest of the response did not arrive within {seconds:g} s"
    return DeadlinePassed(f"could not {spec.wanted}: {silence}. Retry the request.")


def too_large(spec: RequestSpec, limit_bytes: int) -> InvalidResponse:
    """Return the error for a response that is larger than ``limit_bytes``."""
    return InvalidResponse(
        wanted=spec.wanted,
        problem=f"the response is larger than {limit_bytes} bytes",
        what_now="List in smaller pages, or raise the limit in ClientSettings (for a Manager:"
        " client=…) if the size is expected."
        if spec.method == "GET"
        else "The write may have happened: read before writing again.",
    )


def _warning(header: str) -> str:
    """Return the text of ``299 - "text"``, the only form that API servers send."""
    quoted = header.partition('"')[2].rpartition('"')[0]
    return quoted.replace('\\"', '"').replace("\\\\", "\\") if quoted else header
