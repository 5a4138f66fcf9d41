"""The HorizontalPodAutoscaler controller, which processes each autoscaler periodically."""

from typing import Final

from steersman.cache import Deleted, Delta, Informer, Updated, background_tasks
from steersman.controller import EventRecorder
from steersman.errors import ApiError, Conflict, SteersmanError
from steersman.kinds import autoscaling_v1, core_v1, replace
from steersman.manager import Runnable, Services
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ReconcileFinished, ReconcileSkipped
from steersman.workqueue import WorkQueue, default_limiter
from steersman_cluster.workloads.podautoscalers.behavior import ScalingHistory
from steersman_cluster.workloads.podautoscalers.decision import (
    Autoscaler,
    Event,
    InvalidSelector,
    ScalingDecision,
    after_failed_rescale,
    after_rescale,
    decided,
    needs_metrics,
    without_scale,
)
from steersman_cluster.workloads.podautoscalers.metrics import (
    Failed,
    Found,
    evaluated,
    query_of,
    tolerances_of,
)
from steersman_cluster.workloads.podautoscalers.replica_calculator import ScalingProblem, Usages
from steersman_cluster.workloads.podautoscalers.scale_client import (
    ScaleClient,
    ScaleTarget,
    message_of,
    put_status,
)
from steersman_cluster.workloads.podautoscalers.selectors import (
    LABEL_INDEX,
    Selectors,
    by_label,
    pods_in,
)
from steersman_cluster.workloads.settings import WorkloadSettings

Pod = core_v1.Pod

NAME: Final = "horizontal-pod-autoscaler"

#: The sync period of kube-controller-manager.
SYNC_SECONDS: Final = 15.0

# As many as in kube-controller-manager: workers mostly wait.
_WORKERS: Final = 5

# How often the update of a scale is retried after a conflict.
_TRIES: Final = 5


def runnables(settings: WorkloadSettings) -> tuple[Runnable, ...]:
    """Return the autoscaler controller."""
    del settings  # it does not depend on the settings
    return (Runnable(_run, name=NAME),)


async def _run(services: Services) -> None:
    async with services.caches.informer(Autoscaler) as autoscalers:
        look = AutoscalerController(services, autoscalers)
        registration = autoscalers.add_handler(look.changed, name=NAME)
        try:
            await look.run()
        finally:
            autoscalers.remove_handler(registration)


