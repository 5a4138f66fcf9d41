"""Methods of a context that are to be awaited, and which of their calls never were.

A call without ``await`` makes a coroutine that never runs: nothing is sent, and the reconcile would
count as a success. ``Calls`` keeps each coroutine until it has ended, with the line that made it.
"""

import inspect
import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from types import CodeType
from typing import Any, Protocol, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Coroutine[Any, Any, Any]])


class Calls:
    """The calls of one reconcile."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: list[tuple[Coroutine[Any, Any, Any], str, CodeType, int]] = []

    def note(self, call: Coroutine[Any, Any, Any], verb: str, code: CodeType, at: int) -> None:
        """Keep a call until it has ended; ``at`` is where in ``code`` it was made."""
        made = self._made
        # Most are awaited one by one: what has ended is at the end.
        while made and inspect.getcoroutinestate(made[-1][0]) == inspect.CORO_CLOSED:
            made.pop()
        made.append((call, verb, code, at))

    def drop_unawaited(self) -> tuple[str, str] | None:
        """Close all calls that have never begun; the verb and the line of the first, if any."""
        found: tuple[str, str] | None = None
        for call, verb, code, at in self._made:
            if inspect.getcoroutinestate(call) == inspect.CORO_CREATED:
                call.close()
                found = found or (verb, f"{code.co_filename}:{_line(code, at)}")
        return found


class _Calling(Protocol):
    calls: Calls


def verb(prefix: str) -> Callable[[Function], Function]:
    """Have the ``calls`` of the object keep each call of this method."""

    def decorate(function: Function) -> Function:
        name = f"{prefix}.{function.__name__}"

        @wraps(function)
        def call(self: _Calling, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
            made = function(self, *args, **kwargs)
            caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
            self.calls.note(made, name, caller.f_code, caller.f_lasti)
            return made

        return cast(Function, call)

    return decorate


def _line(code: CodeType, at: int) -> int:
    for start, end, line in code.co_lines():
        if start <= at < end and line is not None:
            return line
    return code.co_firstlineno
