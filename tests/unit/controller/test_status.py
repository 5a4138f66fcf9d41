"""What is made of a status before it is applied."""

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
    """Something with a status."""


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


def test_a_status_without_that_field_does_not_get_it() -> None:
    assert status_to_apply(app(), Plain(ready=1), now=NOW) == Plain(ready=1)
    assert status_to_apply(app(), {"ready": 1}, now=NOW) == {"ready": 1}


def test_a_new_condition_is_since_now_to_the_second() -> None:
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


def test_what_is_known_now_counts_and_not_what_was_looked_at() -> None:
    status = Status(conditions=(condition("True"),))

    after = status_to_apply(
        app(condition("False", BEFORE)),
        status,
        now=NOW,
        before=app(condition("True", BEFORE), generation=9),
    )

    assert times(after) == [BEFORE]
    assert after.observed_generation == 3


def test_conditions_that_were_brought_along_keep_all_they_have() -> None:
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


def test_a_condition_in_a_dictionary_is_treated_alike() -> None:
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
def test_saying_the_same_twice_gives_the_same(status: Any) -> None:
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


def said(*conditions: Condition, generation: int | None = 3, ready: int = 1) -> Status:
    return Status(conditions=conditions, observed_generation=generation, ready=ready)


@pytest.mark.parametrize(
    ("before", "after", "is_so"),
    [
        (None, said(FAILED), True),
        (Status(), said(FAILED), True),
        (said(READY), said(READY, ready=2), True),
        (said(READY, OF_OTHERS), said(READY, ready=2), True),
        (said(READY, generation=None), said(READY, ready=2), True),
        (said(READY), said(FAILED), False),
        (said(READY), said(READY, condition("True", BEFORE, type="Degraded")), False),
        (said(READY, generation=2), said(READY, ready=2), False),
    ],
)
def test_progress_is_what_leaves_every_condition_as_it_is_said_of_this_generation(
    before: Status | None, after: Status, is_so: bool
) -> None:
    obj = replace(app(), status=before)
    assert is_progress(obj, after, before=obj) is is_so

    plain = any_app()
    status = {} if before is None else {"status": msgspec.to_builtins(before)}
    untyped = AnyApp({**{k: v for k, v in plain.body.items() if k != "status"}, **status})
    assert is_progress(untyped, msgspec.to_builtins(after), before=untyped) is is_so


def test_conditions_of_any_shape_can_be_compared() -> None:
    class Odd(Part):
        phase: str
        conditions: tuple[str, ...] = ()

    class Strange(CustomResource[Plain, Odd], group="example.com", version="v1"):
        """Something whose status is required to have a phase."""

    obj = Strange(metadata=meta_v1.ObjectMeta(name="a"), spec=Plain(), status=Odd(phase="begun"))

    assert is_progress(obj, Odd(phase="ended", conditions=("warm",)), before=obj) is False
    assert is_progress(obj, Odd(phase="ended"), before=obj) is True
