"""Log lines and metrics of controllers."""

import io
import json
import logging

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest

from steersman.clock import SystemClock
from steersman.errors import (
    ApiError,
    Cause,
    Conflict,
    Forbidden,
    NotFound,
    NotLeading,
    Permanent,
    Unreachable,
)
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import (
    KeyDone,
    KeyTaken,
    MetricsObserver,
    Observation,
    ReconcileFinished,
    ReconcileReason,
    Write,
    log_to,
)
from steersman.observe.labels import MAX_VALUES
from tests.clocks import FakeClock
from tests.unit.observe.controller_samples import (
    ABANDONED,
    APP,
    APPLIED,
    CONTROLLED,
    DEPLOYMENT,
    DROPPED,
    ENDED_LATE,
    EXHAUSTED,
    FIELD_CONFLICT,
    FINISHED,
    HOT_LOOP,
    LOST,
    MAPPING_FAILED,
    NOT_RECORDED,
    PREDICATE_FAILED,
    SKIPPED,
    SLOW,
    SOURCE_ENDED,
    SOURCE_FAILED,
    STARTED,
    STOPPED,
    UPDATED,
)
from tests.unit.observe.samples import describe, level_of

LOUD, NORMAL, QUIET = logging.WARNING, logging.INFO, logging.DEBUG
CONTROLLER = {"controller": "appservice"}


def refused(kind: type[ApiError], *causes: str) -> ApiError:
    return kind(
        wanted="create Event default/web",
        code=403,
        reason="",
        message="no",
        causes=tuple(Cause(reason=each, message="") for each in causes),
    )


CONFLICT = Conflict(wanted="apply Deployment default/web", code=409, reason="Conflict", message="")


