"""An author's functions: what they are called, and how they can be called. Pure."""

import functools
import inspect
from collections.abc import Callable
from types import FunctionType


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives something to be awaited."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - not whether, but of which sort
    )


def name_of(function: Callable[..., object]) -> str:
    """A function, as its author knows it."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)


def takes_arguments(function: Callable[..., object], arguments: int) -> bool:
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        # A plain function says so itself, and much faster; all the rest is looked at closely.
        code = function.__code__
        defaults = len(function.__defaults__ or ())
        if not code.co_kwonlyargcount and code.co_argcount - defaults <= arguments:
            return arguments <= code.co_argcount or bool(code.co_flags & inspect.CO_VARARGS)
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # written in C: nobody can tell
        return True
    return True
