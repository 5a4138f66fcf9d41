"""Rejection of operators whose state would survive a crash."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.errors import BadScenario
from steersman_cluster.simulation.factory import OperatorFactory

ConfigMap = core_v1.ConfigMap


class Calling:
    """A callable object."""

    async def __call__(self, obj: ConfigMap, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()


@dataclass(frozen=True)
class Frozen:
    """A frozen object with a mutable field."""

    seen: dict[str, int] = field(default_factory=dict)

    async def reconcile(self, obj: ConfigMap, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()


@dataclass
class State:
    """A mutable object."""

    async def run(self, services: object) -> None:
        """Do nothing."""

    def wakes(self, obj: core_v1.Secret, cached: object) -> tuple[()]:
        """Do nothing."""
        return ()


async def reconcile(obj: ConfigMap, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


async def with_state(state: Any, obj: ConfigMap, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


def controller(function: Any = reconcile, **rest: Any) -> sm.Controller[Any]:
    return sm.Controller(ConfigMap, reconcile=function, **rest)


def build_twice(build: Callable[[], Any], *, between: Callable[[], object] = bool) -> None:
    factory = OperatorFactory(build)
    factory()
    between()
    factory()


CALLING, STATE = Calling(), State()


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda: controller(CALLING), "reconcile of the controller configmap is the same Calling"),
        (
            lambda: controller(partial(with_state, STATE)),
            "reconcile of the controller configmap is called with the same State",
        ),
        (
            lambda: controller(watches=(sm.Watch(core_v1.Secret, to=STATE.wakes),)),
            "watches of the controller configmap is a method of the same State",
        ),
        (
            lambda: sm.Runnable(STATE.run, name="running"),
            "the runnable running is a method of the same State",
        ),
    ],
)
def test_a_reused_instance_is_rejected(build: Callable[[], Any], what: str) -> None:
    with pytest.raises(BadScenario, match=what):
        build_twice(build)


def test_a_reused_container_is_rejected_after_it_has_changed() -> None:
    seen: dict[str, int] = {}
    builds: list[Callable[[], Any]] = [
        lambda: controller(Frozen(seen).reconcile),
        lambda: controller(partial(with_state, seen)),
        lambda: controller(partial(with_state, Frozen(seen))),
    ]
    for build in builds:
        build_twice(build)
        with pytest.raises(BadScenario, match="the same dict, whose state would survive a crash"):
            build_twice(build, between=partial(seen.update, one=len(seen), two=len(seen)))
        seen.clear()


def test_an_instance_can_be_shared_within_one_operator() -> None:
    def build() -> list[sm.Controller[Any]]:
        calling = Calling()
        return [controller(calling, finalize=calling), controller(calling, name="other")]

    build_twice(build)


def test_an_immutable_object_can_be_reused() -> None:
    build_twice(lambda: controller(partial(with_state, ("a", 1, ConfigMap, reconcile))))
    build_twice(lambda: controller(when=sm.changed.generation))


def test_the_outside_system_can_be_reused() -> None:
    factory = OperatorFactory(lambda: controller(partial(with_state, STATE)), outside=STATE)
    factory()
    factory()
