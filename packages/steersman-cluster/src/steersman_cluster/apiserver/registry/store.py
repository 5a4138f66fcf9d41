"""The store of one server: the log, its view of it, and signals for watches."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from random import Random

from steersman.clock import Clock
from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.rules import Object, Rules
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request
from steersman_cluster.apiserver.request.object_encoder import ordered, rest_of
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.schema.depth import DEEPEST, is_deep
from steersman_cluster.apiserver.storage import Entry, Key, RevisionLog, View

# What etcd takes in one request by default.
LARGEST = 3 * 512 * 1024

TOO_DEEP = "the object is nested too deeply"


# How often a watch that asks for bookmarks gets one, as on a real server.
BOOKMARK_SECONDS = 60.0


class ChangeSignal:
    """Wakes all waiting watches when something has changed."""

    def __init__(self) -> None:
        self.is_closed = False  # there will be no further change
        self._waiting: dict[asyncio.Future[None], None] = {}  # a set that keeps its order

    def notify(self) -> None:
        """Wake all who wait now."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            for each in waiting:
                if not each.done():
                    each.set_result(None)

    async def wait(self) -> None:
        """Until the next ring."""
        future = asyncio.get_running_loop().create_future()
        self._waiting[future] = None
        try:
            await future
        finally:
            self._waiting.pop(future, None)  # a cancelled wait leaves nothing behind

    def __repr__(self) -> str:
        return f"<ChangeSignal {len(self._waiting)} waiting>"


class Store:
    """Reads from one view of the log, and writes to the log.

    A handler writes what it made from what it read just before, without letting another task run in
    between; where they had to, ``expected`` finds out.
    """

    def __init__(self, log: RevisionLog, *, clock: Clock, rng: Random) -> None:
        self.clock = clock
        self.rng = rng
        self.log = log
        self.view = View(log)
        #: How often a watch that asks for bookmarks gets one; ``inf``: only before its end.
        self.bookmark_seconds = BOOKMARK_SECONDS
        self._change_signals: dict[str, ChangeSignal] = {}
        self._listeners: dict[str, list[Callable[[Object], None]]] = {}
        # Of resources that are not kept for ever: when each write is forgotten, in that order.
        self._due: dict[str, deque[tuple[float, Key, int]]] = {}

    def change_signal(self, resource: str) -> ChangeSignal:
        """The one that rings when this resource changes."""
        if resource not in self._change_signals:
            self._change_signals[resource] = ChangeSignal()
        return self._change_signals[resource]

    def listen(self, resource: GroupResource, listener: Callable[[Object], None]) -> None:
        """Call ``listener`` with each write to a resource, before the request is answered.

        It hears the object as it is now, or as it was last, and must neither write nor raise.
        """
        self._listeners.setdefault(str(resource), []).append(listener)

    def on_first_write(self, resource: GroupResource, call: Callable[[], None]) -> bool:
        """Call ``call`` at the first write to a resource, unless there are objects already.

        Returns whether it will be called.
        """
        if self.every(resource):
            return False
        # The writer runs in another context, and what is begun then is not part of it.
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
        """Send away who waits for changes of a resource, which is no longer what it was."""
        if (change_signal := self._change_signals.pop(resource, None)) is not None:
            change_signal.is_closed = True
            change_signal.notify()

    def entry(self, served: ServedResource, namespace: str, name: str) -> Entry | None:
        """What is kept of an object."""
        return self.view.get(Key(served.stored_as, served.place(namespace, name)))

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        """The stored object, or None; cluster-scoped ones are in namespace ``""``."""
        place = f"{namespace}/{name}" if namespace else name
        entry = self.view.get(Key(str(resource), place))
        return None if entry is None else entry.value

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        """All stored objects of a resource, in every namespace or one."""
        name = str(resource)
        if not self.log.resource_log(name).places:
            return ()  # most writes ask for something that hardly any cluster has
        page = self.view.page(name, prefix=f"{namespace}/" if namespace else "")
        return [entry.value for entry in page.entries if entry.value is not None]

    def last_change(self, *resources: GroupResource) -> int:
        """The revision at which any of the resources last changed, as far as this view knows."""
        last = max(self.log.resource_log(str(each)).last_revision for each in resources)
        return min(last, self.view.revision)

    def write(self, key: Key, obj: Object, *, rules: Rules, replacing: Entry | None) -> Entry:
        """Keep ``obj``, which gets its resourceVersion here and is shared from now on."""
        obj["metadata"]["resourceVersion"] = str(self.log.revision + 1)
        obj = ordered(obj)
        rendered = rest_of(obj)
        if len(rendered) > LARGEST:
            raise StatusError(500, "", "etcdserver: request is too large")
        if rendered.count(b"{") + rendered.count(b"[") > DEEPEST and is_deep(obj):
            raise bad_request(TOO_DEEP)
        expected = 0 if replacing is None else replacing.revision
        entry = self.log.append(key, obj, expected=expected)
        entry.rendered = rendered
        if rules.kept_seconds is not None:
            due_at = self.clock.monotonic() + rules.kept_seconds
            self._dues(key.resource, due_at).append((due_at, key, entry.revision))
        self._notify(entry, rules, None if replacing is None else replacing.value)
        return entry

    def delete(self, entry: Entry, *, rules: Rules) -> Entry:
        """Let go of what an entry holds."""
        tombstone = self.log.append(entry.key, None, expected=entry.revision)
        self._notify(tombstone, rules, entry.value)
        return tombstone

    def delete_expired(self, resource: str, *, rules: Rules) -> None:
        """Delete what has been kept for as long as its kind is kept."""
        now_at = self.clock.monotonic()
        dues = self._dues(resource, now_at + (rules.kept_seconds or 0.0))
        while dues and dues[0][0] <= now_at:
            _, key, revision = dues.popleft()
            # What was written again since has another place in the queue.
            if (entry := self.view.get(key)) is not None and entry.revision == revision:
                self.delete(entry, rules=rules)

    def _dues(self, resource: str, due_at: float) -> deque[tuple[float, Key, int]]:
        """The queue of a resource; what was there before this server was, is as good as new."""
        found = self._due.get(resource)
        if found is None:
            entries = self.view.page(resource).entries
            found = deque((due_at, each.key, each.revision) for each in entries)
            self._due[resource] = found
        return found

    def _notify(self, entry: Entry, rules: Rules, old: Object | None) -> None:
        rules.stored(old, entry.value)
        self.view.advance(entry.revision)
        resource = entry.key.resource
        self.change_signal(resource).notify()
        for listener in self._listeners.get(resource, ()):
            listener(entry.value or old or {})
