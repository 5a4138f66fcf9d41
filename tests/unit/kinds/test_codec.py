"""The codec decodes JSON from any server or proxy into kinds, and encodes kinds."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from types import new_class
from typing import Any

import msgspec
import pytest

from steersman.errors import InvalidObject, InvalidResponse
from steersman.kinds import Codec, CustomResource, Part, Unstructured, core_v1
from steersman.kinds.coordination_v1 import Lease, LeaseSpec
from steersman.kinds.core_v1 import ConfigMap, Pod, ResourceQuota, Secret
from steersman.kinds.meta_v1 import APIGroupList, ManagedFieldsEntry, ObjectMeta, Status
from steersman.kinds.rbac_v1 import ClusterRole
from steersman.units import MicroTime, Quantity

CODEC = Codec()
WANTED = "get Widget default/one"


class Rack(Part):
    """Required lists and maps."""

    slots: tuple[str, ...]
    labels: Mapping[str, str]
    racks: tuple["Rack", ...] = ()
    spare: "Rack | None" = None


class State(Part):
    ready: int | None = None


class Widget(CustomResource[Rack, State], group="app.example.com", version="v1"):
    """The kind that the tests request."""


AnyWidget = Unstructured.of("app.example.com/v1", "Widget")


def widget(name: str = "one", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "app.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"slots": [], "labels": {}, **spec},
    }


def page(*items: Any, **changes: Any) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "app.example.com/v1",
            "kind": "WidgetList",
            "metadata": {"resourceVersion": "70", "continue": "next", "remainingItemCount": 5},
            "items": items,
            **changes,
        }
    )


def decoded(body: Any) -> Widget:
    return CODEC.decode(Widget, msgspec.json.encode(body), wanted=WANTED)


def sent(value: object) -> Any:
    return msgspec.json.decode(CODEC.encode(value))


def test_null_is_decoded_as_an_empty_required_list_or_map() -> None:
    inner = {"slots": None, "labels": None, "more": 1}

    found = decoded(widget(slots=None, labels=None, racks=[inner, inner], spare=inner))

    empty = Rack(slots=(), labels={})
    assert found.spec == Rack(slots=(), labels={}, racks=(empty, empty), spare=empty)


def test_null_is_decoded_as_an_empty_list_for_a_mutable_field() -> None:
    class Careless(Part):
        tags: list[str]
        names: set[str]

    found = CODEC.decode(Careless, b'{"tags":null,"names":null}', wanted=WANTED)

    assert found == Careless(tags=[], names=set())


def test_a_long_list_of_objects_with_nulls_is_decoded_in_time() -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": None}}
    data = page(*[pod] * 500, apiVersion="v1", kind="PodList")

    assert len(CODEC.decode_list(Pod, data, wanted="list pods").items) == 500


def test_an_object_with_nulls_keeps_its_managed_fields() -> None:
    body = widget(slots=None)
    body["metadata"]["managedFields"] = [{"fieldsV1": {"f:spec": {}}}]

    assert sent(decoded(body))["metadata"] == body["metadata"]


def test_null_is_decoded_as_unset_for_an_optional_field() -> None:
    assert decoded({**widget(), "status": {"ready": None}}).status == State()
    assert decoded({**widget(), "status": None}).status is None


def test_null_lists_of_go_are_decoded_in_built_in_kinds() -> None:
    role = b'{"kind":"ClusterRole","metadata":{"name":"a"},"rules":null}'
    groups = b'{"kind":"APIGroupList","apiVersion":"v1","groups":null}'

    assert CODEC.decode(ClusterRole, role, wanted=WANTED).rules is None
    assert CODEC.decode(APIGroupList, groups, wanted=WANTED).groups == ()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"apiVersion": "v1", "kind": "Status", "code": 404}, "v1 Status"),
        ({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "rows": []}, "meta.k8s.io/v1 Table"),
        ({**widget(), "kind": "Gadget"}, "app.example.com/v1 Gadget"),
        ({**widget(), "apiVersion": "app.example.com/v2"}, "app.example.com/v2 Widget"),
        ({**widget(), "kind": 5}, "app.example.com/v1 5"),
        ([], "not a JSON object"),
        (None, "not a JSON object"),
        ("Widget", "not a JSON object"),
    ],
)
@pytest.mark.parametrize("kind", [Widget, AnyWidget])
def test_a_response_of_another_kind_is_rejected(
    kind: type[Widget] | type[Unstructured], body: Any, found: str
) -> None:
    with pytest.raises(InvalidResponse) as refused:
        CODEC.decode(kind, msgspec.json.encode(body), wanted=WANTED)

    assert str(refused.value).startswith(
        f"could not get Widget default/one: the response is {found};"
        " expected app.example.com/v1 Widget."
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"<html>502 Bad Gateway</html>",
        b'{"spec": NaN}',
        b'{"spec": {"slots": ["\xff"]}}',
        b'{"spec": {"slots": ["\\ud800"]}}',
        b"[" * 100_000,
        b'{"spec":' * 100_000,
        b'{"kind":"Widget"} trailing',
    ],
)
@pytest.mark.parametrize("kind", [Widget, AnyWidget])
def test_invalid_json_is_rejected(kind: type[Widget] | type[Unstructured], data: bytes) -> None:
    with pytest.raises(InvalidResponse, match="not the expected JSON"):
        CODEC.decode(kind, data, wanted=WANTED)
    with pytest.raises(InvalidResponse):
        CODEC.decode_list(kind, data, wanted=WANTED)


def test_the_last_of_several_duplicate_keys_is_used() -> None:
    data = b'{"metadata":{"name":"a","name":"b"},"spec":{"slots":[],"labels":{"k":"1","k":"2"}}}'

    found = CODEC.decode(Widget, data, wanted=WANTED)

    assert found.name == "b"
    assert found.spec.labels == {"k": "2"}


def test_unknown_fields_are_ignored() -> None:
    assert decoded({**widget(), "extra": 1}) == decoded(widget())


def test_a_decode_error_has_the_path_of_the_field() -> None:
    with pytest.raises(InvalidObject) as invalid:
        decoded(widget(slots=[1]))

    assert invalid.value.ref == "Widget default/one"
    assert "Expected `str`, got `int` - at `$.spec.slots[0]`." in str(invalid.value)
    assert invalid.value.body == widget(slots=[1])


def test_an_object_without_a_name_has_a_decode_error_too() -> None:
    with pytest.raises(InvalidObject, match=r"^Widget does not fit Widget: "):
        decoded({**widget(), "metadata": {"namespace": "default"}, "spec": 5})


def test_the_error_for_an_unresolvable_annotation_names_it() -> None:
    body = {"__annotations__": {"inner": "DefinedInAFunction"}}
    kind = new_class("Lost", (Part,), exec_body=lambda namespace: namespace.update(body))

    with pytest.raises(TypeError, match="Lost: an annotation refers to DefinedInAFunction"):
        CODEC.decode(kind, b"{}", wanted=WANTED)


def test_an_object_of_any_kind_can_be_decoded() -> None:
    found = CODEC.decode(Unstructured, msgspec.json.encode(widget()), wanted=WANTED)

    assert found == AnyWidget(widget())


@pytest.mark.parametrize("kind", [Widget, AnyWidget])
def test_an_object_that_cannot_be_decoded_does_not_fail_its_list(
    kind: type[Widget] | type[Unstructured],
) -> None:
    broken = {**widget("broken"), "metadata": "none"}
    strange = {**widget("strange"), "kind": "Gadget"}
    data = page(widget("one"), broken, widget("two", slots=["a"]), strange)

    found = CODEC.decode_list(kind, data, wanted="list widgets")

    assert [each.name for each in found.items] == ["one", "two"]
    assert [each.ref for each in found.invalid] == ["Widget", "Widget default/strange"]


def test_a_page_has_the_lists_resource_version_and_continue_token() -> None:
    found = CODEC.decode_list(Widget, page(widget("one"), widget("two")), wanted="list widgets")

    assert [each.ref.name for each in found.items] == ["one", "two"]
    assert (found.resource_version, found.continue_token, found.remaining) == ("70", "next", 5)
    assert found.invalid == ()


@pytest.mark.parametrize("kind", [Widget, AnyWidget])
def test_an_empty_list_can_be_null(kind: type[Widget] | type[Unstructured]) -> None:
    for empty in (page(), page(items=None)):
        assert CODEC.decode_list(kind, empty, wanted="list widgets").items == ()


def test_the_items_of_a_built_in_list_can_omit_kind_and_api_version() -> None:
    data = msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "ConfigMapList",
            "metadata": {},
            "items": [{"metadata": {"name": "a"}}],
        }
    )

    typed = CODEC.decode_list(ConfigMap, data, wanted="list configmaps")
    untyped = CODEC.decode_list(Unstructured.of("v1", "ConfigMap"), data, wanted="list configmaps")

    assert typed.items == (ConfigMap(metadata=ObjectMeta(name="a")),)
    assert [each.body for each in untyped.items] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    ]


@pytest.mark.parametrize(
    "answer",
    [
        {"apiVersion": "v1", "kind": "Status", "metadata": {}, "code": 403},
        {"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": {}, "rows": []},
        {"apiVersion": "app.example.com/v2", "kind": "WidgetList", "metadata": {}, "items": []},
        {"apiVersion": "app.example.com/v1", "kind": "Widget", "metadata": {}},
        {"apiVersion": "app.example.com/v1", "kind": "WidgetList", "items": [1]},
        {},
    ],
)
@pytest.mark.parametrize("kind", [Widget, AnyWidget])
def test_a_response_that_is_not_a_list_of_the_kind_is_rejected(
    kind: type[Widget] | type[Unstructured], answer: Any
) -> None:
    with pytest.raises(InvalidResponse, match=r"expected (a list of )?app\.example\.com/v1 Widget"):
        CODEC.decode_list(kind, msgspec.json.encode(answer), wanted="list widgets")


def test_a_part_that_is_not_a_resource_can_be_decoded() -> None:
    data = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":409}'

    assert CODEC.decode(Status, data, wanted=WANTED).code == 409


def test_a_micro_time_is_written_with_six_digits() -> None:
    east = timezone(timedelta(hours=2))
    spec = LeaseSpec(renew_time=MicroTime.of(datetime(2026, 1, 2, 5, 4, 5, tzinfo=east)))
    lease = Lease(metadata=ObjectMeta(name="leader"), spec=spec)

    assert sent(lease)["spec"] == {"renewTime": "2026-01-02T03:04:05.000000Z"}
    again = CODEC.decode(Lease, CODEC.encode(lease), wanted=WANTED)
    assert again == lease
    assert again.spec is not None
    assert isinstance(again.spec.renew_time, MicroTime)


def test_a_timestamp_is_in_utc_and_a_missing_one_can_be_null() -> None:
    data = b'{"metadata":{"creationTimestamp":null,"deletionTimestamp":"2026-01-02T03:04:05Z"}}'

    pod = CODEC.decode(Pod, data, wanted=WANTED)

    assert pod.metadata.creation_timestamp is None
    assert pod.deletion_time == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert sent(pod)["metadata"] == {"deletionTimestamp": "2026-01-02T03:04:05Z"}


def test_a_quantity_keeps_its_text() -> None:
    data = b'{"metadata":{},"spec":{"hard":{"cpu":"0.50","memory":"1024Ki","pods":"1e1"}}}'

    quota = CODEC.decode(ResourceQuota, data, wanted=WANTED)

    assert quota.spec is not None
    assert quota.spec.hard is not None
    assert quota.spec.hard["memory"] == Quantity("1Mi")
    assert sent(quota)["spec"]["hard"] == {"cpu": "0.50", "memory": "1024Ki", "pods": "1e1"}


@pytest.mark.parametrize("wrong", ["lots", 1.5, True, {}])
def test_a_malformed_quantity_makes_its_object_invalid(wrong: Any) -> None:
    data = msgspec.json.encode({"metadata": {}, "spec": {"hard": {"cpu": wrong}}})

    with pytest.raises(InvalidObject):
        CODEC.decode(ResourceQuota, data, wanted=WANTED)


def test_bytes_are_base64_on_the_wire() -> None:
    secret = Secret(metadata=ObjectMeta(name="a"), data={"key": b"\x00\xff"})

    assert sent(secret)["data"] == {"key": "AP8="}
    assert CODEC.decode(Secret, CODEC.encode(secret), wanted=WANTED) == secret


def test_managed_fields_do_not_keep_the_response_alive() -> None:
    entry = {"manager": "kubectl", "fieldsV1": {"f:data": {}}}
    data = msgspec.json.encode({"metadata": {"managedFields": [entry]}})
    holders = sys.getrefcount(data)

    found = CODEC.decode(ConfigMap, data, wanted=WANTED)

    fields = found.metadata.managed_fields
    assert fields is not None
    assert fields[0].fields_v1 is not None
    assert bytes(fields[0].fields_v1) == b'{"f:data":{}}'
    assert sys.getrefcount(data) == holders
    assert sent(found)["metadata"] == {"managedFields": [entry]}


def test_raw_json_can_be_missing() -> None:
    assert sent(ManagedFieldsEntry(manager="kubectl")) == {"manager": "kubectl"}


def test_a_field_of_any_type_can_contain_objects_and_parts() -> None:
    body = {"apiVersion": "v1", "kind": "Pod", "b": 1, "a": None}

    assert sent([Unstructured(body), {"rack": Rack(slots=(), labels={})}]) == [
        body,
        {"rack": {"slots": [], "labels": {}, "racks": []}},
    ]


def test_a_value_that_json_cannot_represent_is_rejected() -> None:
    with pytest.raises(TypeError, match="an object of object cannot be encoded as JSON"):
        CODEC.encode({"x": object()})


def test_equal_quantities_are_shared_only_with_equal_text() -> None:
    def limits(text: str) -> bytes:
        return b'{"limits": {"cpu": %s}}' % text.encode()

    codec = Codec()
    spellings = ['"1"', '"1"', "1", '"1000m"']
    first, second, number, milli = (
        (codec.decode(core_v1.ResourceRequirements, limits(text), wanted="x").limits or {})["cpu"]
        for text in spellings
    )

    assert first is second
    assert [str(each) for each in (first, number, milli)] == ["1", "1", "1000m"]


@pytest.mark.parametrize("wrong", ["1.0", "true", "[]", "{}", '"much"'])
def test_an_invalid_quantity_is_rejected_even_after_a_similar_valid_one(wrong: str) -> None:
    codec = Codec()
    codec.decode(core_v1.ResourceRequirements, b'{"limits": {"cpu": 1}}', wanted="x")

    with pytest.raises(InvalidObject, match="ResourceRequirements"):
        codec.decode(
            core_v1.ResourceRequirements, b'{"limits": {"cpu": %s}}' % wrong.encode(), wanted="x"
        )


def event(type: str, body: object) -> bytes:
    return Codec().encode({"type": type, "object": body}) + b"\n"


@pytest.mark.parametrize("kind", [Widget, AnyWidget])
def test_several_watch_events_are_decoded_together(
    kind: type[Widget] | type[Unstructured],
) -> None:
    codec = Codec()
    lines = event("ADDED", widget()) + event("DELETED", widget())

    events = codec.decode_events(kind, lines)

    assert events is not None
    assert [each.type for each in events] == ["ADDED", "DELETED"]
    assert {type(each.object) for each in events} == {kind}
    alone = codec.decode(kind, codec.encode(widget()), wanted="a test")
    assert events[0].object == alone


@pytest.mark.parametrize("kind", [Widget, AnyWidget])
@pytest.mark.parametrize(
    "odd",
    [
        event("BOOKMARK", widget()),
        event("ERROR", {"kind": "Status"}),
        event("ADDED", {**widget(), "kind": "Gadget"}),
        event("ADDED", 7),
        b"{\n",
    ],
)
def test_unusual_watch_events_are_left_to_the_slower_decoder(
    kind: type[Widget] | type[Unstructured], odd: bytes
) -> None:
    assert Codec().decode_events(kind, event("ADDED", widget()) + odd) is None
