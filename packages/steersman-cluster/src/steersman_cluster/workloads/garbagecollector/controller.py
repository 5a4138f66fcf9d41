"""The garbage collector: it runs monitors and workers, and reports errors."""

from typing import Any, Final

from steersman.cache import Start, background_tasks
from steersman.controller import EventRecorder
from steersman.errors import SteersmanError, UnknownKind
from steersman.kinds import Unstructured
from steersman.manager import Services
from steersman.names import ObjectRef
from steersman.observe import ReconcileFinished
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwnerCache
from steersman_cluster.workloads.garbagecollector.collector import Collector
from steersman_cluster.workloads.garbagecollector.graph import (
    DependencyGraph,
    NamespaceMismatch,
    WorkItem,
)
from steersman_cluster.workloads.garbagecollector.identity import Identity, named_by
from steersman_cluster.workloads.garbagecollector.kinds import ServedKinds
from steersman_cluster.workloads.garbagecollector.monitors import Monitors
from steersman_cluster.workloads.settings import OnFirstWrite

#: Its name in events.
NAME: Final = "garbage-collector-controller"

# Requests in flight: more would load the server, fewer would be slow over a network.
MAX_WORKERS: Final = 5


async def collect_garbage(
    services: Services, *, on_first_write: OnFirstWrite | None = None
) -> None:
    """Delete objects whose owners no longer exist, until cancelled.

    If ``on_first_write`` is given, a kind is not watched until the first object of this kind
    exists.
    """
    async with background_tasks() as start:
        await GarbageCollector(services, start, on_first_write=on_first_write).run()


class GarbageCollector:
    """A garbage collector for Kubernetes objects, with one dependency graph for all kinds.

    The graph is built from the objects that the API server lists. An instance can be run only once.
    """

    def __init__(
        self, services: Services, start: Start, *, on_first_write: OnFirstWrite | None
    ) -> None:
        self._services = services
        self._start = start
        self._graph = DependencyGraph(absent=AbsentOwnerCache())
        self._collector = Collector(services.client, self._graph)
        self._queue = WorkQueue[WorkItem](
            "garbagecollector",
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )
        self._monitors = Monitors(
            services,
            self._graph,
            start=start,
            on_change=self._on_change,
            on_discovery=self._on_discovery,
            on_first_write=on_first_write,
        )
        self._recorder: EventRecorder | None = None
        self._failing: dict[WorkItem, Identity] = {}
        # As many workers as there are items to process, and one to spare.
        self._workers = 0
        self._idle = 0

    async def run(self) -> None:
        try:
            self._start(self._monitors.run(), name="kinds that can be collected")
            # Before all monitors have synchronized, an owner may only seem to be missing.
            await self._monitors.synced()
            self._workers += 1
            await self._work()
        finally:
            self._monitors.stop()

    def _on_discovery(self, kinds: ServedKinds) -> None:
        self._collector.kinds = kinds

    def _on_change(self) -> None:
        graph, queue = self._graph, self._queue
        if not graph.has_work:
            return
        for work in graph.take_work():
            queue.add(work)
            node = graph.node(work.uid)
            if node is not None and node.is_virtual:
                self._monitors.start_named(node.identity.api_version, node.identity.kind)
        for work in graph.take_retries():
            queue.add_rate_limited(work)
        for mismatch in graph.take_mismatches():
            self._record_mismatch(mismatch)

    async def _work(self) -> None:
        queue = self._queue
        while True:
            self._idle += 1
            async with queue.take() as work:
                self._idle -= 1
                if not self._idle and self._workers < MAX_WORKERS:
                    self._start(self._work(), name=f"garbage/{self._workers}")
                    self._workers += 1
                node = self._graph.node(work.uid)
                if node is None:
                    queue.forget(work)
                    failed = self._failing.pop(work, None)
                    if failed is not None:
                        # The failed attempt has taken effect after all: report that.
                        self._observe_attempt(failed, 0, None)
                    continue
                about, error = node.identity, None
                try:
                    is_open = await self._collector.attempt(work)
                except UnknownKind:
                    is_open = True  # not a failure: the kind may be defined later
                except SteersmanError as caught:
                    is_open, error = True, caught
                if error is None:
                    self._failing.pop(work, None)
                else:
                    self._failing[work] = about
                if is_open:
                    queue.add_rate_limited(work)
                else:
                    queue.forget(work)
                self._observe_attempt(about, queue.num_requeues(work), error)
                self._on_change()

    def _observe_attempt(
        self, about: Identity, failures: int, error: SteersmanError | None
    ) -> None:
        self._services.observe(
            ReconcileFinished(
                controller=NAME,
                ref=ObjectRef(about.kind, about.namespace or None, about.name),
                outcome="done" if error is None else "failed",
                took_seconds=0.0,
                queued_seconds=0.0,
                failures=failures,
                error=error,
            )
        )

    def _record_mismatch(self, mismatch: NamespaceMismatch) -> None:
        about = mismatch.dependent
        kind = self._collector.find_kind(about.api_version, about.kind)
        if kind is None:
            return  # the kind is no longer served
        if self._recorder is None:
            services = self._services
            self._recorder = EventRecorder(
                services.client,
                controller=NAME,
                source=NAME,
                instance=NAME,
                clock=services.clock,
                rng=services.rng,
                observe=services.observe,
            )
            self._start(self._recorder.run(), name="events of the garbage collector")
        owner = named_by(mismatch.owner, about.namespace)
        metadata: dict[str, Any] = {"name": about.name, "uid": about.uid}
        if about.namespace:
            metadata["namespace"] = about.namespace
        self._recorder.record(
            Unstructured.at(kind.resource_type)(
                {"apiVersion": about.api_version, "kind": about.kind, "metadata": metadata}
            ),
            "OwnerRefInvalidNamespace",
            f'ownerRef {owner} does not exist in namespace "{about.namespace}"',
            type="Warning",
        )
