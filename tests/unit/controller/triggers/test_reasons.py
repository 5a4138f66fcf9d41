import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.controller.triggers.reasons import (
    MAX_PATHS,
    MAX_REASONS,
    CollectedReasons,
    Reasons,
    changes,
    differences,
    is_only_status,
)
from steersman.kinds import Codec, apps_v1, core_v1, meta_v1
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ReconcileReason
from tests.unit.controller.apps import App, Status, app, widget

WEB = ObjectKey("here", "web")
API = ObjectKey("here", "api")


def reason(name: str = "web", event: str = "updated") -> ReconcileReason:
    return ReconcileReason(about=ObjectRef("App", "here", name), event=event)


def changed(*paths: str, name: str = "web") -> ReconcileReason:
    """An update of these fields."""
    ref = ObjectRef("App", "here", name)
    return ReconcileReason(about=ref, event="updated", find_changes=lambda: paths)


# Reasons


def test_the_reasons_of_a_key_are_taken_once_and_in_order() -> None:
    reasons = Reasons()
    first, second = reason(event="added"), reason()
    reasons.note(WEB, first, 10.0)
    reasons.note(WEB, second, 11.0)
    reasons.note(API, reason("api"), 12.0)

    taken = reasons.take(WEB)

    assert taken == CollectedReasons((first, second), 0, 10.0)
    assert reasons.take(WEB) == CollectedReasons((), 0, None)
    assert reasons.take(API).since_at == 12.0


@pytest.mark.parametrize(
    ("reasons", "is_so"),
    [
        ((changed("status.ready"), changed("status.conditions[0].message")), True),
        ((changed("status"),), True),
        ((changed("status.ready"), changed("statuses")), False),
        ((changed("status.ready", "metadata.labels.a"),), False),
        ((changed("status.ready", name="api"),), False),
        ((reason(event="retry"),), False),
    ],
    ids=["twice", "all of it", "another", "more", "of another", "a retry"],
)
def test_a_change_of_only_the_status_is_recognized(
    reasons: tuple[ReconcileReason, ...], is_so: bool
) -> None:
    assert is_only_status(reasons, ObjectRef("App", "here", "web")) is is_so


def test_the_first_of_many_reasons_are_stored_and_the_rest_counted() -> None:
    reasons = Reasons()
    for number in range(MAX_REASONS + 30):
        reasons.note(WEB, reason(f"web-{number}"), float(number))

    taken = reasons.take(WEB)

    assert [each.about and each.about.name for each in taken.reasons] == [
        f"web-{number}" for number in range(MAX_REASONS)
    ]
    assert taken.left_out == 30
    assert taken.since_at == 0.0


def test_nothing_is_stored_for_taken_reasons() -> None:
    reasons = Reasons()
    for number in range(1000):
        reasons.note(ObjectKey("here", str(number)), reason(), 0.0)

    for number in range(1000):
        reasons.take(ObjectKey("here", str(number)))

    assert len(reasons) == 0


# Changes


def test_changed_fields_are_named_as_on_the_wire() -> None:
    old = app(labels={"app": "a", "tier": "front"}, status=Status(ready_replicas=1))
    new = app(size=3, labels={"app": "b", "tier": "front"}, status=Status(ready_replicas=2))

    assert changes(old, new) == ("metadata.labels.app", "spec.size", "status.readyReplicas")


def test_a_resource_version_and_managed_fields_are_not_a_reason() -> None:
    manager = meta_v1.ManagedFieldsEntry(manager="kubectl", operation="Apply")

    assert changes(app(version="1"), app(version="2", managed_fields=(manager,))) == ()
    entry = {"manager": "kubectl"}
    assert changes(widget(managedFields=[entry]), widget(managedFields=[entry | {"x": 1}])) == ()


def test_a_generation_is_a_reason_if_nothing_else_differs() -> None:
    assert changes(app(generation=1), app(generation=2)) == ("metadata.generation",)
    assert changes(app(generation=1, size=1), app(generation=2, size=2)) == ("spec.size",)