@pytest.mark.parametrize(
    ("observation", "level", "text"),
    [
        (
            FINISHED,
            NORMAL,
            "appservice: AppService default/web done in 12 ms: updated spec.size;"
            " applied Deployment default/web",
        ),
        (SKIPPED, QUIET, "appservice: AppService default/web: nothing done: paused"),
        (
            HOT_LOOP,
            LOUD,
            "appservice: AppService default/web: the controller triggers itself: 20 reconciles in"
            " 4.0 s changed status.checkedAt, each because of the previous one's write."
            " Write the same value unless something else has changed",
        ),
        (
            FIELD_CONFLICT,
            LOUD,
            "appservice: Deployment default/web: autoscaler keeps changing spec.replicas, and the"
            " controller set them again 5 times in 60.0 s. Remove these fields from one of the two",
        ),
        (
            MAPPING_FAILED,
            LOUD,
            "appservice: ConfigMap default/settings: the mapping apps_of failed, and will be called"
            " again in 2.0 s: KeyError: 'app'",
        ),
        (
            PREDICATE_FAILED,
            LOUD,
            "appservice: AppService default/web: the predicate matters failed, and the change"
            " counts as relevant: KeyError: 'app'",
        ),
        (
            SOURCE_FAILED,
            LOUD,
            "appservice: the source orders failed, and will be opened again in 2.0 s:"
            " OSError: the line is dead",
        ),
        (
            SOURCE_ENDED,
            LOUD,
            "appservice: the source orders ended, and will be opened again in 2.0 s",
        ),
        (
            EXHAUSTED,
            LOUD,
            "all 2 threads for plain functions are busy and 7 calls wait:"
            " appservice AppService default/web",
        ),
        (
            ABANDONED,
            LOUD,
            "appservice: AppService default/web: the reconcile ended, but its function still runs"
            " in a thread; it can no longer read or write",
        ),
        (
            ENDED_LATE,
            NORMAL,
            "appservice: AppService default/web: its function has ended, 60.0 s after the"
            " reconcile",
        ),
        (DROPPED, LOUD, "appservice: 12 events were not written: too many about one object"),
        (
            NOT_RECORDED,
            LOUD,
            f"appservice: AppService default/web: an event was not written: {LOST}",
        ),
        (
            SLOW,
            QUIET,
            "appservice: 12 slow reconciles run beside the workers, 7 objects timed out, 2 of them"
            " wait",
        ),
        (STARTED, NORMAL, "appservice: started with 4 workers"),
        (STOPPED, NORMAL, "appservice: stopped within 250 ms"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_line_names_the_controller_the_object_and_the_observation(
    observation: Observation, level: int, text: str
) -> None:
    assert (level_of(observation), describe(observation)[0]) == (level, text)


@pytest.mark.parametrize("observation", CONTROLLED, ids=lambda each: type(each).__name__)
def test_the_fields_of_a_line_name_its_object(observation: Observation) -> None:
    ref = getattr(observation, "ref", None)

    _, fields = describe(observation)

    if ref is not None:
        found = (fields["kind"], fields["namespace"], fields["name"])
        assert found == (ref.kind, ref.namespace, ref.name)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"outcome": "later"}, "returned Later in 12 ms"),
        ({"outcome": "later", "after_seconds": 30.0}, "returned Later in 12 ms, again in 30.0 s"),
        ({"outcome": "cancelled"}, "cancelled after 12 ms"),
        ({"is_finalize": True}, "finalize done in 12 ms"),
        (
            {"outcome": "failed", "failures": 3, "after_seconds": 0.02, "error": LOST},
            f"failed in 12 ms, 3 failures in a row, again in 20 ms: {LOST}",
        ),
        (
            {"outcome": "permanent", "failures": 1, "error": Permanent("size must be even")},
            "failed permanently in 12 ms: size must be even",
        ),
        (
            {"outcome": "failed", "failures": 1, "error": KeyError("size")},
            "failed in 12 ms: KeyError: 'size'",
        ),
        ({"skipped_writes": 2}, "done in 12 ms: 2 writes skipped"),
        (
            {"writes": (replace(APPLIED, is_change=False),), "skipped_writes": 1},
            "done in 12 ms: 1 write changed nothing; 1 write skipped",
        ),
        (
            {
                "writes": (
                    Write(verb="apply status", ref=APP, is_change=True),
                    Write(verb="delete", ref=DEPLOYMENT, is_change=True),
                )
            },
            "done in 12 ms: updated the status of AppService default/web,"
            " deleted Deployment default/web",
        ),
        (
            {
                "reasons": (
                    ReconcileReason(
                        about=DEPLOYMENT, event="updated", find_changes=lambda: ("status.ready",)
                    ),
                    ReconcileReason(about=None, event="timer"),
                )
            },
            "done in 12 ms: Deployment default/web updated status.ready, timer",
        ),
        (
            {"reasons": (ReconcileReason(about=None, event="timer"),) * 8, "reasons_left_out": 4},
            "done in 12 ms: timer, timer, timer and 9 more",
        ),
        (
            {"outcome": "failed", "error": LOST, "reasons": (UPDATED,), "writes": (APPLIED,)},
            "failed in 12 ms: GET /apis on https://kube: cannot reach the server. Wait;"
            " updated spec.size; applied Deployment default/web",
        ),
    ],
)
def test_a_reconcile_is_logged_with_its_outcome_reasons_and_writes(
    change: dict[str, object], text: str
) -> None:
    bare = replace(FINISHED, reasons=(), writes=())

    assert describe(replace(bare, **change))[0] == f"appservice: AppService default/web {text}"


def test_long_lists_of_fields_and_writes_are_truncated() -> None:
    many = ReconcileReason(
        about=APP, event="updated", find_changes=lambda: tuple(f"spec.f{n}" for n in range(9))
    )
    text, _ = describe(replace(FINISHED, reasons=(many,), writes=(APPLIED,) * 40))

    assert "updated spec.f0, spec.f1, spec.f2, spec.f3, spec.f4 and 4 more;" in text
    assert text.count("applied") == 5
    assert text.endswith(" and 35 more")


