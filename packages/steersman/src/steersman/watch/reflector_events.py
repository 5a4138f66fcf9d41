"""The observations that a reflector reports to its observer."""

from steersman.errors import InvalidResponse, SteersmanError
from steersman.names import ObjectRef
from steersman.observe import (
    HistoryRewound,
    KindMissing,
    Listed,
    Observer,
    OutOfOrder,
    ReflectorStopped,
    StreamingRefused,
    WatchEnded,
    WatchEventsReceived,
    WatchFailed,
    WatchSilent,
    WatchStarted,
)


class ReflectorEvents:
    """Reports the observations of one reflector to ``observe``."""

    def __init__(self, observe: Observer, *, resource: str, ref: ObjectRef) -> None:
        self._observe = observe
        self._resource = resource
        self._ref = ref

    def listed(self, count: int, decode_failures: int, took_seconds: float, reason: str) -> None:
        """Report that all objects have been listed: ``count`` objects, for ``reason``."""
        self._observe(
            Listed(
                resource=self._resource,
                ref=self._ref,
                count=count,
                decode_failures=decode_failures,
                took_seconds=took_seconds,
                reason=reason,
            )
        )

    def started(self, failures: int) -> None:
        """Report that a watch has been opened after ``failures`` consecutive failures."""
        self._observe(WatchStarted(resource=self._resource, ref=self._ref, failures=failures))

    def received(self, events: int) -> None:
        """Report the number of events received since the last report."""
        if events:
            self._observe(
                WatchEventsReceived(resource=self._resource, ref=self._ref, events=events)
            )

    def ended(self, took_seconds: float) -> None:
        """Report that a watch, which was open for ``took_seconds``, has ended."""
        self._observe(WatchEnded(resource=self._resource, ref=self._ref, took_seconds=took_seconds))

    def stopped(self) -> None:
        """Report that the reflector has stopped."""
        self._observe(ReflectorStopped(resource=self._resource, ref=self._ref))

    def failed(
        self, error: SteersmanError, *, failures: int, wait_seconds: float, is_news: bool
    ) -> None:
        """Report that a list or watch failed, and is retried after ``wait_seconds``."""
        self._observe(
            WatchFailed(
                resource=self._resource,
                ref=self._ref,
                error=error,
                failures=failures,
                wait_seconds=wait_seconds,
                is_news=is_news,
            )
        )

    def silent(self, silent_seconds: float) -> None:
        """Report that a watch was closed because it was silent for ``silent_seconds``."""
        self._observe(
            WatchSilent(resource=self._resource, ref=self._ref, silent_seconds=silent_seconds)
        )

    def out_of_order(self, version: str, reached_version: str) -> None:
        """Report an event whose ``version`` is not later than ``reached_version``."""
        self._observe(
            OutOfOrder(
                resource=self._resource,
                ref=self._ref,
                version=version,
                reached_version=reached_version,
            )
        )

    def rewound(self, reached_version: str, version: str) -> None:
        """Report that the server's history was rewound from ``reached_version`` to ``version``."""
        self._observe(
            HistoryRewound(
                resource=self._resource,
                ref=self._ref,
                reached_version=reached_version,
                version=version,
            )
        )

    def missing(self, error: SteersmanError) -> None:
        """Report that the server does not serve the kind."""
        self._observe(KindMissing(resource=self._resource, ref=self._ref, error=error))

    def streaming_refused(self, error: SteersmanError) -> None:
        """Report that the server rejected a watch with initial events.

        From now on, the objects are listed in pages instead.
        """
        self._observe(StreamingRefused(resource=self._resource, ref=self._ref, error=error))

    def bad_answer(self, verb: str, problem: str) -> InvalidResponse:
        """Return the error for a response that violates the API's rules; the request is retried."""
        return InvalidResponse(
            wanted=f"{verb} {self._ref}",
            problem=problem,
            what_now="The request is retried; if this persists, check the proxies in between.",
        )
