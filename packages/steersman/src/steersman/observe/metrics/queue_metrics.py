"""The metrics of work queues, with the same names and labels as in controller-runtime."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from steersman.clock import Clock
from steersman.observe.events.queue_events import (
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    QueueEnded,
)
from steersman.observe.labels import bounded
from steersman.observe.metrics.histogram import Seconds

# The buckets of controller-runtime: from ten nanoseconds, in steps of a factor of ten.
_BOUNDS: Final = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)

# The same value for two labels, because dashboards query either of them.
_LABELS: Final = ("name", "controller")


class _OneQueue:
    """The counts of one queue."""

    __slots__ = ("adds", "depth", "retries", "taken_at", "waited", "worked")

    def __init__(self) -> None:
        self.adds = 0
        self.retries = 0
        self.depth: dict[int | str, int] = {}  # by priority
        self.waited = Seconds(_BOUNDS)
        self.worked = Seconds(_BOUNDS)
        # Only the keys that workers have now: at most one for each worker.
        self.taken_at: dict[object, float] = {}


class QueueMetrics(Collector):
    """A prometheus_client collector that counts queue operations in plain numbers.

    The numbers become metrics at each scrape, because updating a counter of prometheus_client would
    take longer for each key than the queue itself. The time for which workers have been processing
    their keys is computed at the scrape.
    """

    def __init__(self, registry: CollectorRegistry, *, clock: Clock) -> None:
        self._clock = clock
        self._queues: dict[str, _OneQueue] = {}
        self._names: set[str] = set()
        self._priorities: set[str] = set()
        registry.register(self)

    def added(self, observation: KeyAdded) -> None:
        """Count a key that was added."""
        queue = self._queues.get(observation.queue) or self._new(observation.queue)
        queue.adds += 1
        self._count(queue, observation.priority, 1)

    def raised(self, observation: KeyRaised) -> None:
        """Count a key whose priority was raised."""
        queue = self._queues.get(observation.queue) or self._new(observation.queue)
        self._count(queue, observation.old_priority, -1)
        self._count(queue, observation.priority, 1)

    def delayed(self, observation: KeyDelayed) -> None:
        """Count a key that is added after a delay; like controller-runtime, count it as a retry."""
        (self._queues.get(observation.queue) or self._new(observation.queue)).retries += 1

    def taken(self, observation: KeyTaken) -> None:
        """Count a key that a worker has taken."""
        queue = self._queues.get(observation.queue) or self._new(observation.queue)
        self._count(queue, observation.priority, -1)
        queue.waited.observe(observation.waited_seconds)
        queue.taken_at[observation.key] = observation.taken_at

    def done(self, observation: KeyDone) -> None:
        """Count a key that a worker has finished."""
        queue = self._queues.get(observation.queue) or self._new(observation.queue)
        queue.worked.observe(observation.took_seconds)
        queue.taken_at.pop(observation.key, None)

    def ended(self, observation: QueueEnded) -> None:
        """Set the queue's depth to 0, because its waiting keys were dropped at the shutdown."""
        depth = (self._queues.get(observation.queue) or self._new(observation.queue)).depth
        for priority in depth:
            depth[priority] = 0

    def held(self, name: str) -> int:
        """Return the number of keys of the queue ``name`` that workers are processing."""
        queue = self._queues.get(name)
        return 0 if queue is None else len(queue.taken_at)

    def describe(self) -> Iterable[Metric]:
        """Return the metrics without samples; the registry uses them to find duplicate names."""
        return self._families(())

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        # A copy, made in one step: the collection may run in another thread.
        return self._families(tuple(self._queues.items()))

    def _new(self, name: str) -> _OneQueue:
        return self._queues.setdefault(bounded(name, self._names), _OneQueue())

    def _count(self, queue: _OneQueue, priority: int, change: int) -> None:
        known = queue.depth.get(priority)
        if known is not None:
            queue.depth[priority] = known + change
        else:
            label = bounded(str(priority), self._priorities)
            place = "other" if label == "other" else priority
            queue.depth[place] = queue.depth.get(place, 0) + change

    def _families(self, queues: Iterable[tuple[str, _OneQueue]]) -> Iterator[Metric]:
        depth = GaugeMetricFamily(
            "workqueue_depth",
            "Current depth of workqueue by workqueue and priority",
            labels=(*_LABELS, "priority"),
        )
        adds = CounterMetricFamily(
            "workqueue_adds", "Total number of adds handled by workqueue", labels=_LABELS
        )
        waited = HistogramMetricFamily(
            "workqueue_queue_duration_seconds",
            "How long in seconds an item stays in workqueue before being requested",
            labels=_LABELS,
        )
        worked = HistogramMetricFamily(
            "workqueue_work_duration_seconds",
            "How long in seconds processing an item from workqueue takes.",
            labels=_LABELS,
        )
        unfinished = GaugeMetricFamily(
            "workqueue_unfinished_work_seconds",
            "How many seconds of work has been done that is in progress and hasn't been observed"
            " by work_duration. Large values indicate stuck threads. One can deduce the number of"
            " stuck threads by observing the rate at which this increases.",
            labels=_LABELS,
        )
        longest = GaugeMetricFamily(
            "workqueue_longest_running_processor_seconds",
            "How many seconds has the longest running processor for workqueue been running.",
            labels=_LABELS,
        )
        retries = CounterMetricFamily(
            "workqueue_retries",
            "Total number of items added to the workqueue with a non-zero delay"
            " (rate-limited requeues, explicit RequeueAfter or AddAfter calls)",
            labels=_LABELS,
        )
        now_at = self._clock.monotonic()
        for name, queue in queues:
            labels = (name, name)
            for priority, count in tuple(queue.depth.items()):
                depth.add_metric((*labels, str(priority)), count)
            adds.add_metric(labels, queue.adds)
            waited.add_metric(labels, queue.waited.buckets(), queue.waited.sum_seconds)
            worked.add_metric(labels, queue.worked.buckets(), queue.worked.sum_seconds)
            held_seconds = [now_at - taken_at for taken_at in tuple(queue.taken_at.values())]
            unfinished.add_metric(labels, sum(held_seconds))
            longest.add_metric(labels, max(held_seconds, default=0.0))
            retries.add_metric(labels, queue.retries)
        yield from (depth, adds, waited, worked, unfinished, longest, retries)
