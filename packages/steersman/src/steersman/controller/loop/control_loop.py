"""The control loop: keys from the queue, your function, and what becomes of its outcome.

    informers ──deltas──▶ triggers ──keys──▶ work queue ──key──▶ worker ──▶ your function
                                                 ▲                              │
                                                 └───────── outcome ────────────┘

One worker at a time looks at an object. What goes wrong with one is the affair of that one: it is
tried again later, and the worker goes on.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec.structs import replace

from steersman.cache import (
    Deleted,
    Delta,
    Informer,
    Registration,
    Start,
    in_background,
    is_cancelled,
)
from steersman.client import Client
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader, same_kind
from steersman.controller.context.blocking_context import BlockingContext
from steersman.controller.context.context import Context
from steersman.controller.context.lifespan import NO_LIFESPAN
from steersman.controller.context.pending_calls import close_unawaited
from steersman.controller.controller import Controller
from steersman.controller.declaration.access import DeclaredAccess
from steersman.controller.declaration.functions import name_of
from steersman.controller.declaration.outcomes import Done, Later, Outcome
from steersman.controller.events.recorder import EventRecorder
from steersman.controller.finalizers import has_finalizer
from steersman.controller.leadership import IsLeader, run_while_leader
from steersman.controller.loop.delayed_status import Reporting
from steersman.controller.loop.hot_loop import HotLoops
from steersman.controller.loop.retry import Verdict, fingerprint, judge, new_queue
from steersman.controller.loop.workers import Workers
from steersman.controller.pause import is_paused
from steersman.controller.threads import Job, LoopCaller, ThreadPool
from steersman.controller.triggers.event_handlers import EventHandlers
from steersman.controller.triggers.reasons import Reasons, is_only_status
from steersman.controller.writer.reports import EffectiveWrite
from steersman.controller.writer.writer import Writer
from steersman.errors import (
    AUTHOR_ERRORS,
    BadOutcome,
    NotAwaited,
    NotInScope,
    NotOurs,
    ReconcileTimedOut,
    SteersmanError,
    failure_of,
)
from steersman.kinds import Condition, Resource, Unstructured
from steersman.names import ObjectKey, ObjectRef, ResourceType
from steersman.observe import (
    ControllerStarted,
    ControllerStopped,
    HotLoop,
    Observer,
    ReconcileFinished,
    ReconcileSkipped,
    ThreadLeftBehind,
    Why,
)

if TYPE_CHECKING:
    from steersman.controller.declaration.sources import Source

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class ControlLoop(Generic[Obj]):
    """One controller at work, from ``run`` until ``stop``."""

    def __init__(
        self,
        controller: Controller[Obj],
        *,
        informers: Mapping[type[Any] | ResourceType, Informer[Any]],
        cached: CacheReader,
        client: Client,
        writer: Writer,
        recorder: EventRecorder,
        threads: ThreadPool,
        observe: Observer,
        leads: IsLeader | None = None,
        lifespan: object = NO_LIFESPAN,
    ) -> None:
        self._controller = controller
        self._informers = informers
        self._cached = cached
        self._client = client
        self._clock: Clock = client.clock
        self._writer = writer
        self._recorder = recorder
        self._threads = threads
        # Without an election, no other replica can lead.
        self._leads = leads
        self._lifespan = lifespan
        self._observe = observe
        self._lister = cached.lister(controller.kind)
        self._access = DeclaredAccess(controller)
        self._queue = new_queue(
            controller.name,
            backoff=controller.backoff,
            bucket=controller.bucket,
            clock=self._clock,
            rng=client.rng,
            observe=observe,
        )
        self._debounce_seconds = controller.debounce_seconds
        self._has_priorities = controller.priority is not None
        self._reasons = Reasons()
        self._hot_loops = HotLoops()
        self._triggers = EventHandlers(
            controller,
            cached=cached,
            enqueue=self.enqueue,
            clock=self._clock,
            rng=client.rng,
            observe=observe,
            recorder=recorder,
        )
        # What was given up for good, until it is no longer what it was then.
        self._given_up: dict[ObjectKey, object] = {}
        # What somebody else has that an object wants to own.
        self._not_ours: dict[ObjectKey, str] = {}
        self._reporting = Reporting(patience_seconds=controller.progress_seconds, clock=self._clock)
        self._jobs: dict[ObjectKey, Job[Any]] = {}
        self._start: Start | None = None
        self._stopped = asyncio.Event()
        self._ends_since_at: float | None = None
        self._is_blocking = controller.is_blocking
        self._workers = Workers(
            controller, self._queue, self, leads=leads, clock=self._clock, observe=observe
        )
        self._lane = self._workers.lane

    def __repr__(self) -> str:
        return f"<ControlLoop of {self._controller!r}: {self._queue!r}>"

    @property
    def name(self) -> str:
        """That of its controller."""
        return self._controller.name

    def working_on(self, task: "asyncio.Task[Any]") -> ObjectRef | None:
        """The object that this task reconciles, if it is a worker of this loop."""
        key = self._workers.current(task)
        return None if key is None else self.ref_of(key)

    @property
    def stuck(self) -> tuple[ObjectRef, ...]:
        """The objects whose reconcile timed out, and those whose reconcile is slow."""
        return self._workers.stuck

    @property
    def remembered(self) -> int:
        """How many things are kept in mind about objects; none about those that are gone."""
        about_own = len(self._given_up) + len(self._not_ours) + len(self._reporting)
        about_own += len(self._reasons) + len(self._hot_loops) + len(self._lane)
        return about_own + len(self._writer) + len(self._writer.owner_check)

    def enqueue(self, key: ObjectKey, why: Why, priority: int) -> None:
        """Enqueue an object for a reconcile."""
        self._reasons.note(key, why, self._clock.monotonic())
        if self._has_priorities:
            kind: type[Any] = self._controller.kind
            found = self._cached.find(kind, key.name, namespace=key.namespace)
            priority += self._triggers.priority_of(found)
        if self._debounce_seconds:
            # The first change decides when; what comes until then is looked at together with it.
            self._queue.add_after(key, self._debounce_seconds, priority=priority)
        else:
            self._queue.add(key, priority=priority)

    def stop(self) -> None:
        """Give out no more work; ``run`` ends when that which was given out is done."""
        self._ends_since_at = self._clock.monotonic()
        self._queue.shut_down()
        self._stopped.set()

    async def run(self) -> None:
        """Work until stopped."""
        controller = self._controller
        self._observe(ControllerStarted(controller=controller.name, workers=controller.workers))
        registrations = self._listen()
        try:
            async with in_background() as start:
                self._start = start
                if any(watch.to is not None for watch in controller.watches):
                    start(self._triggers.retry_mappings(), name=f"mappings of {controller.name}")
                for source in controller.sources:
                    start(self._run_source(source), name=f"{controller.name}: {source!r}")
                await self._workers.run(self._stopped)
        finally:
            self._start = None
            self._queue.shut_down()
            for informer, registration in registrations:
                informer.remove_handler(registration)
            now_at = self._clock.monotonic()
            seconds = now_at - (now_at if self._ends_since_at is None else self._ends_since_at)
            self._observe(ControllerStopped(controller=controller.name, seconds=seconds))

    # What wakes it

    def _listen(self) -> list[tuple[Informer[Any], Registration[Any]]]:
        controller = self._controller
        own = controller.kind
        registered = [self._hear(own, self._own, resync_seconds=controller.resync_seconds)]
        for owns in controller.owned:
            handler = self._forgetting(
                owns.kind, self._noting_lost_children(self._triggers.owned(owns))
            )
            registered.append(self._hear(owns.kind, handler))
        written = {each.kind.resource_type for each in controller.written}
        for number, watch in enumerate(controller.watches):
            if watch.to is not None or watch.kind.resource_type in written:
                watched = self._triggers.watched(watch, number)
                registered.append(self._hear(watch.kind, self._forgetting(watch.kind, watched)))
        return registered

    def _hear(
        self,
        kind: type[Any],
        handler: Callable[[Delta[Any]], None],
        *,
        resync_seconds: float | None = None,
    ) -> tuple[Informer[Any], Registration[Any]]:
        informer = self._informers[same_kind(kind)]
        # All that it does is to put keys into the queue, and a task for that would cost more.
        return informer, informer.add_handler(
            handler,
            name=self._controller.name,
            resync_seconds=resync_seconds,
            inline=True,
            may_yield=True,
            newest_first=True,
        )

    def _own(self, delta: Delta[Obj]) -> None:
        if isinstance(delta, Deleted):
            self._forget(delta.key)
            self._writer.owner_check.forget(delta.obj.uid)
        self._triggers.own(delta)

    def _forget(self, key: ObjectKey) -> None:
        self._given_up.pop(key, None)
        self._not_ours.pop(key, None)
        self._reporting.forget(key)
        self._hot_loops.forget(key)
        self._workers.forget(key)
        self._writer.forget(self._controller.kind, key)

    def _forgetting(
        self, kind: type[Any], handler: Callable[[Delta[Any]], None]
    ) -> Callable[[Delta[Any]], None]:
        def handle(delta: Delta[Any]) -> None:
            if isinstance(delta, Deleted):
                self._writer.forget(kind, delta.key)
            handler(delta)

        return handle

    def _noting_lost_children(
        self, handler: Callable[[Delta[Any]], None]
    ) -> Callable[[Delta[Any]], None]:
        def handle(delta: Delta[Any]) -> None:
            if isinstance(delta, Deleted):
                is_cached = partial(self._is_cached, delta.key.namespace)
                self._writer.owner_check.note_lost_child(delta.obj, is_cached=is_cached)
                self._offer(delta.obj)
            handler(delta)

        return handle

    def _note_refusal(self, key: ObjectKey, refusal: NotOurs) -> None:
        self._not_ours[key] = refusal.wanted

    def _offer(self, gone: Resource | Unstructured) -> None:
        """Have those looked at who wanted to own this while somebody else had it."""
        ref = str(gone.ref) if self._not_ours else ""
        for key in [key for key, wanted in self._not_ours.items() if wanted == ref]:
            self.enqueue(
                key, Why(about=gone.ref, event="deleted", version=gone.resource_version), 0
            )

    def _is_cached(self, namespace: str | None, name: str, uid: str) -> bool:
        """Whether there is this owner, as far as we know, of something in this namespace."""
        if not self._controller.kind.resource_type.namespaced:
            namespace = None
        elif namespace is None:
            return False  # what lives in no namespace has no owner that does
        owner = self._lister.get(name, namespace=namespace)
        return owner is not None and owner.uid == uid

    async def _run_source(self, source: "Source") -> None:
        # Here, because few controllers have any.
        from steersman.controller.triggers.source_runner import run_source

        kind: type[Any] = self._controller.kind
        await run_source(
            source,
            controller=self._controller.name,
            cached=self._cached,
            kind=kind,
            enqueue=self.enqueue,
            clock=self._clock,
            rng=self._client.rng,
            observe=self._observe,
        )

    # Work

    def let_go(self, key: ObjectKey) -> None:
        """Have the queue take a key back, once the thread of its reconcile has ended."""
        job = self._jobs.pop(key, None)
        if job is None or job.has_ended or self._start is None:
            self._queue.done(key)
        else:
            # Its thread goes on, and cannot be stopped: nobody else may look at the object until
            # it has ended, but the worker can go on to others.
            left = self._start(self._wait_for(key, job), name=f"left behind: {job.holder}")
            # Not there: who is stopped before that begins is done with the object, too.
            left.add_done_callback(lambda _: self._queue.done(key))

    async def _wait_for(self, key: ObjectKey, job: Job[Any]) -> None:
        since_at = self._clock.monotonic()
        ref = self.ref_of(key)
        self._observe(ThreadLeftBehind(controller=self._controller.name, ref=ref, seconds=0.0))
        await job.ended()
        seconds = self._clock.monotonic() - since_at
        name = self._controller.name
        self._observe(ThreadLeftBehind(controller=name, ref=ref, seconds=seconds, has_ended=True))

    async def look_at(self, key: ObjectKey) -> object | None:
        """Reconcile the object of a key; what that was like, if the reconcile timed out."""
        taken = self._reasons.take(key)
        started_at = self._clock.monotonic()
        obj = self._find(key)
        if isinstance(obj, str):
            self._skip(key, reason=obj)
            return None
        controller = self._controller
        is_ending = obj.deletion_time is not None and not controller.while_deleting
        failures = self._queue.num_requeues(key)
        # Nothing has happened: it was put back by its last look.
        whys = taken.whys or self._reporting.whys(key)
        whys = whys or (Why(about=obj.ref, event="retry" if failures else "later"),)
        since_at = started_at if taken.since_at is None else taken.since_at
        context = Context(
            controller,
            obj,
            access=self._access,
            cached=self._cached,
            client=self._client,
            writer=self._writer,
            recorder=self._recorder,
            clock=self._clock,
            whys=whys,
            failures=failures,
            refused=partial(self._note_refusal, key),
            leads=self._leads,
            lifespan=self._lifespan,
        )
        self._not_ours.pop(key, None)
        error: Exception | None = None
        outcome: Outcome = Done()
        try:
            outcome = await self._in_time(key, obj, context, is_ending)
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            error = RuntimeError("what it waited for was cancelled")
        except AUTHOR_ERRORS as caught:  # the one place for other people's errors
            error = failure_of(caught)
        finally:
            context.end()
        verdict = judge(outcome, error, failures=failures)
        # Not what the function has made of its own end: that is nothing about the object.
        if verdict.note is not None and controller.condition and not is_cancelled():
            verdict = await self._say(verdict, *verdict.note, obj, context)
        self._act_on(verdict, key, obj, failures)
        ended_at = self._clock.monotonic()
        self._observe(
            ReconcileFinished(
                controller=controller.name,
                ref=obj.ref,
                outcome=verdict.outcome,
                took_seconds=ended_at - started_at,
                queued_seconds=started_at - since_at,
                failures=self._queue.num_requeues(key) if verdict.is_failure else 0,
                after_seconds=verdict.after_seconds,
                whys=whys,
                whys_left_out=taken.left_out,
                writes=tuple(context.writes),
                spared=context.spared,
                is_finalize=is_ending,
                error=error,
            )
        )
        if context.wrote or key not in self._reporting:
            self._look_for_hot_loop(key, obj, whys, context.wrote, ended_at)
        if isinstance(error, ReconcileTimedOut):
            return fingerprint(obj)
        self._lane.note_seconds(ended_at - started_at)
        return None

    def state_of(self, key: ObjectKey) -> object | None:
        """What the object of a key is like now, as ``look_at`` says it."""
        try:
            obj = self._lister.get(key.name, namespace=key.namespace)
        except NotInScope:
            return None
        return None if obj is None else fingerprint(obj)

    def _find(self, key: ObjectKey) -> Obj | str:
        """The object, or why there is nothing to be done about it."""
        try:
            obj = self._lister.get(key.name, namespace=key.namespace)
        except NotInScope:
            return "out of scope"
        if obj is None:
            # Once more: what it left behind may be from after its end.
            self._forget(key)
            return "gone"
        if is_paused(obj):
            return "paused"
        if key in self._given_up:
            if self._given_up[key] == fingerprint(obj):
                return "permanent"
            del self._given_up[key]
        if (
            obj.deletion_time is not None
            and not self._controller.while_deleting
            and not has_finalizer(obj, self._controller.finalizer)
        ):
            return "being deleted"
        return obj

    def _skip(self, key: ObjectKey, *, reason: str) -> None:
        self._queue.forget(key)
        self._observe(
            ReconcileSkipped(controller=self._controller.name, ref=self.ref_of(key), reason=reason)
        )

    async def _in_time(
        self, key: ObjectKey, obj: Obj, context: Context, is_ending: bool
    ) -> Outcome:
        limit_seconds = self._controller.timeout_seconds
        look = self._finalize if is_ending else self._reconcile
        is_theirs = False
        try:
            async with self._clock.timeout(limit_seconds):
                try:
                    return await look(key, obj, context)
                except TimeoutError:
                    is_theirs = True
                    raise
        except TimeoutError as error:
            if is_theirs:
                raise
            raise ReconcileTimedOut(
                controller=self._controller.name, ref=str(obj.ref), timeout_seconds=limit_seconds
            ) from error

    async def _reconcile(self, key: ObjectKey, obj: Obj, context: Context) -> Outcome:
        if self._controller.finalize is not None:
            # Before the first thing that would have to be cleaned up.
            obj = await context.add_finalizer(obj)
            if obj.deletion_time is not None:
                # Too late for a finalizer. Word of the deletion is on its way here.
                return Done()
        outcome = await self._call(self._controller.reconcile, key, obj, context)
        return await self._reporting.report(outcome, key, obj, context)

    async def _finalize(self, key: ObjectKey, obj: Obj, context: Context) -> Outcome:
        if self._controller.finalize is not None:
            outcome = await self._call(self._controller.finalize, key, obj, context)
            outcome = await self._reporting.report(outcome, key, obj, context)
            if not isinstance(outcome, Done):
                return outcome
        await context.remove_finalizer(obj)
        return Done()

    async def _call(self, function: Any, key: ObjectKey, obj: Obj, context: Context) -> Outcome:
        if self._is_blocking:

            def in_thread(caller: LoopCaller) -> object:
                context.check_leadership()
                return function(obj, BlockingContext(context, caller))

            holder = f"{self._controller.name}: {obj.ref}"
            job = await self._threads.start(in_thread, holder=holder, ended=context.ended)
            self._jobs[key] = job
            self._workers.begin(key)
            returned = await job.result()
        elif self._leads is None:
            returned = await function(obj, context)
        else:
            wanted = f"the reconcile of {obj.ref}"
            returned = await run_while_leader(function(obj, context), self._leads, wanted=wanted)
        if not isinstance(returned, Done | Later):
            if asyncio.iscoroutine(returned):
                returned.close()  # else Python complains that nobody has awaited it
            raise BadOutcome(function=name_of(function), ref=str(obj.ref), returned=returned)
        unawaited = close_unawaited(context.calls)
        if unawaited is not None:
            verb, where, has_begun = unawaited
            raise NotAwaited(ref=str(obj.ref), verb=verb, where=where, has_begun=has_begun)
        # What it has left behind must not write beside what it has said.
        context.end()
        return returned

    # What becomes of it

    async def _say(
        self, verdict: Verdict, reason: str, message: str, obj: Obj, context: Context
    ) -> Verdict:
        """The verdict, once the object's condition says the same."""
        # What is said may wake the object, and if that failed in other words each time, this would
        # never end. They are said after the wait.
        if verdict.is_failure and is_only_status(context.whys, obj.ref):
            return verdict
        condition = Condition(
            type=self._controller.condition, status="False", reason=reason, message=message
        )
        try:
            await context.set_condition(obj, condition)
        except SteersmanError:
            # It is said when it has failed once more. What is permanent would never do so.
            return replace(verdict, outcome="failed", is_failure=True, is_final=False)
        return verdict

    def _act_on(self, verdict: Verdict, key: ObjectKey, obj: Obj, failures: int) -> None:
        queue = self._queue
        if verdict.is_failure:
            queue.add_rate_limited(key, priority=queue.held_priority(key))
        else:
            if failures:  # of which there are hardly ever any
                queue.forget(key)
            if verdict.is_final:
                self._given_up[key] = fingerprint(obj)
            elif verdict.after_seconds is not None:
                priority = queue.held_priority(key)
                queue.add_after(key, verdict.after_seconds, priority=priority)
        if verdict.note is not None:
            reason, note = verdict.note
            self._recorder.record(obj, reason, note, type="Warning")

    def _look_for_hot_loop(
        self,
        key: ObjectKey,
        obj: Obj,
        whys: tuple[Why, ...],
        wrote: Sequence[EffectiveWrite],
        now_at: float,
    ) -> None:
        found = self._hot_loops.note(key, whys=whys, wrote=wrote, now_at=now_at)
        if found is not None:
            self._observe(
                HotLoop(
                    controller=self._controller.name,
                    ref=obj.ref,
                    fields=found.fields,
                    count=found.count,
                    seconds=found.seconds,
                )
            )

    def ref_of(self, key: ObjectKey) -> ObjectRef:
        """The object of a key, for people."""
        return ObjectRef(self._controller.gvk.kind, key.namespace, key.name)
