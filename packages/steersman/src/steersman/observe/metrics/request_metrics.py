"""The metrics of requests to the API server."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from steersman.observe.events.request_events import RequestFinished
from steersman.observe.labels import bounded
from steersman.observe.metrics.histogram import Seconds

# From a response out of the server's memory to the longest deadline of an ordinary request.
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

REQUEST: Final = ("verb", "resource")


class _OneKind:
    """The counts of requests with one verb to one resource."""

    __slots__ = ("codes", "seconds")

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}  # by class of the status code
        self.seconds = Seconds(_BOUNDS)


class RequestMetrics(Collector):
    """A prometheus_client collector that counts requests in plain numbers.

    The numbers become metrics at each scrape. Every write of an operator is a request, and updating
    two metrics of prometheus_client would take as long for each request as all other observers
    together.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._kinds: dict[tuple[str, str], _OneKind] = {}
        self._verbs: set[str] = set()
        self._resources: set[str] = set()
        registry.register(self)

    def finished(self, finished: RequestFinished) -> None:
        """Count ``finished``, a request that received a response or whose last attempt failed."""
        one = self._kinds.get((finished.verb, finished.resource))
        if one is None:
            one = self._new(finished)
        code = finished.code
        answer = "none" if code is None else f"{code // 100}xx"
        one.codes[answer] = one.codes.get(answer, 0) + 1
        one.seconds.observe(finished.took_seconds)

    def describe(self) -> Iterable[Metric]:
        """Return the metrics without samples; the registry uses them to find duplicate names."""
        return self._families(())

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        # A copy, made in one step: the collection may run in another thread.
        return self._families(tuple(self._kinds.items()))

    def _new(self, finished: RequestFinished) -> _OneKind:
        kind = bounded(finished.verb, self._verbs), bounded(finished.resource, self._resources)
        return self._kinds.setdefault(kind, _OneKind())

    def _families(self, kinds: Iterable[tuple[tuple[str, str], _OneKind]]) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "steersman_client_requests",
            "Requests to the API server, by the class of the response code (none: no response).",
            labels=(*REQUEST, "code"),
        )
        seconds = HistogramMetricFamily(
            "steersman_client_request_seconds",
            "Time from a request to its response, retries included.",
            labels=REQUEST,
        )
        for labels, one in kinds:
            for answer, count in tuple(one.codes.items()):
                requests.add_metric((*labels, answer), count)
            seconds.add_metric(labels, one.seconds.buckets(), one.seconds.sum_seconds)
        yield from (requests, seconds)
