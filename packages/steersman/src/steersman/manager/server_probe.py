"""The server probe: checks that the API server responds, if possible without a request.

A watch may be silent for two minutes and still work: the first bookmark of a quiet kind takes that
long. So silence of a single watch does not show a failure. Anything that the server sends counts as
a sign of life: events and bookmarks of any watch, and responses to any request, such as renewals of
the lease. If there is no sign of life for a while, the operator sends one probe for all its
watches.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from steersman.cache import Caches
from steersman.client import Client, RetryPolicy
from steersman.clock import Clock
from steersman.errors import SteersmanError
from steersman.observe import Observer, ServerRecovered, ServerUnresponsive

# The number of probes before a server counts as unresponsive: one response may be lost.
PROBES: Final = 2

# The number of watches that the text names; an operator may have a hundred, all silent together.
MAX_NAMED: Final = 5


class ServerProbe:
    """Checks that the API server responds; sends a probe after ``probe_seconds`` of silence.

    After ``timeout_seconds`` of silence, the server counts as unresponsive, and the operator's
    watches are closed. They must be opened again, because the next server to respond may be another
    one, which does not know these watches.
    """

    def __init__(
        self,
        client: Client,
        *,
        beside: Sequence[Client],
        caches: Caches,
        server: str,
        probe_seconds: float,
        timeout_seconds: float,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._client = client
        self._clients = (client, *beside)
        self._caches = caches
        self._server = server
        self._probe_seconds = probe_seconds
        self._timeout_seconds = timeout_seconds
        self._answer_seconds = (timeout_seconds - probe_seconds) / PROBES
        self._clock = clock
        self._observe = observe
        self._began_at = clock.monotonic()
        self._silent_watches: tuple[str, ...] = ()
        self._is_unresponsive = False
        self._silent_since_at = self._began_at

    def __repr__(self) -> str:
        state = "unresponsive" if self._is_unresponsive else "responsive"
        return f"<ServerProbe {self._server}: {state}>"

    @property
    def silent_seconds(self) -> float:
        """The time since the server last sent anything to the operator."""
        return self._clock.monotonic() - self._answered_at

    def why_not_ready(self) -> str | None:
        """Return the reason why the operator is not ready, if the server does not respond.

        Return ``None`` if the server responds.
        """
        if not self._is_unresponsive or self.silent_seconds < self._probe_seconds:
            return None
        watches = f", and these watches are silent: {_named(self._silent_watches)}"
        return (
            f"{self._server} has not responded for {self.silent_seconds:.0f} s"
            f"{watches if self._silent_watches else ''}"
        )

    async def run(self) -> None:
        """Probe the server when it is silent, for as long as the operator runs."""
        while True:
            silent_seconds = self.silent_seconds
            if silent_seconds < self._probe_seconds:
                self._judge()
                await self._clock.sleep(self._probe_seconds - silent_seconds)
                continue
            asked_at = self._clock.monotonic()
            await self._ask()
            self._judge()
            left_seconds = asked_at + self._answer_seconds - self._clock.monotonic()
            if left_seconds > 0 and self.silent_seconds >= self._probe_seconds:
                await self._clock.sleep(left_seconds)
                self._judge()

    @property
    def _answered_at(self) -> float:
        answered = [each.last_response_at for each in self._clients]
        answered += [each.last_contact_at for each in self._caches.informers]
        return max((each for each in answered if each is not None), default=self._began_at)

    async def _ask(self) -> None:
        hasty = self._client.with_settings(
            deadline_seconds=self._answer_seconds, retry=RetryPolicy(attempts=1)
        )
        # The client observes the error, and notes the time if the error was a response.
        with suppress(SteersmanError):
            await hasty.ping()

    def _judge(self) -> None:
        silent_seconds = self.silent_seconds
        is_unresponsive = silent_seconds >= self._timeout_seconds
        if is_unresponsive == self._is_unresponsive:
            return
        self._is_unresponsive = is_unresponsive
        if not is_unresponsive:
            self._silent_watches = ()
            lasted_seconds = self._answered_at - self._silent_since_at
            self._observe(ServerRecovered(server=self._server, silent_seconds=lasted_seconds))
            return
        self._silent_since_at = self._answered_at
        since_at = self._clock.monotonic() - self._timeout_seconds
        silent = [
            reflector
            for informer in self._caches.informers
            for reflector in informer.silent_watches(since_at=since_at)
        ]
        self._silent_watches = tuple(str(each.ref) for each in silent)
        self._observe(
            ServerUnresponsive(
                server=self._server, silent_seconds=silent_seconds, watches=self._silent_watches
            )
        )
        for reflector in silent:
            reflector.reconnect()


def _named(watches: Sequence[str]) -> str:
    more = len(watches) - MAX_NAMED
    named = ", ".join(watches[:MAX_NAMED])
    return f"{named} and {more} more" if more > 0 else named
