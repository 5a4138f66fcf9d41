"""The scheduler, which binds Pods to nodes, or reports why a Pod cannot be bound.

    Pods, nodes ──▶ cache, queue ──schedule──▶ results ──writers──▶ bindings, conditions, events

One task schedules one Pod after another. The cache is updated with each result immediately, as if
the Pod were already bound. Afterwards, one of several writers sends the result to the API server.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, TypeVar

from steersman.cache import (
    Deleted,
    Delta,
    Handler,
    Informer,
    Lister,
    Registration,
    Start,
    background_tasks,
)
from steersman.client import StrategicMergePatch
from steersman.clock import Clock
from steersman.controller import EventRecorder
from steersman.errors import SteersmanError
from steersman.kinds import Resource, core_v1, meta_v1
from steersman.manager import Runnable, Services
from steersman.names import ObjectKey
from steersman.units import format_time
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.workloads.nodes.node_taints import NOT_READY, has_taint
from steersman_cluster.workloads.pods import is_ended
from steersman_cluster.workloads.scheduler.cache import SchedulerCache
from steersman_cluster.workloads.scheduler.plugins.volume_claims import missing_claim
from steersman_cluster.workloads.scheduler.schedule_one import (
    FitError,
    QueuedPodInfo,
    ScheduleResult,
    queued_pod_info,
    schedule_pod,
    unschedulable,
)
from steersman_cluster.workloads.scheduler.scheduling_queue import SchedulingQueue
from steersman_cluster.workloads.settings import SCHEDULER, WorkloadSettings, node_name

Obj = TypeVar("Obj", bound=Resource)

# Writes in flight: enough that a server at some distance is kept busy.
MAX_WORKERS: Final = 10
# Pods that are scheduled in a row before other tasks get a turn.
BATCH_SIZE: Final = 50
# Where so many signatures of Pods fit nowhere, they are tried again no more often than this.
MANY_SIGNATURES: Final = 100
REST_SECONDS: Final = 1.0
# How long a Pod may wait for its claims before an event reports it.
CLAIM_SECONDS: Final = 0.5
# How long the first Pods wait for nodes that are just being registered: else they would all be
# reported as unschedulable.
START_SECONDS: Final = 5.0


def scheduler(settings: WorkloadSettings) -> Runnable:
    """Return the runnable that schedules Pods."""

    async def run(services: Services) -> None:
        async with (
            services.caches.informer(core_v1.Pod) as pods,
            services.caches.informer(core_v1.Node) as nodes,
            services.caches.informer(core_v1.Namespace) as namespaces,
            services.caches.informer(core_v1.PersistentVolumeClaim) as claims,
            background_tasks() as start,
        ):
            recorder = EventRecorder(
                services.client,
                controller=SCHEDULER,
                instance=SCHEDULER,
                clock=services.clock,
                rng=services.rng,
                observe=services.observe,
            )
            recorder.start_with(lambda: start(recorder.run(), name="events of the scheduler"))
            pod_scheduler = Scheduler(
                services,
                pods=pods.lister,
                namespaces=namespaces.lister,
                claims=claims.lister,
                recorder=recorder,
                records_routine=settings.routine_events,
            )
            # Nodes first: before they are in the cache, no Pod fits.
            known = _add_handler(nodes, pod_scheduler.node_changed)
            await known.synced()
            await pod_scheduler.wait_for_nodes(map(node_name, range(1, settings.nodes + 1)))
            _add_handler(claims, pod_scheduler.claim_changed)
            _add_handler(pods, pod_scheduler.pod_changed)
            pod_scheduler.start_writers(start)
            await pod_scheduler.schedule_pods()

    return Runnable(run, name="scheduler")


def _add_handler(informer: Informer[Obj], handler: Handler[Obj]) -> Registration[Obj]:
    # The handlers only update the cache and the queue; other tasks schedule and write.
    return informer.add_handler(handler, name=SCHEDULER, inline=True, may_yield=True)


class Scheduler:
    """A scheduler, with its cache, its queue, and the results that are not written yet."""

    def __init__(
        self,
        services: Services,
        *,
        pods: Lister[core_v1.Pod],
        namespaces: Lister[core_v1.Namespace],
        claims: Lister[core_v1.PersistentVolumeClaim],
        recorder: EventRecorder,
        records_routine: bool,
    ) -> None:
        self._client = services.client
        self._caches = services.caches
        self._clock: Clock = services.clock
        self._pods = pods
        self._namespaces = namespaces
        self._claims = claims
        self._waiting_for_claim: dict[
            ObjectKey, dict[str, None]
        ] = {}  # Pods by the claim that they wait for
        self._recorder = recorder
        self._records_routine = records_routine
        self._cache = SchedulerCache()
        self._pending = SchedulingQueue()
        self._keys: dict[str, ObjectKey] = {}  # of all Pods that are queued or being written
        self._results: dict[str, ScheduleResult | FitError] = {}
        self._assumed: dict[
            str, str
        ] = {}  # nodes of Pods that the informer still shows without one
        self._has_node_event = False
        self._has_pod_event = False
        self._tried_at = float("-inf")
        self._event = asyncio.Event()
        self._queue = WorkQueue[str](
            "scheduler",
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )

    # Events

    def node_changed(self, delta: Delta[core_v1.Node]) -> None:
        """Update the cache with ``delta``, a change of a node."""
        if isinstance(delta, Deleted):
            self._cache.remove_node(delta.key.name)
            # Spread constraints compare nodes, and messages count them.
            self._has_pod_event = True
        else:
            node_info = self._cache.node_info(delta.key.name)
            before = node_info.node if node_info is not None else None
            self._cache.set_node(delta.obj)
            if before is not None and not _may_fit_more(before, delta.obj):
                return
            self._has_node_event = True
        self._event.set()

    def claim_changed(self, delta: Delta[core_v1.PersistentVolumeClaim]) -> None:
        """Activate the Pods that wait for the PersistentVolumeClaim in ``delta``."""
        for uid in self._waiting_for_claim.pop(delta.key, ()):
            self._pending.activate(uid)
            self._event.set()

    def pod_changed(self, delta: Delta[core_v1.Pod]) -> None:
        """Update the cache and the queue with ``delta``, a change of a Pod."""
        pod = delta.obj
        uid = pod.uid
        spec = pod.spec
        if spec is None:
            return
        if isinstance(delta, Deleted) or is_ended(pod):
            self._forget(uid)
        elif spec.node_name:
            self._add_to_cache(pod, spec.node_name)
        elif uid not in self._assumed:
            self._enqueue(pod, spec)

    def _forget(self, uid: str) -> None:
        self._assumed.pop(uid, None)
        self._results.pop(uid, None)
        self._keys.pop(uid, None)
        self._pending.remove(uid)
        self._queue.forget(uid)
        if self._cache.node_of(uid) is not None:
            self._cache.remove_pod(uid)
            self._has_node_event = True
            self._event.set()

    def _add_to_cache(self, pod: core_v1.Pod, node: str) -> None:
        uid = pod.uid
        is_news = self._assumed.pop(uid, None) is None and self._cache.node_of(uid) is None
        self._keys.pop(uid, None)
        self._pending.remove(uid)
        self._cache.add_pod(pod, node)
        if is_news:
            # Another scheduler has bound it: Pods with affinity to it may fit now.
            self._has_pod_event = True
            self._event.set()

    def _enqueue(self, pod: core_v1.Pod, spec: core_v1.PodSpec) -> None:
        is_ours = (spec.scheduler_name or SCHEDULER) == SCHEDULER
        is_ready = not spec.scheduling_gates and pod.metadata.deletion_timestamp is None
        if not is_ours or not is_ready:
            self._pending.remove(pod.uid)
            return
        queued = queued_pod_info(pod)
        if pod.uid in self._pending and self._pending.is_unchanged(queued):
            return  # only the condition that the scheduler itself has written
        self._keys[pod.uid] = ObjectKey(pod.namespace, pod.name)
        self._pending.add(queued)
        self._event.set()

    async def wait_for_nodes(self, names: Iterable[str]) -> None:
        """Wait until the nodes ``names`` exist and are ready, for at most ``START_SECONDS``."""
        missing = dict.fromkeys(names)
        try:
            async with self._clock.timeout(START_SECONDS):
                while missing:
                    self._event.clear()
                    for name in [*missing]:
                        node_info = self._cache.node_info(name)
                        if node_info is not None and not has_taint(node_info.node, NOT_READY):
                            del missing[name]
                    if missing:
                        await self._event.wait()
        except TimeoutError:
            pass  # Pods that do not fit are reported as usual
        self._event.set()

    # Scheduling

    async def schedule_pods(self) -> None:
        """Schedule one active Pod of the queue after another, until cancelled."""
        while True:
            await self._wait_for_events()
            decided = 0
            while (queued := self._pending.pop()) is not None:
                self._schedule_one(queued)
                decided += 1
                if decided % BATCH_SIZE == 0:
                    await self._clock.sleep(0)

    async def _wait_for_events(self) -> None:
        """Wait for an event, and activate the Pods that the event may make schedulable."""
        is_postponed = self._has_node_event or self._has_pod_event
        rest_seconds = self._tried_at + REST_SECONDS - self._clock.monotonic()
        try:
            async with self._clock.timeout(max(0.0, rest_seconds) if is_postponed else None):
                await self._event.wait()
        except TimeoutError:
            pass  # the postponed retry is due
        self._event.clear()
        is_many = self._pending.signatures > MANY_SIGNATURES
        now_at = self._clock.monotonic()
        if is_many and now_at < self._tried_at + REST_SECONDS:
            return
        if self._has_node_event or self._has_pod_event:
            self._pending.move_all_to_active(only_pod_constraints=not self._has_node_event)
            self._has_node_event = self._has_pod_event = False
            self._tried_at = now_at

    def _schedule_one(self, queued: QueuedPodInfo) -> None:
        uid = queued.pod.uid
        missing = missing_claim(queued.pod, self._claim)
        if missing is not None:
            key, reason = missing
            self._waiting_for_claim.setdefault(key, {})[uid] = None
            self._results[uid] = unschedulable(queued.pod, self._cache, reason)
            # Most claims are bound within a moment, and then there is nothing to report.
            self._queue.add_after(uid, CLAIM_SECONDS)
            return
        outcome = self._schedule_pod(queued)
        if isinstance(outcome, ScheduleResult):
            self._pending.remove(uid)
            self._cache.add_pod(queued.pod, outcome.node)
            self._assumed[uid] = outcome.node
            if self._pending.has_pod_constraints:
                # Pods with affinity to it may fit now.
                self._has_pod_event = True
                self._event.set()
        self._results[uid] = outcome
        self._queue.add(uid)

    def _schedule_pod(self, queued: QueuedPodInfo) -> ScheduleResult | FitError:
        signature = queued.signature
        if self._cache.has_anti_affinity and not queued.has_pod_constraints:
            # Anti-affinity of other Pods depends on its namespace and labels.
            pod = queued.pod
            signature += repr((pod.namespace, sorted(pod.labels.items()))).encode()
        message = self._pending.message(signature)
        outcome = (
            FitError(message)
            if message is not None
            else schedule_pod(queued, self._cache, labels_of=self._labels_of)
        )
        if isinstance(outcome, FitError):
            self._pending.add_unschedulable(queued, signature, outcome.message)
        return outcome

    def _claim(self, key: ObjectKey) -> core_v1.PersistentVolumeClaim | None:
        return self._claims.get(key.name, namespace=key.namespace)

    def _labels_of(self, namespace: str) -> "dict[str, str]":
        found = self._namespaces.get(namespace)
        return dict(found.labels) if found is not None else {}

    # Writers

    def start_writers(self, start: Start) -> None:
        """Start a task that writes results to the API server.

        Whenever no such task is idle, a further task is started, up to ``MAX_WORKERS``.
        """
        started = idle = 0

        async def work() -> None:
            nonlocal idle
            while True:
                async with self._queue.take() as uid:
                    idle -= 1
                    if not idle and started < MAX_WORKERS:
                        start_writer()
                    await self._write(uid)
                idle += 1
                await self._clock.sleep(0)

        def start_writer() -> None:
            nonlocal started, idle
            start(work(), name=f"scheduler/{started}")
            started, idle = started + 1, idle + 1

        start_writer()

    async def _write(self, uid: str) -> None:
        key, decision = self._keys.get(uid), self._results.pop(uid, None)
        if key is None:
            self._queue.forget(uid)
            return
        pod = self._pods.get(key.name, namespace=key.namespace)
        if pod is None or pod.uid != uid:
            return  # the event of its deletion is on its way
        if decision is None:
            self._try_again(pod)
            return
        try:
            if isinstance(decision, ScheduleResult):
                await self._bind(pod, decision.node)
            else:
                await self._record_failure(pod, decision.message)
        except SteersmanError:
            # The Pod is gone, is bound already, or the response was lost: try again later.
            if isinstance(decision, FitError):
                self._results.setdefault(uid, decision)
            self._queue.add_rate_limited(uid)
        else:
            self._queue.forget(uid)

    def _try_again(self, pod: core_v1.Pod) -> None:
        """Add a Pod to the queue again, because the result for this Pod could not be written."""
        spec = pod.spec
        if spec is None or spec.node_name or pod.uid in self._pending:
            return
        if self._assumed.pop(pod.uid, None) is not None:
            self._cache.remove_pod(pod.uid)
            self._has_node_event = True
        self._enqueue(pod, spec)
        self._event.set()

    async def _bind(self, pod: core_v1.Pod, node: str) -> None:
        binding = core_v1.Binding(
            metadata=meta_v1.ObjectMeta(name=pod.name, namespace=pod.namespace, uid=pod.uid),
            target=core_v1.ObjectReference(api_version="v1", kind="Node", name=node),
        )
        target = self._client.subresource(
            core_v1.Pod, pod.name, "binding", of=core_v1.Binding, namespace=pod.namespace
        )
        await target.create(binding)
        if self._records_routine:
            note = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
            self._recorder.record(pod, "Scheduled", note, action="Binding")

    async def _record_failure(self, pod: core_v1.Pod, message: str) -> None:
        if pod.spec is None or pod.spec.node_name or pod.deletion_time is not None:
            return
        self._recorder.record(pod, "FailedScheduling", message, type="Warning", action="Scheduling")
        conditions = pod.status.conditions if pod.status is not None else None
        old = next((each for each in conditions or () if each.type == "PodScheduled"), None)
        if old is not None and old.status == "False" and old.message == message:
            return
        since = old.last_transition_time if old is not None and old.status == "False" else None
        condition: dict[str, object] = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastProbeTime": None,
            "lastTransitionTime": format_time(since or self._clock.now()),
        }
        if pod.metadata.generation:
            condition["observedGeneration"] = pod.metadata.generation
        patch = StrategicMergePatch(
            {"metadata": {"uid": pod.uid}, "status": {"conditions": [condition]}}
        )
        target = self._client.status(core_v1.Pod, pod.name, namespace=pod.namespace)
        await self._caches.record_write(target.patch(patch))


def _may_fit_more(before: core_v1.Node, after: core_v1.Node) -> bool:
    """Return whether a Pod that did not fit on the node before may fit now; ``False`` after a mere
    heartbeat.
    """
    if before.labels != after.labels or before.spec != after.spec:
        return True
    old, new = before.status, after.status
    return (old.allocatable if old else None) != (new.allocatable if new else None)
