"""Faults between an operator and its cluster, each at the n-th call or watch event.

``SingleFault`` injects one ``Fault``. It counts the mutating calls and the watch events of an
operator during one execution of a scenario, including those after a restart of the operator.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any, Final, NoReturn, Self

from steersman.clock import Clock
from steersman.errors import Unreachable
from steersman.wire import Request
from steersman_cluster.simulation.actors import Actor
from steersman_cluster.simulation.history import MUTATING, is_bookkeeping
from steersman_cluster.simulation.transport import wait_forever

# A cache that is this late is behind everything else that an operator does, retries included. No
# timeout of a client or a watch is shorter.
DELAY_SECONDS: Final = 20.0

# More calls than any scenario needs: an operator that makes more never settles.
MAX_CALLS: Final = 1000

_BOOKMARK: Final = b'{"type":"BOOKMARK"'


class FaultKind(StrEnum):
    """The kind of a fault, with the text that the trace and the replay command show."""

    BEFORE = "before call"
    AFTER = "after call"
    LOST = "response lost after call"
    CUT = "watch cut at event"
    LATE = "children late from event"
    STALE = "caches late and response lost after call"
    OVERTAKEN = "users overtake call"
    DOWN_BEFORE = "users write after a crash before call"
    DOWN_AFTER = "users write after a crash after call"

    @property
    def waits_for_users(self) -> bool:
        """Whether the fault lasts until users have written something."""
        return self in (FaultKind.OVERTAKEN, FaultKind.DOWN_BEFORE, FaultKind.DOWN_AFTER)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of kind ``kind`` at the ``number``-th call or watch event, counted from 1."""

    kind: FaultKind
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"

    @classmethod
    def named(cls, words: str) -> Self:
        """Return the fault whose text is ``words``, such as ``before call 3``.

        Raise ``ValueError`` if ``words`` is not the text of a fault.
        """
        kind, _, number = words.strip().rpartition(" ")
        if kind not in list(FaultKind) or not number.isdecimal() or int(number) < 1:
            known = ", ".join(f'"{each} 1"' for each in FaultKind)
            raise ValueError(f"{words!r} is not a fault; the faults are {known}, …")
        return cls(FaultKind(kind), int(number))


