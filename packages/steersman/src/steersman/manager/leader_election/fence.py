"""The fence: blocks the writes of a replica that is no longer permitted to lead.

A lease alone does not keep two replicas from writing: the leader may be paused (stopped, swapped
out, starved) just before a write, and send the write long after another replica has taken over. So
leadership has a deadline on the leader's own monotonic clock. The fence checks the deadline
*immediately before* the bytes of each write are sent, after any wait for a connection. At the
deadline, all waits for responses to writes end, and unsent bytes are discarded.

Some risk remains:

- Between the check and the system call that sends, there are about ten microseconds (encryption;
  with uvloop, the rest of the loop's iteration). A process that is paused in this time for longer
  than the lease lasts sends one write too late.
- The server may execute late a write that it has received in time.
- While a machine is suspended, the monotonic clock stands still.

Only preconditions help in these cases: the server rejects a write with an outdated uid or
resourceVersion.

The fence does not block reads, writes of Leases (which are needed to become the leader), writes of
Events (which report a loss of leadership), and reviews of tokens and access, which change nothing.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from math import inf
from types import TracebackType
from typing import Final, Protocol

import msgspec

from steersman.clock import Clock
from steersman.errors import NotLeading
from steersman.observe import Observer, WriteFenced
from steersman.wire import Request, Response, Transport

_WRITES: Final = frozenset({"DELETE", "PATCH", "POST", "PUT"})

_EVENTS_AND_LEASES: Final = frozenset(
    {("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")}
)
_REVIEWERS: Final = frozenset({"authentication.k8s.io", "authorization.k8s.io"})


class FencedWrite(Protocol):
    """A write in flight, which the fence can abort."""

    def abort(self) -> None:
        """Abort the write, because the fence has closed."""
        ...


class Fence:
    """The deadline until which this replica is permitted to write; a new fence is closed.

    ``close_at_deadline`` closes the fence at the deadline, so that every write that waits for a
    response fails immediately.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open_until_at = -inf
        self._passing: set[FencedWrite] = set()

    def __repr__(self) -> str:
        return f"<Fence open for {self.left_seconds:.3g} s>" if self.is_open else "<Fence closed>"

    def extend_to(self, deadline_at: float) -> None:
        """Extend the deadline to ``deadline_at``; keep the current deadline if it is later."""
        self._open_until_at = max(self._open_until_at, deadline_at)

    def close(self) -> None:
        """Reject all writes until the deadline is extended again, and abort writes in flight."""
        self._open_until_at = -inf
        for passing in self._passing:
            passing.abort()

    async def close_at_deadline(self) -> None:
        """Wait until the deadline, and close the fence."""
        while self.is_open:
            # Meanwhile, the deadline may have been extended.
            await self._clock.sleep(self.left_seconds)
        self.close()

    @property
    def left_seconds(self) -> float:
        """The time until the deadline; 0 if no write may be sent."""
        return max(0.0, self._open_until_at - self._clock.monotonic())

    @property
    def is_open(self) -> bool:
        """Whether a write may be sent now."""
        return self._clock.monotonic() < self._open_until_at

    def leads(self) -> bool:
        """Return whether this replica leads, by its own clock; any thread can call this method."""
        return self._clock.monotonic() < self._open_until_at

    def add(self, passing: FencedWrite) -> None:
        """Track ``passing``, and abort it if the fence closes before ``discard`` is called."""
        self._passing.add(passing)

    def discard(self, passing: FencedWrite) -> None:
        """Stop tracking ``passing``, which has received a response or has failed."""
        self._passing.discard(passing)


class FencedTransport:
    """A transport that sends writes only while ``fence`` is open, and other requests always.

    A write raises ``NotLeading`` if the fence is closed, and also if the fence closes before the
    response begins to arrive. The ``may_have_happened`` of the error distinguishes the two cases.
    """

    def __init__(self, inner: Transport, fence: Fence, *, observe: Observer) -> None:
        self._inner = inner
        self._fence = fence
        self._observe = observe

    def __repr__(self) -> str:
        return f"<FencedTransport over {self._inner!r}: {self._fence!r}>"

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Return a context that sends ``request``, unless the fence rejects the request."""
        if not is_fenced(request.method, request.path):
            return self._inner.open(request)
        return _FencedExchange(request, inner=self._inner, fence=self._fence, observe=self._observe)


class _FencedExchange:
    """A write in flight; a class, because a generator would cost more."""

    __slots__ = (
        "_fence",
        "_held",
        "_is_aborted",
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
        self._is_aborted = False
        self._was_sent = False
        self._held = inner.open(msgspec.structs.replace(request, guard=self._check))

    async def __aenter__(self) -> Response:
        fence = self._fence
        task = self._task = asyncio.current_task()
        cancelling = task.cancelling() if task is not None else 0
        fence.add(self)
        try:
            if not fence.is_open:
                raise NotLeading(wanted=self._description)
            return await self._held.__aenter__()
        except NotLeading:
            self._report_if_unsent()
            raise
        except asyncio.CancelledError:
            # As in ``asyncio.timeout``, other code may cancel the task as well.
            if not self._is_aborted or task is None or task.uncancel() > cancelling:
                raise
        finally:
            fence.discard(self)
        self._report_if_unsent()
        raise NotLeading(wanted=self._description, may_have_happened=self._was_sent)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        held = self._held
        # The guard has no reference back, because a cycle for each write would cost garbage
        # collection.
        del self._held
        return await held.__aexit__(kind, error, traceback)

    def abort(self) -> None:
        """Stop waiting for the response."""
        if self._task is not None and not self._is_aborted:
            self._is_aborted = True
            self._task.cancel()

    def _check(self) -> None:
        if self._request.guard is not None:
            self._request.guard()
        if not self._fence.is_open:
            raise NotLeading(wanted=self._description)
        self._was_sent = True

    @property
    def _description(self) -> str:
        return f"{self._request.method} {self._request.path}"

    def _report_if_unsent(self) -> None:
        if not self._was_sent:
            self._observe(WriteFenced(method=self._request.method, path=self._request.path))


def is_fenced(method: str, path: str) -> bool:
    """Return whether only a leader may send a request with this ``method`` and ``path``.

    The result is true for a write to an unusual path. It is also true for a dry run, because a
    replica that does not lead does not need one.
    """
    if method not in _WRITES:
        return False
    # This decides most paths; checking each segment takes much longer.
    if "events" not in path and "leases" not in path and "reviews" not in path:
        return True
    return not _is_open_to_all(*_resource_of(path))


def _is_open_to_all(group: str, resource: str) -> bool:
    if (group, resource) in _EVENTS_AND_LEASES:
        return True
    return group in _REVIEWERS and resource.endswith("reviews")


def _resource_of(path: str) -> tuple[str, str]:
    """Return the group and the plural of the path; a subresource counts as its resource."""
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
