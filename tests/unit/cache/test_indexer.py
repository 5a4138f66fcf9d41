"""The indexer finds objects by key and by index; an index function that fails affects no other."""

from collections.abc import Iterable
from typing import cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from steersman.cache.store.indexer import Indexer
from steersman.cache.store.indexes import IndexFunction, by_label, by_namespace
from steersman.errors import SteersmanError, UnknownIndex
from steersman.names import ObjectKey
from steersman.watch import key_of
from tests.unit.cache.sample_objects import Thing, thing


class Failures(list[tuple[str, str, str]]):
    """The reported failures: index, key and error."""

    def __call__(self, index: str, key: ObjectKey, error: Exception) -> None:
        self.append((index, str(key), str(error)))


def indexer(**indexes: IndexFunction[Thing]) -> Indexer[Thing]:
    """An indexer whose index functions must not fail."""

    def failed(index: str, key: ObjectKey, error: Exception) -> None:
        raise AssertionError(f"{index} of {key}") from error

    return Indexer(failed=failed, indexes=indexes)


def index_by_size(obj: Thing) -> Iterable[str]:
    """Indexes by size, and raises for 13."""
    if obj.spec.size == 13:
        raise ValueError("thirteen")
    yield str(obj.spec.size)


def test_an_object_has_its_key_until_it_is_removed() -> None:
    store = indexer()
    first, second = thing("a", version=1), thing("a", version=2)

    store.put(first)
    store.put(second)

    assert store.get(key_of(first)) is second
    assert key_of(first) in store
    assert (list(store), store.keys(), len(store)) == ([second], [key_of(second)], 1)
    assert store.remove(key_of(first)) is second
    assert store.remove(key_of(first)) is None
    assert (list(store), store.keys(), len(store)) == ([], [], 0)
    assert store.get(key_of(first)) is None


def test_a_changed_object_is_indexed_by_its_new_value_only() -> None:
    store = indexer(app=by_label("app"))
    store.put(thing("a", labels={"app": "web"}))
    after = thing("a", labels={"app": "db"})

    store.put(after)

    assert store.by_index("app", "web") == []
    assert store.by_index("app", "db") == [after]
    assert store.index_values("app") == ["db"]


def test_an_index_gives_the_newest_state_when_the_value_stays() -> None:
    store = indexer(app=by_label("app"))
    store.put(thing("a", version=1, labels={"app": "web"}))
    after = thing("a", version=2, labels={"app": "web"})

    store.put(after)

    assert store.by_index("app", "web") == [after]


def test_an_index_added_later_has_the_existing_objects() -> None:
    store = indexer()
    obj = thing("a", namespace="blue")
    store.put(obj)

    store.add_index("namespace", by_namespace)

    assert store.by_index("namespace", "blue") == [obj]
    assert store.index_names == ["namespace"]


def test_an_index_can_be_added_again_with_the_same_function_only() -> None:
    store = indexer(namespace=by_namespace)

    store.add_index("namespace", by_namespace)

    with pytest.raises(ValueError, match="'namespace' already exists"):
        store.add_index("namespace", index_by_size)


def test_an_object_that_gives_a_value_twice_is_found_once() -> None:
    store = indexer(twice=lambda obj: [obj.name, obj.name])
    obj = thing("a")

    store.put(obj)

    assert store.by_index("twice", "a") == [obj]
    assert store.remove(key_of(obj)) is obj


def test_a_reader_may_change_a_returned_list() -> None:
    store = indexer(namespace=by_namespace)
    store.put(thing("a"))

    store.by_index("namespace", "default").clear()
    store.index_values("namespace").clear()
    store.keys().clear()

    assert len(store.by_index("namespace", "default")) == 1
    assert store.index_values("namespace") == ["default"]
    assert len(store.keys()) == 1


def test_the_store_may_change_while_it_is_iterated() -> None:
    store = indexer()
    store.put(thing("a"))
    store.put(thing("b"))

    for obj in store:
        store.remove(key_of(obj))

    assert len(store) == 0


def test_an_unknown_index_is_an_error_that_lists_the_existing_ones() -> None:
    store = indexer(namespace=by_namespace, app=by_label("app"))

    with pytest.raises(UnknownIndex, match="its indexes are app, namespace") as caught:
        store.by_index("owner", "x")
    with pytest.raises(LookupError, match="it has no indexes"):
        indexer().index_values("owner")

    assert isinstance(caught.value, SteersmanError)
    assert caught.value.known == ("app", "namespace")


