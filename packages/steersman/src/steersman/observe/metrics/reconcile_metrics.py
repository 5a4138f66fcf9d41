"""The metrics of reconciles, with the same names and labels as in controller-runtime."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from steersman.observe.events.controller_events import ReconcileFinished
from steersman.observe.labels import bounded
from steersman.observe.metrics.histogram import Seconds

# From a reconcile with nothing to do to one at its timeout. controller-runtime has forty buckets,
# which is more than a dashboard shows.
_BOUNDS: Final = (
    *(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0),
)

# controller-runtime's names. ``later`` without a time waits for the next change, which is a success
# there; nothing here is a ``requeue``, which exists for queries that sum over all results.
_RESULT_OF: Final = {
    "done": "success",
    "later": "success",
    "failed": "error",
    "permanent": "error",
    "timed out": "error",
}


class _OneController:
    """The counts of one controller."""

    __slots__ = (
        "cancelled",
        "results",
        "seconds",
        "skipped_writes",
        "terminal",
        "timeouts",
        "wakes",
        "writes",
    )

    def __init__(self) -> None:
        self.results = {"success": 0, "requeue": 0, "requeue_after": 0, "error": 0}
        self.terminal = 0
        self.timeouts = 0
        self.cancelled = 0
        self.skipped_writes = 0
        self.seconds = Seconds(_BOUNDS)
        self.writes: dict[tuple[str, bool], int] = {}
        self.wakes: dict[str, int] = {}


class ReconcileMetrics(Collector):
    """A prometheus_client collector that counts reconciles in plain numbers.

    The numbers become metrics at each scrape, because updating a few counters of prometheus_client
    would take about as long as a reconcile that has nothing to do.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._controllers: dict[str, _OneController] = {}
        self._names: set[str] = set()
        self._words: set[str] = set()
        registry.register(self)

    def finished(self, finished: ReconcileFinished) -> None:
        """Count ``finished``, a reconcile that has ended."""
        one = self._controllers.get(finished.controller)
        if one is None:
            name = bounded(finished.controller, self._names)
            one = self._controllers.setdefault(name, _OneController())
        one.seconds.observe(finished.took_seconds)
        outcome = finished.outcome
        if outcome == "cancelled":  # neither a failure nor a success
            one.cancelled += 1
        elif outcome == "later" and finished.after_seconds is not None:
            one.results["requeue_after"] += 1
        else:
            one.results[_RESULT_OF[outcome]] += 1
            one.terminal += outcome == "permanent"
            one.timeouts += outcome == "timed out"
        one.skipped_writes += finished.skipped_writes
        for write in finished.writes:
            written = write.verb, write.is_change
            if written not in one.writes:
                written = bounded(write.verb, self._words), write.is_change
                one.writes.setdefault(written, 0)
            one.writes[written] += 1
        for why in finished.reasons:
            event = why.event
            if event not in one.wakes:
                event = bounded(event, self._words)
                one.wakes.setdefault(event, 0)
            one.wakes[event] += 1

    def describe(self) -> Iterable[Metric]:
        """Return the metrics without samples; the registry uses them to find duplicate names."""
        return self._families(())

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        # A copy, made in one step: the collection may run in another thread.
        return self._families(tuple(self._controllers.items()))

    def _families(self, controllers: Iterable[tuple[str, _OneController]]) -> Iterator[Metric]:
        def counter(name: str, text: str, *labels: str) -> CounterMetricFamily:
            return CounterMetricFamily(name, text, labels=("controller", *labels))

        results = counter(
            "controller_runtime_reconcile",
            "Total number of reconciliations per controller",
            "result",
        )
        errors = counter(
            "controller_runtime_reconcile_errors",
            "Total number of reconciliation errors per controller",
        )
        terminal = counter(
            "controller_runtime_terminal_reconcile_errors",
            "Total number of terminal reconciliation errors per controller",
        )
        timeouts = counter(
            "controller_runtime_reconcile_timeouts",
            "Total number of reconciliation timeouts per controller",
        )
        seconds = HistogramMetricFamily(
            "controller_runtime_reconcile_time_seconds",
            "Length of time per reconciliation per controller",
            labels=("controller",),
        )
        cancelled = counter(
            "steersman_controller_cancellations",
            "Reconciles that were cancelled because the operator stopped, or no longer led.",
        )
        writes = counter(
            "steersman_controller_writes",
            "Writes that reconciles sent, and whether the object changed.",
            "verb",
            "is_change",
        )
        skipped_writes = counter(
            "steersman_controller_skipped_writes",
            "Writes that would have changed nothing, and were not sent.",
        )
        wakes = counter(
            "steersman_controller_wakes",
            "Events that triggered reconciles; several may be met by one reconcile.",
            "event",
        )
        for name, one in controllers:
            for result, count in one.results.items():
                results.add_metric((name, result), count)
            errors.add_metric((name,), one.results["error"])
            terminal.add_metric((name,), one.terminal)
            timeouts.add_metric((name,), one.timeouts)
            seconds.add_metric((name,), one.seconds.buckets(), one.seconds.sum_seconds)
            cancelled.add_metric((name,), one.cancelled)
            for (verb, is_change), count in tuple(one.writes.items()):
                writes.add_metric((name, verb, str(is_change).lower()), count)
            skipped_writes.add_metric((name,), one.skipped_writes)
            for event, count in tuple(one.wakes.items()):
                wakes.add_metric((name, event), count)
        yield from (
            results,
            errors,
            terminal,
            timeouts,
            seconds,
            cancelled,
            writes,
            skipped_writes,
            wakes,
        )
