"""``OperatorFactory``: builds a new operator at each of its starts.

A crash clears an operator's memory. In a simulation, all starts happen in one process, so the
operator must be built again, from objects that its earlier instances have not used.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from msgspec import Struct

from steersman.controller import Controller
from steersman.manager import Manager, Runnable
from steersman_cluster.errors import BadScenario

#: What a factory may return.
Built: TypeAlias = Manager | Controller[Any] | Runnable | Iterable[Controller[Any] | Runnable]

#: A function that builds an operator.
Factory: TypeAlias = Callable[[], Built]

_CONTAINERS: Final = (dict, list, set, bytearray, deque)

_EXAMPLE = "Pass a function that builds the operator, such as operator=lambda: [controller]."


class OperatorFactory:
    """Calls ``build`` to build managers, and checks that they share no mutable objects.

    ``outside`` is a system that is not part of the operator; the managers are permitted to share
    it.
    """

    def __init__(self, build: Factory, *, outside: object = None) -> None:
        self._build = build
        self._outside = outside
        # References are kept, so that no freed object's id is used again; with what was in each.
        self._used: dict[int, tuple[object, object]] = {}

    def __call__(self) -> Manager:
        """Build a manager for one start of the operator.

        Raise ``BadScenario`` if the manager contains a mutable object of an earlier manager. A
        container with unchanged contents is accepted, because managers often share settings.
        """
        manager = manager_of(self._build())
        found = {id(each): (where, each) for where, each in memories(manager)}
        found.pop(id(self._outside), None)
        for number, (where, each) in found.items():
            if number in self._used and self._may_remember(each):
                name = type(each).__name__
                raise BadScenario(
                    problem=f"the operator was built twice, and both times {where} the same"
                    f" {name}, whose state would survive a crash",
                    what_now=f"Create the {name} inside the function that builds the operator.",
                )
            was = copy(each) if isinstance(each, _CONTAINERS) else None
            self._used.setdefault(number, (each, was))
        return manager

    def _may_remember(self, used: object) -> bool:
        if not isinstance(used, _CONTAINERS):
            return True
        # Settings may be shared, and are often in a dict.
        return bool(self._used[id(used)][1] != used)


def factory_of(
    given: Sequence[Controller[Any] | Factory], runnables: Sequence[Runnable]
) -> Callable[[], Manager]:
    """Return a function that builds a manager, given the arguments of ``run_operator``.

    ``given`` consists either of one function that builds the operator, or of controllers. With a
    function, ``runnables`` must be empty.
    """
    builders = [each for each in given if not isinstance(each, Controller)]
    if not builders:
        ready = [each for each in given if isinstance(each, Controller)]
        manager = Manager(controllers=ready, runnables=runnables)
        return lambda: manager
    if len(given) > 1 or runnables:
        raise BadScenario(
            problem="run_operator takes nothing else with a function that builds the operator",
            what_now="Return all controllers and runnables from that function.",
        )
    return OperatorFactory(builders[0])


def manager_of(built: Built) -> Manager:
    """Return ``built``, the return value of a factory, as a manager.

    A controller, a runnable, or a sequence of these is put into a new manager.
    """
    if isinstance(built, Manager):
        return built
    parts = [built] if isinstance(built, Controller | Runnable) else _listed(built)
    return Manager(
        controllers=[each for each in parts if isinstance(each, Controller)],
        runnables=[each for each in parts if isinstance(each, Runnable)],
    )


def check_factory(operator: object) -> None:
    """Raise ``BadScenario`` if ``operator`` is not a function that builds the operator."""
    if not callable(operator):
        raise BadScenario(
            problem=f"a scenario's operator must be a function, not {_described(operator)}: a"
            " crash loses the operator's memory, so a sweep builds the operator again",
            what_now=_EXAMPLE,
        )


def _listed(built: object) -> list[Controller[Any] | Runnable]:
    parts: list[Any] = [*built] if isinstance(built, Iterable) else [built]
    for each in parts:
        if not isinstance(each, Controller | Runnable):
            raise BadScenario(
                problem=f"the function that builds the operator returned {_described(each)}",
                what_now="Return a Manager, or a list of Controllers and Runnables.",
            )
    return parts


def _described(value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        names = ", ".join(sorted({type(each).__name__ for each in value}))
        return f"a {type(value).__name__} of {names or 'nothing'}"
    return f"a {type(value).__name__}"


def memories(manager: Manager) -> Iterator[tuple[str, object]]:
    """Yield each object of ``manager`` that can store state, after a description of its path.

    These are instances whose methods the operator calls, and the mutable parts of these instances.
    Objects that a function reaches through a closure or a module are left out, because tests count
    calls with such objects. A sweep still detects state in such objects, if the state makes two
    executions of the scenario differ.
    """
    for controller in manager.controllers:
        for each in fields(controller):
            where = f"{each.name} of the controller {controller.name}"
            yield from _of_declared(where, getattr(controller, each.name))
    for runnable in manager.runnables:
        yield from _of_declared(f"the runnable {runnable.name}", runnable.run)
    yield from _of_declared("the lifespan", manager.options.lifespan)


def _of_declared(where: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, partial):
        yield from _of_declared(where, value.func)
        for each in (*value.args, *value.keywords.values()):
            if _can_change(each):
                yield f"{where} is called with", each
            else:
                yield from _of_value(f"{where} is called with", each)
    elif isinstance(value, tuple | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _of_declared(where, each)
    elif isinstance(value, type | ModuleType):
        return
    elif (owner := getattr(value, "__self__", None)) is not None:
        if _can_change(owner):
            yield f"{where} is a method of", owner
        else:
            yield from _of_value(f"{where} holds", owner)
    elif callable(value) and not isinstance(value, FunctionType):
        if _can_change(value):
            yield f"{where} is", value
        else:
            yield from _of_value(f"{where} holds", value)
    elif is_dataclass(value):
        for part in fields(value):
            yield from _of_declared(where, getattr(value, part.name))


def _of_value(where: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield ``value`` if it is a mutable container or dataclass.

    If it is a tuple or a frozen struct, yield the mutable containers and dataclasses in it.
    """
    if isinstance(value, _CONTAINERS):
        yield where, value
    elif isinstance(value, tuple):
        for each in value:
            yield from _of_value(where, each)
    elif isinstance(value, type):
        return
    elif not _is_frozen(value):
        if is_dataclass(value):
            yield where, value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _of_value(where, getattr(value, field.name))
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _of_value(where, getattr(value, name))


def _can_change(value: object) -> bool:
    """Whether this is an instance of a class with attributes that can be set."""
    if isinstance(value, type | ModuleType | FunctionType | Enum) or _is_frozen(value):
        return False
    return hasattr(value, "__dict__") or is_dataclass(value)


def _is_frozen(value: object) -> bool:
    settings = getattr(value, "__dataclass_params__", None) or getattr(
        value, "__struct_config__", None
    )
    return bool(getattr(settings, "frozen", False))
