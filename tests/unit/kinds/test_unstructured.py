"""Unstructured objects keep every field and its order, and are immutable."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadName, BadValue
from steersman.kinds import Codec, Unstructured
from steersman.names import GroupVersionKind, ObjectRef

Widget = Unstructured.of("app.example.com/v1", "Widget")

BODY: dict[str, Any] = {
    "kind": "Widget",
    "apiVersion": "app.example.com/v1",
    "spec": {"zeta": 1, "alpha": [{"port": 80}, None, 1.5], "on": False, "none": None},
    "metadata": {
        "namespace": "default",
        "name": "one",
        "uid": "u-1",
        "resourceVersion": "17",
        "labels": {"b": "2", "a": "1"},
    },
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=10,
)


@given(spec=json_values)
def test_unstructured_objects_keep_every_field_and_its_order(spec: Any) -> None:
    body = {"zz": spec, "kind": "Widget", "spec": spec, "apiVersion": "app.example.com/v1"}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))

    again = Codec().encode(Codec().decode(Widget, text.encode(), wanted="read"))

    assert json.loads(again, object_pairs_hook=list) == json.loads(text, object_pairs_hook=list)


def test_an_unstructured_object_has_name_namespace_and_uid() -> None:
    widget = Widget(BODY)

    assert widget.gvk == GroupVersionKind("app.example.com", "v1", "Widget")
    assert (widget.name, widget.namespace, widget.uid) == ("one", "default", "u-1")
    assert (widget.resource_version, widget.labels) == ("17", {"a": "1", "b": "2"})
    assert widget.annotations == {}
    assert widget.ref == ObjectRef("Widget", "default", "one")
    assert repr(widget) == "<Widget default/one (app.example.com/v1) at 17>"


def test_an_unstructured_object_has_generation_and_deletion_time() -> None:
    metadata = {"generation": 3, "deletionTimestamp": "2026-01-02T03:04:05Z"}

    widget = Widget({**BODY, "metadata": metadata})

    assert (widget.generation, Widget(BODY).generation) == (3, 0)
    assert widget.deletion_time == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert Widget(BODY).deletion_time is None


def test_the_body_of_an_object_cannot_be_replaced() -> None:
    widget = Widget(BODY)

    with pytest.raises(AttributeError):
        widget.body = {}  # type: ignore[misc]


def test_an_object_without_metadata_is_accepted() -> None:
    widget = Widget({"apiVersion": "app.example.com/v1", "kind": "Widget"})

    assert (widget.name, widget.namespace, widget.uid, widget.labels) == ("", None, "", {})
    assert repr(widget) == "<Widget * (app.example.com/v1)>"


def test_a_kind_created_at_runtime_has_its_resource() -> None:
    mice = Unstructured.of("zoo.example.com/v1", "Mouse", plural="mice", namespaced=False)

    assert mice.resource_type.plural == "mice"
    assert mice.resource_type.namespaced is False
    assert Widget.resource_type.plural == "widgets"
    assert mice.__name__ == "Mouse"


@pytest.mark.parametrize(
    ("api_version", "kind"), [("v1", "pod"), ("a/b/c", "Pod"), ("", "Pod"), ("v1", "")]
)
def test_an_invalid_kind_is_rejected(api_version: str, kind: str) -> None:
    with pytest.raises(BadName):
        Unstructured.of(api_version, kind)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "Pod"},
        {"apiVersion": "v1", "kind": 1},
        {"apiVersion": "v1", "kind": "Pod", "metadata": []},
    ],
)
def test_a_body_that_is_not_an_object_is_rejected(body: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match="is not a Kubernetes object"):
        Unstructured(body)


def test_an_object_of_another_kind_is_rejected() -> None:
    with pytest.raises(BadValue, match=r"is not an object of app\.example\.com/v1 Widget"):
        Widget({**BODY, "kind": "Gadget"})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "alpha", 0, "port"), 80),
        (("spec", "on"), False),
        (("spec", "missing"), "default"),
        (("spec", "alpha", 9), "default"),
        (("spec", "zeta", "deeper"), "default"),
        (("spec", "none"), None),
    ],
)
def test_a_value_is_found_by_its_path(path: tuple[str | int, ...], value: Any) -> None:
    assert Widget(BODY).get(*path, default="default") == value


def test_changed_returns_a_copy() -> None:
    before = Widget(BODY)

    after = before.changed("spec", "alpha", 0, "port", to=443)

    assert after.get("spec", "alpha", 0, "port") == 443
    assert before.get("spec", "alpha", 0, "port") == 80
    assert type(after) is Widget
    assert list(after.body) == list(before.body)


def test_changed_creates_missing_parent_objects() -> None:
    after = Widget(BODY).changed("status", "phase", "now", to="Ready")

    assert after.body["status"] == {"phase": {"now": "Ready"}}


def test_a_value_given_to_changed_is_not_shared() -> None:
    ports = [80]

    after = Widget(BODY).changed("spec", "ports", to=ports)
    ports.append(443)

    assert after.get("spec", "ports") == [80]


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("spec", "alpha", 9, "port"),
        ("spec", "zeta", "x"),
        ("kind", 0),
        ("spec", 0),
        ("spec", "alpha", "x"),
    ],
)
def test_a_change_at_an_invalid_path_is_rejected(path: tuple[str | int, ...]) -> None:
    with pytest.raises(BadValue, match="is not a path"):
        Widget(BODY).changed(*path, to=1)


def test_equal_bodies_are_equal_objects() -> None:
    assert Widget(BODY) == Unstructured(dict(BODY))
    assert Widget(BODY) != Widget(BODY).changed("spec", "on", to=True)
    assert Widget(BODY) != BODY


def test_an_object_is_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable type"):
        hash(Widget(BODY))


@pytest.mark.parametrize("kind", ["postgresql", "my-kind", "oneAgent"])
def test_a_kind_can_begin_with_a_lower_case_letter(kind: str) -> None:
    made = Unstructured.of("acid.zalan.do/v1", kind)

    found = made({"apiVersion": "acid.zalan.do/v1", "kind": kind, "metadata": {"name": "one"}})

    assert made.resource_type.gvk == GroupVersionKind("acid.zalan.do", "v1", kind)
    assert made.resource_type.plural == f"{kind.lower()}s"
    assert found.name == "one"


@pytest.mark.parametrize("kind", ["", "two words", "1st", "under_score", "dash-"])
def test_a_kind_that_the_server_rejects_is_rejected(kind: str) -> None:
    with pytest.raises(BadName):
        Unstructured.of("acid.zalan.do/v1", kind)
