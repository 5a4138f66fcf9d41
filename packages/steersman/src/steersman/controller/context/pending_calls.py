"""Methods of a context that are to be awaited, and which of their calls never were.

A call without ``await`` makes a coroutine that never runs: nothing is sent, and the reconcile would
count as a success. So would one that leaves a task behind, whose write is cancelled when the
reconcile ends. So each coroutine is kept until it has ended, with the line that made it.
"""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from types import CodeType, CoroutineType
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

#: A call of a method: what is to be awaited, the method, and where in which code it was made.
Call: TypeAlias = "tuple[CoroutineType[Any, Any, Any], str, CodeType, int]"

# How the methods begin that only read.
_READS: Final = "ctx.live."


class _Calling(Protocol):
    calls: list[Call]


def verb(prefix: str) -> Callable[[Function], Function]:
    """Have the ``calls`` of the object keep each call of this method until it has ended."""
    # Not public, and the only way to know who calls.
    frame_of = sys._getframe  # pyright: ignore[reportPrivateUsage]

    def decorate(function: Function) -> Function:
        name = f"{prefix}.{function.__name__}"

        @wraps(function)
        def call(self: _Calling, *args: Any, **kwargs: Any) -> Any:
            made = function(self, *args, **kwargs)
            caller = frame_of(1)
            calls = self.calls
            # Most are awaited one by one, and then the last one has ended.
            if calls and calls[-1][0].cr_frame is None:
                calls[-1] = (made, name, caller.f_code, caller.f_lasti)
            else:
                calls.append((made, name, caller.f_code, caller.f_lasti))
            return made

        return cast(Function, call)

    return decorate


def drop_unawaited(calls: list[Call]) -> tuple[str, str, bool] | None:
    """Close all calls that have never begun; the first of them, or of writes that have not ended.

    Its method and line, and whether it has begun. A read that has not ended changes nothing.
    """
    found: tuple[str, str, bool] | None = None
    for call, name, code, at in calls:
        if call.cr_frame is None:
            continue
        has_begun = inspect.getcoroutinestate(call) != inspect.CORO_CREATED
        if not has_begun:
            call.close()
        elif name.startswith(_READS):
            continue
        found = found or (name, f"{code.co_filename}:{_line(code, at)}", has_begun)
    return found


def _line(code: CodeType, at: int) -> int:
    for start, end, line in code.co_lines():
        if start <= at < end and line is not None:
            return line
    return code.co_firstlineno
