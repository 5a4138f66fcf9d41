"""Observers made of other observers, and the one that does not listen."""

import logging
from types import FunctionType, MethodType
from typing import Any

from steersman.observe.events import Observation, Observer


def ignore(_observation: Observation) -> None:
    """Listen to nothing."""


def fan_out(*observers: Observer) -> Observer:
    """Tell each of ``observers``, in this order, whatever becomes of the others.

    One that raises goes on being told. Its first error is logged, and only that one: what is
    broken is mostly broken for every observation.
    """
    return _FanOut(observers).tell


class _FanOut:
    __slots__ = ("_calls", "_failed", "observers")

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        # Those of a fan-out inside this one are told from here, which comes to the same.
        self.observers = tuple(each for observer in observers for each in _inside(observer))
        self._calls = tuple(map(_call_of, self.observers))
        self._failed: set[int] = set()

    def tell(self, observation: Observation) -> None:
        for number, call in enumerate(self._calls):
            try:
                call(observation)
            except Exception:
                if number not in self._failed:
                    self._failed.add(number)
                    logging.getLogger("steersman").exception(
                        "the observer %s failed; this is said only once",
                        _name_of(self.observers[number]),
                    )


def _inside(observer: Observer) -> tuple[Observer, ...]:
    behind = getattr(observer, "__self__", None)
    return behind.observers if isinstance(behind, _FanOut) else (observer,)


def _call_of(observer: Any) -> Observer:
    """The same, but as a function or method: any other object takes twice as long to call."""
    call: Observer = observer
    if not isinstance(observer, (FunctionType, MethodType)):
        call = observer.__call__
    return call


def _name_of(observer: Observer) -> str:
    return getattr(observer, "__qualname__", type(observer).__qualname__)