@pytest.mark.parametrize(
    ("change", "level"),
    [
        ({}, NORMAL),
        ({"writes": (replace(APPLIED, is_change=False),)}, QUIET),
        ({"outcome": "later"}, QUIET),
        ({"writes": ()}, QUIET),
        ({"writes": (), "outcome": "later"}, QUIET),
        ({"writes": (), "outcome": "cancelled"}, NORMAL),
        ({"outcome": "failed", "error": LOST, "failures": 1}, LOUD),
        ({"outcome": "permanent", "error": Permanent("no"), "failures": 1}, LOUD),
        ({"outcome": "timed out", "error": LOST, "failures": 1}, LOUD),
        ({"outcome": "failed", "error": CONFLICT, "failures": 1}, NORMAL),
        ({"outcome": "failed", "error": CONFLICT, "failures": 2}, LOUD),
        ({"outcome": "failed", "error": NotLeading(wanted="PATCH /x"), "failures": 4}, NORMAL),
        ({"outcome": "failed", "error": LOST, "failures": 3}, QUIET),
        ({"outcome": "failed", "error": LOST, "failures": 64}, LOUD),
    ],
)
def test_the_log_level_of_a_reconcile_is_high_after_a_failure_and_low_without_a_change(
    change: dict[str, object], level: int
) -> None:
    assert level_of(replace(FINISHED, **change)) == level


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (LOST, LOUD),
        (refused(Forbidden), LOUD),
        (refused(Forbidden, "NamespaceTerminating"), NORMAL),
        (refused(NotFound), NORMAL),
        (NotLeading(wanted="POST /events"), NORMAL),
    ],
)
def test_an_event_rejected_by_a_terminating_namespace_is_logged_at_a_low_level(
    error: Exception, level: int
) -> None:
    assert level_of(replace(NOT_RECORDED, error=error)) == level


def test_changed_fields_are_computed_only_for_a_written_line() -> None:
    def find() -> tuple[str, ...]:
        raise AssertionError("this is not read")

    quiet = replace(
        FINISHED,
        reasons=(ReconcileReason(about=APP, event="updated", find_changes=find),),
        writes=(),
    )
    registry = CollectorRegistry()

    log_to(io.StringIO(), level=logging.INFO, clock=SystemClock())(quiet)
    MetricsObserver(registry, clock=FakeClock())(quiet)

    assert ReconcileReason(about=None, event="timer").changed_fields == ()


def _failed_in_the_authors_code(failures: int) -> ReconcileFinished:
    sizes: dict[str, int] = {}
    with pytest.raises(KeyError) as caught:
        sizes["size"]
    return replace(FINISHED, outcome="failed", failures=failures, error=caught.value)


@pytest.mark.parametrize(
    ("failures", "level", "has_trace"),
    [(1, NORMAL, True), (2, NORMAL, True), (4, NORMAL, True), (3, QUIET, True)],
)
def test_repeated_failures_are_logged_less_and_less_often(
    failures: int, level: int, has_trace: bool
) -> None:
    plain, lines = io.StringIO(), io.StringIO()
    failed = _failed_in_the_authors_code(failures)

    log_to(plain, level=level, clock=SystemClock())(failed)
    log_to(lines, level=level, style="json", clock=SystemClock())(failed)

    assert "KeyError: 'size' in _failed_in_the_authors_code" in plain.getvalue()
    assert ('sizes["size"]' in plain.getvalue()) is has_trace
    assert ('sizes["size"]' in json.loads(lines.getvalue()).get("trace", "")) is has_trace


def test_errors_of_steersman_have_no_traceback() -> None:
    stream = io.StringIO()
    with pytest.raises(Unreachable) as caught:
        raise LOST
    failed = replace(FINISHED, outcome="failed", failures=1, error=caught.value)

    log_to(stream, level=logging.DEBUG, clock=SystemClock())(failed)

    assert len(stream.getvalue().splitlines()) == 1


def test_a_traceback_cannot_inject_log_lines() -> None:
    stream = io.StringIO()
    with pytest.raises(ValueError, match="bad") as caught:
        raise ValueError("bad\n2026-01-02T12:00:00Z INFO all is well\x1b[2J")
    failed = replace(FINISHED, outcome="failed", failures=1, error=caught.value)

    log_to(stream, clock=SystemClock())(failed)

    assert all(line.startswith("    ") for line in stream.getvalue().splitlines()[1:])
    assert "\x1b" not in stream.getvalue()


class MetricsOf:
    """The metrics of some observations."""

    def __init__(self, *observations: Observation) -> None:
        self.registry = CollectorRegistry()
        self.observe = MetricsObserver(self.registry, clock=FakeClock())
        for observation in observations:
            self.observe(observation)

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, CONTROLLER | labels)


