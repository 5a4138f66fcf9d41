"""The disruption controller: it computes how many disruptions each budget allows.

The server decrements ``disruptionsAllowed`` when it evicts a Pod. The controller therefore writes a
status with the resource version from which the status was computed. If the server has evicted a Pod
in the meantime, the write fails with a conflict, and the server's update is preserved.
"""

from datetime import datetime
from functools import partial
from typing import Final

from steersman.client import StrategicMergePatch
from steersman.controller import Context, Controller, Later, Outcome, Watch, Writes
from steersman.errors import Conflict, NotFound
from steersman.kinds import apps_v1, autoscaling_v1, core_v1, policy_v1
from steersman.units import format_time
from steersman_cluster.workloads.disruptions.scale_finder import NoScale, ScaleFinder
from steersman_cluster.workloads.disruptions.selectors import (
    TARGET,
    WATCHED_PODS,
    budgets_above,
    go_form,
    is_resized,
    pods_of,
    shared_budgets,
)
from steersman_cluster.workloads.disruptions.status import (
    DELETION_SECONDS,
    Budget,
    counted,
    desired_healthy,
    disrupted,
    failed,
    healthy,
    needs_scale,
)
from steersman_cluster.workloads.pods import SELECTOR_INDEX, by_selector, condition, is_ended
from steersman_cluster.workloads.requeue import after_first
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.status_writer import put_status

Pod = core_v1.Pod

_UNMANAGED: Final = (
    "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged."
    " As a result, the status of the PDB cannot be calculated correctly, which may result in"
    ' undefined behavior. To account for these pods please set ".spec.minAvailable" field of the'
    " PDB to an integer value."
)


async def reconcile(budget: Budget, ctx: Context, *, memories: PerRun[ScaleFinder]) -> Outcome:
    """Compute the status of the PodDisruptionBudget ``budget``, and write it."""
    spec = budget.spec or policy_v1.PodDisruptionBudgetSpec()
    pods = pods_of(budget, ctx)
    if not pods:
        ctx.record("NoPods", "No matching pods found")
    _record_shared(budget, pods, ctx)
    expected, now = len(pods), ctx.now
    try:
        if needs_scale(spec):
            scale = await memories.of(ctx.rng).of(pods, ctx)
            expected = scale.pods
            if scale.unmanaged:
                note = _UNMANAGED.format(selector=go_form(spec.selector))
                ctx.record("UnmanagedPods", note, type="Warning")
    except NoScale as why:
        note = f"Failed to calculate the number of expected pods: {why}"
        ctx.record("CalculateExpectedPodCountFailed", note, type="Warning")
        status, wait_seconds = failed(budget, str(why), now), None
    else:
        before = budget.status.disrupted_pods if budget.status is not None else None
        going = disrupted(pods, before, now)
        for pod in going.overdue:
            # The namespace twice, as in kube-controller-manager.
            note = (
                f"Pod was expected by PDB {budget.namespace}/{budget.namespace} to be deleted"
                f" but it wasn't"
            )
            ctx.record("NotDeleted", note, type="Warning", about=pod)
        status = counted(
            budget,
            expected=expected,
            desired=desired_healthy(spec, expected),
            current=healthy(pods, going.expected),
            going=going.expected,
            now=now,
        )
        wait_seconds = going.next_seconds
    try:
        await put_status(ctx, budget, status, if_unchanged=True)
    except (Conflict, NotFound):
        return Later()  # the event of the conflicting write enqueues it again
    return after_first(wait_seconds, await _unmark(pods, ctx, now))


def _record_shared(budget: Budget, pods: list[Pod], ctx: Context) -> None:
    """Record an event if several budgets select the same Pods.

    Only the reconcile of the first of these budgets, by name, records the event.
    """
    is_shared: dict[tuple[tuple[str, str], ...], bool] = {}  # most Pods have the same labels
    for pod in pods:
        labels = tuple(pod.labels.items())
        if labels not in is_shared:
            first, *others = shared_budgets(pod, ctx) or [budget]
            is_shared[labels] = bool(others) and first.name == budget.name
        if is_shared[labels]:
            note = (
                f'Pod "{pod.namespace}"/"{pod.name}" matches multiple PodDisruptionBudgets. '
                f' Chose "{budget.name}" arbitrarily.'
            )
            ctx.record("MultiplePodDisruptionBudgets", note, type="Warning", about=pod)


async def _unmark(pods: list[Pod], ctx: Context, now: datetime) -> float | None:
    """Set ``DisruptionTarget`` to false on evicted Pods that were not deleted in time.

    Return the delay until the next Pod has to be checked.
    """
    waits: list[float] = []
    for pod in pods:
        target = condition(pod, TARGET)
        if (
            target is None
            or target.status != "True"
            or target.reason == "TerminationByKubelet"
            or pod.metadata.deletion_timestamp is not None
            or is_ended(pod)
        ):
            continue
        since = target.last_transition_time
        if since is not None:
            wait_seconds = DELETION_SECONDS - (now - since).total_seconds()
            if wait_seconds > 0:
                waits.append(wait_seconds)
                continue
        taken_back = {
            "type": TARGET,
            "status": "False",
            "reason": None,
            "message": None,
            "lastTransitionTime": format_time(now),
        }
        patch = StrategicMergePatch({"status": {"conditions": [taken_back]}})
        try:
            await ctx.patch(pod, patch, subresource="status")
        except NotFound:
            continue
    return min(waits, default=None)


def controller() -> Controller[Budget]:
    """Return a disruption controller that shares no state with other disruption controllers."""
    return Controller(
        Budget,
        reconcile=partial(reconcile, memories=PerRun(ScaleFinder)),
        watches=(
            WATCHED_PODS,
            Watch(apps_v1.Deployment, to=budgets_above, when=is_resized),
            Watch(apps_v1.ReplicaSet, to=budgets_above, when=is_resized),
            Watch(apps_v1.StatefulSet, to=budgets_above, when=is_resized),
        ),
        reads=(autoscaling_v1.Scale,),
        writes=(Writes(Pod, subresource="status"),),
        indexes={SELECTOR_INDEX: by_selector},
        name="controllermanager",
        event_source="controllermanager",
    )
