"""The declaration of a controller, and the declarations that are rejected."""

import functools
from typing import Any

import pytest

import steersman as sm
from steersman.client import Labels
from steersman.errors import BadController
from steersman.kinds import Unstructured, apps_v1, autoscaling_v1, autoscaling_v2, core_v1
from tests.real.definitions import Octopus, Widget


async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def plain(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
    return sm.Done()


def test_names_come_from_the_kind_and_never_from_a_function() -> None:
    controller = sm.Controller(Widget, reconcile=reconcile)

    assert controller.name == "widget"
    assert controller.field_manager == "widget.toys.example.com"
    assert controller.finalizer == "toys.example.com/widget"


def test_a_second_controller_of_a_kind_has_its_own_names() -> None:
    controller = sm.Controller(Widget, reconcile=reconcile, name="painter")

    assert controller.field_manager == "painter.toys.example.com"
    assert controller.finalizer == "toys.example.com/painter"


def test_a_controller_of_a_core_kind_has_names_that_the_server_accepts() -> None:
    async def label(obj: core_v1.Pod, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    controller = sm.Controller(core_v1.Pod, reconcile=label)

    assert controller.field_manager == "pod.core"
    assert controller.finalizer == "core/pod"


def test_owned_kinds_can_be_classes_or_owns() -> None:
    controller = sm.Controller(
        Widget, reconcile=reconcile, owns=(core_v1.ConfigMap, sm.Owns(apps_v1.Deployment))
    )

    assert [each.kind for each in controller.owned] == [core_v1.ConfigMap, apps_v1.Deployment]
    assert controller.cached_kinds == (Widget, core_v1.ConfigMap, apps_v1.Deployment)


def test_a_controller_may_wait_neither_for_changes_nor_for_progress() -> None:
    controller = sm.Controller(Widget, reconcile=reconcile, debounce_seconds=0, progress_seconds=0)

    assert (controller.debounce_seconds, controller.progress_seconds) == (0, 0)


def test_a_source_is_no_kind() -> None:
    sources = (sm.Every(60),)

    assert sm.Controller(Widget, reconcile=reconcile, sources=sources).sources == sources


def no_keys(obj: Any, cached: sm.CacheReader) -> list[Widget]:
    return []


class Operator:
    async def reconcile(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    async def __call__(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()


@pytest.mark.parametrize(
    ("function", "is_blocking"),
    [
        (reconcile, False),
        (plain, True),
        (Operator().reconcile, False),
        (Operator(), False),
        (functools.partial(reconcile), False),
        (functools.partial(plain), True),
    ],
)
def test_a_plain_function_is_recognized(function: Any, is_blocking: bool) -> None:
    assert sm.Controller(Widget, reconcile=function).is_blocking is is_blocking


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"workers": 0}, "it has 0 workers"),
        ({"timeout_seconds": 0}, "timeout_seconds is 0"),
        ({"backoff": 300.0}, "its backoff is an object of float. Write backoff=sm.BackoffPolicy"),
        ({"bucket": 10}, "its bucket is an object of int. Write bucket=sm.BucketPolicy"),
        ({"debounce_seconds": -1}, "debounce_seconds is -1"),
        ({"debounce_seconds": float("nan")}, "debounce_seconds is nan"),
        ({"priority": 3}, "its priority cannot be called with an object"),
        ({"priority": lambda one, two: 3}, "its priority cannot be called with an object"),
        ({"resync_seconds": -1}, "resync_seconds is -1"),
        ({"name": "Not A Name"}, "its name is 'Not A Name'"),
        ({"reconcile": "not a function"}, "its reconcile is an object of str"),
        ({"reconcile": lambda obj: None}, "cannot be called with an object and a context"),
        ({"finalize": plain}, "one of reconcile and finalize is a plain function"),
        ({"owns": (Widget,)}, "it declares toys.example.com/v1 Widget twice"),
        (
            {"owns": (core_v1.ConfigMap,), "watches": (sm.Watch(core_v1.ConfigMap),)},
            "it declares v1 ConfigMap twice",
        ),
        (
            {
                "owns": (
                    autoscaling_v1.HorizontalPodAutoscaler,
                    autoscaling_v2.HorizontalPodAutoscaler,
                )
            },
            "it declares autoscaling/v2 HorizontalPodAutoscaler twice",
        ),
        (
            {"watches": (sm.Watch(Widget),)},
            "it declares toys.example.com/v1 Widget twice, and its Watch has no `to`",
        ),
        (
            {
                "owns": (autoscaling_v1.HorizontalPodAutoscaler,),
                "watches": (sm.Watch(autoscaling_v2.HorizontalPodAutoscaler, to=no_keys),),
            },
            "by two classes, HorizontalPodAutoscaler and HorizontalPodAutoscaler",
        ),
        (
            {
                "owns": (sm.Owns(core_v1.ConfigMap, labels=Labels.equal({"a": "b"})),),
                "watches": (sm.Watch(core_v1.ConfigMap, to=no_keys),),
            },
            "it declares v1 ConfigMap twice, with different selectors",
        ),
        (
            {
                "watches": (
                    sm.Watch(core_v1.ConfigMap, to=no_keys, indexes={"by": lambda obj: ()}),
                    sm.Watch(core_v1.ConfigMap, to=no_keys, indexes={"by": lambda obj: ()}),
                )
            },
            "it has two indexes 'by' of v1 ConfigMap",
        ),
        ({"owns": core_v1.ConfigMap}, "its owns are not a tuple. Write owns=(…,)"),
        ({"writes": [core_v1.ConfigMap]}, "its writes are not a tuple"),
        ({"sources": sm.Every(3)}, "its sources are not a tuple"),
        ({"owns": ("ConfigMap",)}, "'ConfigMap' in its owns is not a kind"),
        ({"reads": (Unstructured,)}, "in its reads is not a kind"),
        ({"watches": (core_v1.ConfigMap,)}, "Write watches=(sm.Watch(kind, to=…),)"),
        (
            {"labels": {"app": "web"}},
            "Widget are an object of dict, not Labels. Write labels=Labels.equal(",
        ),
        (
            {"owns": (sm.Owns(core_v1.ConfigMap, labels={"app": "web"}),)},  # type: ignore[arg-type]
            "the labels of v1 ConfigMap are an object of dict",
        ),
        (
            {"watches": (sm.Watch(Octopus, to=lambda obj: ()),)},  # type: ignore[arg-type,misc]
            "cannot be called with an object and a cache reader",
        ),
    ],
)
def test_an_invalid_controller_is_rejected_when_it_is_declared(wrong: Any, says: str) -> None:
    declared: dict[str, Any] = {"reconcile": reconcile, **wrong}

    with pytest.raises(BadController, match="the controller") as raised:
        sm.Controller(Widget, **declared)

    assert says in str(raised.value)


