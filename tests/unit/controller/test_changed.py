import pytest

from steersman.controller import changed
from steersman.errors import BadValue
from steersman.kinds import core_v1, meta_v1
from tests.unit.controller.apps import App, Status, app, widget

ALL = [changed.generation, changed.labels, changed.annotations, changed.resource_version]


@pytest.mark.parametrize("predicate", [*ALL, changed.fields("spec.size")])
def test_a_new_object_always_passes(predicate: changed.Predicate[App]) -> None:
    assert predicate(None, app())


@pytest.mark.parametrize("predicate", [*ALL, changed.fields("spec.size")])
def test_an_unchanged_object_does_not_pass(predicate: changed.Predicate[App]) -> None:
    assert not predicate(app(), app())


def test_each_predicate_checks_the_field_of_its_name() -> None:
    old = app()
    changes = {
        changed.generation: app(generation=2),
        changed.labels: app(labels={"tier": "front"}),
        changed.annotations: app(annotations={"note": "x"}),
        changed.resource_version: app(version="2"),
    }

    for mine, new in changes.items():
        assert [each for each in ALL if each(old, new)] == [mine]


def test_empty_labels_equal_missing_labels() -> None:
    assert not changed.labels(app(labels={}), app(labels=None))
    assert not changed.annotations(widget(), widget(annotations={}))


def test_every_change_of_a_kind_without_a_generation_passes() -> None:
    def config(text: str) -> core_v1.ConfigMap:
        return core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="c"), data={"text": text})

    assert changed.generation(config("a"), config("b"))


@pytest.mark.parametrize(
    "path", ["status.readyReplicas", "status.ready_replicas", ("status", "ready_replicas")]
)
def test_a_field_is_named_in_python_or_as_on_the_wire(path: str | tuple[str, ...]) -> None:
    predicate = changed.fields(path)

    assert predicate(app(), app(status=Status(ready_replicas=1)))
    assert predicate(app(status=Status(ready_replicas=2)), app(status=Status(ready_replicas=1)))
    assert not predicate(app(size=2, status=Status()), app(size=1))
    assert predicate(widget(), widget({"status": {"readyReplicas": 1}}))
    assert not predicate(widget({"spec": 1}), widget({"spec": 2}))


def test_a_path_with_a_dotted_step_is_a_tuple() -> None:
    predicate = changed.fields(("metadata", "annotations", "a.b/c"))

    for make in (app, widget):
        assert predicate(make(), make(annotations={"a.b/c": "1"}))
        assert not predicate(make(), make(annotations={"other": "1"}))


def test_a_number_is_an_index_in_a_list() -> None:
    predicate = changed.fields("metadata.finalizers.1")

    for make in (app, widget):
        assert predicate(make(finalizers=("a", "b")), make(finalizers=("a", "c")))
        assert predicate(make(finalizers=("a",)), make(finalizers=("a", "c")))
        assert not predicate(make(finalizers=("a", "b")), make(finalizers=("x", "b")))


def test_one_of_several_fields_is_enough() -> None:
    predicate = changed.fields("spec.size", "metadata.labels")

    assert predicate(app(size=1), app(size=2))
    assert predicate(app(), app(labels={"a": "b"}))
    assert not predicate(app(), app(annotations={"a": "b"}))


def test_the_error_for_an_unknown_field_lists_the_fields_of_the_kind() -> None:
    with pytest.raises(BadValue, match=r"'sise' is not a field of Spec: .*size"):
        changed.fields("spec.sise")(app(), app())


@pytest.mark.parametrize("path", ["", "spec.", ".spec", "a..b", (), ("spec", ""), ("a", 1), 3])
def test_an_invalid_path_is_rejected_when_the_predicate_is_created(path: str) -> None:
    with pytest.raises(BadValue, match="is not a path to a field"):
        changed.fields(path)


def test_predicates_compose() -> None:
    resized, labelled = app(size=2), app(labels={"a": "b"})

    either = changed.any_of(changed.generation, changed.labels)
    both = changed.all_of(changed.generation, changed.labels)
    no_label = changed.not_(changed.labels)

    assert either(app(), resized)
    assert either(app(), labelled)
    assert not either(app(), app(version="2"))
    assert not both(app(), resized)
    assert both(app(), app(size=2, labels={"a": "b"}))
    assert no_label(app(), resized)
    assert not no_label(app(), labelled)


def test_any_function_of_two_objects_is_a_predicate() -> None:
    def grows(old: App | None, new: App) -> bool:
        return old is None or new.spec.size > old.spec.size

    predicate = changed.any_of(grows, changed.labels)

    assert predicate(app(size=1), app(size=2))
    assert not predicate(app(size=2), app(size=1))


def test_a_negated_change_passes_a_new_object() -> None:
    either = changed.any_of(changed.labels, changed.fields("spec.size"))

    assert changed.not_(changed.labels)(None, app())
    assert changed.not_(either)(None, app())
    assert changed.not_(changed.all_of(changed.labels, either))(None, app())
    assert changed.not_(changed.not_(changed.labels))(None, app())


def test_not_inverts_a_custom_function_for_a_new_object_too() -> None:
    def is_small(old: App | None, new: App) -> bool:
        return new.spec.size < 2

    assert not changed.not_(is_small)(None, app(size=1))
    assert changed.not_(is_small)(None, app(size=2))
    assert not changed.not_(changed.any_of(is_small, changed.labels))(None, app(size=1))
    assert changed.not_(changed.not_(is_small))(None, app(size=1))


def test_predicates_with_equal_arguments_are_equal_and_have_a_repr() -> None:
    def made() -> object:
        inside = changed.all_of(changed.labels, changed.not_(changed.annotations))
        return changed.any_of(changed.generation, changed.fields("spec.size", ("a", "b.c")), inside)

    assert made() == made()
    assert hash(made()) == hash(made())
    assert made() != changed.any_of(changed.generation)
    assert repr(made()) == (
        "any_of(generation, fields('spec.size', ('a', 'b.c')), all_of(labels, not_(annotations)))"
    )


@pytest.mark.parametrize("make", [changed.any_of, changed.all_of, changed.fields])
def test_a_predicate_without_arguments_is_rejected(make: object) -> None:
    with pytest.raises(BadValue, match="at least"):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("make", [changed.any_of, changed.all_of, changed.not_])
def test_a_value_that_is_not_a_function_is_rejected(make: object) -> None:
    with pytest.raises(BadValue, match="function"):
        make("spec.size")  # type: ignore[operator]
