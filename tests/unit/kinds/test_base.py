"""Parts: which fields are sent, frozen, and redacted."""

import copy
import dataclasses
import gc
import pickle
from collections.abc import Mapping
from types import new_class
from typing import Any, ClassVar

import msgspec
import pytest

from steersman.errors import BadValue
from steersman.kinds import Codec, Part, replace
from steersman.kinds.core_v1 import EnvVar, Secret
from steersman.kinds.meta_v1 import ObjectMeta

CANARY = "canary-3f9a"


class Choices(Part):
    """Optional fields of every type, as in a generated kind."""

    count: int | None = None
    ratio: float | None = None
    on: bool | None = None
    text: str | None = None
    items: tuple[str, ...] | None = None
    labels: Mapping[str, str] | None = None
    inner: "Choices | None" = None


class Defaults(Part):
    """Defaults of every type, as in an author's kind."""

    size: int = 1
    zero: int = 0
    ratio: float = 0.0
    on: bool = True
    off: bool = False
    text: str = ""
    envs: tuple[EnvVar, ...] = ()
    labels: Mapping[str, str] = {}
    inner: Choices = Choices()
    note: str | None = None


class MoreDefaults(Defaults):
    """Inherits the defaults, and adds one."""

    size: int = 2
    extra: tuple[int, ...] = (1, 2)


def sent(part: Part) -> Any:
    return msgspec.json.decode(Codec().encode(part))


def test_a_field_that_is_none_is_not_sent_and_any_other_value_is() -> None:
    unset = Choices()
    empty = Choices(
        count=0, ratio=0.0, on=False, text="", items=(), labels={}, inner=Choices(count=0)
    )

    assert sent(unset) == {}
    assert sent(empty) == {
        "count": 0,
        "ratio": 0.0,
        "on": False,
        "text": "",
        "items": [],
        "labels": {},
        "inner": {"count": 0},
    }


def test_none_is_sent_if_it_is_not_the_default() -> None:
    class Nullable(Part):
        owner: str | None
        size: int | None = 1

    assert sent(Nullable(owner=None, size=None)) == {"owner": None, "size": None}


def test_decoding_distinguishes_unset_and_explicitly_empty_fields() -> None:
    codec = Codec()

    decoded = codec.decode(Choices, b'{"count":0,"items":[],"text":null}', wanted="read")

    assert decoded == Choices(count=0, items=())
    assert decoded.labels is None


def test_a_default_of_the_author_is_always_sent() -> None:
    assert sent(Defaults()) == {
        "size": 1,
        "zero": 0,
        "ratio": 0.0,
        "on": True,
        "off": False,
        "text": "",
        "envs": [],
        "labels": {},
        "inner": {},
    }


def test_a_default_is_sent_whether_it_was_given_or_filled_in() -> None:
    assert sent(Defaults(size=1, envs=(), labels={})) == sent(Defaults())


def test_inherited_and_overridden_defaults_are_sent() -> None:
    assert sent(MoreDefaults()) == {**sent(Defaults()), "size": 2, "extra": [1, 2]}


def test_a_default_replaces_a_missing_field() -> None:
    assert Codec().decode(Defaults, b"{}", wanted="read") == Defaults()


def test_a_mutable_default_is_not_shared() -> None:
    class Careless(Part):
        tags: list[str] = []  # noqa: RUF012
        ports: dict[str, list[int]] = {"http": []}  # noqa: RUF012

    first = Careless()
    first.tags.append("a")
    first.ports["http"].append(80)

    assert Careless() == Careless(tags=[], ports={"http": []})


def test_an_object_cannot_be_changed() -> None:
    part = Defaults(inner=Choices(count=1))

    with pytest.raises(AttributeError):
        part.size = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        part.inner.count = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        delattr(part, "size")

    assert part == Defaults(inner=Choices(count=1))


def test_fields_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        Choices(1)  # type: ignore[call-arg]


def test_replace_returns_a_changed_copy() -> None:
    before = Defaults(size=1, text="kept")

    after = replace(before, size=5)

    assert after == Defaults(size=5, text="kept")
    assert before.size == 1


def test_the_error_of_replace_for_an_unknown_field_lists_the_fields() -> None:
    with pytest.raises(BadValue, match="the fields are count, ratio, on"):
        replace(Choices(), size=5)


def test_a_copy_is_equal_and_parts_are_compared_by_value() -> None:
    part = Choices(count=1, items=("a",))

    assert copy.deepcopy(part) == part
    assert pickle.loads(pickle.dumps(part)) == part  # noqa: S301
    assert part != Choices(count=2, items=("a",))