@pytest.mark.parametrize(
    ("outcome", "after_seconds", "result"),
    [
        ("done", None, "success"),
        ("later", None, "success"),
        ("later", 5.0, "requeue_after"),
        ("failed", 5.0, "error"),
        ("permanent", None, "error"),
        ("timed out", 5.0, "error"),
        ("cancelled", None, None),
    ],
)
def test_reconciles_are_counted_by_the_results_of_controller_runtime(
    outcome: str, after_seconds: float | None, result: str | None
) -> None:
    metered = MetricsOf(replace(FINISHED, outcome=outcome, after_seconds=after_seconds))

    counts = {
        each: metered.value("controller_runtime_reconcile_total", result=each)
        for each in ("success", "requeue", "requeue_after", "error")
    }
    assert counts == {each: float(each == result) for each in counts}
    errors = metered.value("controller_runtime_reconcile_errors_total")
    assert errors == float(result == "error")
    terminal = metered.value("controller_runtime_terminal_reconcile_errors_total")
    assert terminal == float(outcome == "permanent")
    timeouts = metered.value("controller_runtime_reconcile_timeouts_total")
    assert timeouts == float(outcome == "timed out")
    cancelled = metered.value("steersman_controller_cancellations_total")
    assert cancelled == float(outcome == "cancelled")
    assert metered.value("controller_runtime_reconcile_time_seconds_sum") == 0.012


def test_triggers_and_writes_are_counted() -> None:
    metered = MetricsOf(replace(FINISHED, skipped_writes=3), FINISHED)

    assert metered.value("steersman_controller_wakes_total", event="updated") == 2
    written = metered.value("steersman_controller_writes_total", verb="apply", is_change="true")
    assert written == 2
    assert metered.value("steersman_controller_skipped_writes_total") == 3


@pytest.mark.parametrize(
    ("observation", "name", "labels", "value"),
    [
        (SKIPPED, "skips_total", {"reason": "paused"}, 1.0),
        (HOT_LOOP, "hot_loops_total", {}, 1.0),
        (FIELD_CONFLICT, "field_conflicts_total", {}, 1.0),
        (MAPPING_FAILED, "trigger_failures_total", {"role": "mapping"}, 1.0),
        (SOURCE_FAILED, "source_failures_total", {"source": "orders"}, 1.0),
        (ABANDONED, "threads_abandoned_total", {}, 1.0),
        (DROPPED, "events_dropped_total", {"reason": "too many about one object"}, 12.0),
        (NOT_RECORDED, "events_not_recorded_total", {}, 1.0),
    ],
)
def test_each_observation_is_a_metric_of_its_controller(
    observation: Observation, name: str, labels: dict[str, str], value: float
) -> None:
    assert MetricsOf(observation).value(f"steersman_controller_{name}", **labels) == value


def test_an_abandoned_thread_that_ends_is_counted_once() -> None:
    metered = MetricsOf(ABANDONED, ENDED_LATE)

    assert metered.value("steersman_controller_threads_abandoned_total") == 1.0


def test_the_active_workers_are_those_that_hold_a_key() -> None:
    metered = MetricsOf(STARTED)
    key = ObjectKey("default", "web")

    def active() -> float | None:
        return metered.value("controller_runtime_active_workers")

    assert metered.value("controller_runtime_max_concurrent_reconciles") == 4
    assert active() == 0
    metered.observe(
        KeyTaken(queue="appservice", key=key, priority=0, waited_seconds=0, taken_at=1000.0)
    )
    assert active() == 1
    metered.observe(KeyDone(queue="appservice", key=key, took_seconds=1))
    assert active() == 0
    metered.observe(STOPPED)
    assert metered.value("controller_runtime_max_concurrent_reconciles") == 0


def test_the_number_of_series_of_controllers_is_bounded() -> None:
    metered = MetricsOf()
    for number in range(3 * MAX_VALUES):
        metered.observe(
            replace(
                FINISHED,
                controller=f"c{number}",
                ref=ObjectRef("App", f"ns-{number}", f"app-{number}"),
                writes=(Write(verb=f"v{number}", ref=DEPLOYMENT, is_change=True),),
                reasons=(ReconcileReason(about=None, event=f"e{number}"),),
            )
        )
        metered.observe(replace(SOURCE_FAILED, source=f"s{number}"))

    text = generate_latest(metered.registry).decode()
    lines = text.splitlines()
    of_reconciles = "controller_runtime_reconcile_errors_total{"
    assert sum(line.startswith(of_reconciles) for line in lines) == MAX_VALUES + 1
    of_sources = "steersman_controller_source_failures_total{"
    assert sum(line.startswith(of_sources) for line in lines) <= MAX_VALUES + 1
