"""The scheduler: Pods without a node get one, or are told why not.

    Pods, nodes ──▶ board, waiting ──decide──▶ decisions ──workers──▶ bindings, conditions, events

One function decides, one Pod after another, on a board that shows its own decisions at once; what
it decides is written by several workers.
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
    in_background,
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
from steersman_cluster.workloads.scheduler.cache import Board
from steersman_cluster.workloads.scheduler.plugins.volume_claims import missing_claim
from steersman_cluster.workloads.scheduler.schedule_one import (
    Placed,
    Refused,
    Wish,
    placed,
    unplaceable,
    wish,
)
from steersman_cluster.workloads.scheduler.scheduling_queue import Waiting
from steersman_cluster.workloads.settings import SCHEDULER, WorkloadSettings, node_name

Obj = TypeVar("Obj", bound=Resource)

# Writes in flight: enough that a server at some distance is kept busy.
WORKERS: Final = 10
# Decisions at a stretch; then everybody else gets a turn.
TURN: Final = 50
# Where so many sorts of Pods fit nowhere, they are tried again no more often than this.
MANY_SORTS: Final = 100
REST_SECONDS: Final = 1.0
# So long is nothing said of a Pod whose claims have no volumes yet.
CLAIM_SECONDS: Final = 0.5
# So long are the first Pods kept waiting for the nodes that are just being registered: else they
# would be told that there are none.
START_SECONDS: Final = 5.0


def scheduler(settings: WorkloadSettings) -> Runnable:
    """What gives Pods a node."""

    async def run(services: Services) -> None:
        async with (
            services.caches.informer(core_v1.Pod) as pods,
            services.caches.informer(core_v1.Node) as nodes,
            services.caches.informer(core_v1.Namespace) as namespaces,
            services.caches.informer(core_v1.PersistentVolumeClaim) as claims,
            in_background() as start,
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
            scheduling = Scheduling(
                services,
                pods=pods.lister,
                namespaces=namespaces.lister,
                claims=claims.lister,
                recorder=recorder,
                tells_routine=settings.routine_events,
            )
            # Nodes first: a Pod that is decided on before they are known fits nowhere.
            known = _hear(nodes, scheduling.node_changed)
            await known.synced()
            await scheduling.has_nodes(map(node_name, range(1, settings.nodes + 1)))
            _hear(claims, scheduling.claim_changed)
            _hear(pods, scheduling.pod_changed)
            scheduling.employ_with(start)
            await scheduling.decide()

    return Runnable(run, name="scheduler")


def _hear(informer: Informer[Obj], handler: Handler[Obj]) -> Registration[Obj]:
    # What they do is to note it: what is decided, and written, is somebody else's turn.
    return informer.add_handler(handler, name=SCHEDULER, inline=True, may_yield=True)


class Scheduling:
    """What is known, what is decided, and what is still to be written."""

    def __init__(
        self,
        services: Services,
        *,
        pods: Lister[core_v1.Pod],
        namespaces: Lister[core_v1.Namespace],
        claims: Lister[core_v1.PersistentVolumeClaim],
        recorder: EventRecorder,
        tells_routine: bool,
    ) -> None:
        self._client = services.client
        self._caches = services.caches
        self._clock: Clock = services.clock
        self._pods = pods
        self._namespaces = namespaces
        self._claims = claims
        self._claiming: dict[ObjectKey, dict[str, None]] = {}  # who waits for which claim
        self._recorder = recorder
        self._tells_routine = tells_routine
        self._board = Board()
        self._waiting = Waiting()
        self._keys: dict[str, ObjectKey] = {}  # of all Pods that wait or are being written
        self._decided: dict[str, Placed | Refused] = {}
        self._assumed: dict[
            str, str
        ] = {}  # nodes, by the uids of Pods that the cache shows without
        self._is_freed = False
        self._is_joined = False
        self._tried_at = float("-inf")
        self._news = asyncio.Event()
        self._queue = WorkQueue[str](
            "scheduler",
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )

    # What is heard

    def node_changed(self, delta: Delta[core_v1.Node]) -> None:
        """Take in what became of a node."""
        if isinstance(delta, Deleted):
            self._board.drop_node(delta.key.name)
            # Others may be less crowded by comparison, and the message counts nodes.
            self._is_joined = True
        else:
            room = self._board.room(delta.key.name)
            before = room.node if room is not None else None
            self._board.put_node(delta.obj)
            if before is not None and not _offers_more(before, delta.obj):
                return
            self._is_freed = True
        self._news.set()

    def claim_changed(self, delta: Delta[core_v1.PersistentVolumeClaim]) -> None:
        """Try those again who wait for this claim."""
        for uid in self._claiming.pop(delta.key, ()):
            self._waiting.try_again(uid)
            self._news.set()

    def pod_changed(self, delta: Delta[core_v1.Pod]) -> None:
        """Take in what became of a Pod."""
        pod = delta.obj
        uid = pod.uid
        spec = pod.spec
        if spec is None:
            return
        if isinstance(delta, Deleted) or is_ended(pod):
            self._forget(uid)
        elif spec.node_name:
            self._settle(pod, spec.node_name)
        elif uid not in self._assumed:
            self._consider(pod, spec)

    def _forget(self, uid: str) -> None:
        self._assumed.pop(uid, None)
        self._decided.pop(uid, None)
        self._keys.pop(uid, None)
        self._waiting.remove(uid)
        self._queue.forget(uid)
        if self._board.where(uid) is not None:
            self._board.drop_pod(uid)
            self._is_freed = True
            self._news.set()

    def _settle(self, pod: core_v1.Pod, node: str) -> None:
        uid = pod.uid
        is_news = self._assumed.pop(uid, None) is None and self._board.where(uid) is None
        self._keys.pop(uid, None)
        self._waiting.remove(uid)
        self._board.put_pod(pod, node)
        if is_news:
            # Put there by somebody else: those who want to be near it may go there now.
            self._is_joined = True
            self._news.set()

    def _consider(self, pod: core_v1.Pod, spec: core_v1.PodSpec) -> None:
        is_ours = (spec.scheduler_name or SCHEDULER) == SCHEDULER
        is_ready = not spec.scheduling_gates and pod.metadata.deletion_timestamp is None
        if not is_ours or not is_ready:
            self._waiting.remove(pod.uid)
            return
        wanted = wish(pod)
        if pod.uid in self._waiting and self._waiting.is_known(wanted):
            return  # only our own words on it have come back
        self._keys[pod.uid] = ObjectKey(pod.namespace, pod.name)
        self._waiting.add(wanted)
        self._news.set()

    async def has_nodes(self, names: Iterable[str]) -> None:
        """Wait until these nodes are there and ready; but not for ever."""
        missing = dict.fromkeys(names)
        try:
            async with self._clock.timeout(START_SECONDS):
                while missing:
                    self._news.clear()
                    for name in [*missing]:
                        room = self._board.room(name)
                        if room is not None and not has_taint(room.node, NOT_READY):
                            del missing[name]
                    if missing:
                        await self._news.wait()
        except TimeoutError:
            pass  # it will be told of the Pods that nothing can be found for them
        self._news.set()

    # What is decided

    async def decide(self) -> None:
        """Decide for whoever has a turn, for ever."""
        while True:
            await self._hear()
            decided = 0
            while (wanted := self._waiting.next()) is not None:
                self._decide(wanted)
                decided += 1
                if decided % TURN == 0:
                    await self._clock.sleep(0)

    async def _hear(self) -> None:
        """Wait for news, and see who is to be tried again for it."""
        is_postponed = self._is_freed or self._is_joined
        rest_seconds = self._tried_at + REST_SECONDS - self._clock.monotonic()
        try:
            async with self._clock.timeout(max(0.0, rest_seconds) if is_postponed else None):
                await self._news.wait()
        except TimeoutError:
            pass  # what was postponed is due
        self._news.clear()
        is_many = self._waiting.sorts > MANY_SORTS
        now_at = self._clock.monotonic()
        if is_many and now_at < self._tried_at + REST_SECONDS:
            return
        if self._is_freed or self._is_joined:
            self._waiting.reconsider(only_neighbours=not self._is_freed)
            self._is_freed = self._is_joined = False
            self._tried_at = now_at

    def _decide(self, wanted: Wish) -> None:
        uid = wanted.pod.uid
        missing = missing_claim(wanted.pod, self._claim)
        if missing is not None:
            key, reason = missing
            self._claiming.setdefault(key, {})[uid] = None
            self._decided[uid] = unplaceable(wanted.pod, self._board, reason)
            # Most claims are served in a moment, and then nothing need be said.
            self._queue.add_after(uid, CLAIM_SECONDS)
            return
        outcome = self._place(wanted)
        if isinstance(outcome, Placed):
            self._waiting.remove(uid)
            self._board.put_pod(wanted.pod, outcome.node)
            self._assumed[uid] = outcome.node
            if self._waiting.has_neighbours:
                # Those who want to be near it may go there now.
                self._is_joined = True
                self._news.set()
        self._decided[uid] = outcome
        self._queue.add(uid)

    def _place(self, wanted: Wish) -> Placed | Refused:
        sort = wanted.shape
        if self._board.is_guarded and not wanted.has_neighbours:
            # Who is kept away by others is of a sort of its own.
            pod = wanted.pod
            sort += repr((pod.namespace, sorted(pod.labels.items()))).encode()
        message = self._waiting.message(sort)
        outcome = (
            Refused(message)
            if message is not None
            else placed(wanted, self._board, labels_of=self._labels_of)
        )
        if isinstance(outcome, Refused):
            self._waiting.block(wanted, sort, outcome.message)
        return outcome

    def _claim(self, key: ObjectKey) -> core_v1.PersistentVolumeClaim | None:
        return self._claims.get(key.name, namespace=key.namespace)

    def _labels_of(self, namespace: str) -> "dict[str, str]":
        found = self._namespaces.get(namespace)
        return dict(found.labels) if found is not None else {}

    # What is written

    def employ_with(self, start: Start) -> None:
        """Have what is decided written, by as many as there is work for, and one to spare."""
        employed = idle = 0

        async def work() -> None:
            nonlocal idle
            while True:
                async with self._queue.take() as uid:
                    idle -= 1
                    if not idle and employed < WORKERS:
                        employ()
                    await self._write(uid)
                idle += 1
                await self._clock.sleep(0)

        def employ() -> None:
            nonlocal employed, idle
            start(work(), name=f"scheduler/{employed}")
            employed, idle = employed + 1, idle + 1

        employ()

    async def _write(self, uid: str) -> None:
        key, decision = self._keys.get(uid), self._decided.pop(uid, None)
        if key is None:
            self._queue.forget(uid)
            return
        pod = self._pods.get(key.name, namespace=key.namespace)
        if pod is None or pod.uid != uid:
            return  # word of its end is on its way
        if decision is None:
            self._try_again(pod)
            return
        try:
            if isinstance(decision, Placed):
                await self._bind(pod, decision.node)
            else:
                await self._refuse(pod, decision.message)
        except SteersmanError:
            # It is gone, somebody else has given it a node, or nobody knows whether it happened:
            # look again in a while.
            if isinstance(decision, Refused):
                self._decided.setdefault(uid, decision)
            self._queue.add_rate_limited(uid)
        else:
            self._queue.forget(uid)

    def _try_again(self, pod: core_v1.Pod) -> None:
        """Take back what was not written, unless it was all the same."""
        spec = pod.spec
        if spec is None or spec.node_name or pod.uid in self._waiting:
            return
        if self._assumed.pop(pod.uid, None) is not None:
            self._board.drop_pod(pod.uid)
            self._is_freed = True
        self._consider(pod, spec)
        self._news.set()

    async def _bind(self, pod: core_v1.Pod, node: str) -> None:
        binding = core_v1.Binding(
            metadata=meta_v1.ObjectMeta(name=pod.name, namespace=pod.namespace, uid=pod.uid),
            target=core_v1.ObjectReference(api_version="v1", kind="Node", name=node),
        )
        target = self._client.subresource(
            core_v1.Pod, pod.name, "binding", of=core_v1.Binding, namespace=pod.namespace
        )
        await target.create(binding)
        if self._tells_routine:
            note = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
            self._recorder.record(pod, "Scheduled", note, action="Binding")

    async def _refuse(self, pod: core_v1.Pod, message: str) -> None:
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


def _offers_more(before: core_v1.Node, after: core_v1.Node) -> bool:
    """Whether somebody may fit there now who did not before: not for each sign of life."""
    if before.labels != after.labels or before.spec != after.spec:
        return True
    old, new = before.status, after.status
    return (old.allocatable if old else None) != (new.allocatable if new else None)
