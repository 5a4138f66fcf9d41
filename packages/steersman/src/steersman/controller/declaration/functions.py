"""Functions of the operator author: their names, and whether they are ``async``. No I/O."""

import functools
import inspect
from collections.abc import Callable
from types import FunctionType


def is_async(function: Callable[..., object]) -> bool:
    """Return whether ``function`` is an ``async def``, or a wrapper of one."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - not whether it is callable
    )


def name_of(function: Callable[..., object]) -> str:
    """Return the qualified name of ``function``, or of the function that it wraps."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)


def takes_arguments(function: Callable[..., object], arguments: int) -> bool:
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        # The code object of a plain function is much faster to read than its signature.
        code = function.__code__
        defaults = len(function.__defaults__ or ())
        if not code.co_kwonlyargcount and code.co_argcount - defaults <= arguments:
            return arguments <= code.co_argcount or bool(code.co_flags & inspect.CO_VARARGS)
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # implemented in C, without a signature
        return True
    return True