def test_an_index_function_that_raises_keeps_the_object_out_of_that_index_only() -> None:
    failures = Failures()
    store = Indexer[Thing](
        failed=failures, indexes={"size": index_by_size, "namespace": by_namespace}
    )
    store.put(thing("a", size=1))
    bad = thing("a", size=13)

    store.put(bad)

    assert store.get(key_of(bad)) is bad
    assert store.by_index("namespace", "default") == [bad]
    assert store.index_values("size") == []
    assert failures == [("size", "default/a", "thirteen")]


def test_a_failing_index_function_is_reported_once_until_it_works_again() -> None:
    failures = Failures()
    store = Indexer[Thing](failed=failures, indexes={"size": index_by_size})

    for size in (13, 13, 1, 13):
        store.put(thing("a", size=size))
    store.remove(ObjectKey("default", "a"))
    store.put(thing("a", size=13))

    assert failures == [("size", "default/a", "thirteen")] * 3


@pytest.mark.parametrize("values", ["text", None, [None], [["x"]], [1, 1]], ids=repr)
def test_an_index_function_that_returns_a_value_other_than_text_is_reported(values: object) -> None:
    failures = Failures()
    odd = cast(IndexFunction[Thing], lambda _: values)
    store = Indexer[Thing](failed=failures, indexes={"odd": odd})

    store.put(thing("a"))

    assert [index for index, _, _ in failures] == ["odd"]
    assert store.index_values("odd") == []
    assert len(store) == 1


def test_its_repr_has_the_number_of_objects_and_the_indexes() -> None:
    store = indexer(namespace=by_namespace)
    store.put(thing("a"))

    assert repr(store) == "<Indexer 1 objects, indexed namespace>"
    assert repr(indexer()) == "<Indexer 0 objects>"


FUNCTIONS: dict[str, IndexFunction[Thing]] = {
    "namespace": by_namespace,
    "app": by_label("app"),
    "size": index_by_size,
    "digits": lambda obj: str(obj.spec.size).split("1"),
}


def brute_force(function: IndexFunction[Thing], obj: Thing) -> set[str]:
    try:
        return set(function(obj))
    except ValueError:
        return set()


class Store(RuleBasedStateMachine):
    """An indexer beside a dict that has the same objects."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = Failures()
        self.store = Indexer[Thing](failed=self.failures, indexes={"app": FUNCTIONS["app"]})
        self.model: dict[ObjectKey, Thing] = {}

    @rule(
        name=st.sampled_from("abc"),
        namespace=st.sampled_from(("blue", "red", None)),
        size=st.sampled_from((0, 1, 13, 101)),
        app=st.sampled_from(("web", "db", None)),
        gives_key=st.booleans(),
    )
    def put(
        self, name: str, namespace: str | None, size: int, app: str | None, gives_key: bool
    ) -> None:
        labels = {"app": app} if app else None
        obj = thing(name, namespace=namespace, size=size, labels=labels)
        self.store.put(obj, key_of(obj) if gives_key else None)
        self.model[key_of(obj)] = obj

    @rule(
        names=st.lists(st.tuples(st.sampled_from(("blue", "red", None)), st.sampled_from("abc"))),
        size=st.sampled_from((0, 1, 13, 101)),
    )
    def put_all(self, names: list[tuple[str | None, str]], size: int) -> None:
        objects = [
            (ObjectKey(namespace, name), thing(name, namespace=namespace, size=size))
            for namespace, name in names
        ]
        self.store.put_all(iter(objects))
        self.model.update(objects)

    @rule(name=st.sampled_from("abc"), namespace=st.sampled_from(("blue", "red", None)))
    def remove(self, name: str, namespace: str | None) -> None:
        key = ObjectKey(namespace, name)
        assert self.store.remove(key) is self.model.pop(key, None)

    @rule(index=st.sampled_from(sorted(FUNCTIONS)))
    def add_index(self, index: str) -> None:
        self.store.add_index(index, FUNCTIONS[index])

    @invariant()
    def the_store_has_the_same_objects(self) -> None:
        assert {key_of(obj): obj for obj in self.store} == self.model
        assert set(self.store.keys()) == set(self.model)
        assert len(self.store) == len(self.model)

    @invariant()
    def every_index_equals_a_full_search(self) -> None:
        for index in self.store.index_names:
            wanted: dict[str, dict[ObjectKey, Thing]] = {}
            for key, obj in self.model.items():
                for value in brute_force(FUNCTIONS[index], obj):
                    wanted.setdefault(value, {})[key] = obj
            assert set(self.store.index_values(index)) == set(wanted)
            for value, objects in wanted.items():
                found = self.store.by_index(index, value)
                assert len(found) == len(objects)
                assert {key_of(obj): obj for obj in found} == objects


@pytest.mark.hypothesis
def test_an_index_always_returns_the_result_of_a_full_search() -> None:
    run_state_machine_as_test(Store, settings=settings(stateful_step_count=30))
