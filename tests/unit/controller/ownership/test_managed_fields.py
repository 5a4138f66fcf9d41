"""The fields that a manager holds, and whether they still have the applied values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.controller.ownership.managed_fields import (
    body_fields,
    differing_paths,
    held_part,
    holds,
    lost_paths,
    matches_exactly,
    paths_in,
    readable_paths,
)

FIELDS = {
    "f:metadata": {"f:labels": {"f:app.example.com/name": {}, "f:tier": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:spec": {
                "f:containers": {
                    'k:{"name":"web"}': {".": {}, "f:image": {}, "f:name": {}},
                    'k:{"name":"side"}': {".": {}, "f:image": {}, "f:name": {}},
                }
            }
        },
    },
}


def body(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """An object of which the manager holds FIELDS."""
    both = containers or ({"name": "web", "image": "a"}, {"name": "side", "image": "b"})
    return {
        "metadata": {"labels": {"app.example.com/name": "x", "tier": "front"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"spec": {"containers": list(both)}},
            **spec,
        },
    }


def found(live: Any, wanted: Any = None, fields: Any = FIELDS) -> tuple[str, ...]:
    return readable_paths(differing_paths(fields, live, body() if wanted is None else wanted))


WEB, SIDE = {"name": "web", "image": "a"}, {"name": "side", "image": "b"}


def test_applied_values_do_not_differ() -> None:
    assert found(body()) == ()


def test_fields_that_other_managers_added_do_not_count_as_different() -> None:
    live = body({"name": "theirs"}, {**WEB, "tty": True}, SIDE, paused=True)
    live["metadata"]["labels"]["theirs"] = "yes"
    live["status"] = {"ready": 1}

    assert found(live) == ()


@pytest.mark.parametrize(
    ("live", "path"),
    [
        (body(replicas=3), "spec.replicas"),
        (body(replicas=None), "spec.replicas"),
        (body(selector={"matchLabels": {"a": "c"}}), "spec.selector"),
        (body({**WEB, "image": "c"}, SIDE), "spec.template.spec.containers[name=web].image"),
        (body(WEB), "spec.template.spec.containers[name=side]"),
        (body(WEB, WEB, SIDE), "spec.template.spec.containers[name=web]"),
        (body(SIDE, WEB), "spec.template.spec.containers"),
        (body(template="nonsense"), "spec.template.spec"),
        ({**body(), "metadata": None}, "metadata.labels"),
    ],
)
def test_different_fields_are_named(live: Any, path: str) -> None:
    assert found(live) == (path,)


def test_a_label_with_a_prefix_can_be_read() -> None:
    live = body()
    del live["metadata"]["labels"]["app.example.com/name"]

    assert found(live) == ("metadata.labels[app.example.com/name]",)


def test_a_key_that_the_server_defaulted_matches_its_item() -> None:
    fields: dict[str, Any] = {
        "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}
    }
    live = {"ports": [{"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}]}

    assert found(live, {"ports": [{"port": 80}]}, fields) == ()


def test_a_set_has_values() -> None:
    fields: dict[str, Any] = {"f:finalizers": {'v:"a"': {}, 'v:"b"': {}}}
    wanted = {"finalizers": ["a", "b"]}

    assert found({"finalizers": ["b", "c", "a"]}, wanted, fields) == ()
    assert found({"finalizers": ["b"]}, wanted, fields) == ('finalizers["a"]',)
    assert found({"finalizers": None}, wanted, fields) == ('finalizers["a"]', 'finalizers["b"]')


def test_a_lost_item_is_named_once() -> None:
    now = {
        "f:spec": {
            "f:selector": {},
            "f:template": {
                "f:spec": {"f:containers": {'k:{"name":"web"}': {".": {}, "f:name": {}}}}
            },
        },
        "f:metadata": FIELDS["f:metadata"],
    }

    assert readable_paths(lost_paths(FIELDS, now)) == (
        "spec.replicas",
        "spec.template.spec.containers[name=web].image",
        "spec.template.spec.containers[name=side]",
    )
    assert lost_paths(FIELDS, FIELDS) == ()


def test_holding_a_field_holds_its_subfields() -> None:
    path = ("f:spec", "f:selector", "f:matchLabels")

    assert holds(FIELDS, path)
    assert holds(FIELDS, path[:2])
    assert not holds(FIELDS, ("f:spec", "f:paused"))


def test_long_lists_of_paths_are_truncated() -> None:
    many: dict[str, Any] = {f"f:field{number}": {} for number in range(100)}

    assert len(readable_paths(paths_in(many))) == 10


def test_a_body_matches_the_held_fields_whatever_other_managers_hold() -> None:
    others = {"name": "others", "image": "c"}
    live = body({**WEB, "tty": True}, others, SIDE, paused=True)

    assert matches_exactly(FIELDS, live, body())


@pytest.mark.parametrize(
    "said",
    [
        body(paused=True),
        body({**WEB, "tty": True}, SIDE),
        body(WEB, SIDE, {"name": "new"}),
        {**body(), "metadata": {"labels": {"tier": "front", "new": "a"}}},
        {**body(), "spec": "something else"},
        body(template={"spec": {"containers": "something else"}}),
        body(template={"spec": {"containers": {"name": "web"}}}),
    ],
)
def test_an_existing_field_of_the_body_that_is_not_held_does_not_match(said: Any) -> None:
    assert not matches_exactly(FIELDS, said, said)


@pytest.mark.parametrize(
    "said",
    [
        body(WEB),
        body({"name": "web"}, SIDE),
        {"spec": body()["spec"]},
        {**body(), "metadata": {"labels": {"tier": "front"}}},
    ],
)
def test_a_held_field_that_the_body_lacks_does_not_match(said: Any) -> None:
    assert not matches_exactly(FIELDS, body(), said)


@pytest.mark.parametrize(
    "live",
    [
        body(WEB),
        body({**WEB, "image": "other"}, SIDE),
        body(SIDE, WEB),
        body(WEB, SIDE, SIDE),
        body(replicas=3),
        body(selector={"matchLabels": {"a": "b", "c": "d"}}),
        {**body(), "spec": "something else"},
        body(template={"spec": {"containers": "something else"}}),
    ],
)
def test_another_value_does_not_match(live: Any) -> None:
    assert not matches_exactly(FIELDS, live, body())


@pytest.mark.parametrize(
    ("live", "wanted"),
    [({"on": 1}, {"on": True}), ({"on": False}, {"on": 0}), ({"on": [0]}, {"on": [False]})],
)
def test_a_boolean_in_the_place_of_the_same_number_differs(live: Any, wanted: Any) -> None:
    fields: dict[str, Any] = {"f:on": {}}

    assert not matches_exactly(fields, live, wanted)
    assert readable_paths(differing_paths(fields, live, wanted)) == ("on",)


def test_a_boolean_in_a_set_is_not_the_same_number() -> None:
    fields: dict[str, Any] = {"f:flags": {"v:true": {}}}

    assert not matches_exactly(fields, {"flags": [1]}, {"flags": [True]})
    assert readable_paths(differing_paths(fields, {"flags": [1]}, {"flags": [True]})) == (
        "flags[true]",
    )


def test_a_list_item_is_identified_by_keys_that_the_server_completes() -> None:
    fields: dict[str, Any] = {
        "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}
    }
    live = {"ports": [{"port": 80, "protocol": "TCP"}]}

    assert matches_exactly(fields, live, {"ports": [{"port": 80}]})
    assert not matches_exactly(fields, live, {"ports": [{"port": 81}]})


def test_two_path_elements_that_match_one_item_are_ambiguous() -> None:
    fields: dict[str, Any] = {
        "f:ports": {
            'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}},
            'k:{"port":80,"protocol":"UDP"}': {".": {}, "f:port": {}},
        }
    }
    live = {"ports": [{"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}]}

    assert not matches_exactly(fields, live, {"ports": [{"port": 80}]})


def test_values_of_a_set_match_in_any_order_beside_those_of_other_managers() -> None:
    fields: dict[str, Any] = {"f:finalizers": {'v:"a"': {}, 'v:"b"': {}}}
    live = {"finalizers": ["b", "others", "a"]}

    assert matches_exactly(fields, live, {"finalizers": ["a", "b"]})
    assert not matches_exactly(fields, live, {"finalizers": ["a"]})
    assert not matches_exactly(fields, live, {"finalizers": ["a", "b", "others"]})
    assert not matches_exactly(fields, {"finalizers": ["a"]}, {"finalizers": ["a", "b"]})


def test_no_manager_holds_the_fields_that_identify_an_object() -> None:
    head = {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "namespace": "b"}}

    assert body_fields(head) == {}
    assert body_fields({**head, "metadata": {"name": "a", "labels": {}}}) == {
        "metadata": {"labels": {}}
    }


objects = st.dictionaries(
    st.sampled_from("abcde"),
    st.recursive(
        st.integers() | st.booleans() | st.text(max_size=3),
        lambda inner: st.dictionaries(st.sampled_from("abcde"), inner, min_size=1, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


def owned(value: Any) -> dict[str, Any]:
    return (
        {f"f:{name}": owned(below) for name, below in value.items()}
        if isinstance(value, dict)
        else {}
    )


@given(objects, st.data())
def test_one_changed_value_is_the_only_difference(obj: dict[str, Any], data: st.DataObject) -> None:
    fields = owned(obj)
    path = data.draw(st.sampled_from(sorted(paths_in(fields))))

    def changed(value: Any, steps: tuple[str, ...]) -> Any:
        if not steps:
            return ["another"]
        name = steps[0].removeprefix("f:")
        return {**value, name: changed(value[name], steps[1:])}

    assert list(differing_paths(fields, obj, obj)) == []
    assert list(differing_paths(fields, changed(obj, path), obj)) == [path]
    assert list(differing_paths(fields, obj, changed(obj, path))) == [path]
    assert matches_exactly(fields, obj, obj)
    assert not matches_exactly(fields, changed(obj, path), obj)
    assert not matches_exactly(fields, obj, changed(obj, path))
    assert not matches_exactly(fields, {**obj, "z": 1}, {**obj, "z": 1})


def test_only_the_held_part_of_a_value_is_extracted() -> None:
    there = body(
        {"name": "web", "image": "a", "tty": True}, {"name": "theirs", "image": "c"}, replicas=3
    )
    there["spec"]["paused"] = True

    left = held_part(FIELDS, there)

    containers = left["spec"]["template"]["spec"]["containers"]
    assert containers == [{"name": "web", "image": "a"}]
    assert left["spec"]["replicas"] == 3
    assert "paused" not in left["spec"]


def test_a_list_matches_in_the_order_of_its_items_not_of_the_fields() -> None:
    item: dict[str, Any] = {".": {}, "f:image": {}, "f:name": {}}
    fields = {"f:items": {'k:{"name":"side"}': item, 'k:{"name":"web"}': item}}

    assert matches_exactly(fields, {"items": [WEB, SIDE]}, {"items": [WEB, SIDE]})
    assert not matches_exactly(fields, {"items": [WEB, SIDE]}, {"items": [SIDE, WEB]})