def test_objects_are_not_tracked_by_the_garbage_collector() -> None:
    assert not gc.is_tracked(Choices(labels={"a": "b"}, inner=Choices()))


def test_names_are_camel_case_on_the_wire() -> None:
    class Named(Part):
        image: str
        env_from: int
        from_: int
        last_transition_time: int
        fields_v1: int

    assert list(
        sent(Named(image="", env_from=1, from_=2, last_transition_time=3, fields_v1=4))
    ) == [
        "image",
        "envFrom",
        "from",
        "lastTransitionTime",
        "fieldsV1",
    ]


def test_exact_wire_names_are_inherited() -> None:
    class First(Part, wire_names={"cluster_ip": "clusterIP", "ref": "$ref"}):
        cluster_ip: str
        ref: str

    class Second(First, wire_names={"pod_cidrs": "podCIDRs"}):
        cluster_ip: str
        pod_cidrs: tuple[str, ...]

    second = Second(cluster_ip="10.0.0.1", ref="here", pod_cidrs=("10.1.0.0/16",))

    assert sent(second) == {
        "clusterIP": "10.0.0.1",
        "$ref": "here",
        "podCIDRs": ["10.1.0.0/16"],
    }
    assert Codec().decode(Second, Codec().encode(second), wanted="read") == second


@pytest.mark.parametrize("keywords", [{"wire_names": {"sise": "Size"}}, {"sensitive": {"sise"}}])
def test_a_class_keyword_without_a_field_is_rejected(keywords: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"Misspelt: .* contains sise, which is not a field"):
        new_class("Misspelt", (Part,), keywords)


def test_a_class_variable_is_not_a_field() -> None:
    class WithConstant(Part):
        LIMIT: ClassVar[int] = 3
        size: int = 1

    assert WithConstant.LIMIT == 3
    assert sent(WithConstant()) == {"size": 1}


@pytest.mark.parametrize("annotation", ["ClassVar[int]", "typing.ClassVar[int]", "t.ClassVar"])
def test_a_class_variable_is_not_a_field_with_text_annotations(annotation: str) -> None:
    body = {"__annotations__": {"LIMIT": annotation, "size": "int"}, "LIMIT": 3, "size": 1}

    kind: Any = new_class("WithConstant", (Part,), exec_body=lambda space: space.update(body))

    assert kind.LIMIT == 3
    assert sent(kind()) == {"size": 1}


def test_a_mutable_base_class_is_rejected() -> None:
    class Loose:
        pass

    class Tight:
        __slots__ = ()

    with pytest.raises(TypeError, match="Mixed: its base Loose must define `__slots__ = "):
        new_class("Mixed", (Choices, Loose))

    assert issubclass(new_class("Mixed", (Choices, Tight)), Tight)


def test_an_unknown_class_keyword_is_rejected() -> None:
    with pytest.raises(TypeError, match="Thawed: unknown class keyword: frozen"):
        new_class("Thawed", (Part,), {"frozen": False})


@pytest.mark.parametrize("options", [msgspec.field(default=3), dataclasses.field(default=3)])
def test_a_field_with_options_is_rejected(options: Any) -> None:
    body = {"__annotations__": {"size": int}, "size": options}

    with pytest.raises(TypeError, match=r"Odd\.size: the default must be a plain value"):
        new_class("Odd", (Part,), exec_body=lambda namespace: namespace.update(body))


def test_a_repr_omits_unset_fields() -> None:
    part = Choices(count=0, inner=Choices(text="x"))

    assert repr(part) == "Choices(count=0, inner=Choices(text='x'))"


def test_no_repr_shows_a_sensitive_value() -> None:
    class Vault(Part, sensitive={"keys"}):
        name: str
        keys: tuple[str, ...]

    class BiggerVault(Vault):
        secrets: tuple[Secret, ...]

    last_applied = {"kubectl.kubernetes.io/last-applied-configuration": CANARY, "seen": "this"}
    secret = Secret(
        metadata=ObjectMeta(name="token", annotations=last_applied),
        data={"password": CANARY.encode()},
        string_data={"user": CANARY},
    )

    shown = repr((BiggerVault(name="north", keys=(CANARY,), secrets=(secret,)),))

    assert CANARY not in shown
    assert "canary" not in shown
    assert shown.count("<hidden>") == 4
    assert "name='north'" in shown
    assert "'seen': 'this'" in shown
    assert CANARY in Codec().encode(secret).decode()
