"""The garbage collector as something that runs: kinds followed, work taken up, trouble told."""

from typing import Any, Final

from steersman.cache import Start, in_background
from steersman.controller import EventRecorder
from steersman.errors import SteersmanError, UnknownKind
from steersman.kinds import Unstructured
from steersman.manager import Services
from steersman.names import ObjectRef
from steersman.observe import ReconcileFinished
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwners
from steersman_cluster.workloads.garbagecollector.collector import Collector
from steersman_cluster.workloads.garbagecollector.graph import Graph, Misplaced, Work
from steersman_cluster.workloads.garbagecollector.identity import Identity, named_by
from steersman_cluster.workloads.garbagecollector.kinds import KnownKinds
from steersman_cluster.workloads.garbagecollector.monitors import Following
from steersman_cluster.workloads.settings import OnFirstWrite

#: As which it is known in events.
NAME: Final = "garbage-collector-controller"

# Each waits for one answer at a time. More would be a burden to a server, fewer slow on a network.
WORKERS: Final = 5


async def collect_garbage(
    services: Services, *, on_first_write: OnFirstWrite | None = None
) -> None:
    """Collect what nobody owns any more, until cancelled.

    With ``on_first_write``, a kind is not watched before there is an object of it.
    """
    async with in_background() as start:
        await _Collection(services, start, on_first_write=on_first_write).run()


class _Collection:
    """One life of the collector; it begins with what the server tells, and remembers nothing."""

    def __init__(
        self, services: Services, start: Start, *, on_first_write: OnFirstWrite | None
    ) -> None:
        self._services = services
        self._start = start
        self._graph = Graph(absent=AbsentOwners())
        self._collector = Collector(services.client, self._graph)
        self._queue = WorkQueue[Work](
            "garbagecollector",
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )
        self._following = Following(
            services,
            self._graph,
            start=start,
            heard=self._heard,
            found=self._found,
            on_first_write=on_first_write,
        )
        self._recorder: EventRecorder | None = None
        self._failing: dict[Work, Identity] = {}
        # As many as there is work for, and one to spare.
        self._employed = 0
        self._idle = 0

    async def run(self) -> None:
        try:
            self._start(self._following.run(), name="kinds that can be collected")
            # As long as not all is known, an owner may seem to be missing that is only late.
            await self._following.whole()
            self._employed += 1
            await self._work()
        finally:
            self._following.end()

    def _found(self, kinds: KnownKinds) -> None:
        self._collector.kinds = kinds

    def _heard(self) -> None:
        graph, queue = self._graph, self._queue
        if not graph.has_news:
            return
        for work in graph.take_work():
            queue.add(work)
            node = graph.node(work.uid)
            if node is not None and node.is_virtual:
                self._following.follow_named(node.identity.api_version, node.identity.kind)
        for work in graph.take_again():
            queue.add_rate_limited(work)
        for misplaced in graph.take_misplaced():
            self._tell(misplaced)

    async def _work(self) -> None:
        queue = self._queue
        while True:
            self._idle += 1
            async with queue.take() as work:
                self._idle -= 1
                if not self._idle and self._employed < WORKERS:
                    self._start(self._work(), name=f"garbage/{self._employed}")
                    self._employed += 1
                node = self._graph.node(work.uid)
                if node is None:
                    queue.forget(work)
                    failed = self._failing.pop(work, None)
                    if failed is not None:
                        # What failed was done all the same, and whoever was told hears of it.
                        self._finished(failed, 0, None)
                    continue
                about, error = node.identity, None
                try:
                    is_open = await self._collector.attempt(work)
                except UnknownKind:
                    is_open = True  # as long as nobody defines it, which is no failure of ours
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
                self._finished(about, queue.num_requeues(work), error)
                self._heard()

    def _finished(self, about: Identity, failures: int, error: SteersmanError | None) -> None:
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

    def _tell(self, misplaced: Misplaced) -> None:
        about = misplaced.dependent
        kind = self._collector.find_kind(about.api_version, about.kind)
        if kind is None:
            return  # Nobody serves it any more, and nobody can look at it.
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
        owner = named_by(misplaced.owner, about.namespace)
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
