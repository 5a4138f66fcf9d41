"""The filters around every request: metrics, and the headers Audit-Id and Date."""

from email.utils import format_datetime
from random import Random
from typing import Final

from steersman.clock import Clock
from steersman.wire import CertificateIdentity, Reply, Request
from steersman_cluster.apiserver.meta.object_meta import new_uid
from steersman_cluster.apiserver.server.api_server import ApiServer
from steersman_cluster.apiserver.server.metrics import MUTATING, READ_ONLY, RequestMeasurement

AUDIT_ID: Final = "audit-id"

_READS: Final = frozenset(("GET", "HEAD"))
# kube-apiserver has no route for such a request, and so does not count it.
_UNROUTED: Final = frozenset((405, 406))


def _own_id(request: Request) -> str:
    """Return the client's Audit-Id, or "".

    Only a header name of the right length is lowercased, because few clients send the header.
    """
    for name, value in request.headers:
        if len(name) == len(AUDIT_ID) and name.lower() == AUDIT_ID:
            return value
    return ""


class MeasuredServer:
    """Passes requests to ``server``, and counts them in the server's metrics."""

    def __init__(self, server: ApiServer, *, clock: Clock) -> None:
        self._server = server
        self._metrics = server.metrics
        self._monotonic = clock.monotonic

    async def handle(
        self, request: Request, *, certificate: CertificateIdentity | None = None
    ) -> Reply:
        """Return the reply of the server to ``request``, and count the request."""
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
    """A ``MeasuredServer`` for requests over a network; it adds Audit-Id and Date to replies."""

    def __init__(self, server: ApiServer, *, clock: Clock, rng: Random) -> None:
        super().__init__(server, clock=clock)
        self._clock = clock
        # Seeded once: the system's source needs a system call for each id.
        self._rng = Random(rng.getrandbits(64))
        self._date = ""
        self._date_until = float("-inf")

    async def handle(
        self, request: Request, *, certificate: CertificateIdentity | None = None
    ) -> Reply:
        """Return the reply of the server to ``request``, with the headers Audit-Id and Date."""
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
        """Return the current time in HTTP's format, cached until the next second begins."""
        now = self._clock.now()
        self._date = format_datetime(now.replace(microsecond=0), usegmt=True)
        self._date_until = self._monotonic() + 1 - now.microsecond / 1_000_000
        return self._date
