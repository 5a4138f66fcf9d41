"""The maps of a typed object are read-only."""

import copy
import pickle
from collections.abc import Mapping
from typing import Any, ClassVar, NewType, Optional, TypeAlias, TypedDict

import msgspec
import pytest

import steersman as sm
from steersman.kinds import Codec, Unstructured, core_v1, meta_v1, read_only
from tests.unit.kinds import text_annotations

Words: TypeAlias = Mapping[str, str]


Renamed = NewType("Renamed", dict[str, str])


class Typed(TypedDict):
    a: str


class Spec(sm.Part):
    plain: Mapping[str, str] = {}
    optional: Mapping[str, str] | None = None
    alias: Words | None = None
    text: "Words | None" = None
    built_in: dict[str, int] | None = None
    nested: Mapping[str, Mapping[str, str]] | None = None
    anything: Any = None
    words: tuple[Mapping[str, str], ...] | None = None
    later: Optional["Words"] = None
    renamed: Renamed | None = None
    typed: Typed | None = None
    shared: ClassVar[dict[str, str]] = {}


class Wider(Spec):
    more: Mapping[str, str] | None = None


FIELDS = ["plain", "optional", "alias", "text", "built_in", "anything"]


def test_only_maps_that_can_contain_maps_are_searched() -> None:
    annotations = {**Spec.__annotations__, "words": "Mapping[str, str] | None", "text": "Words"}
    found = read_only.map_fields(annotations, module=__name__)
    assert [name for name, is_flat in found.items() if is_flat] == [
        "plain",
        "optional",
        "alias",
        "built_in",
        "words",
    ]
    assert set(found) == {*FIELDS, "nested", "words", "later", "renamed", "typed"}


def config_map(**data: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="web", labels={"a": "b"}), data=data)


def assert_read_only(change: Mapping[Any, Any]) -> None:
    before = dict(change)
    with pytest.raises(TypeError, match="does not support item assignment"):
        change["new"] = "value"  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
    assert change == before


def test_a_map_of_a_built_in_kind_cannot_be_changed() -> None:
    decoded = Codec().decode(
        core_v1.ConfigMap, Codec().encode(config_map(key="value")), wanted="a ConfigMap"
    )

    assert decoded.data is not None
    assert_read_only(decoded.data)
    assert_read_only(decoded.labels)
    assert decoded == config_map(key="value")


@pytest.mark.parametrize("field", FIELDS)
def test_a_map_of_an_authors_kind_cannot_be_changed(field: str) -> None:
    value: Any = {"a": 1}

    assert_read_only(getattr(Spec(**{field: value}), field))


def test_a_map_inside_a_map_cannot_be_changed() -> None:
    spec = Spec(nested={"outer": {"inner": "value"}})

    assert spec.nested is not None
    assert_read_only(spec.nested)
    assert_read_only(spec.nested["outer"])
    assert spec.nested == {"outer": {"inner": "value"}}


def test_a_map_in_a_tuple_cannot_be_changed() -> None:
    spec = Spec(words=({"a": "b"}, {"c": "d"}))

    assert spec.words is not None
    for each in spec.words:
        assert_read_only(each)
    assert spec == Spec(words=({"a": "b"}, {"c": "d"}))


@pytest.mark.parametrize("field", ["later", "renamed", "typed"])
def test_a_map_behind_a_type_alias_cannot_be_changed(field: str) -> None:
    value: Any = {"a": "b"}

    assert_read_only(getattr(Spec(**{field: value}), field))


def test_an_object_made_from_another_objects_map_can_be_copied_and_pickled() -> None:
    first = Spec(plain={"a": "b"}, nested={"outer": {"inner": "value"}}, words=({"c": "d"},))
    second = Spec(plain=first.plain, nested=first.nested, words=first.words)

    assert copy.deepcopy(second) == first
    assert pickle.loads(pickle.dumps(second)) == first  # noqa: S301


def test_an_unstructured_object_with_the_map_of_a_typed_one_can_be_changed() -> None:
    first = config_map(key="value")
    loose = Unstructured({"apiVersion": "v1", "kind": "ConfigMap", "data": first.data})

    changed = loose.changed("data", "other", to="value").changed("metadata", to=first.labels)

    assert changed.body["data"] == {"key": "value", "other": "value"}
    assert changed.body["metadata"] == {"a": "b"}
    assert loose.body["data"] == {"key": "value"}


def test_an_inherited_map_and_one_of_the_class_itself_cannot_be_changed() -> None:
    wider = Wider(plain={"a": "b"}, more={"c": "d"})

    assert_read_only(wider.plain)
    assert wider.more is not None
    assert_read_only(wider.more)


def test_text_annotations_protect_maps_too() -> None:
    spec = text_annotations.Spec(alias={"a": "b"}, plain={"c": "d"})

    assert_read_only(spec.alias)
    assert_read_only(spec.plain)


def test_a_class_variable_is_not_protected() -> None:
    assert Spec.shared == {}


def test_a_map_taken_from_one_object_can_be_put_into_another_and_sent() -> None:
    first = config_map(key="value")

    second = core_v1.ConfigMap(metadata=first.metadata, data=first.data)

    assert second == first
    assert Codec().encode(second) == Codec().encode(first)
    assert meta_v1.ObjectMeta(labels={**first.labels, "c": "d"}).labels == {"a": "b", "c": "d"}


def test_a_part_with_maps_is_copied_compared_and_pickled_as_before() -> None:
    spec = Spec(plain={"a": "b"})

    assert copy.copy(spec) == spec
    assert copy.deepcopy(spec) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec  # noqa: S301
    assert sm.replace(spec, optional={"c": "d"}).plain == {"a": "b"}
    assert msgspec.to_builtins(spec)["plain"] == {"a": "b"}


def test_the_repr_of_a_map_is_that_of_a_dict() -> None:
    assert repr(Spec(plain={"a": "b"})) == "Spec(plain={'a': 'b'})"
    spec = Spec(nested={"a": {"b": "c"}}, words=({"d": "e"},))
    assert repr(spec) == "Spec(plain={}, nested={'a': {'b': 'c'}}, words=({'d': 'e'},))"
