"""Calls of a context's methods that were never awaited, or whose task has not ended.

A call without ``await`` creates a coroutine that never runs: nothing is sent, and the reconcile
would count as a success. A task that is left behind has the same effect, because its write is
cancelled when the reconcile ends. So each coroutine is stored until it has ended, with the line of
its call.
"""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from types import CodeType, CoroutineType
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

#: The coroutine, the name of the method, and the caller's code and offset in it.
PendingCall: TypeAlias = "tuple[CoroutineType[Any, Any, Any], str, CodeType, int]"

# The prefix of the read-only methods.
_READS: Final = "ctx.live."


class _TracksCalls(Protocol):
    calls: list[PendingCall]


def tracked(prefix: str) -> Callable[[Function], Function]:
    """Return a decorator that stores each call of a method in ``self.calls`` until it ends.

    ``prefix`` is put before the method's name in errors.
    """
    # A private function, but the only way to find the caller.
    frame_of = sys._getframe  # pyright: ignore[reportPrivateUsage]

    def decorate(function: Function) -> Function:
        name = f"{prefix}.{function.__name__}"

        @wraps(function)
        def call(self: _TracksCalls, *args: Any, **kwargs: Any) -> Any:
            made = function(self, *args, **kwargs)
            caller = frame_of(1)
            calls = self.calls
            # Usually each call is awaited before the next one, and the last one has ended.
            if calls and calls[-1][0].cr_frame is None:
                calls[-1] = (made, name, caller.f_code, caller.f_lasti)
            else:
                calls.append((made, name, caller.f_code, caller.f_lasti))
            return made

        return cast(Function, call)

    return decorate


def close_unawaited(calls: list[PendingCall]) -> tuple[str, str, bool] | None:
    """Close the calls that never started; return the first unstarted or unfinished call.

    The returned tuple contains the method, the line of the call, and whether the call has started.
    Unfinished reads are ignored, because they do no harm.
    """
    found: tuple[str, str, bool] | None = None
    for call, name, code, at in calls:
        if call.cr_frame is None:
            continue
        has_started = inspect.getcoroutinestate(call) != inspect.CORO_CREATED
        if not has_started:
            call.close()
        elif name.startswith(_READS):
            continue
        found = found or (name, f"{code.co_filename}:{_line(code, at)}", has_started)
    return found


def _line(code: CodeType, at: int) -> int:
    for start, end, line in code.co_lines():
        if start <= at < end and line is not None:
            return line
    return code.co_firstlineno
