"""Runs a handler again until it has the webhook answers that it needs."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from functools import partial
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar

from steersman.clock import Clock
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.object_meta import new_uid
from steersman_cluster.apiserver.request.webhook_answers import WebhookAnswers

T = TypeVar("T")

# How often a handler is run again because others keep changing its object. A guess; each time
# takes as long as the slowest webhook.
MOST_RUNS = 100


class WebhookResponse(NamedTuple):
    """An answer from outside, whatever it says."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class WebhookUnreachable(Exception):
    """There was no answer; ``why`` is in the words of Go's HTTP client."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class WebhookTransport(Protocol):
    """The way out of the server."""

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
        """The answer to a JSON document; ``WebhookUnreachable`` if there is none.

        Empty ones mean: ``ca_bundle``, the authorities that this machine trusts; ``server_name``,
        that the certificate must name the host of the url; ``connect_to``, that it is found at
        the host and port of the url.
        """
        ...


class NoWebhookTransport:
    """No transport: a server in the process has no network of its own."""

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
        """Never anything."""
        raise WebhookUnreachable("this server has no way out: give ApiServer an outbound")


class WebhookCall(Protocol):
    """Something to ask outside."""

    async def ask(self, outbound: WebhookTransport, *, uid: str) -> Mapping[Hashable, Any]:
        """What is known once it has been asked; a failure to answer is something to know too.

        Each inquiry is made under a ``uid`` of its own, which is no part of what the verb draws.
        """
        ...


class NeedsWebhook(Exception):
    """Webhooks have to be called first; the calls may be made at the same time."""

    def __init__(self, inquiries: Sequence[WebhookCall]) -> None:
        super().__init__(f"{len(inquiries)} answers from outside are missing")
        self.inquiries = inquiries


class ReplayableRandom(Random):
    """Chance that can be had again: a run of a verb draws what its first run drew."""

    def __init__(self, rng: Random) -> None:
        super().__init__(0)
        self._rng = rng
        self._drawn: list[tuple[int, Any]] = []  # of how many bits, and what
        self._position = 0

    def begin(self, drawn: list[tuple[int, Any]] | None = None) -> None:
        """Draw new numbers, or first those that were drawn before."""
        self._drawn = [] if drawn is None else drawn
        self._position = 0

    def drawn(self) -> list[tuple[int, Any]]:
        """What has been drawn since the beginning."""
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
            # What is there has changed since, and this run takes another way.
            del self._drawn[position:]
        if position == len(self._drawn):
            self._drawn.append((bits, draw()))
        return self._drawn[position][1]


class HeldClock:
    """A clock on which a run of a verb happens when its first run did."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: datetime | None = None
        self._last: datetime | None = None
        self.monotonic = clock.monotonic
        self.sleep = clock.sleep
        self.timeout = clock.timeout

    def now(self) -> datetime:
        """The time, or the one that is held."""
        self._last = time = self._held or self._clock.now()
        return time

    def begin(self) -> None:
        """Forget the last time."""
        self._last = None

    def last(self) -> datetime:
        """The last time that was read since the beginning; the time now, if none was."""
        return self._last or self.now()

    def freeze(self, time: datetime | None) -> None:
        """Stop at this time; None: go on."""
        self._held = time


class RequestRunner:
    """Runs verbs until they have all they need."""

    def __init__(self, outbound: WebhookTransport, *, clock: Clock, rng: Random) -> None:
        self._outbound = outbound
        self._rng = rng
        self.clock = HeldClock(clock)
        self.rng = ReplayableRandom(rng)

    def begin(self) -> WebhookAnswers:
        """What the first run of a verb knows: nothing. Most need no more, and that costs little."""
        self.rng.begin()
        self.clock.begin()
        return {}

    async def run_again(
        self, run: Callable[[WebhookAnswers], T], unanswered: NeedsWebhook, answers: WebhookAnswers
    ) -> T:
        """What ``run`` gives once it knows all that it needs; a first run has just asked."""
        drawn, time = self.rng.drawn(), self.clock.last()
        for _ in range(MOST_RUNS):
            await self.fetch(unanswered, answers)
            self.rng.begin(drawn)
            self.clock.freeze(time)
            try:
                return run(answers)
            except NeedsWebhook as missing:
                unanswered, drawn = missing, self.rng.drawn()
            finally:
                self.rng.begin()
                self.clock.freeze(None)
        raise status_errors.timeout(
            "the object keeps changing while webhooks are asked about it",
            retry_after_seconds=1,
        )

    async def fetch(self, unanswered: NeedsWebhook, answers: WebhookAnswers) -> None:
        """Ask, and know the answers."""
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(
                    each.ask(self._outbound, uid=new_uid(self._rng)), name=f"asking {each}"
                )
                for each in unanswered.inquiries
            ]
        for each in asked:
            answers |= each.result()
