"""``MetricsObserver``: reports observations as Prometheus metrics."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary

from steersman.clock import Clock
from steersman.observe.events.controller_events import ControllerStarted, ReconcileFinished
from steersman.observe.events.queue_events import (
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    QueueEnded,
)
from steersman.observe.events.request_events import RequestFinished
from steersman.observe.labels import bounded
from steersman.observe.metrics.queue_metrics import QueueMetrics
from steersman.observe.metrics.reconcile_metrics import ReconcileMetrics
from steersman.observe.metrics.request_metrics import RequestMetrics
from steersman.observe.observation import (
    Metric,
    Observation,
    Observer,
    Sample,
    observation_classes,
)

_KINDS: Final = {"counter": Counter, "gauge": Gauge, "summary": Summary}


class MetricsObserver:
    """An observer that counts observations in the metrics of ``registry``.

    No label value is the name of an object. No label value is the name of a namespace either, with
    one exception: the label ``scope`` of a cache names the namespaces to which the operator author
    limits that cache.
    """

    def __init__(self, registry: CollectorRegistry, *, clock: Clock) -> None:
        self._queues = queues = QueueMetrics(registry, clock=clock)
        self._active_workers = Gauge(
            "controller_runtime_active_workers",
            "Number of currently used workers per controller",
            ("controller",),
            registry=registry,
        )
        self._metrics: dict[str, Any] = {}
        for kind in observation_classes():
            for metric in kind.METRICS:
                if metric.name not in self._metrics:
                    self._metrics[metric.name] = _registered(metric, registry)
        # By label name.
        self._known: defaultdict[str, set[str]] = defaultdict(set)
        # These are so frequent that their counters are optimized.
        self._often: Mapping[type[Any], Callable[[Any], None]] = {
            KeyTaken: queues.taken,
            KeyDone: queues.done,
            KeyAdded: queues.added,
            KeyDelayed: queues.delayed,
            KeyRaised: queues.raised,
            QueueEnded: queues.ended,
            ReconcileFinished: ReconcileMetrics(registry).finished,
            RequestFinished: RequestMetrics(registry).finished,
            ControllerStarted: self._controller_started,
        }

    def __call__(self, observation: Observation) -> None:
        self.listener_for(type(observation))(observation)

    def listener_for(self, kind: type[Any]) -> Observer:
        """Return the function that counts observations of the class ``kind``."""
        return self._often.get(kind, self._count)

    def _count(self, observation: Observation) -> None:
        for sample in observation.samples():
            self._add(sample)

    def _add(self, sample: Sample) -> None:
        metric, value = sample.metric, sample.value
        counted = self._metrics[metric.name]
        if metric.labels:
            names = zip(sample.labels, metric.labels, strict=True)
            counted = counted.labels(*[bounded(each, self._known[label]) for each, label in names])
        if metric.kind == "counter" or sample.is_change:
            counted.inc(value)
        elif metric.kind == "gauge":
            counted.set(value)
        else:
            counted.observe(value)

    def _controller_started(self, started: ControllerStarted) -> None:
        self._count(started)
        controller = started.controller
        name = bounded(controller, self._known["controller"])
        # A busy worker has taken a key.
        self._active_workers.labels(name).set_function(lambda: self._queues.held(controller))


def _registered(
    metric: Metric, registry: CollectorRegistry
) -> Counter | Gauge | Histogram | Summary:
    name, text, labels = metric.name, metric.help, metric.labels
    if metric.kind == "histogram":
        return Histogram(name, text, labels, buckets=metric.buckets, registry=registry)
    made: Counter | Gauge | Summary = _KINDS[metric.kind](name, text, labels, registry=registry)
    if metric.initial and isinstance(made, Gauge):
        made.set(metric.initial)
    return made
