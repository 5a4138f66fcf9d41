"""Observers made of other observers, and the one that does not listen."""

import logging

from steersman.observe.events import Observation, Observer


def ignore(_observation: Observation) -> None:
    """Listen to nothing."""


def fan_out(*observers: Observer) -> Observer:
    """Tell each of ``observers``, in this order, whatever becomes of the others.

    One that raises goes on being told. Its first error is logged, and only that one: what is
    broken is mostly broken for every observation.
    """
    failed: set[int] = set()

    def tell_all(observation: Observation) -> None:
        for number, observer in enumerate(observers):
            try:
                observer(observation)
            except Exception:
                if number not in failed:
                    failed.add(number)
                    logging.getLogger("steersman").exception(
                        "the observer %s failed; this is said only once", _name_of(observer)
                    )

    return tell_all


def _name_of(observer: Observer) -> str:
    return getattr(observer, "__qualname__", type(observer).__qualname__)
