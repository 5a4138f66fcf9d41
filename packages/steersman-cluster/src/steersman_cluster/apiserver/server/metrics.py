"""The server's metrics, with kube-apiserver's names and labels.

Counting a request costs a dict lookup and two bisections. ``metrics_page`` converts the counts to
Prometheus' format when a client requests them.
"""

from bisect import bisect_left
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias

from steersman.wire import Request
from steersman_cluster.apiserver.request.negotiation import header
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.selectors import selected_name
from steersman_cluster.apiserver.server.health import HEALTH

# The bounds of kube-apiserver's histograms, so that the same rules and dashboards work.
SECONDS: Final = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0),
    *(3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0),
)
BYTES: Final = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)

_VERBS: Final = {
    "create": "POST",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
    "get": "GET",
    "list": "LIST",
    "patch": "PATCH",
    "update": "PUT",
    "watch": "WATCH",
}
_METHODS: Final = frozenset(("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_CONNECTED: Final = frozenset(("attach", "exec", "portforward", "proxy"))
_APPLY: Final = "application/apply-patch+yaml"
_OPEN_API: Final = "/openapi/v3"
MUTATING: Final = "mutating"
READ_ONLY: Final = "readOnly"

_UsualKey: TypeAlias = tuple[str, str, str, str, str, bool, bool]


class SeriesKey(NamedTuple):
    """The labels that the requests of one series share: all labels except the status code."""

    component: str
    dry_run: str
    group: str
    resource: str
    scope: str
    subresource: str
    verb: str
    version: str


class RequestSeries:
    """The counts, durations and sizes of the requests that have the same labels."""

    __slots__ = ("bytes_sum", "codes", "events", "longrunning", "seconds", "seconds_sum", "sizes")

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}
        self.seconds = [0] * (len(SECONDS) + 1)
        self.seconds_sum = 0.0
        self.sizes = [0] * (len(BYTES) + 1)
        self.bytes_sum = 0
        self.longrunning = 0
        self.events = 0

    def finish(self, code: int, seconds: float, size: int) -> None:
        """Count a completed request: its status ``code``, duration and response size."""
        self.codes[code] = self.codes.get(code, 0) + 1
        self.seconds[bisect_left(SECONDS, seconds)] += 1
        self.seconds_sum += seconds
        self.sizes[bisect_left(BYTES, size)] += 1
        self.bytes_sum += size


class RequestMeasurement:
    """The measurement of one request; ``series`` counts the request.

    As on kube-apiserver, only requests that reach a resource, a health check or an OpenAPI document
    are counted. For any other request, ``series`` is None.
    """

    __slots__ = ("_metrics", "_monotonic", "request", "series", "started_at")

    def __init__(
        self, metrics: "ServerMetrics", request: Request, monotonic: Callable[[], float]
    ) -> None:
        self._metrics = metrics
        self._monotonic = monotonic
        self.request = request
        self.started_at = monotonic()
        self.series: RequestSeries | None = None

    def reach_resource(self, info: RequestInfo) -> None:
        """Record that the request has reached the handler of its resource."""
        self.series = self._metrics.of_resource(info, self.request)

    def reach_path(self, path: str) -> None:
        """Record that the request has reached the handler of the non-resource path ``path``."""
        called = _called(path)
        if called:
            method = self.request.method
            verb = method if method in _METHODS else "other"
            self.series = self._metrics.series(SeriesKey("", "", "", "", "", called, verb, ""))

    async def watched(
        self, pieces: AsyncGenerator[bytes, None], *, is_framed: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the ``pieces`` of a watch's response, and count its events while it is open.

        ``is_framed`` is true for protobuf events, of which one piece can contain several.
        """
        series = self.series
        if series is None:
            raise RuntimeError("only a resource request has a series, and a watch is one")
        series.longrunning += 1
        size = 0
        try:
            async with aclosing(pieces):
                async for each in pieces:
                    size += len(each)
                    series.events += _frames_in(each) if is_framed else each.count(b"\n")
                    yield each
        finally:
            series.longrunning -= 1
            series.finish(HTTPStatus.OK, self._monotonic() - self.started_at, size)


def _frames_in(piece: bytes) -> int:
    """Return the number of messages in ``piece``; each message starts with a four-byte length."""
    count = start = 0
    while start < len(piece):
        start += 4 + int.from_bytes(piece[start : start + 4], "big")
        count += 1
    return count


class ServerMetrics:
    """The counters of requests and watches."""

    def __init__(self) -> None:
        self._series: dict[SeriesKey, RequestSeries] = {}
        self._usual: dict[_UsualKey, RequestSeries] = {}
        # Requests in flight, by kind: mutating or read-only.
        self.inflight = {MUTATING: 0, READ_ONLY: 0}

    @property
    def requests(self) -> Mapping[SeriesKey, RequestSeries]:
        """The series of all requests, by their labels."""
        return self._series

    def of_resource(self, info: RequestInfo, request: Request) -> RequestSeries:
        """Return the series to which ``request``, for a resource, belongs."""
        query, verb = info.query, info.verb
        if verb == "patch" or "dryRun" in query or "fieldSelector" in query:
            return self.series(_resource_key(info, request))
        # A shortcut for almost all requests: it reads neither the headers nor the query.
        usual = (
            verb,
            info.group,
            info.version,
            info.resource,
            info.subresource,
            info.name == "",
            info.namespace == "",
        )
        found = self._usual.get(usual)
        if found is None:
            found = self._usual[usual] = self.series(_resource_key(info, request))
        return found

    def series(self, key: SeriesKey) -> RequestSeries:
        """Return the series with the labels ``key``; create it if it does not exist."""
        found = self._series.get(key)
        if found is None:
            found = self._series[key] = RequestSeries()
        return found

    def __repr__(self) -> str:
        return f"<ServerMetrics of {len(self._series)} series>"


def _resource_key(info: RequestInfo, request: Request) -> SeriesKey:
    verb = _VERBS.get(info.verb, "other")
    if verb == "PATCH" and header(request, "Content-Type").startswith(_APPLY):
        verb = "APPLY"
    elif info.subresource in _CONNECTED:
        verb = "CONNECT"
    query = info.query
    name = info.name
    if not name and "fieldSelector" in query and verb in ("LIST", "WATCH"):
        name = selected_name(info.option("fieldSelector"))
    scope = "namespace" if info.namespace else "cluster"
    if name or verb == "POST":
        scope = "resource"
    dry_run = ""
    if "dryRun" in query:
        dry_run = "All" if set(query["dryRun"]) == {"All"} else "invalid"
    return SeriesKey(
        "apiserver",
        dry_run,
        info.group,
        info.resource,
        scope,
        info.subresource,
        verb,
        info.version,
    )


def _called(path: str) -> str:
    """Return kube-apiserver's label of a non-resource path; "" for an uncounted path."""
    if path in HEALTH:
        return path
    if path == _OPEN_API:
        return "openapi/v3"
    return "openapi/v3/" if path.startswith(f"{_OPEN_API}/") else ""
