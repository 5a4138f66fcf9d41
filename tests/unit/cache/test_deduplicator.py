"""The deduplicator stores equal parts once."""

from collections.abc import Mapping
from typing import Any

from steersman.cache.store.deduplicator import MAX_BYTES, MAX_VALUES, TRIAL_MISSES, Deduplicator
from steersman.cache.store.transform import FEW, Transformer
from steersman.kinds import Codec, CustomResource, Part, meta_v1, replace, stored_field
from steersman.units import Quantity


class Port(Part):
    port: int
    name: str | None = None


class Spec(Part):
    image: str
    ports: tuple[Port, ...] = ()
    door: Port | str | None = None
    limits: Mapping[str, Quantity] | None = None
    data: str | None = None


stored_limits = stored_field(Spec, "limits")


class Status(Part):
    ready: int


class App(CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """An object with parts."""


def app(number: int = 0, **spec: Any) -> App:
    """An App as decoded from a response: it shares no part with another."""
    obj = App(
        metadata=meta_v1.ObjectMeta(name=f"app-{number}"),
        spec=Spec(image=f"image:{number}", **spec),
        status=Status(ready=3),
    )
    codec = Codec()
    return codec.decode(App, codec.encode(obj), wanted="make one")


def many(number: int, **spec: Any) -> list[App]:
    """Apps that the deduplicator has processed."""
    deduplicator = Deduplicator()
    return [deduplicator.deduplicate(app(each, **spec)) for each in range(number)]


def test_a_cache_of_more_than_a_few_objects_keeps_equal_parts_once() -> None:
    prepare = Transformer(App, transform=None, keep_managed_fields=False).transform_new
    few, more = ([prepare(app(each)) for each in range(FEW)] for _ in range(2))

    assert few[0].status is not few[-1].status
    assert more[0].status is more[-1].status


def test_equal_parts_of_equal_values_are_shared() -> None:
    first, second = many(2)

    assert first.status is second.status


def test_equal_parts_of_different_values_are_shared() -> None:
    *_, first, second = many(
        TRIAL_MISSES + 10, ports=(Port(port=80),), limits={"cpu": Quantity("1")}
    )

    assert first.spec.image != second.spec.image
    assert first.spec.ports is second.spec.ports
    assert stored_limits(first.spec) is stored_limits(second.spec)


def test_a_deduplicated_object_equals_the_original() -> None:
    deduplicator = Deduplicator()

    for number in range(3 * TRIAL_MISSES):
        parts = {"ports": (Port(port=number % 7), Port(port=80, name="http"))}
        assert deduplicator.deduplicate(app(number, **parts)) == app(number, **parts)


def test_equal_quantities_with_different_text_are_not_shared() -> None:
    deduplicator = Deduplicator()
    many_ones = [
        deduplicator.deduplicate(app(each, limits={"cpu": Quantity("1")})) for each in range(300)
    ]

    other = deduplicator.deduplicate(app(limits={"cpu": Quantity("1000m")}))

    assert many_ones[-1].spec.limits == other.spec.limits
    assert str((other.spec.limits or {})["cpu"]) == "1000m"


def test_the_number_of_remembered_values_is_bounded() -> None:
    deduplicator = Deduplicator()

    for number in range(4 * MAX_VALUES):
        deduplicator.deduplicate(app(number, ports=(Port(port=number // 2),)))

    assert len(deduplicator) <= 2 * MAX_VALUES


def test_a_field_whose_values_often_repeat_stays_shared_whatever_their_number() -> None:
    deduplicator = Deduplicator()

    found = [
        deduplicator.deduplicate(app(number, ports=(Port(port=number // 2),)))
        for number in range(4 * TRIAL_MISSES)
    ]

    assert found[-1].spec.ports is found[-2].spec.ports


def test_values_that_rarely_repeat_are_forgotten() -> None:
    deduplicator = Deduplicator()

    for number in range(4 * TRIAL_MISSES):
        deduplicator.deduplicate(app(number, ports=(Port(port=number),)))

    assert len(deduplicator) == 1  # the status


def test_long_values_are_not_remembered() -> None:
    deduplicator = Deduplicator()

    deduplicator.deduplicate(app(data="x" * MAX_BYTES))

    assert len(deduplicator) == 1  # the status


def test_a_field_that_is_a_part_or_a_text_is_not_changed() -> None:
    deduplicator = Deduplicator()
    for number in range(3 * TRIAL_MISSES):
        deduplicator.deduplicate(app(number, door=Port(port=number)))

    assert deduplicator.deduplicate(app(door="front")) == app(door="front")


def test_a_value_that_json_cannot_represent_is_not_changed() -> None:
    odd: Any = {("a", "b"): Quantity("1")}
    obj = replace(app(), spec=Spec(image="x", limits=odd))
    deduplicator = Deduplicator()
    for number in range(TRIAL_MISSES + 10):
        deduplicator.deduplicate(app(number))

    assert stored_limits(deduplicator.deduplicate(obj).spec) is odd
