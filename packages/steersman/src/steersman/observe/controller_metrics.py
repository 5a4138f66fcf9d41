"""What is counted of controllers, beside their reconciles."""

from typing import assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge

from steersman.observe.controller_events import (
    ControllerObservation,
    ControllerStarted,
    ControllerStopped,
    EventNotRecorded,
    EventsDropped,
    FieldConflictFound,
    HotLoop,
    ReconcileFinished,
    ReconcileSkipped,
    SlowLaneChanged,
    SourceFailed,
    ThreadAbandoned,
    ThreadsExhausted,
    TriggerFailed,
)
from steersman.observe.labels import bounded
from steersman.observe.queue_metrics import QueueMetrics
from steersman.observe.reconcile_metrics import ReconcileMetrics


class ControllerMetrics:
    """Counts in ``registry``, by controller; none of its labels can be made in the cluster."""

    def __init__(self, registry: CollectorRegistry, *, queues: QueueMetrics) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=registry)

        self._queues = queues
        self._reconciles = ReconcileMetrics(registry)
        #: What is counted most often, for whoever has no time to ask what it is.
        self.finished = self._reconciles.finished
        self._workers = Gauge(
            "controller_runtime_max_concurrent_reconciles",
            "Maximum number of concurrent reconciles per controller",
            ("controller",),
            registry=registry,
        )
        self._active = Gauge(
            "controller_runtime_active_workers",
            "Number of currently used workers per controller",
            ("controller",),
            registry=registry,
        )
        self._skips = counter(
            "steersman_controller_skips",
            "Turns that came when there was nothing to be done, by the reason.",
            "controller",
            "reason",
        )
        self._slow = Gauge(
            "steersman_controller_slow_reconciles",
            "Reconciles that run beside the workers because they are slow.",
            ("controller",),
            registry=registry,
        )
        self._hanging = Gauge(
            "steersman_controller_hanging_objects",
            "Objects whose last reconcile timed out.",
            ("controller",),
            registry=registry,
        )
        self._hot_loops = counter(
            "steersman_controller_hot_loops",
            "Times that a controller was found to wake itself.",
            "controller",
        )
        self._field_fights = counter(
            "steersman_controller_field_conflicts",
            "Times that somebody else was found to change fields that a controller puts back.",
            "controller",
        )
        self._trigger_failures = counter(
            "steersman_controller_trigger_failures",
            "Mappings and predicates that raised.",
            "controller",
            "role",
        )
        self._source_failures = counter(
            "steersman_controller_source_failures",
            "Sources that raised or ended, and were opened again.",
            "controller",
            "source",
        )
        self._threads_exhausted = counter(
            "steersman_controller_threads_exhausted",
            "Times that calls had to wait because all threads for plain functions were busy.",
        )
        self._threads_left = counter(
            "steersman_controller_threads_abandoned",
            "Plain functions that ran on after they were given up.",
            "controller",
        )
        self._events_dropped = counter(
            "steersman_controller_events_dropped",
            "Kubernetes events that were not written because there were too many.",
            "controller",
            "reason",
        )
        self._events_failed = counter(
            "steersman_controller_events_not_recorded",
            "Kubernetes events that the server did not take.",
            "controller",
        )
        self._names: set[str] = set()
        self._words: set[str] = set()

    def __call__(self, observation: ControllerObservation) -> None:
        match observation:
            case ReconcileFinished():
                self.finished(observation)
            case ReconcileSkipped(controller=controller, reason=reason):
                self._skips.labels(self._name(controller), self._word(reason)).inc()
            case SlowLaneChanged(controller=controller, slow=slow, hanging=hanging):
                self._slow.labels(self._name(controller)).set(slow)
                self._hanging.labels(self._name(controller)).set(hanging)
            case HotLoop(controller=controller):
                self._hot_loops.labels(self._name(controller)).inc()
            case FieldConflictFound(controller=controller):
                self._field_fights.labels(self._name(controller)).inc()
            case TriggerFailed(controller=controller, role=role):
                self._trigger_failures.labels(self._name(controller), self._word(role)).inc()
            case SourceFailed(controller=controller, source=source):
                self._source_failures.labels(self._name(controller), self._word(source)).inc()
            case ThreadsExhausted():
                self._threads_exhausted.inc()
            case ThreadAbandoned(controller=controller, has_ended=has_ended):
                if not has_ended:
                    self._threads_left.labels(self._name(controller)).inc()
            case EventsDropped(controller=controller, count=count, reason=reason):
                name = self._name(controller)
                self._events_dropped.labels(name, self._word(reason)).inc(count)
            case EventNotRecorded(controller=controller):
                self._events_failed.labels(self._name(controller)).inc()
            case ControllerStarted(controller=controller, workers=workers):
                name = self._name(controller)
                self._workers.labels(name).set(workers)
                # A worker that is at work holds a key.
                self._active.labels(name).set_function(lambda: self._queues.held(controller))
            case ControllerStopped(controller=controller):
                self._workers.labels(self._name(controller)).set(0)
            case _:
                assert_never(observation)

    def _name(self, controller: str) -> str:
        return bounded(controller, self._names)

    def _word(self, word: str) -> str:
        return bounded(word, self._words)
