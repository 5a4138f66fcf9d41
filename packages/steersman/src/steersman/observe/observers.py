"""``fan_out``, an observer that calls several observers, and ``ignore``, which does nothing."""

import logging
from contextlib import suppress
from types import FunctionType, MethodType
from typing import Any, Protocol

from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.observe.observation import Observation, Observer


def ignore(_observation: Observation) -> None:
    """Ignore the observation; this is the observer that does nothing."""


def fan_out(*observers: Observer) -> Observer:
    """Return an observer that calls each of ``observers``, in this order, even if one of them
    fails.

    An observer that raises an exception is called again for the next observation. Only its first
    exception is logged, because a broken observer usually fails for every observation.
    """
    return _FanOut(observers).notify


class SelectiveObserver(Protocol):
    """A protocol for observers with a separate function for each class of observations."""

    def listener_for(self, kind: type[Any]) -> Observer | None:
        """Return the function for observations of the class ``kind``; ``None`` to ignore them.

        Repeated calls with the same class must return the same result.
        """
        ...


class _FanOut:
    __slots__ = ("_calls", "_failed", "observers")

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        # Inner fan-outs are flattened, with the same result.
        self.observers = tuple(each for observer in observers for each in _inside(observer))
        # The functions for each class of observations, computed once: most classes have one metric
        # and no log line.
        self._calls: dict[type[Any], tuple[tuple[int, Observer], ...]] = {}
        self._failed: set[int] = set()

    def notify(self, observation: Observation) -> None:
        calls = self._calls.get(type(observation))
        if calls is None:
            calls = self._find_calls(type(observation))
        for number, call in calls:
            try:
                call(observation)
            except AUTHOR_ERRORS as error:
                failure_of(error)
                if number not in self._failed:
                    self._failed.add(number)
                    logging.getLogger("steersman").exception(
                        "the observer %s failed; this is logged only once",
                        _name_of(self.observers[number]),
                    )

    def _find_calls(self, kind: type[Any]) -> tuple[tuple[int, Observer], ...]:
        listeners = [_listener(observer, kind) for observer in self.observers]
        calls = tuple((n, call) for n, call in enumerate(listeners) if call is not None)
        self._calls[kind] = calls
        return calls


def _inside(observer: Observer) -> tuple[Observer, ...]:
    behind = getattr(observer, "__self__", None)
    return behind.observers if isinstance(behind, _FanOut) else (observer,)


def _listener(observer: Any, kind: type[Any]) -> Observer | None:
    """Return the function or method that is called for observations of the class ``kind``.

    For an observer that is neither, its ``__call__`` method is returned, because calling the object
    itself takes twice as long.
    """
    if _chooses(type(observer)):
        with suppress(Exception):  # notify it of everything; its error will show there
            choosy: SelectiveObserver = observer
            return choosy.listener_for(kind)
    call: Observer = observer
    if not isinstance(observer, (FunctionType, MethodType)):
        call = observer.__call__
    return call


def _chooses(kind: type[Any]) -> bool:
    """Return whether observers of the class ``kind`` have a ``listener_for`` that is to be called.

    The class decides, not the object: a mock has any attribute and does not choose. A subclass that
    overrides ``__call__`` is always called.
    """
    for each in kind.__mro__:
        if "listener_for" in vars(each):
            return True
        if "__call__" in vars(each):
            return False
    return False


def _name_of(observer: Observer) -> str:
    return getattr(observer, "__qualname__", type(observer).__qualname__)
