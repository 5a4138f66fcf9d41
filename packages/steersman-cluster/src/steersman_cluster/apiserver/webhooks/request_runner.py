"""The runner that repeats a handler until it has all the webhook responses it needs."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from functools import partial
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar

from steersman.clock import Clock
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.object_meta import new_uid
from steersman_cluster.apiserver.request.resources import WebhookResponses

T = TypeVar("T")

# How often a handler runs again because other requests change its object. A guess; each run takes
# as long as the slowest webhook.
MAX_RUNS = 100


class WebhookResponse(NamedTuple):
    """The HTTP response of a webhook, before any check."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class WebhookUnreachable(Exception):
    """The webhook did not respond; ``why`` is the error message of Go's HTTP client."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class WebhookTransport(Protocol):
    """A protocol for a transport of webhook calls."""

    async def post(
        self,
        url: str,
        body: bytes,
        *,
        ca_bundle: bytes,
        server_name: str,
        connect_to: str,
        timeout_seconds: float,
    ) -> WebhookResponse:
        """Return the response to ``body``, a JSON document that is sent to ``url``.

        Raises ``WebhookUnreachable`` if there is no response.

        If ``ca_bundle`` is empty, this machine's certificate authorities are trusted. If
        ``server_name`` is empty, the certificate must name the host of the URL. If ``connect_to``
        is empty, the connection leads to the host and port of the URL.
        """
        ...


class NoWebhookTransport:
    """A transport for a server without network access: every webhook call fails."""

    async def post(
        self,
        url: str,  # noqa: ARG002 - as in the protocol
        body: bytes,  # noqa: ARG002
        *,
        ca_bundle: bytes,  # noqa: ARG002
        server_name: str,  # noqa: ARG002
        connect_to: str,  # noqa: ARG002
        timeout_seconds: float,  # noqa: ARG002
    ) -> WebhookResponse:
        """Raise ``WebhookUnreachable``."""
        raise WebhookUnreachable(
            "webhook calls need an outbound transport: set ApiServer(outbound=...)"
        )


class WebhookCall(Protocol):
    """A protocol for a call to a webhook."""

    async def send(self, outbound: WebhookTransport, *, uid: str) -> Mapping[Hashable, Any]:
        """Make the call, and return the results by key; a failed call is a result, too.

        Each call has its own ``uid``, which is independent of the random numbers that the handler
        draws.
        """
        ...


class NeedsWebhook(Exception):
    """The handler cannot continue without the responses to ``calls``.

    These webhook calls are independent of each other, so that they can be made concurrently.
    """

    def __init__(self, calls: Sequence[WebhookCall]) -> None:
        super().__init__(f"{len(calls)} webhook responses are missing")
        self.calls = calls


class ReplayableRandom(Random):
    """A random source for a handler: later runs of the handler draw the same numbers again."""

    def __init__(self, rng: Random) -> None:
        super().__init__(0)
        self._rng = rng
        self._drawn: list[tuple[int, Any]] = []  # number of bits, and the value
        self._position = 0

    def begin(self, drawn: list[tuple[int, Any]] | None = None) -> None:
        """Start a run of the handler: replay the numbers in ``drawn``, then draw new ones."""
        self._drawn = [] if drawn is None else drawn
        self._position = 0

    def drawn(self) -> list[tuple[int, Any]]:
        """Return the numbers drawn since ``begin``, including replayed ones."""
        return self._drawn

    def random(self) -> float:
        """As in ``random.Random``."""
        return float(self._next(0, self._rng.random))

    def getrandbits(self, k: int, /) -> int:
        """As in ``random.Random``."""
        return int(self._next(k, partial(self._rng.getrandbits, k)))

    def _next(self, bits: int, draw: Callable[[], Any]) -> Any:
        position = self._position
        self._position = position + 1
        if position < len(self._drawn) and self._drawn[position][0] != bits:
            # The objects have changed since the first run, and this run takes another branch.
            del self._drawn[position:]
        if position == len(self._drawn):
            self._drawn.append((bits, draw()))
        return self._drawn[position][1]


class StoppableClock:
    """A clock that can be stopped, so that all runs of a handler read the same time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: datetime | None = None
        self._last: datetime | None = None
        self.monotonic = clock.monotonic
        self.sleep = clock.sleep
        self.timeout = clock.timeout

    def now(self) -> datetime:
        """Return the current time, or the time at which the clock is stopped."""
        self._last = time = self._held or self._clock.now()
        return time

    def begin(self) -> None:
        """Forget which time was read last."""
        self._last = None

    def last(self) -> datetime:
        """Return the time that was read last since ``begin``; the current time if none was read."""
        return self._last or self.now()

    def freeze(self, time: datetime | None) -> None:
        """Stop the clock at ``time``; if ``time`` is None, start the clock again."""
        self._held = time


class RequestRunner:
    """Runs handlers; repeats a handler until it has all the webhook responses it needs."""

    def __init__(self, outbound: WebhookTransport, *, clock: Clock, rng: Random) -> None:
        self._outbound = outbound
        self._rng = rng
        self.clock = StoppableClock(clock)
        self.rng = ReplayableRandom(rng)

    def begin(self) -> WebhookResponses:
        """Prepare the first run of a handler, and return its webhook responses: an empty mapping.

        The first run must be cheap, because most handlers need no webhook.
        """
        self.rng.begin()
        self.clock.begin()
        return {}

    async def run_again(
        self,
        run: Callable[[WebhookResponses], T],
        missing: NeedsWebhook,
        responses: WebhookResponses,
    ) -> T:
        """Make the missing webhook calls and run the handler ``run``, until none is missing.

        ``missing`` is the exception that the first run raised; it contains the missing
        calls. Their responses are added to ``responses``. After too many runs, raises a timeout
        error.
        """
        drawn, time = self.rng.drawn(), self.clock.last()
        for _ in range(MAX_RUNS):
            await self.fetch(missing, responses)
            self.rng.begin(drawn)
            self.clock.freeze(time)
            try:
                return run(responses)
            except NeedsWebhook as error:
                missing, drawn = error, self.rng.drawn()
            finally:
                self.rng.begin()
                self.clock.freeze(None)
        raise status_errors.timeout(
            "the object keeps changing while its webhooks are called",
            retry_after_seconds=1,
        )

    async def fetch(self, missing: NeedsWebhook, responses: WebhookResponses) -> None:
        """Make the webhook calls in ``missing`` concurrently.

        Their responses are added to ``responses``.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    each.send(self._outbound, uid=new_uid(self._rng)), name=f"webhook call {each}"
                )
                for each in missing.calls
            ]
        for each in tasks:
            responses |= each.result()