class AutoscalerController:
    def __init__(self, services: Services, autoscalers: Informer[Autoscaler]) -> None:
        self._services = services
        self._autoscalers = autoscalers
        self._targets = ScaleClient(services.client)
        self._histories: dict[ObjectKey, ScalingHistory] = {}
        self._selectors = Selectors()
        self._recorder = EventRecorder(
            services.client,
            controller=NAME,
            source=NAME,
            instance=NAME,
            clock=services.clock,
            rng=services.rng,
            observe=services.observe,
        )
        self._queue = WorkQueue[ObjectKey](
            NAME,
            limiter=default_limiter(clock=services.clock, rng=services.rng),
            clock=services.clock,
            observe=services.observe,
        )

    def changed(self, delta: Delta[Autoscaler]) -> None:
        """Enqueue the autoscaler in ``delta``, or remove its data if it was deleted."""
        if isinstance(delta, Deleted):
            self._histories.pop(delta.key, None)
            self._selectors.forget(delta.key)
        elif not isinstance(delta, Updated) or delta.old.spec != delta.obj.spec:
            self._queue.add(delta.key)

    async def run(self) -> None:
        """Process autoscalers as they become due, until cancelled."""
        # Pods are not watched before there is an autoscaler.
        first = await self._queue.get()
        pods = self._services.caches.informer(Pod, indexes={LABEL_INDEX: by_label})
        async with pods as informer, background_tasks() as start:
            start(self._recorder.run(), name=f"events of {NAME}")
            self._queue.add(first)
            self._queue.done(first)
            for number in range(_WORKERS - 1):
                start(self._work(informer), name=f"{NAME}/{number + 1}")
            await self._work(informer)

    async def _work(self, pods: Informer[Pod]) -> None:
        clock = self._services.clock
        while True:
            async with self._queue.take() as key:
                hpa = self._autoscalers.lister.get(key.name, namespace=key.namespace)
                ref = ObjectRef("HorizontalPodAutoscaler", key.namespace, key.name)
                if hpa is None or hpa.deletion_time is not None:
                    reason = "gone" if hpa is None else "being deleted"
                    self._services.observe(
                        ReconcileSkipped(controller=NAME, ref=ref, reason=reason)
                    )
                    continue
                started_at = clock.monotonic()
                error: SteersmanError | None = None
                has_changed = False
                try:
                    has_changed = await self._sync(key, hpa, pods)
                except SteersmanError as caught:
                    error = caught  # the next sync is near
                self._queue.add_after(key, SYNC_SECONDS)
                self._services.observe(
                    ReconcileFinished(
                        controller=NAME,
                        ref=ref,
                        outcome="done" if error is None else "failed",
                        took_seconds=clock.monotonic() - started_at,
                        queued_seconds=0.0,
                        # After a sync without a change, the period is enough.
                        after_seconds=SYNC_SECONDS if has_changed else None,
                        error=error,
                    )
                )

    async def _sync(self, key: ObjectKey, hpa: Autoscaler, pods: Informer[Pod]) -> bool:
        """Process an autoscaler, and return whether anything was written."""
        history = self._histories.get(key, ScalingHistory())
        now = self._services.clock.now()
        scaled = await self._targets.scale_of(hpa)
        if isinstance(scaled, str):
            return await self._write_decision(hpa, without_scale(hpa, scaled, history, now))
        current = scaled.replicas
        evaluations: list[Found | Failed] | InvalidSelector = []
        if needs_metrics(hpa, current):
            evaluations = await self._evaluated(key, hpa, scaled, pods)
        decision = decided(hpa, evaluations, current=current, history=history, now=now)
        self._histories[key] = decision.history
        if decision.replicas is None:
            return await self._write_decision(hpa, decision)
        await self._rescale(key, hpa, scaled, decision)
        return True

    async def _evaluated(
        self, key: ObjectKey, hpa: Autoscaler, scaled: ScaleTarget, pods: Informer[Pod]
    ) -> list[Found | Failed] | InvalidSelector:
        selector = self._selectors.read(key, scaled.selector)
        if isinstance(selector, InvalidSelector):
            return selector
        selected = pods_in(pods.lister, key.namespace or "", selector)
        refused = self._selectors.ambiguity(key, scaled.selector, selected)
        if refused is not None:
            return refused
        now = self._services.clock.now()
        found: list[Found | Failed] = []
        for metric in hpa.spec.metrics or ():
            wanted = query_of(metric)
            usages: Usages | ScalingProblem = {}
            if wanted is not None:
                usages = await self._targets.usages(
                    wanted, selected, namespace=key.namespace or "", selector=selector, now=now
                )
            found.append(
                evaluated(
                    metric,
                    usages,
                    selected,
                    current=scaled.replicas,
                    tolerances=tolerances_of(hpa.spec.behavior),
                    namespace=key.namespace or "",
                    now=now,
                )
            )
        return found

    async def _rescale(
        self, key: ObjectKey, hpa: Autoscaler, scaled: ScaleTarget, decision: ScalingDecision
    ) -> None:
        now = self._services.clock.now()
        wanted = decision.replicas or 0
        try:
            await self._write(scaled, wanted)
        except ApiError as error:
            status, event = after_failed_rescale(decision, hpa, message_of(error), now)
        else:
            status, event = after_rescale(decision, now)
            self._histories[key] = decision.history.scaled(
                scaled.replicas, wanted, hpa.spec.behavior, now
            )
        events = (*decision.events, event)
        await self._write_decision(
            hpa, ScalingDecision(status=status, history=decision.history, events=events)
        )

    async def _write(self, scaled: ScaleTarget, replicas: int) -> None:
        for left in reversed(range(_TRIES)):
            spec = autoscaling_v1.ScaleSpec(replicas=replicas)
            try:
                await scaled.place.update(replace(scaled.scale, spec=spec), field_manager=NAME)
            except Conflict:
                if not left:
                    raise
                scaled = replace_scale(scaled, await scaled.place.get())
            else:
                return

    async def _write_decision(self, hpa: Autoscaler, decision: ScalingDecision) -> bool:
        for event in decision.events:
            self._record(hpa, event)
        return await put_status(self._services, hpa, decision.status, field_manager=NAME)

    def _record(self, hpa: Autoscaler, event: Event) -> None:
        self._recorder.record(
            hpa, event.reason, event.text, type="Warning" if event.is_warning else "Normal"
        )


def replace_scale(scaled: ScaleTarget, scale: autoscaling_v1.Scale) -> ScaleTarget:
    """Return the target ``scaled`` with the scale replaced by ``scale``."""
    return ScaleTarget(place=scaled.place, scale=scale)
