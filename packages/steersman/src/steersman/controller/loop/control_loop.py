"""``ControlLoop``: takes keys from the queue, calls the reconcile function and acts on its outcome.

    informers ──deltas──▶ triggers ──keys──▶ work queue ──key──▶ worker ──▶ your function
                                                 ▲                              │
                                                 └───────── outcome ────────────┘

One worker at a time reconciles an object. A failure delays only its own object, which is retried
with backoff.
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
    background_tasks,
    is_cancelled,
)
from steersman.clock import Clock
from steersman.controller.cache_reader import same_kind
from steersman.controller.context.blocking_context import BlockingContext
from steersman.controller.context.context import Context, ContextServices
from steersman.controller.context.pending_calls import close_unawaited
from steersman.controller.controller import Controller
from steersman.controller.declaration.functions import name_of
from steersman.controller.declaration.outcomes import Done, Later, Outcome
from steersman.controller.finalizers import has_finalizer
from steersman.controller.leadership import run_while_leader
from steersman.controller.loop.delayed_status import DelayedStatuses
from steersman.controller.loop.hot_loop import HotLoops
from steersman.controller.loop.retry import Decision, decide, fingerprint, new_queue
from steersman.controller.loop.workers import Workers
from steersman.controller.pause import is_paused
from steersman.controller.threads import Job, LoopCaller, ThreadPool
from steersman.controller.triggers.event_handlers import EventHandlers
from steersman.controller.triggers.reasons import Reasons, is_only_status
from steersman.controller.writer.reports import EffectiveWrite
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
    ReconcileReason,
    ReconcileSkipped,
    ThreadAbandoned,
)

if TYPE_CHECKING:
    from steersman.controller.declaration.sources import Source

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class ControlLoop(Generic[Obj]):
    """The control loop of one controller. It runs from the call of ``run`` until ``stop``."""

    def __init__(
        self,
        controller: Controller[Obj],
        services: ContextServices,
        *,
        informers: Mapping[type[Any] | ResourceType, Informer[Any]],
        threads: ThreadPool,
        observe: Observer,
    ) -> None:
        self._controller = controller
        self._services = services
        self._informers = informers
        self._cached = services.cached
        self._clock: Clock = services.client.clock
        self._writer = services.writer
        self._recorder = services.recorder
        self._threads = threads
        self._leads = services.leads
        self._observe = observe
        self._lister = services.cached.lister(controller.kind)
        self._queue = new_queue(
            controller.name,
            backoff=controller.backoff,
            bucket=controller.bucket,
            clock=self._clock,
            rng=services.client.rng,
            observe=observe,
        )
        self._debounce_seconds = controller.debounce_seconds
        self._has_priorities = controller.priority is not None
        self._reasons = Reasons()
        self._hot_loops = HotLoops()
        self._handlers = EventHandlers(
            controller,
            cached=services.cached,
            enqueue=self.enqueue,
            clock=self._clock,
            rng=services.client.rng,
            observe=observe,
            recorder=services.recorder,
        )
        # The fingerprints of objects whose reconcile raised Permanent.
        self._permanent: dict[ObjectKey, object] = {}
        # The object with another owner, by the key of the object that requested to own it.
        self._refused: dict[ObjectKey, str] = {}
        self._delayed = DelayedStatuses(
            delay_seconds=controller.progress_seconds, clock=self._clock
        )
        self._jobs: dict[ObjectKey, Job[Any]] = {}
        self._start: Start | None = None
        self._stopped = asyncio.Event()
        self._ends_since_at: float | None = None
        self._is_blocking = controller.is_blocking
        self._workers = Workers(
            controller, self._queue, self, leads=self._leads, clock=self._clock, observe=observe
        )
        self._lane = self._workers.lane

    def __repr__(self) -> str:
        return f"<ControlLoop of {self._controller!r}: {self._queue!r}>"

    @property
    def name(self) -> str:
        """The name of the controller."""
        return self._controller.name

    def object_of_task(self, task: "asyncio.Task[Any]") -> ObjectRef | None:
        """Return the object that ``task`` reconciles; ``None`` if ``task`` is not a worker."""
        key = self._workers.current(task)
        return None if key is None else self.ref_of(key)

    @property
    def stuck(self) -> tuple[ObjectRef, ...]:
        """The objects whose last reconcile timed out, and the objects whose reconcile is slow."""
        return self._workers.stuck

    @property
    def entry_count(self) -> int:
        """The number of entries that the loop stores about objects, to detect leaks.

        Entries about deleted objects are dropped.
        """
        about_own = len(self._permanent) + len(self._refused) + len(self._delayed)
        about_own += len(self._reasons) + len(self._hot_loops) + len(self._lane)
        return about_own + len(self._writer) + len(self._writer.owner_check)

    def enqueue(self, key: ObjectKey, why: ReconcileReason, priority: int) -> None:
        """Enqueue the object of ``key`` for a reconcile, with the reason ``why``."""
        self._reasons.note(key, why, self._clock.monotonic())
        if self._has_priorities:
            kind: type[Any] = self._controller.kind
            found = self._cached.find(kind, key.name, namespace=key.namespace)
            priority += self._handlers.priority_of(found)
        if self._debounce_seconds:
            # The first change sets the time; the reconcile covers all changes until then.
            self._queue.add_after(key, self._debounce_seconds, priority=priority)
        else:
            self._queue.add(key, priority=priority)

    def stop(self) -> None:
        """Start no further reconcile; ``run`` returns when the running reconciles have ended."""
        self._ends_since_at = self._clock.monotonic()
        self._queue.shut_down()
        self._stopped.set()

    async def run(self) -> None:
        """Run until the loop is stopped."""
        controller = self._controller
        self._observe(ControllerStarted(controller=controller.name, workers=controller.workers))
        registrations = self._add_handlers()
        try:
            async with background_tasks() as start:
                self._start = start
                if any(watch.to is not None for watch in controller.watches):
                    start(self._handlers.retry_mappings(), name=f"mappings of {controller.name}")
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

    # Handlers

    def _add_handlers(self) -> list[tuple[Informer[Any], Registration[Any]]]:
        controller = self._controller
        own = controller.kind
        registered = [
            self._add_handler(own, self._on_own, resync_seconds=controller.resync_seconds)
        ]
        for owns in controller.owned:
            handler = self._forget_deleted(
                owns.kind, self._note_lost_children(self._handlers.owned(owns))
            )
            registered.append(self._add_handler(owns.kind, handler))
        written = {each.kind.resource_type for each in controller.written}
        for number, watch in enumerate(controller.watches):
            if watch.to is not None or watch.kind.resource_type in written:
                watched = self._handlers.watched(watch, number)
                registered.append(
                    self._add_handler(watch.kind, self._forget_deleted(watch.kind, watched))
                )
        return registered

    def _add_handler(
        self,
        kind: type[Any],
        handler: Callable[[Delta[Any]], None],
        *,
        resync_seconds: float | None = None,
    ) -> tuple[Informer[Any], Registration[Any]]:
        informer = self._informers[same_kind(kind)]
        # The handler only enqueues keys; a separate task would cost more.
        return informer, informer.add_handler(
            handler,
            name=self._controller.name,
            resync_seconds=resync_seconds,
            inline=True,
            may_yield=True,
            newest_first=True,
        )

    def _on_own(self, delta: Delta[Obj]) -> None:
        if isinstance(delta, Deleted):
            self._forget(delta.key)
            self._writer.owner_check.forget(delta.obj.uid)
        self._handlers.own(delta)

    def _forget(self, key: ObjectKey) -> None:
        self._permanent.pop(key, None)
        self._refused.pop(key, None)
        self._delayed.forget(key)
        self._hot_loops.forget(key)
        self._workers.forget(key)
        self._writer.forget(self._controller.kind, key)

    def _forget_deleted(
        self, kind: type[Any], handler: Callable[[Delta[Any]], None]
    ) -> Callable[[Delta[Any]], None]:
        def handle(delta: Delta[Any]) -> None:
            if isinstance(delta, Deleted):
                self._writer.forget(kind, delta.key)
            handler(delta)

        return handle

    def _note_lost_children(
        self, handler: Callable[[Delta[Any]], None]
    ) -> Callable[[Delta[Any]], None]:
        def handle(delta: Delta[Any]) -> None:
            if isinstance(delta, Deleted):
                is_cached = partial(self._is_cached, delta.key.namespace)
                self._writer.owner_check.note_lost_child(delta.obj, is_cached=is_cached)
                self._enqueue_refused(delta.obj)
            handler(delta)

        return handle

    def _note_refused(self, key: ObjectKey, refusal: NotOurs) -> None:
        self._refused[key] = refusal.wanted

    def _enqueue_refused(self, gone: Resource | Unstructured) -> None:
        """Enqueue the objects that could not take ownership of ``gone``, which is now deleted."""
        ref = str(gone.ref) if self._refused else ""
        for key in [key for key, wanted in self._refused.items() if wanted == ref]:
            self.enqueue(
                key,
                ReconcileReason(about=gone.ref, event="deleted", version=gone.resource_version),
                0,
            )

    def _is_cached(self, namespace: str | None, name: str, uid: str) -> bool:
        """Return whether the cache contains an owner with this name and uid.

        ``namespace`` is the namespace of the owned object.
        """
        if not self._controller.kind.resource_type.namespaced:
            namespace = None
        elif namespace is None:
            return False  # a cluster-scoped object has no owner in a namespace
        owner = self._lister.get(name, namespace=namespace)
        return owner is not None and owner.uid == uid

    async def _run_source(self, source: "Source") -> None:
        # Imported here, because few controllers have sources.
        from steersman.controller.triggers.source_runner import run_source

        kind: type[Any] = self._controller.kind
        await run_source(
            source,
            controller=self._controller.name,
            cached=self._cached,
            kind=kind,
            enqueue=self.enqueue,
            clock=self._clock,
            rng=self._services.client.rng,
            observe=self._observe,
        )

    # Reconciling

    def release(self, key: ObjectKey) -> None:
        """Mark ``key`` as done in the queue.

        If the thread of its reconcile still runs, ``key`` is marked as done when the thread has
        ended.
        """
        job = self._jobs.pop(key, None)
        if job is None or job.has_ended or self._start is None:
            self._queue.done(key)
        else:
            # The thread cannot be stopped: the object must not be reconciled until it has ended,
            # but the worker can continue with other keys.
            waiting = self._start(self._wait_for(key, job), name=f"left behind: {job.holder}")
            # A callback, because the task may be cancelled before it starts.
            waiting.add_done_callback(lambda _: self._queue.done(key))

    async def _wait_for(self, key: ObjectKey, job: Job[Any]) -> None:
        since_at = self._clock.monotonic()
        ref = self.ref_of(key)
        self._observe(ThreadAbandoned(controller=self._controller.name, ref=ref, seconds=0.0))
        await job.ended()
        seconds = self._clock.monotonic() - since_at
        name = self._controller.name
        self._observe(ThreadAbandoned(controller=name, ref=ref, seconds=seconds, has_ended=True))

    async def reconcile_key(self, key: ObjectKey) -> object | None:
        """Reconcile the object of ``key``.

        If the reconcile timed out, return the fingerprint of the object, which changes with its
        content; otherwise return ``None``.
        """
        taken = self._reasons.take(key)
        started_at = self._clock.monotonic()
        obj = self._find(key)
        if isinstance(obj, str):
            self._skip(key, reason=obj)
            return None
        controller = self._controller
        is_ending = obj.deletion_time is not None and not controller.while_deleting
        failures = self._queue.num_requeues(key)
        # Without a change, its last reconcile requeued it.
        reasons = taken.reasons or self._delayed.reasons(key)
        reasons = reasons or (
            ReconcileReason(about=obj.ref, event="retry" if failures else "later"),
        )
        since_at = started_at if taken.since_at is None else taken.since_at
        context = Context(
            controller,
            obj,
            self._services,
            reasons=reasons,
            failures=failures,
            refused=partial(self._note_refused, key),
        )
        self._refused.pop(key, None)
        error: Exception | None = None
        outcome: Outcome = Done()
        try:
            outcome = await self._with_timeout(key, obj, context, is_ending)
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            error = RuntimeError("an operation that it awaited was cancelled")
        except AUTHOR_ERRORS as caught:  # the only handler of author errors
            error = failure_of(caught)
        finally:
            context.end()
        decision = decide(outcome, error, failures=failures)
        # An error during a cancellation is not about the object.
        if decision.note is not None and controller.condition and not is_cancelled():
            decision = await self._set_failure_condition(decision, *decision.note, obj, context)
        self._requeue(decision, key, obj, failures)
        ended_at = self._clock.monotonic()
        self._observe(
            ReconcileFinished(
                controller=controller.name,
                ref=obj.ref,
                outcome=decision.outcome,
                took_seconds=ended_at - started_at,
                queued_seconds=started_at - since_at,
                failures=self._queue.num_requeues(key) if decision.is_failure else 0,
                after_seconds=decision.after_seconds,
                reasons=reasons,
                reasons_left_out=taken.left_out,
                writes=tuple(context.writes),
                skipped_writes=context.skipped_writes,
                is_finalize=is_ending,
                error=error,
            )
        )
        if context.wrote or key not in self._delayed:
            self._detect_hot_loop(key, obj, reasons, context.wrote, ended_at)
        if isinstance(error, ReconcileTimedOut):
            return fingerprint(obj)
        self._lane.note_seconds(ended_at - started_at)
        return None

    def fingerprint_of(self, key: ObjectKey) -> object | None:
        """Return the fingerprint of the object of ``key``; ``None`` if the object is not cached."""
        try:
            obj = self._lister.get(key.name, namespace=key.namespace)
        except NotInScope:
            return None
        return None if obj is None else fingerprint(obj)

    def _find(self, key: ObjectKey) -> Obj | str:
        """Return the object of ``key``, or the reason for not reconciling it."""
        try:
            obj = self._lister.get(key.name, namespace=key.namespace)
        except NotInScope:
            return "out of scope"
        if obj is None:
            # Again, because state may have been stored after the deletion.
            self._forget(key)
            return "gone"
        if is_paused(obj):
            return "paused"
        if key in self._permanent:
            if self._permanent[key] == fingerprint(obj):
                return "permanent"
            del self._permanent[key]
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

    async def _with_timeout(
        self, key: ObjectKey, obj: Obj, context: Context, is_ending: bool
    ) -> Outcome:
        limit_seconds = self._controller.timeout_seconds
        function = self._finalize if is_ending else self._reconcile
        is_own_timeout = False
        try:
            async with self._clock.timeout(limit_seconds):
                try:
                    return await function(key, obj, context)
                except TimeoutError:
                    is_own_timeout = True
                    raise
        except TimeoutError as error:
            if is_own_timeout:
                raise
            raise ReconcileTimedOut(
                controller=self._controller.name, ref=str(obj.ref), timeout_seconds=limit_seconds
            ) from error

    async def _reconcile(self, key: ObjectKey, obj: Obj, context: Context) -> Outcome:
        if self._controller.finalize is not None:
            # Before the first side effect.
            obj = await context.add_finalizer(obj)
            if obj.deletion_time is not None:
                # Too late for a finalizer; the watch will deliver the deletion.
                return Done()
        outcome = await self._call(self._controller.reconcile, key, obj, context)
        return await self._delayed.apply(outcome, key, obj, context)

    async def _finalize(self, key: ObjectKey, obj: Obj, context: Context) -> Outcome:
        if self._controller.finalize is not None:
            outcome = await self._call(self._controller.finalize, key, obj, context)
            outcome = await self._delayed.apply(outcome, key, obj, context)
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
            self._workers.thread_started(key)
            returned = await job.result()
        elif self._leads is None:
            returned = await function(obj, context)
        else:
            wanted = f"the reconcile of {obj.ref}"
            returned = await run_while_leader(function(obj, context), self._leads, wanted=wanted)
        if not isinstance(returned, Done | Later):
            if asyncio.iscoroutine(returned):
                returned.close()  # avoids Python's warning that it was never awaited
            raise BadOutcome(function=name_of(function), ref=str(obj.ref), returned=returned)
        unawaited = close_unawaited(context.calls)
        if unawaited is not None:
            verb, where, has_started = unawaited
            raise NotAwaited(ref=str(obj.ref), verb=verb, where=where, has_begun=has_started)
        # Tasks that the function left running must not write after its status.
        context.end()
        return returned

    # Outcomes

    async def _set_failure_condition(
        self, decision: Decision, reason: str, message: str, obj: Obj, context: Context
    ) -> Decision:
        """Set the object's condition to the failure, and return the decision that the loop must
        carry out.

        If the condition cannot be set, the returned decision is a retry.
        """
        # Setting the condition triggers a reconcile. With another message at each failure, this
        # would be a hot loop; so it is set by the retry after the backoff.
        if decision.is_failure and is_only_status(context.reasons, obj.ref):
            return decision
        condition = Condition(
            type=self._controller.condition, status="False", reason=reason, message=message
        )
        try:
            await context.set_condition(obj, condition)
        except SteersmanError:
            # The retry sets it. A permanent failure has no retry, so it becomes a retried failure.
            return replace(decision, outcome="failed", is_failure=True, is_final=False)
        return decision

    def _requeue(self, decision: Decision, key: ObjectKey, obj: Obj, failures: int) -> None:
        queue = self._queue
        if decision.is_failure:
            queue.add_rate_limited(key, priority=queue.processing_priority(key))
        else:
            if failures:  # rarely any
                queue.forget(key)
            if decision.is_final:
                self._permanent[key] = fingerprint(obj)
            elif decision.after_seconds is not None:
                priority = queue.processing_priority(key)
                queue.add_after(key, decision.after_seconds, priority=priority)
        if decision.note is not None:
            reason, note = decision.note
            self._recorder.record(obj, reason, note, type="Warning")

    def _detect_hot_loop(
        self,
        key: ObjectKey,
        obj: Obj,
        reasons: tuple[ReconcileReason, ...],
        wrote: Sequence[EffectiveWrite],
        now_at: float,
    ) -> None:
        found = self._hot_loops.note(key, reasons=reasons, wrote=wrote, now_at=now_at)
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
        """Return a reference to the object of ``key``."""
        return ObjectRef(self._controller.gvk.kind, key.namespace, key.name)