def test_places_in_lists_and_keys_with_dots_are_in_brackets() -> None:
    def deployment(image: str, part_of: str) -> apps_v1.Deployment:
        pod = core_v1.PodSpec(
            containers=(
                core_v1.Container(name="a", image="same"),
                core_v1.Container(name="b", image=image),
            )
        )
        template = core_v1.PodTemplateSpec(spec=pod)
        return apps_v1.Deployment(
            metadata=meta_v1.ObjectMeta(labels={"app.kubernetes.io/part-of": part_of}),
            spec=apps_v1.DeploymentSpec(selector=meta_v1.LabelSelector(), template=template),
        )

    assert changes(deployment("one", "x"), deployment("two", "y")) == (
        "metadata.labels[app.kubernetes.io/part-of]",
        "spec.template.spec.containers[1].image",
    )


def test_added_and_removed_values_are_named_by_their_fields() -> None:
    assert changes(app(), app(status=Status(ready_replicas=1))) == ("status.readyReplicas",)
    assert changes(app(labels={"a": "b"}), app()) == ("metadata.labels.a",)
    assert changes(app(), app(status=Status())) == ("status",)
    assert changes(app(finalizers=("x",)), app()) == ("metadata.finalizers",)
    assert changes(widget(), widget({"status": {"ready": {"now": 1}}})) == ("status.ready.now",)
    assert changes(widget({"spec": {"a": [1]}}), widget({"spec": {"a": [1, 2]}})) == ("spec.a",)


def test_no_value_is_ever_in_a_change() -> None:
    def secret(value: bytes) -> core_v1.Secret:
        return core_v1.Secret(metadata=meta_v1.ObjectMeta(name="s"), data={"password": value})

    assert changes(secret(b"hunter2"), secret(b"hunter3")) == ("data.password",)


def test_the_first_of_many_changes_are_named() -> None:
    many = {f"key-{number:02}": "x" for number in range(50)}

    found = changes(app(), app(size=2, labels=many))

    assert found == tuple(f"metadata.labels.key-{number:02}" for number in range(MAX_PATHS))


def test_a_generation_takes_no_place_among_many_changes() -> None:
    many = {f"key-{number:02}": "x" for number in range(50)}

    found = changes(app(generation=1), app(generation=2, labels=many))

    assert len(found) == MAX_PATHS
    assert "metadata.generation" not in found


def test_a_new_object_has_no_changed_fields() -> None:
    assert changes(None, app()) == ()
    assert changes(app(), None) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(2, 9) | st.text("ab.", min_size=1, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc./", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["spec", "status", "data", "x.y"]), JSON, max_size=3)


def value_at(value: Any, path: str) -> Any:
    """The value at a path, if no key contains a bracket."""
    for name, bracketed in re.findall(r"([^.\[\]]+)|\[([^\]]+)\]", path):
        step = name or bracketed
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


@given(OBJECTS)
def test_two_equal_objects_have_no_changes(body: dict[str, Any]) -> None:
    assert changes(widget(body), widget(json.loads(json.dumps(body)))) == ()


@given(OBJECTS, OBJECTS)
def test_paths_name_fields_that_differ(before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = widget(before), widget(after)

    found = changes(old, new)

    for path in found:
        assert value_at(old.body, path) != value_at(new.body, path), path
    assert len(found) == len(set(found)) <= MAX_PATHS


@given(OBJECTS, OBJECTS)
def test_every_difference_has_a_path(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert bool(differences({"in": before}, {"in": after})) == (before != after)


@given(OBJECTS, OBJECTS)
def test_the_order_of_the_two_objects_does_not_matter(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    there, back = differences(before, after), differences(after, before)

    assert len(there) == len(back)
    if len(there) < MAX_PATHS:
        assert set(there) == set(back)


APPS = st.builds(
    app,
    size=st.integers(0, 2),
    labels=st.none() | st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), min_size=1),
    finalizers=st.none() | st.lists(st.sampled_from("fg"), min_size=1).map(tuple),
    status=st.none() | st.builds(Status, ready_replicas=st.integers(0, 2)),
)


@given(APPS, APPS)
def test_a_typed_object_and_its_json_have_the_same_changed_fields(old: App, new: App) -> None:
    codec = Codec()
    wire = [json.loads(codec.encode(each)) for each in (old, new)]

    assert sorted(changes(old, new)) == sorted(differences(*wire))
