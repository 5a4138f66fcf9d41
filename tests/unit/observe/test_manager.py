"""Log lines and metrics of a manager."""

import io
import logging

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from steersman.clock import SystemClock
from steersman.names import ObjectRef
from steersman.observe import MetricsObserver, Observation, log_to
from steersman.observe.labels import MAX_VALUES
from tests.clocks import FakeClock
from tests.unit.observe.manager_samples import (
    BLOCKED,
    GAINED,
    HELD_BACK,
    LISTENING,
    LOST,
    LOST_IT,
    NOT_ALLOWED,
    NOT_MISSED,
    NOT_RENEWED,
    RECOVERED,
    RELEASED,
    RENEWED,
    RULE,
    RUNNABLE_FAILED,
    SEEN,
    STAGE,
    STOP_OVERDUE,
    STOP_REQUESTED,
    SYNC_OVERDUE,
    UNKNOWN,
    UNRESPONSIVE,
)
from tests.unit.observe.samples import describe, level_of

ALARM, LOUD, NORMAL, QUIET = logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG


@pytest.mark.parametrize(
    ("observation", "level", "text"),
    [
        (SEEN, NORMAL, "Lease apps/operator: held by pod-1"),
        (replace(SEEN, holder=""), NORMAL, "Lease apps/operator: held by no replica"),
        (replace(SEEN, holder="pod-0"), QUIET, "Lease apps/operator: held by this replica"),
        (GAINED, NORMAL, "Lease apps/operator: this replica leads, after 15.0 s"),
        (RENEWED, QUIET, "Lease apps/operator: renewed in 20 ms"),
        (
            NOT_RENEWED,
            LOUD,
            f"Lease apps/operator: not renewed, with 7.5 s left to lead: {LOST}",
        ),
        (
            replace(NOT_RENEWED, left_seconds=0.0),
            LOUD,
            f"Lease apps/operator: unreachable: {LOST}",
        ),
        (
            LOST_IT,
            ALARM,
            "Lease apps/operator: this replica no longer leads: not renewed in time",
        ),
        (
            RELEASED,
            NORMAL,
            "Lease apps/operator: released, so that another replica can take it over immediately",
        ),
        (
            HELD_BACK,
            LOUD,
            "PATCH /apis/apps/v1/namespaces/default/deployments/web: not sent, because another"
            " replica may lead",
        ),
        (STAGE, NORMAL, "caches synced, after 1.5 s"),
        (STOP_REQUESTED, NORMAL, "received SIGTERM; stops within 25.0 s"),
        (
            STOP_OVERDUE,
            ALARM,
            "the controller appservice did not stop within 25.0 s, and is abandoned",
        ),
        (
            NOT_ALLOWED,
            ALARM,
            "the operator may not list deployments.apps. This rule would allow it:"
            " - {apiGroups: [apps], resources: [deployments], verbs: [list]}",
        ),
        (
            NOT_MISSED,
            LOUD,
            "the operator may not create events.events.k8s.io (the operator works without it,"
            " with reduced function)."
            f" This rule would allow it: {RULE}",
        ),
        (
            UNRESPONSIVE,
            ALARM,
            "https://10.0.0.1 has not responded for 50.0 s; reopened watches: Pod */*, Node *",
        ),
        (RECOVERED, NORMAL, "https://10.0.0.1 responds again, after 75.0 s"),
        (
            SYNC_OVERDUE,
            ALARM,
            "could not start the controller backup: these lists did not complete within 120 s:"
            " acme.io/v1 Backup: the API server does not serve it. Install the"
            " CustomResourceDefinition of a kind that is not served, or grant permission to list"
            " it; the list is retried until it succeeds.",
        ),
        (
            UNKNOWN,
            LOUD,
            f"could not check whether the operator may list deployments.apps: {LOST}",
        ),
        (
            BLOCKED,
            LOUD,
            "the event loop was blocked for 1.5 s in the reconcile of App default/web by app:"
            " app.py:9 in reconcile > app.py:3 in compute. This code computed or waited without"
            " await: make that reconcile a plain function, which runs in a thread",
        ),
        (
            replace(BLOCKED, ref=None, controller="", stack=()),
            LOUD,
            "the event loop was blocked for 1.5 s, and so was the thread that watches it: the"
            " process was stopped or got no CPU time, or an extension module held the GIL",
        ),
        (LISTENING, NORMAL, "metrics at http://0.0.0.0:8080/metrics"),
        (RUNNABLE_FAILED, ALARM, "webhooks failed: OSError: the port is taken"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_line_has_the_problem_and_the_advice(
    observation: Observation, level: int, text: str
) -> None:
    assert (level_of(observation), describe(observation)[0]) == (level, text)


def test_the_fields_of_a_leadership_line_have_the_lease_and_the_identity() -> None:
    _, fields = describe(GAINED)

    assert (fields["kind"], fields["namespace"], fields["name"]) == ("Lease", "apps", "operator")
    assert fields["identity"] == "pod-0"


def test_an_unexpected_failure_is_logged_with_its_traceback() -> None:
    stream = io.StringIO()
    with pytest.raises(ValueError, match="literal") as caught:
        int("x")

    log_to(stream, clock=SystemClock())(replace(RUNNABLE_FAILED, error=caught.value))
    log_to(stream, clock=SystemClock())(replace(RUNNABLE_FAILED, error=LOST))

    assert 'int("x")' in stream.getvalue()
    assert stream.getvalue().splitlines()[-1].endswith(str(LOST))


def counted(*observations: Observation) -> CollectorRegistry:
    registry = CollectorRegistry()
    observe = MetricsObserver(registry, clock=FakeClock())
    for observation in observations:
        observe(observation)
    return registry


@pytest.mark.parametrize(
    ("observations", "value"),
    [
        ((SEEN,), 0.0),
        ((SEEN, GAINED), 1.0),
        ((SEEN, GAINED, replace(SEEN, holder="pod-0")), 1.0),
        ((GAINED, LOST_IT), 0.0),
        ((GAINED, RELEASED), 0.0),
    ],
)
def test_the_leader_metric_has_client_gos_name(
    observations: tuple[Observation, ...], value: float
) -> None:
    registry = counted(*observations)

    status = registry.get_sample_value("leader_election_master_status", {"name": "operator"})
    assert status == value


@pytest.mark.parametrize(
    ("observation", "name", "labels", "value"),
    [
        (SEEN, "leader_changes_total", {"name": "operator"}, 1.0),
        (LOST_IT, "leadership_losses_total", {"name": "operator"}, 1.0),
        (RENEWED, "lease_renewal_seconds_sum", {"name": "operator"}, 0.02),
        (NOT_RENEWED, "lease_renewal_failures_total", {"name": "operator"}, 1.0),
        (HELD_BACK, "writes_held_back_total", {"method": "PATCH"}, 1.0),
        (STAGE, "stage_seconds", {"stage": "caches synced"}, 1.5),
        (STOP_OVERDUE, "stops_overdue_total", {}, 1.0),
        (NOT_ALLOWED, "permissions_missing_total", {"is_needed": "true"}, 1.0),
        (NOT_MISSED, "permissions_missing_total", {"is_needed": "false"}, 1.0),
        (UNRESPONSIVE, "server_responsive", {}, 0.0),
        (UNRESPONSIVE, "server_unresponsive_total", {}, 1.0),
        (RECOVERED, "server_outage_seconds_sum", {}, 75.0),
        (SYNC_OVERDUE, "cache_syncs_overdue_total", {"controller": "backup"}, 1.0),
        (BLOCKED, "loop_blocked_seconds_sum", {}, 1.5),
        (BLOCKED, "loop_blocked_seconds_count", {}, 1.0),
        (RUNNABLE_FAILED, "runnable_failures_total", {"runnable": "webhooks"}, 1.0),
    ],
)
def test_each_observation_is_a_metric(
    observation: Observation, name: str, labels: dict[str, str], value: float
) -> None:
    assert counted(observation).get_sample_value(f"steersman_manager_{name}", labels) == value


def test_labels_of_an_operators_metrics_are_bounded() -> None:
    registry = counted(
        *(replace(SEEN, lease=ObjectRef("Lease", "apps", f"l{n}")) for n in range(3 * MAX_VALUES)),
        *(replace(STAGE, stage=f"s{n}") for n in range(3 * MAX_VALUES)),
    )

    for name in ("steersman_manager_leader_changes_total", "steersman_manager_stage_seconds"):
        samples = [s for m in registry.collect() for s in m.samples if s.name == name]
        assert len(samples) == MAX_VALUES + 1
