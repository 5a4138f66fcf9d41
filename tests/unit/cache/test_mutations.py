"""The mutation detector finds a changed object of the cache, and does not show the values."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.cache.store.mutations import Mutation, MutationDetector
from steersman.errors import CacheMutated
from steersman.kinds import Unstructured
from steersman.names import ObjectKey
from steersman.watch import key_of
from tests.unit.cache.sample_objects import BOTH, AnyThing, Thing, as_kind, as_unstructured, thing

A = ObjectKey("default", "a")


def body_of(obj: Unstructured) -> dict[str, Any]:
    """The body as a mutable dictionary, past the type checker."""
    return cast(dict[str, Any], obj.body)


def labels_of(obj: Thing | Unstructured) -> dict[str, str]:
    return cast(dict[str, str], obj.labels)


def test_a_changed_label_is_found_with_its_path() -> None:
    obj = as_kind(AnyThing, thing("a", labels={"app": "web"}))
    detector = MutationDetector()
    detector.remember(A, obj)

    labels_of(obj)["app"] = "db"

    assert detector.check() == [Mutation(key=A, ref="Thing default/a", path="metadata.labels.app")]


@pytest.mark.parametrize("kind", BOTH)
def test_an_object_that_was_not_changed_is_not_reported(kind: type[Thing | Unstructured]) -> None:
    detector = MutationDetector()
    detector.remember(A, as_kind(kind, thing("a", labels={"app": "web"})))

    assert detector.check() == []
    assert len(detector) == 1


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda body: body["spec"].update(size=4), "spec.size"),
        (lambda body: body["spec"].update(size=0.0), "spec.size"),
        (lambda body: body["spec"]["ports"].append(3), "spec.ports[2]"),
        (lambda body: body["spec"]["ports"].pop(0), "spec.ports[0]"),
        (lambda body: body["spec"].pop("ports"), "spec.ports"),
        (lambda body: body["metadata"].update({"x.io/y": 1}), 'metadata["x.io/y"]'),
        (lambda body: body.update(extra=None), "extra"),
        (lambda body: body["spec"].update(size=True), "spec.size"),
        (lambda body: body["spec"].update(size={1, 2}), "spec.size"),
        (lambda body: body["spec"].update(me=body), ""),
        (lambda body: body["spec"].update({(1, 2): 3}), 'spec["tuple (1, 2)"]'),
        (lambda body: body.clear(), "apiVersion"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_any_change_of_an_unstructured_object_is_found(change: Any, path: str) -> None:
    obj = as_unstructured(thing("a"))
    detector = MutationDetector()
    detector.remember(A, obj)

    change(body_of(obj))

    assert [each.path for each in detector.check()] == [path]


def test_another_order_of_fields_is_not_a_change() -> None:
    obj = as_unstructured(thing("a"))
    detector = MutationDetector()
    detector.remember(A, obj)

    spec = body_of(obj)["spec"]
    spec["size"] = spec.pop("size")

    assert detector.check() == []


def test_each_change_is_reported_once() -> None:
    obj = as_unstructured(thing("a"))
    detector = MutationDetector()
    detector.remember(A, obj)

    body_of(obj)["spec"]["size"] = 4
    first, second = detector.check(), detector.check()
    body_of(obj)["spec"]["size"] = 5

    assert (len(first), len(second), len(detector.check())) == (1, 0, 1)


def test_a_change_is_found_after_the_object_was_replaced_or_forgotten() -> None:
    replaced, forgotten = as_unstructured(thing("a")), as_unstructured(thing("b"))
    detector = MutationDetector()
    detector.remember(key_of(replaced), replaced)
    detector.remember(key_of(forgotten), forgotten)

    body_of(replaced)["spec"]["size"] = 4
    body_of(forgotten)["spec"]["size"] = 5
    detector.remember(key_of(replaced), as_unstructured(thing("a", version=2)))
    detector.forget(key_of(forgotten))

    assert [each.key.name for each in detector.check()] == ["a", "b"]
    assert len(detector) == 1


def test_a_forgotten_object_may_be_changed() -> None:
    obj = as_unstructured(thing("a"))
    detector = MutationDetector()
    detector.remember(A, obj)

    detector.forget(A)
    detector.forget(A)
    body_of(obj)["spec"]["size"] = 4

    assert detector.check() == []


def test_the_error_has_the_path_and_the_advice_and_never_the_value() -> None:
    obj = as_unstructured(thing("a"))
    detector = MutationDetector()
    detector.remember(A, obj)
    body_of(obj)["spec"]["size"] = "canary-91b2"

    found = detector.check()
    error = CacheMutated(changed=[(each.ref, each.path) for each in found])

    assert str(error) == (
        "the operator changed objects that belong to a cache: Thing default/a at spec.size. All"
        " readers of the cache share them: make a copy with replace() or, of an Unstructured, with"
        " changed(), and leave the original as it is."
    )
    assert "canary-91b2" not in f"{error!r}{found!r}{detector!r}"


def test_the_error_names_a_few_changes_and_counts_the_rest() -> None:
    error = CacheMutated(changed=[(f"Thing default/{number}", "") for number in range(8)])

    assert "Thing default/4 at its root, 3 more." in str(error)
    assert "default/5" not in str(error)
    assert len(error.changed) == 8


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(before=JSON, after=JSON)
def test_a_change_is_reported_if_and_only_if_values_differ(before: Any, after: Any) -> None:
    frame = {"apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    obj = AnyThing({**frame, "spec": before})
    detector = MutationDetector()
    detector.remember(A, obj)

    body_of(obj)["spec"] = after

    found = detector.check()
    assert bool(found) == (not is_same(before, after))
    assert all(each.path.startswith("spec") for each in found)


def is_same(one: Any, other: Any) -> bool:
    """Equal as JSON values: 1 is not true."""
    return repr(sorted_recursively(one)) == repr(sorted_recursively(other))


def sorted_recursively(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: sorted_recursively(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [sorted_recursively(each) for each in value]
    return value
