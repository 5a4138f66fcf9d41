"""Conversion of one part to another, and the addition of a condition to a status."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import new_class
from typing import Annotated, Any

import pytest

from steersman.errors import BadValue
from steersman.kinds import Codec, Condition, CustomResource, Part, Rule
from steersman.kinds.apps_v1 import DeploymentCondition, DeploymentStatus
from steersman.kinds.discovery_v1 import Endpoint

AT = datetime(2026, 1, 2, tzinfo=UTC)
AVAILABLE = DeploymentCondition(type="Available", status="True", last_update_time=AT)
READY = Condition.when(True, "Ready", yes="RolledOut", no="RollingOut")


class Status(DeploymentStatus):
    """A status that inlines that of a Deployment."""


class Summary(Part):
    """A part of a Deployment's status, and more."""

    replicas: int = 0
    conditions: tuple[Condition, ...] = ()
    url: str | None = None


class Demanding(Part):
    replicas: int
    url: str


def test_fields_of_both_classes_are_copied() -> None:
    status = DeploymentStatus(replicas=3, ready_replicas=0, conditions=(AVAILABLE,))

    inlined = Status.inlining(status)

    assert type(inlined) is Status
    assert inlined == Status(replicas=3, ready_replicas=0, conditions=(AVAILABLE,))


def test_fields_of_only_one_class_are_dropped_or_unset() -> None:
    inlined = Summary.inlining(DeploymentStatus(replicas=3, ready_replicas=2))

    assert inlined == Summary(replicas=3)


def test_inlining_none_returns_an_empty_part() -> None:
    assert Status.inlining(None) == Status()


def test_an_unset_field_keeps_the_default() -> None:
    assert Summary.inlining(DeploymentStatus()) == Summary(replicas=0, conditions=())


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (
            DeploymentStatus(replicas=3),
            "'DeploymentStatus' is not a source for Demanding: it does",
        ),
        (DeploymentStatus(), "it does not have replicas, url"),
        (None, "'None' is not a source for Demanding: it does not have replicas, url"),
    ],
)
def test_a_required_field_that_is_missing_is_named(source: Part | None, complaint: str) -> None:
    with pytest.raises(BadValue, match=complaint):
        Demanding.inlining(source)


def test_conditions_become_conditions_of_the_target_class() -> None:
    narrow = Summary.inlining(DeploymentStatus(conditions=(AVAILABLE,)))
    wide = Status.inlining(Summary(conditions=(READY,)))

    # Otherwise it would send lastUpdateTime, which the schema of Summary does not have.
    assert [type(each) for each in narrow.conditions] == [Condition]
    assert Codec().encode(narrow.conditions[0]) == b'{"type":"Available","status":"True"}'
    assert wide.conditions == (
        DeploymentCondition(type="Ready", status="True", reason="RolledOut", message=""),
    )


def test_a_value_of_a_wrong_type_is_rejected_without_being_shown() -> None:
    class Wordy(Part):
        replicas: str

    class Secretive(Part):
        replicas: Mapping[str, str]

    with pytest.raises(BadValue, match=r"'int' is not a Wordy.replicas: Expected `str`"):
        Wordy.inlining(DeploymentStatus(replicas=3))
    with pytest.raises(BadValue) as caught:
        Wordy.inlining(Secretive(replicas={"key": "canary"}))
    assert "canary" not in str(caught.value)


def test_a_value_of_a_narrower_annotated_type_is_accepted() -> None:
    class Ruled(Part):
        replicas: Annotated[int, Rule(ge=0)] = 1
        conditions: Any = None

    assert Ruled.inlining(DeploymentStatus(replicas=3, conditions=(AVAILABLE,))) == Ruled(
        replicas=3, conditions=(AVAILABLE,)
    )


def test_a_resource_keeps_its_own_kind() -> None:
    class Old(CustomResource[Summary, Summary], group="app.example.com", version="v1", kind="App"):
        pass

    class New(CustomResource[Summary, Summary], group="app.example.com", version="v2", kind="App"):
        pass

    new = New.inlining(Old(spec=Summary(replicas=2)))

    assert new == New(spec=Summary(replicas=2))
    assert new.api_version == "app.example.com/v2"


def test_only_parts_can_be_inlined() -> None:
    with pytest.raises(BadValue, match="'dict' is not a source for Status"):
        Status.inlining({"replicas": 3})  # type: ignore[arg-type]


def test_a_condition_is_appended() -> None:
    status = Status(conditions=(AVAILABLE,)).with_condition(READY)

    assert status.conditions == (
        AVAILABLE,
        DeploymentCondition(type="Ready", status="True", reason="RolledOut", message=""),
    )
    assert Status().with_condition(READY) == Status(conditions=(status.conditions or ())[1:])


def test_a_condition_replaces_the_one_of_its_type() -> None:
    before = Summary(conditions=(READY, Condition(type="Other", status="Unknown")))

    after = before.with_condition(Condition(type="Ready", status="False"))

    assert [(each.type, each.status) for each in after.conditions] == [
        ("Ready", "False"),
        ("Other", "Unknown"),
    ]
    assert before.conditions[0] is READY


def test_a_condition_given_twice_is_stored_once() -> None:
    once = Summary().with_condition(READY)

    assert once.with_condition(READY) == once


def test_a_list_of_conditions_stays_a_list() -> None:
    class Listed(Part):
        conditions: list[Condition] = []  # noqa: RUF012

    assert Listed().with_condition(READY).conditions == [READY]


def test_the_error_for_a_class_without_conditions_says_how_to_add_them() -> None:
    class Bare(Part):
        size: int = 1

    class Named(Part):
        conditions: tuple[str, ...] = ()

    for part in (Bare(), Named(), Endpoint(addresses=())):
        with pytest.raises(BadValue, match=r"add `conditions: tuple\[sm.Condition, ...\] \| None"):
            part.with_condition(READY)


def test_a_condition_with_missing_required_fields_is_rejected() -> None:
    class Probed(Condition):
        probe: str

    class Careful(Part):
        conditions: tuple[Probed, ...] = ()

    with pytest.raises(
        BadValue, match="'Condition' is not a source for Probed: it does not have probe"
    ):
        Careful().with_condition(READY)


@pytest.mark.parametrize("field", ["inlining", "with_condition"])
def test_a_field_cannot_hide_a_method_of_parts(field: str) -> None:
    def fill(namespace: dict[str, Any]) -> None:
        namespace["__annotations__"] = {field: str}

    with pytest.raises(TypeError, match=f"Wrong: {field} is already a property or method"):
        new_class("Wrong", (Part,), exec_body=fill)
