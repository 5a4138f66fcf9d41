"""Handles ``SystemExit`` and ``KeyboardInterrupt`` from a function of the operator author.

If a task raised one of these exceptions, the exception would end the event loop, and thus the
operator. Every call of an author's function therefore catches ``AUTHOR_ERRORS``, and passes the
caught exception to ``failure_of``.
"""

import signal
import threading
from functools import partial
from types import CodeType, TracebackType
from typing import Any, Final

from steersman.errors.root import SteersmanError

AUTHOR_ERRORS: Final = (Exception, SystemExit, KeyboardInterrupt)


class ExitRaised(SteersmanError):
    """A function of the operator author raised ``SystemExit`` or ``KeyboardInterrupt``."""

    def __init__(self, *, raised: str, where: str) -> None:
        self.raised = raised
        self.where = where
        super().__init__(
            f"{raised} was raised at {where}, and the operator keeps running: only a signal stops"
            f" it. Raise another exception, or sm.Permanent where a retry does not help."
        )


def failure_of(error: BaseException) -> Exception:
    """Return ``error``, which an operator author's function raised, as an ``Exception``.

    Raise ``error`` again if it is a ``KeyboardInterrupt`` that a signal caused, because such an
    interrupt must end the process.
    """
    if isinstance(error, Exception):
        return error
    if isinstance(error, KeyboardInterrupt) and _is_from_signal(error):
        raise error
    failure = ExitRaised(raised=type(error).__name__, where=_where(error.__traceback__))
    failure.__cause__ = error
    return failure


def _is_from_signal(error: KeyboardInterrupt) -> bool:
    if threading.current_thread() is not threading.main_thread():
        return False  # Python delivers signals only to the main thread.
    handler: Any = signal.getsignal(signal.SIGINT)
    innermost = _innermost(error.__traceback__)
    if innermost is None:
        return False
    if handler is signal.default_int_handler:
        # Python's own handler is not Python code: the traceback ends at the interrupted
        # instruction, which is not a ``raise``.
        return not _is_at_raise(innermost)
    while isinstance(handler, partial):
        handler = handler.func
    code = getattr(getattr(handler, "__func__", handler), "__code__", None)
    return isinstance(code, CodeType) and innermost.tb_frame.f_code is code


def _is_at_raise(trace: TracebackType) -> bool:
    # Imported here, because programs rarely need it.
    from dis import opname

    return opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] in {"RAISE_VARARGS", "RERAISE"}


def _where(trace: TracebackType | None) -> str:
    innermost = _innermost(trace)
    if innermost is None:
        return "an unknown line"
    return f"{innermost.tb_frame.f_code.co_filename}:{innermost.tb_lineno}"


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