def traced(function: Any) -> Any:
    """The same function, wrapped in one with arbitrary parameters."""

    @functools.wraps(function)
    def call(*args: Any, **rest: Any) -> Any:
        return function(*args, **rest)

    return call


def test_a_decorated_function_is_checked_by_the_wrapped_function() -> None:
    async def without_context(obj: Widget) -> sm.Outcome:
        return sm.Done()

    sm.Controller(Widget, reconcile=traced(plain))

    with pytest.raises(
        BadController, match="without_context cannot be called with an object and a context"
    ):
        sm.Controller(Widget, reconcile=traced(without_context))


async def with_default(obj: Widget, ctx: sm.Context, more: int = 1) -> sm.Outcome:
    return sm.Done()


async def with_any(*args: Any) -> sm.Outcome:
    return sm.Done()


async def with_names(obj: Widget, ctx: sm.Context, *, loud: bool = False) -> sm.Outcome:
    return sm.Done()


async def with_three(obj: Widget, ctx: sm.Context, more: int) -> sm.Outcome:
    return sm.Done()


async def with_another_name(obj: Widget, ctx: sm.Context, *, loud: bool) -> sm.Outcome:
    return sm.Done()


@pytest.mark.parametrize("function", [with_default, with_any, with_names])
def test_a_function_may_have_further_optional_parameters(function: Any) -> None:
    assert sm.Controller(Widget, reconcile=function).reconcile is function


@pytest.mark.parametrize("function", [with_three, with_another_name])
def test_a_function_with_further_required_parameters_is_rejected(function: Any) -> None:
    with pytest.raises(BadController, match="cannot be called with an object and a context"):
        sm.Controller(Widget, reconcile=function)


def test_a_class_without_a_kind_is_rejected() -> None:
    with pytest.raises(BadController, match="is not a kind") as raised:
        sm.Controller(sm.Part, reconcile=reconcile)  # type: ignore[type-var, arg-type]

    assert raised.value.controller == "Part"


def test_a_controller_cannot_be_changed() -> None:
    controller = sm.Controller(Widget, reconcile=reconcile)

    with pytest.raises(AttributeError):
        controller.workers = 3  # type: ignore[misc]


def test_a_condition_is_one_that_the_kind_can_have() -> None:
    async def look(obj: Octopus, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    with pytest.raises(
        BadController, match="its condition is Ready, but Octopus has no conditions"
    ):
        sm.Controller(Octopus, reconcile=look, condition="Ready")

    assert sm.Controller(Widget, reconcile=reconcile, condition="Ready").condition == "Ready"
