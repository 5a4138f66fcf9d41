"""``OperatorFactory``: builds an operator when it starts, and again after each crash.

What an operator has in memory is lost in a crash. In one process that is so only if it is built
again, with nothing in it that an earlier one has used.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

from steersman.controller import Controller
from steersman.errors import BadScenario
from steersman.manager import Manager, Runnable

#: What a factory may return.
Built: TypeAlias = Manager | Controller[Any] | Runnable | Iterable[Controller[Any] | Runnable]

#: A function that builds an operator.
Factory: TypeAlias = Callable[[], Built]

_EXAMPLE = "Pass a function that builds the operator, such as operator=lambda: [controller]."


class OperatorFactory:
    """Builds managers with a function, each with nothing that remembers an earlier one."""

    def __init__(self, build: Factory) -> None:
        self._build = build
        # Kept, so that none of them is freed and another gets its id.
        self._used: dict[int, object] = {}

    def __call__(self) -> Manager:
        """A manager for one life of the operator."""
        manager = manager_of(self._build())
        instances = {id(each): (where, each) for where, each in _instances(manager)}
        for number, (where, each) in instances.items():
            if number in self._used:
                name = type(each).__name__
                raise BadScenario(
                    problem=f"the operator was built twice, and both times {where} is a method of"
                    f" the same {name}, whose memory would outlive a crash",
                    what_now=f"Create the {name} inside the function that builds the operator.",
                )
        self._used.update((number, each) for number, (_, each) in instances.items())
        return manager


def factory_of(
    given: Sequence[Controller[Any] | Factory], runnables: Sequence[Runnable]
) -> Callable[[], Manager]:
    """What builds the operator that ``run_operator`` was given: by a function, or ready-made."""
    builders = [each for each in given if not isinstance(each, Controller)]
    if not builders:
        ready = [each for each in given if isinstance(each, Controller)]
        manager = Manager(controllers=ready, runnables=runnables)
        return lambda: manager
    if len(given) > 1 or runnables:
        raise BadScenario(
            problem="run_operator was given a function that builds the operator, and more",
            what_now="Return all controllers and runnables from that function.",
        )
    return OperatorFactory(builders[0])


def manager_of(built: Built) -> Manager:
    """A manager of what a factory has returned."""
    if isinstance(built, Manager):
        return built
    parts = [built] if isinstance(built, Controller | Runnable) else _listed(built)
    return Manager(
        controllers=[each for each in parts if isinstance(each, Controller)],
        runnables=[each for each in parts if isinstance(each, Runnable)],
    )


def check_factory(operator: object) -> None:
    """Refuse an operator that is there already."""
    if not callable(operator):
        raise BadScenario(
            problem=f"a scenario's operator is a function, not {_described(operator)}: a crash"
            " loses what an operator has in memory, so a sweep has to build it again",
            what_now=_EXAMPLE,
        )


def _listed(built: object) -> list[Controller[Any] | Runnable]:
    parts: list[Any] = [*built] if isinstance(built, Iterable) else [built]
    for each in parts:
        if not isinstance(each, Controller | Runnable):
            raise BadScenario(
                problem=f"the function that builds the operator has returned {_described(each)}",
                what_now="Let it return a Manager, or a list of Controllers and Runnables.",
            )
    return parts


def _described(value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        names = ", ".join(sorted({type(each).__name__ for each in value}))
        return f"a {type(value).__name__} of {names or 'nothing'}"
    return f"a {type(value).__name__}"


def _instances(manager: Manager) -> Iterator[tuple[str, object]]:
    """What can remember: the instances whose methods the parts of an operator call."""
    for controller in manager.controllers:
        for each in fields(controller):
            where = f"{each.name} of the controller {controller.name}"
            yield from ((where, held) for held in _bound(getattr(controller, each.name)))
    for runnable in manager.runnables:
        yield from ((f"the runnable {runnable.name}", held) for held in _bound(runnable.run))


def _bound(value: object) -> Iterator[object]:
    if isinstance(value, partial):
        yield from _bound(value.func)
        return
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, type | ModuleType) and _can_change(owner):
        yield owner


def _can_change(instance: object) -> bool:
    settings = getattr(instance, "__dataclass_params__", None) or getattr(
        instance, "__struct_config__", None
    )
    return not getattr(settings, "frozen", False)
