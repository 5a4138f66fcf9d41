"""The status that is applied, as prepared from the status that an author returns."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from steersman.controller.status import is_progress, status_to_apply
from steersman.kinds import Condition, CustomResource, Part, Unstructured, apps_v1, meta_v1, replace

BEFORE = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 2, 2, 3, 4, 5, 678, tzinfo=UTC)
SECOND = NOW.replace(microsecond=0)


class Status(Part):
    observed_generation: int | None = None
    ready: int | None = None
    conditions: tuple[Condition, ...] | None = None


class Plain(Part):
    ready: int | None = None


class App(CustomResource[Plain, Status], group="example.com", version="v1"):
    """A kind with a status."""


AnyApp = Unstructured.of("example.com/v1", "App")


def app(*conditions: Condition, generation: int = 3) -> App:
    return App(
        metadata=meta_v1.ObjectMeta(name="a", generation=generation),
        spec=Plain(),
        status=Status(conditions=conditions),
    )


def any_app(*conditions: dict[str, Any]) -> Unstructured:
    return AnyApp(
        {
            "apiVersion": "example.com/v1",
            "kind": "App",
            "metadata": {"name": "a", "generation": 3},
            "status": {"conditions": list(conditions)},
        }
    )


def condition(status: str, time: datetime | None = None, type: str = "Ready") -> Condition:
    return Condition(type=type, status=status, last_transition_time=time)


def times(status: Any) -> list[datetime | None]:
    return [each.last_transition_time for each in status.conditions]


def test_the_observed_generation_is_that_of_the_reconciled_object() -> None:
    inlined = Status(observed_generation=77)

    assert status_to_apply(app(), inlined, now=NOW).observed_generation == 3
    assert status_to_apply(app(), {"observedGeneration": 77}, now=NOW) == {"observedGeneration": 3}


def test_a_status_without_the_observed_generation_field_does_not_get_it() -> None:
    assert status_to_apply(app(), Plain(ready=1), now=NOW) == Plain(ready=1)
    assert status_to_apply(app(), {"ready": 1}, now=NOW) == {"ready": 1}


def test_a_new_condition_gets_the_current_time_in_whole_seconds() -> None:
    status = status_to_apply(app(), Status(conditions=(condition("True"),)), now=NOW)

    assert times(status) == [SECOND]


def test_a_changed_condition_gets_the_current_time_and_an_unchanged_one_keeps_its_time() -> None:
    obj = app(condition("True", BEFORE, "Ready"), condition("True", BEFORE, "Painted"))
    status = Status(conditions=(condition("False"), condition("True", type="Painted")))

    assert times(status_to_apply(obj, status, now=NOW)) == [SECOND, BEFORE]


def test_a_given_transition_time_is_kept_in_whole_seconds() -> None:
    given = BEFORE + timedelta(days=1, microseconds=5)
    status = Status(conditions=(condition("True", given),))

    after = status_to_apply(app(condition("True", BEFORE)), status, now=NOW)

    assert times(after) == [BEFORE + timedelta(days=1)]


def test_the_current_object_counts_and_not_the_reconciled_one() -> None:
    status = Status(conditions=(condition("True"),))

    after = status_to_apply(
        app(condition("False", BEFORE)),
        status,
        now=NOW,
        before=app(condition("True", BEFORE), generation=9),
    )

    assert times(after) == [BEFORE]
    assert after.observed_generation == 3


def test_conditions_of_an_inlined_status_are_unchanged() -> None:
    inlined = apps_v1.DeploymentStatus(
        conditions=(
            apps_v1.DeploymentCondition(
                type="Available",
                status="True",
                last_update_time=BEFORE,
                last_transition_time=BEFORE,
            ),
        )
    )

    assert status_to_apply(app(), inlined, now=NOW) == replace(inlined, observed_generation=3)


def test_a_condition_in_a_dictionary_is_treated_like_a_typed_one() -> None:
    since = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    obj = any_app(
        {"type": "Ready", "status": "True", **since},
        {"type": "Painted", "status": "True", **since},
        {"type": "Odd", "status": "True", "lastTransitionTime": "yesterday"},
    )
    status: dict[str, Any] = {
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Painted", "status": "False"},
            {"type": "Odd", "status": "True"},
            condition("True"),
        ]
    }

    after: Any = status_to_apply(obj, status, now=NOW)["conditions"]

    assert [each["lastTransitionTime"] for each in after[:3]] == [
        "2026-01-01T00:00:00Z",
        "2026-02-02T03:04:05Z",
        "2026-02-02T03:04:05Z",
    ]
    assert after[3].last_transition_time == BEFORE
    assert "lastTransitionTime" not in status["conditions"][0]


@pytest.mark.parametrize("status", [Status(ready=1), {"ready": 1, "observedGeneration": 0}])
def test_the_same_status_gives_the_same_result_twice(status: Any) -> None:
    with_condition: Any = (
        replace(status, conditions=(condition("True"),))
        if isinstance(status, Status)
        else {**status, "conditions": [{"type": "Ready", "status": "True"}]}
    )
    obj: Any = app() if isinstance(status, Status) else any_app()
    first = status_to_apply(obj, with_condition, now=NOW)
    written: Any = (
        replace(obj, status=first) if isinstance(obj, App) else obj.changed("status", to=first)
    )

    later = status_to_apply(written, with_condition, now=NOW + timedelta(hours=1))

    assert later == first


READY = condition("True", BEFORE)
FAILED = condition("False", BEFORE)
OF_OTHERS = condition("True", BEFORE, type="Audited")


def status_with(*conditions: Condition, generation: int | None = 3, ready: int = 1) -> Status:
    return Status(conditions=conditions, observed_generation=generation, ready=ready)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, status_with(FAILED), True),
        (Status(), status_with(FAILED), True),
        (status_with(READY), status_with(READY, ready=2), True),
        (status_with(READY, OF_OTHERS), status_with(READY, ready=2), True),
        (status_with(READY, generation=None), status_with(READY, ready=2), True),
        (status_with(READY), status_with(FAILED), False),
        (status_with(READY), status_with(READY, condition("True", BEFORE, type="Degraded")), False),
        (status_with(READY, generation=2), status_with(READY, ready=2), False),
    ],
)
def test_a_status_is_progress_if_it_changes_no_condition_of_the_current_generation(
    before: Status | None, after: Status, expected: bool
) -> None:
    obj = replace(app(), status=before)
    assert is_progress(obj, after, before=obj) is expected

    plain = any_app()
    status = {} if before is None else {"status": msgspec.to_builtins(before)}
    untyped = AnyApp({**{k: v for k, v in plain.body.items() if k != "status"}, **status})
    assert is_progress(untyped, msgspec.to_builtins(after), before=untyped) is expected


def test_conditions_of_any_shape_can_be_compared() -> None:
    class PhaseStatus(Part):
        phase: str
        conditions: tuple[str, ...] = ()

    class Phased(CustomResource[Plain, PhaseStatus], group="example.com", version="v1"):
        """A kind whose status requires a phase."""

    obj = Phased(
        metadata=meta_v1.ObjectMeta(name="a"), spec=Plain(), status=PhaseStatus(phase="begun")
    )

    assert is_progress(obj, PhaseStatus(phase="ended", conditions=("warm",)), before=obj) is False
    assert is_progress(obj, PhaseStatus(phase="ended"), before=obj) is True
