"""Observers made of other observers, and the one that does not listen."""

import logging
from contextlib import suppress
from types import FunctionType, MethodType
from typing import Any, Protocol

from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.observe.events import Observation, Observer


def ignore(_observation: Observation) -> None:
    """Listen to nothing."""


def fan_out(*observers: Observer) -> Observer:
    """Tell each of ``observers``, in this order, whatever becomes of the others.

    One that raises goes on being told. Its first error is logged, and only that one: what is
    broken is mostly broken for every observation.
    """
    return _FanOut(observers).tell


class Choosy(Protocol):
    """An observer that knows from the class of an observation who is to be told, if anybody."""

    def listener_for(self, kind: type[Any]) -> Observer | None:
        """What is told of observations of this class; always the same."""
        ...


class _FanOut:
    __slots__ = ("_calls", "_failed", "observers")

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        # Those of a fan-out inside this one are told from here, which comes to the same.
        self.observers = tuple(each for observer in observers for each in _inside(observer))
        # Whom each class of observations concerns, found once: most of what happens is counted in
        # one place, and in no log.
        self._calls: dict[type[Any], tuple[tuple[int, Observer], ...]] = {}
        self._failed: set[int] = set()

    def tell(self, observation: Observation) -> None:
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
                        "the observer %s failed; this is said only once",
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
    """What to call, as a function or method: any other object takes twice as long to call."""
    if _chooses(type(observer)):
        with suppress(Exception):  # it is told of all, and what is wrong with it shows there
            choosy: Choosy = observer
            return choosy.listener_for(kind)
    call: Observer = observer
    if not isinstance(observer, (FunctionType, MethodType)):
        call = observer.__call__
    return call


def _chooses(kind: type[Any]) -> bool:
    """Whether objects of this class say what they listen to, and mean all that they are told.

    Of its class: an object that has whatever it is asked for does not choose. And one whose class
    has made another call of it wants to be called.
    """
    for each in kind.__mro__:
        if "listener_for" in vars(each):
            return True
        if "__call__" in vars(each):
            return False
    return False


def _name_of(observer: Observer) -> str:
    return getattr(observer, "__qualname__", type(observer).__qualname__)
