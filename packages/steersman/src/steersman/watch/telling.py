"""What a reflector tells its observer: one line here for each thing worth knowing."""

from steersman.errors import BadAnswer, SteersmanError
from steersman.names import ObjectRef
from steersman.observe import (
    FollowingEnded,
    HistoryRewound,
    KindMissing,
    Listed,
    Observer,
    OutOfOrder,
    StreamingRefused,
    WatchEnded,
    WatchFailed,
    WatchHeard,
    WatchSilent,
    WatchStarted,
)


class Teller:
    """Knows which objects it is about, and whom to tell."""

    def __init__(self, observe: Observer, *, resource: str, ref: ObjectRef) -> None:
        self._observe = observe
        self._resource = resource
        self._ref = ref

    def listed(self, count: int, misfits: int, took_seconds: float, reason: str) -> None:
        """All objects have been listed."""
        self._observe(
            Listed(
                resource=self._resource,
                ref=self._ref,
                count=count,
                misfits=misfits,
                took_seconds=took_seconds,
                reason=reason,
            )
        )

    def started(self, failures: int) -> None:
        """A watch is open."""
        self._observe(WatchStarted(resource=self._resource, ref=self._ref, failures=failures))

    def heard(self, events: int) -> None:
        """So many events have come since this was last told."""
        if events:
            self._observe(WatchHeard(resource=self._resource, ref=self._ref, events=events))

    def ended(self, took_seconds: float) -> None:
        """A watch is no longer open."""
        self._observe(WatchEnded(resource=self._resource, ref=self._ref, took_seconds=took_seconds))

    def no_longer(self) -> None:
        """Nobody follows any more."""
        self._observe(FollowingEnded(resource=self._resource, ref=self._ref))

    def failed(
        self, error: SteersmanError, *, failures: int, wait_seconds: float, is_news: bool
    ) -> None:
        """Something went wrong and will be tried again."""
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
        """A watch was cut."""
        self._observe(
            WatchSilent(resource=self._resource, ref=self._ref, silent_seconds=silent_seconds)
        )

    def out_of_order(self, version: str, reached_version: str) -> None:
        """Something was told again, or too late."""
        self._observe(
            OutOfOrder(
                resource=self._resource,
                ref=self._ref,
                version=version,
                reached_version=reached_version,
            )
        )

    def rewound(self, reached_version: str, version: str) -> None:
        """The server's history is shorter than it was."""
        self._observe(
            HistoryRewound(
                resource=self._resource,
                ref=self._ref,
                reached_version=reached_version,
                version=version,
            )
        )

    def missing(self, error: SteersmanError) -> None:
        """The server does not know the kind."""
        self._observe(KindMissing(resource=self._resource, ref=self._ref, error=error))

    def streaming_refused(self, error: SteersmanError) -> None:
        """Initial events are listed in pages from now on."""
        self._observe(StreamingRefused(resource=self._resource, ref=self._ref, error=error))

    def nonsense(self, verb: str, problem: str) -> BadAnswer:
        """The error for something that a server should not do, although it can be lived with."""
        return BadAnswer(
            wanted=f"{verb} {self._ref}",
            problem=problem,
            what_now="It will be asked again; if this goes on, look at what stands between.",
        )
