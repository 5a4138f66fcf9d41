"""The store of one server: the log, a view of the log, and signals for watches."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from random import Random

from steersman.clock import Clock
from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request
from steersman_cluster.apiserver.meta.strategy import Object, Strategy
from steersman_cluster.apiserver.request.object_encoder import ordered, rest_of
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.schema.depth import MAX_DEPTH, is_deep
from steersman_cluster.apiserver.storage import Entry, Key, RevisionLog, View

# etcd's default limit of a request.
MAX_OBJECT_BYTES = 3 * 512 * 1024

TOO_DEEP = "the object is nested too deeply"


# kube-apiserver's interval of bookmarks.
BOOKMARK_SECONDS = 60.0


class ChangeSignal:
    """A signal that wakes all waiting watches after a change."""

    def __init__(self) -> None:
        self.is_closed = False  # there will be no further change
        self._waiting: dict[asyncio.Future[None], None] = {}  # a set that keeps its order

    def notify(self) -> None:
        """Wake all current waiters."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            for each in waiting:
                if not each.done():
                    each.set_result(None)

    async def wait(self) -> None:
        """Wait for the next notification."""
        future = asyncio.get_running_loop().create_future()
        self._waiting[future] = None
        try:
            await future
        finally:
            self._waiting.pop(future, None)  # a cancelled wait leaves nothing behind

    def __repr__(self) -> str:
        return f"<ChangeSignal {len(self._waiting)} waiting>"


class Store:
    """The store of one server: it reads from one view of the log, and writes to the log.

    A handler does not yield to other tasks between a read and the write that depends on it. If
    another process has written the object in between, the object's revision differs from the
    expected one, and the log rejects the write.
    """

    def __init__(self, log: RevisionLog, *, clock: Clock, rng: Random) -> None:
        self.clock = clock
        self.rng = rng
        self.log = log
        self.view = View(log)
        #: The interval of bookmarks; with ``inf``, a watch gets one only before its end.
        self.bookmark_seconds = BOOKMARK_SECONDS
        self._change_signals: dict[str, ChangeSignal] = {}
        self._listeners: dict[str, list[Callable[[Object], None]]] = {}
        # Of resources with a time to live: when each write expires, in that order.
        self._expiring: dict[str, deque[tuple[float, Key, int]]] = {}

    def change_signal(self, resource: str) -> ChangeSignal:
        """Return the signal for changes of ``resource``."""
        if resource not in self._change_signals:
            self._change_signals[resource] = ChangeSignal()
        return self._change_signals[resource]

    def listen(self, resource: GroupResource, listener: Callable[[Object], None]) -> None:
        """Call ``listener`` at each write to ``resource``, before the server responds.

        The argument is the new object, or the last state of a deleted object. The listener must
        neither write nor raise.
        """
        self._listeners.setdefault(str(resource), []).append(listener)

    def on_first_write(self, resource: GroupResource, call: Callable[[], None]) -> bool:
        """Register ``call`` to be called at the first write to ``resource``; return True.

        If ``resource`` already has objects, return False, and never call ``call``.
        """
        if self.every(resource):
            return False
        # The listener runs in the writer's context. Tasks that ``call`` starts belong to this one.
        context = copy_context()
        has_called = False

        def listener(_: Object) -> None:
            nonlocal has_called
            if not has_called:
                has_called = True
                context.run(call)

        self.listen(resource, listener)
        return True

    def end_watches(self, resource: str) -> None:
        """End all watches of ``resource``, because its CustomResourceDefinition has changed."""
        if (change_signal := self._change_signals.pop(resource, None)) is not None:
            change_signal.is_closed = True
            change_signal.notify()

    def entry(self, served: ServedResource, namespace: str, name: str) -> Entry | None:
        """Return the stored entry of an object, or None."""
        return self.view.get(Key(served.stored_as, served.place(namespace, name)))

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """Return the stored object, or None if it does not exist.

        ``namespace`` is ``""`` for a cluster-scoped object.
        """
        place = f"{namespace}/{name}" if namespace else name
        entry = self.view.get(Key(str(resource), place))
        return None if entry is None else entry.value

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        """Return all stored objects of a resource in ``namespace``.

        If ``namespace`` is empty, the objects of every namespace are returned.
        """
        name = str(resource)
        if not self.log.resource_log(name).places:
            return ()  # a shortcut: most clusters have no objects of the kinds that writes look up
        page = self.view.page(name, prefix=f"{namespace}/" if namespace else "")
        return [entry.value for entry in page.entries if entry.value is not None]

    def last_change(self, *resources: GroupResource) -> int:
        """Return the revision of the last change of any object of ``resources``.

        The result is at most the view's revision.
        """
        last = max(self.log.resource_log(str(each)).last_revision for each in resources)
        return min(last, self.view.revision)

    def write(self, key: Key, obj: Object, *, strategy: Strategy, replacing: Entry | None) -> Entry:
        """Store ``obj`` with a new resourceVersion, and return its entry.

        ``replacing`` is the entry that ``obj`` replaces; None for a new object. The stored object
        is shared with all readers, so the caller must not change ``obj`` afterwards.
        """
        obj["metadata"]["resourceVersion"] = str(self.log.revision + 1)
        obj = ordered(obj)
        rendered = rest_of(obj)
        if len(rendered) > MAX_OBJECT_BYTES:
            raise StatusError(500, "", "etcdserver: request is too large")
        if rendered.count(b"{") + rendered.count(b"[") > MAX_DEPTH and is_deep(obj):
            raise bad_request(TOO_DEEP)
        expected = 0 if replacing is None else replacing.revision
        entry = self.log.append(key, obj, expected=expected)
        entry.rendered = rendered
        if strategy.ttl_seconds is not None:
            due_at = self.clock.monotonic() + strategy.ttl_seconds
            self._expirations(key.resource, due_at).append((due_at, key, entry.revision))
        self._notify(entry, strategy, None if replacing is None else replacing.value)
        return entry

    def delete(self, entry: Entry, *, strategy: Strategy) -> Entry:
        """Delete the object of ``entry``, and return the entry of the deletion."""
        tombstone = self.log.append(entry.key, None, expected=entry.revision)
        self._notify(tombstone, strategy, entry.value)
        return tombstone

    def delete_expired(self, resource: str, *, strategy: Strategy) -> None:
        """Delete the objects of ``resource`` whose time to live in ``strategy`` has passed."""
        now_at = self.clock.monotonic()
        dues = self._expirations(resource, now_at + (strategy.ttl_seconds or 0.0))
        while dues and dues[0][0] <= now_at:
            _, key, revision = dues.popleft()
            # An object that was written again has another entry in the queue.
            if (entry := self.view.get(key)) is not None and entry.revision == revision:
                self.delete(entry, strategy=strategy)

    def _expirations(self, resource: str, due_at: float) -> deque[tuple[float, Key, int]]:
        """Return the queue of the expirations of a resource's objects.

        Objects that an earlier process wrote expire at ``due_at``, as if they were written now.
        """
        found = self._expiring.get(resource)
        if found is None:
            entries = self.view.page(resource).entries
            found = deque((due_at, each.key, each.revision) for each in entries)
            self._expiring[resource] = found
        return found

    def _notify(self, entry: Entry, strategy: Strategy, old: Object | None) -> None:
        strategy.after_write(old, entry.value)
        self.view.advance(entry.revision)
        resource = entry.key.resource
        self.change_signal(resource).notify()
        for listener in self._listeners.get(resource, ()):
            listener(entry.value or old or {})
