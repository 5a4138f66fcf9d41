"""The state of an object, in two words."""

from steersman.kinds import Unstructured
from steersman.view import state_of
from tests.unit.view.objects import app, condition, replicas, thing


def text_of(obj: Unstructured) -> str:
    return str(state_of(obj))


def test_a_custom_resource_is_ready_by_its_conditions() -> None:
    assert text_of(app("a", condition("Ready", "True", "RolledOut"))) == "ready, RolledOut"
    assert text_of(app("a", condition("Ready", "False", "RollingOut"))) == "not ready, RollingOut"
    assert text_of(app("a", condition("Available", "True", "Up"))) == "ready, Up"


def test_a_kind_without_conditions_is_not_shown_as_unready() -> None:
    assert text_of(app("a")) == "–"
    assert text_of(app("a", condition("Synced", "True"))) == "–"


def test_other_conditions_are_shown_beside_readiness() -> None:
    state = state_of(
        app(
            "a",
            condition("Ready", "True", "Ok"),
            condition("Progressing", "True"),
            condition("Degraded", "False"),
            condition("Synced", "Unknown"),
        )
    )

    assert state.conditions == "not Degraded, Progressing, Synced?"


def test_replicas_are_counted() -> None:
    assert text_of(replicas("Deployment", "web", ready=1, wanted=3)) == "not ready, 1 of 3"
    assert text_of(replicas("ReplicaSet", "web", ready=3, wanted=3)) == "ready, 3 of 3"


def test_a_pod_shows_its_phase_or_waiting_reason() -> None:
    waiting = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    ready = {"phase": "Running", "conditions": [condition("Ready", "True")]}

    assert text_of(thing("Pod", "a")) == "not ready, Pending"
    assert text_of(thing("Pod", "a", status=ready)) == "ready, Running"
    assert text_of(thing("Pod", "a", status={"phase": "Failed"})) == "failed, Failed"
    stuck = {"phase": "Running", "containerStatuses": [waiting]}
    assert text_of(thing("Pod", "a", status=stuck)) == "failed, CrashLoopBackOff"


def test_a_job_shows_its_completions() -> None:
    failed = {"conditions": [condition("Failed", "True")]}

    assert text_of(thing("Job", "a", status={"succeeded": 0})) == "not ready, 0 of 1 done"
    assert text_of(thing("Job", "a", status=failed)) == "failed, 0 of 1 done"


def test_an_object_without_a_status_is_ready() -> None:
    assert text_of(thing("ConfigMap", "a")) == "ready"


def test_an_object_that_is_being_deleted_shows_its_finalizers() -> None:
    ending = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a.b/c"]}

    assert text_of(thing("ConfigMap", "a", metadata=ending)) == "ending, held by a.b/c"
