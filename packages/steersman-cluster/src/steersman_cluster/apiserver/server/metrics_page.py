"""``/metrics``: the server's metrics in Prometheus' text format."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from steersman.names import GroupResource
from steersman.observe import (
    HistogramValue,
    MetricFamily,
    metrics_text,
    new_registry,
    register_families,
)
from steersman.wire import Reply
from steersman_cluster.apiserver.discovery import group_documents
from steersman_cluster.apiserver.registry.store import Store
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from steersman_cluster.apiserver.server.metrics import BYTES, SECONDS, SeriesKey, ServerMetrics

# kube-apiserver uses this format whatever the client accepts.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

_ALL = SeriesKey._fields
_WITHOUT_DRY_RUN = tuple(name for name in _ALL if name != "dry_run")


class MetricsPage:
    """The metrics page of one server and of its process."""

    def __init__(
        self,
        metrics: ServerMetrics,
        store: Store,
        registry: ResourceRegistry,
        *,
        start_time: datetime,
    ) -> None:
        self._metrics = metrics
        self._store = store
        self._served = registry
        self._headers = (
            ("cache-control", "no-cache, private"),
            ("content-type", CONTENT_TYPE),
            ("process-start-time-unix", str(int(start_time.timestamp()))),
        )
        self._registry = new_registry()
        register_families(self._registry, self._families)

    def reply(self) -> Reply:
        """Return the reply for ``/metrics``, with the current values."""
        _, text = metrics_text(self._registry)
        return Reply(status=200, headers=self._headers, body=text)

    def _families(self) -> Iterator[MetricFamily]:
        yield from self._requests()
        yield from self._watches()
        yield MetricFamily(
            name="apiserver_current_inflight_requests",
            help="Requests that the server is handling now, except watches.",
            type="gauge",
            labels=("request_kind",),
            samples=[((kind,), count) for kind, count in self._metrics.inflight.items()],
        )
        yield from self._storage()
        yield _build_info()

    def _requests(self) -> Iterator[MetricFamily]:
        handled = {key: each for key, each in self._metrics.requests.items() if each.codes}
        yield MetricFamily(
            name="apiserver_request",
            help="Requests by verb, resource, scope, dry run and HTTP status.",
            type="counter",
            labels=("code", *_ALL),
            samples=[
                ((str(int(code)), *key), count)
                for key, series in handled.items()
                for code, count in sorted(series.codes.items())
            ],
        )
        yield MetricFamily(
            name="apiserver_request_duration_seconds",
            help="Time from a request's arrival to the end of its response.",
            type="histogram",
            labels=_ALL,
            samples=[
                (tuple(key), HistogramValue(_cumulative(SECONDS, each.seconds), each.seconds_sum))
                for key, each in handled.items()
            ],
        )
        # Response sizes have no label dry_run, so that two series may merge.
        sizes: dict[tuple[str, ...], tuple[list[int], float]] = {}
        for key, each in handled.items():
            before, size = sizes.get(about := _without_dry_run(key), ([0] * len(each.sizes), 0.0))
            counts = [one + other for one, other in zip(before, each.sizes, strict=True)]
            sizes[about] = counts, size + each.bytes_sum
        yield MetricFamily(
            name="apiserver_response_sizes",
            help="Bytes of a response's body.",
            type="histogram",
            labels=_WITHOUT_DRY_RUN,
            samples=[
                (about, HistogramValue(_cumulative(BYTES, counts), size))
                for about, (counts, size) in sizes.items()
            ],
        )

    def _watches(self) -> Iterator[MetricFamily]:
        watched = {key: each for key, each in self._metrics.requests.items() if key.verb == "WATCH"}
        open_: dict[tuple[str, ...], int] = {}
        events: dict[tuple[str, ...], int] = {}
        for key, each in watched.items():
            about = _without_dry_run(key)
            open_[about] = open_.get(about, 0) + each.longrunning
            resource = key.group, key.version, key.resource
            events[resource] = events.get(resource, 0) + each.events
        yield MetricFamily(
            name="apiserver_longrunning_requests",
            help="Watches that are open now.",
            type="gauge",
            labels=_WITHOUT_DRY_RUN,
            samples=list(open_.items()),
        )
        yield MetricFamily(
            name="apiserver_watch_events",
            help="Events sent to watches.",
            type="counter",
            labels=("group", "version", "resource"),
            samples=list(events.items()),
        )

    def _storage(self) -> Iterator[MetricFamily]:
        stored = list(self._stored())
        yield MetricFamily(
            name="apiserver_storage_objects",
            help="Stored objects by resource; apiserver_resource_objects has the group beside it.",
            type="gauge",
            labels=("resource",),
            samples=[((str(resource),), count) for resource, count in stored],
        )
        yield MetricFamily(
            name="apiserver_resource_objects",
            help="Stored objects by group and resource.",
            type="gauge",
            labels=("group", "resource"),
            samples=[((resource.group, resource.resource), count) for resource, count in stored],
        )

    def _stored(self) -> Iterator[tuple[GroupResource, int]]:
        kept = {each.group_resource: each.stored_as for each in self._served if _is_stored(each)}
        for resource, stored_as in sorted(kept.items()):
            entries = self._store.log.resource_log(stored_as).entries
            yield resource, sum(entry.value is not None for entry in entries.values())


def _is_stored(served: ServedResource) -> bool:
    # Reviews and bindings are not stored.
    return "delete" in served.verbs


def _build_info() -> MetricFamily:
    info = group_documents.version()
    labels = {
        "build_date": info["buildDate"],
        "compiler": info["compiler"],
        "git_commit": info["gitCommit"],
        "git_tree_state": info["gitTreeState"],
        "git_version": info["gitVersion"],
        "go_version": info["goVersion"],
        "major": info["major"],
        "minor": info["minor"],
        "platform": info["platform"],
    }
    return MetricFamily(
        name="kubernetes_build_info",
        help="Always 1; the labels say what is served.",
        type="gauge",
        labels=tuple(labels),
        samples=[(tuple(map(str, labels.values())), 1)],
    )


def _without_dry_run(key: SeriesKey) -> tuple[str, ...]:
    return tuple(value for name, value in zip(_ALL, key, strict=True) if name != "dry_run")


def _cumulative(bounds: Iterable[float], counts: list[int]) -> list[tuple[str, float]]:
    """Return cumulative buckets, as in Prometheus."""
    buckets: list[tuple[str, float]] = []
    so_far = 0
    for bound, count in zip((*(f"{each:g}" for each in bounds), "+Inf"), counts, strict=True):
        so_far += count
        buckets.append((bound, so_far))
    return buckets
