"""The fence: no write leaves a replica that cannot be sure to lead.

A lease alone does not keep two replicas from writing: the one that leads may be held up (stopped,
swapped out, starved) just before a write, and send it long after another has taken over. So the
leader's time is a moment on its own monotonic clock, and that is looked at *immediately before*
the bytes of each write go out, after any waiting for a connection. Once that moment has come,
no task waits for an answer any more, and what has not left the machine by then is thrown away.

What remains: between the look at the clock and the system call that sends there are about ten
microseconds (encryption; with uvloop, the rest of the loop's turn) in which the process may be held
up for longer than the lease lasts, and then sends one write too late. A write that the server has
received in time may be carried out late there. And on a machine that is suspended as a whole, the
monotonic clock stands still. Against these, only preconditions help: a uid or a resourceVersion
that is no longer right has the server refuse such a write.

Not held back: reads, Leases (they are how one gets to lead), Events (to tell of it), and reviews of
tokens and access, which write nothing.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from math import inf
from types import TracebackType
from typing import Final, Protocol

import msgspec

from steersman.clock import Clock
from steersman.errors import NotLeading
from steersman.observe import Observer, WriteHeldBack
from steersman.wire import Request, Response, Transport

_WRITES: Final = frozenset({"DELETE", "PATCH", "POST", "PUT"})

_EVENTS_AND_LEASES: Final = frozenset(
    {("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")}
)
_REVIEWERS: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})


class Passing(Protocol):
    """A write on its way through the fence."""

    def cut(self) -> None:
        """Give up: it has closed."""
        ...


class Fence:
    """Until when this replica may write; closed at first.

    ``closing`` closes it in time, so that every write that waits for an answer then fails at once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open_until_at = -inf
        self._passing: set[Passing] = set()

    def __repr__(self) -> str:
        return f"<Fence open for {self.left_seconds:.3g} s>" if self.is_open else "<Fence closed>"

    def extend_to(self, deadline_at: float) -> None:
        """Writes may go out before this moment, or before a later one that was given earlier."""
        self._open_until_at = max(self._open_until_at, deadline_at)

    def close(self) -> None:
        """Let no write go out until the fence is extended again, and give up those on their way."""
        self._open_until_at = -inf
        for passing in self._passing:
            passing.cut()

    async def closing(self) -> None:
        """Wait until its time is over, and close it."""
        while self.is_open:
            # By then it may have been extended.
            await self._clock.sleep(self.left_seconds)
        self.close()

    @property
    def left_seconds(self) -> float:
        """How long writes may still go out."""
        return max(0.0, self._open_until_at - self._clock.monotonic())

    @property
    def is_open(self) -> bool:
        """Whether a write may go out now."""
        return self._clock.monotonic() < self._open_until_at

    def leads(self) -> bool:
        """Whether this replica leads, by its own clock; for threads as well."""
        return self._clock.monotonic() < self._open_until_at

    def add(self, passing: Passing) -> None:
        """Have it cut if the fence is closed before it is discarded."""
        self._passing.add(passing)

    def discard(self, passing: Passing) -> None:
        """It is through, or has given up."""
        self._passing.discard(passing)


class FencedTransport:
    """Carries writes while ``fence`` is open, and everything else always.

    A write that finds it closed raises ``NotLeading``, and so does one whose answer has not begun
    to come when it closes; ``may_have_happened`` tells the two apart.
    """

    def __init__(self, inner: Transport, fence: Fence, *, observe: Observer) -> None:
        self._inner = inner
        self._fence = fence
        self._observe = observe

    def __repr__(self) -> str:
        return f"<FencedTransport over {self._inner!r}: {self._fence!r}>"

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Send ``request``, unless it is a write and this replica may no longer make it."""
        if not is_fenced(request.method, request.path):
            return self._inner.open(request)
        return _FencedExchange(request, inner=self._inner, fence=self._fence, observe=self._observe)


class _FencedExchange:
    """A write on its way; by hand, because a generator would cost more than all this does."""

    __slots__ = (
        "_fence",
        "_held",
        "_is_cut",
        "_observe",
        "_request",
        "_task",
        "_was_sent",
    )

    def __init__(
        self, request: Request, *, inner: Transport, fence: Fence, observe: Observer
    ) -> None:
        self._request = request
        self._fence = fence
        self._observe = observe
        self._task: asyncio.Task[object] | None = None
        self._is_cut = False
        self._was_sent = False
        self._held = inner.open(msgspec.structs.replace(request, guard=self._check))

    async def __aenter__(self) -> Response:
        fence = self._fence
        task = self._task = asyncio.current_task()
        cancelling = task.cancelling() if task is not None else 0
        fence.add(self)
        try:
            if not fence.is_open:
                raise NotLeading(wanted=self._wanted)
            return await self._held.__aenter__()
        except NotLeading:
            self._tell_if_unsent()
            raise
        except asyncio.CancelledError:
            # As ``asyncio.timeout`` does: other code may cancel the task as well.
            if not self._is_cut or task is None or task.uncancel() > cancelling:
                raise
        finally:
            fence.discard(self)
        self._tell_if_unsent()
        raise NotLeading(wanted=self._wanted, may_have_happened=self._was_sent)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        held = self._held
        # It knows this by the guard. A circle for each write would keep the collector busy.
        del self._held
        return await held.__aexit__(kind, error, traceback)

    def cut(self) -> None:
        """Wait for the answer no longer."""
        if self._task is not None and not self._is_cut:
            self._is_cut = True
            self._task.cancel()

    def _check(self) -> None:
        if self._request.guard is not None:
            self._request.guard()
        if not self._fence.is_open:
            raise NotLeading(wanted=self._wanted)
        self._was_sent = True

    @property
    def _wanted(self) -> str:
        return f"{self._request.method} {self._request.path}"

    def _tell_if_unsent(self) -> None:
        if not self._was_sent:
            self._observe(WriteHeldBack(method=self._request.method, path=self._request.path))


def is_fenced(method: str, path: str) -> bool:
    """Whether only a leader may send this; whatever looks strange is taken for a write of its own.

    A dry run is held back as well: a replica that does not lead has no use for one.
    """
    if method not in _WRITES:
        return False
    # Of most paths this says enough; a look at each of its segments takes longer by far.
    if "events" not in path and "leases" not in path and "reviews" not in path:
        return True
    return not _is_open_to_all(*_resource_of(path))


def _is_open_to_all(group: str, resource: str) -> bool:
    if (group, resource) in _EVENTS_AND_LEASES:
        return True
    return group in _REVIEWERS and resource.endswith("reviews")


def _resource_of(path: str) -> tuple[str, str]:
    """Group and plural; a subresource belongs to its resource."""
    match path.split("/"):
        case ["", "api", _version, "namespaces", _namespace, resource, *_rest]:
            return "", resource
        case ["", "apis", group, _version, "namespaces", _namespace, resource, *_rest]:
            return group, resource
        case ["", "api", _version, resource, *_rest]:
            return "", resource
        case ["", "apis", group, _version, resource, *_rest]:
            return group, resource
        case _:
            return "", ""