class SingleFault:
    """Counts an operator's calls and watch events, and injects ``fault`` at its number.

    ``kill`` is called to end the operator, and ``hold`` to wait until users have written something.
    ``note`` adds a line to the trace, and ``on_injection`` adds the line about the fault.
    ``child_watches`` identifies the watches of the operator's child objects by their paths: each
    pair contains the beginning and the end of a path.
    """

    def __init__(
        self,
        fault: Fault | None,
        *,
        clock: Clock,
        kill: Callable[[], None],
        hold: Callable[[], Awaitable[None]],
        note: Callable[[str], None],
        on_injection: Callable[[str], None],
    ) -> None:
        self.fault = fault
        self.calls = 0
        self.events = 0
        self.child_events = 0
        self.has_injected = False
        self.is_endless = False
        self._clock = clock
        self._kill = kill
        self._hold = hold
        self.note = note
        self._on_injection = on_injection
        self.child_watches: Sequence[tuple[str, str]] = ()
        # The number of user writes before each call.
        self.user_writes = 0
        self.written_before: list[int] = []
        self._silent_until_at = 0.0
        self._in_flight: dict[int, int] = {}

    def wrap(self, system: Any) -> Any:
        """Wrap ``system``, outside the cluster, so that its coroutine methods count as calls."""
        return _WrappedSystem(system, self)

    # The methods of a fault injector

    async def before_request(self, actor: Actor, request: Request) -> None:  # noqa: ARG002 - of the protocol
        """Count a mutating ``request``, and inject its fault before the server receives it."""
        if _is_call(request):
            # Several requests are in flight at once: each is identified until its response arrives.
            self._in_flight[id(request)] = await self.before(_described(request))

    async def before_response(self, actor: Actor, request: Request) -> None:  # noqa: ARG002
        """Inject a fault after the server has handled ``request``, before the response arrives."""
        if _is_call(request):
            await self.after(_described(request), self._in_flight.pop(id(request)))

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:  # noqa: ARG002
        """Count a watch event, and inject its fault before the operator receives ``piece``."""
        silent_seconds = self._silent_until_at - self._clock.monotonic()
        if silent_seconds > 0:
            await self._clock.sleep(silent_seconds)
        if piece.startswith(_BOOKMARK):
            return
        self.events += 1
        if self._must_inject(FaultKind.CUT, self.events):
            self._on_injection(f"loses its watch of {request.path}")
            raise Unreachable(f"the watch of {request.path} was cut")
        if self._is_of_children(request.path):
            self.child_events += 1
            if self._must_inject(FaultKind.LATE, self.child_events):
                self._on_injection(f"gets no events of {request.path} for {DELAY_SECONDS:g} s")
                await self._clock.sleep(DELAY_SECONDS)

    # The faults of a call

    async def before(self, what: str) -> int:
        """Count a mutating call, inject its fault before the call, and return the call's number.

        ``what`` describes the call in the trace.
        """
        self.calls += 1
        number = self.calls
        self.written_before.append(self.user_writes)
        if number > MAX_CALLS:
            self.is_endless = True
            await self._die(f"is stopped after {MAX_CALLS} calls")
        if self._must_inject(FaultKind.BEFORE, number):
            await self._die(f"is killed before {what}")
        if self._must_inject(FaultKind.DOWN_BEFORE, number):
            await self._die(f"is killed before {what}, while users continue")
        if self._must_inject(FaultKind.OVERTAKEN, number):
            self._on_injection(f"is about to send {what}, but users write first")
            await self._hold()
        return number

    async def after(self, what: str, number: int) -> None:
        """Inject the fault of call ``number`` after its effect, before its response arrives.

        ``what`` describes the call in the trace.
        """
        if self._must_inject(FaultKind.AFTER, number):
            await self._die(f"is killed after {what}")
        if self._must_inject(FaultKind.DOWN_AFTER, number):
            await self._die(f"is killed after {what}, while users continue")
        is_lost = self._must_inject(FaultKind.STALE, number)
        if is_lost:
            # One network failure does both: it resets one connection, and leaves the others half
            # open.
            self._silent_until_at = self._clock.monotonic() + DELAY_SECONDS
            self._on_injection(
                f"gets no response to {what}, and no watch event for {DELAY_SECONDS:g} s"
            )
        if self._must_inject(FaultKind.LOST, number):
            self._on_injection(f"gets no response to {what}")
            is_lost = True
        if is_lost:
            raise Unreachable(f"{what}: the response was lost")

    def _is_of_children(self, path: str) -> bool:
        return any(
            path.startswith(start) and path.endswith(end) for start, end in self.child_watches
        )

    def _must_inject(self, kind: FaultKind, number: int) -> bool:
        must_inject = not self.has_injected and self.fault == Fault(kind, number)
        self.has_injected |= must_inject
        return must_inject

    async def _die(self, how: str) -> NoReturn:
        self._on_injection(how)
        self._kill()
        await wait_forever()
        raise AssertionError("unreachable: a crashed operator does not continue")


class _WrappedSystem:
    """A wrapper of a system outside the cluster, whose coroutine methods count as calls."""

    __slots__ = ("_fault_injector", "_system")

    def __init__(self, system: object, fault_injector: SingleFault) -> None:
        object.__setattr__(self, "_system", system)
        object.__setattr__(self, "_fault_injector", fault_injector)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._system, name, value)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._system, name)
        if not inspect.iscoroutinefunction(found):
            return found

        @wraps(found)
        async def call(*args: Any, **kwargs: Any) -> Any:
            what = f"{type(self._system).__name__}.{name}"
            number = await self._fault_injector.before(what)
            result = await found(*args, **kwargs)
            self._fault_injector.note(what)
            await self._fault_injector.after(what, number)
            return result

        return call


def _is_call(request: Request) -> bool:
    return request.method in MUTATING and not is_bookkeeping(request.path)


def _described(request: Request) -> str:
    return f"{request.method} {request.path}"
