"""What kube-apiserver does around every request: an Audit-Id, a Date, and the metrics."""

from email.utils import format_datetime
from random import Random
from typing import Final

from steersman.clock import Clock
from steersman.wire import ClientCertificate, Reply, Request
from steersman_cluster.apiserver.meta.object_meta import new_uid
from steersman_cluster.apiserver.server.api_server import ApiServer
from steersman_cluster.apiserver.server.metrics import MUTATING, READ_ONLY, RequestMeasurement

AUDIT_ID: Final = "audit-id"

_READS: Final = frozenset(("GET", "HEAD"))
# No route of kube-apiserver takes such a request, so that nothing there counts it.
_UNROUTED: Final = frozenset((405, 406))


def _own_id(request: Request) -> str:
    """The id that the client brings; almost none does, and its length tells so at once."""
    for name, value in request.headers:
        if len(name) == len(AUDIT_ID) and name.lower() == AUDIT_ID:
            return value
    return ""


class MeasuredServer:
    """Answers as ``server`` does, and counts what it answers."""

    def __init__(self, server: ApiServer, *, clock: Clock) -> None:
        self._server = server
        self._metrics = server.metrics
        self._monotonic = clock.monotonic

    async def handle(
        self, request: Request, *, certificate: ClientCertificate | None = None
    ) -> Reply:
        """The answer to a request."""
        measurement = RequestMeasurement(self._metrics, request, self._monotonic)
        inflight = self._metrics.inflight
        kind = READ_ONLY if request.method in _READS else MUTATING
        inflight[kind] += 1
        try:
            reply = await self._server.handle(
                request, certificate=certificate, measurement=measurement
            )
        finally:
            inflight[kind] -= 1
        series = measurement.series
        if series is not None and reply.stream is None and reply.status not in _UNROUTED:
            seconds = self._monotonic() - measurement.started_at
            series.finish(reply.status, seconds, len(reply.body))
        return reply

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._metrics}>"


class NetworkServer(MeasuredServer):
    """The same with the headers of every answer that goes out over a network."""

    def __init__(self, server: ApiServer, *, clock: Clock, rng: Random) -> None:
        super().__init__(server, clock=clock)
        self._clock = clock
        # A source of its own: the system's takes a call of the kernel for each id.
        self._rng = Random(rng.getrandbits(64))
        self._date = ""
        self._date_until = float("-inf")

    async def handle(
        self, request: Request, *, certificate: ClientCertificate | None = None
    ) -> Reply:
        """The answer to a request."""
        reply = await super().handle(request, certificate=certificate)
        own = (
            ("audit-id", _own_id(request) or new_uid(self._rng)),
            ("date", self._date if self._monotonic() < self._date_until else self._new_date()),
        )
        return Reply(
            status=reply.status,
            headers=own + reply.headers,
            body=reply.body,
            stream=reply.stream,
        )

    def _new_date(self) -> str:
        """The time in the form of HTTP; good until the next second begins."""
        now = self._clock.now()
        self._date = format_datetime(now.replace(microsecond=0), usegmt=True)
        self._date_until = self._monotonic() + 1 - now.microsecond / 1_000_000
        return self._date
