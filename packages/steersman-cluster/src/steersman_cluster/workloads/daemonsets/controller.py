"""The controller that maintains the Pods, revisions and status of DaemonSets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed_value
from functools import partial
from typing import Any, Final

from steersman.controller import (
    CacheReader,
    Context,
    Controller,
    Done,
    Outcome,
    Watch,
    Writes,
    changed,
    controller_of,
)
from steersman.errors import ApiError
from steersman.kinds import apps_v1, core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.api_errors import is_namespace_terminating
from steersman_cluster.workloads.daemonsets.backoff import FailedPods
from steersman_cluster.workloads.daemonsets.node_fit import (
    DaemonSet,
    Fit,
    Node,
    Pod,
    daemon_spec,
    fit,
    on_node,
    target_of,
)
from steersman_cluster.workloads.daemonsets.plan import DaemonSetPlan, by_node, make_plan
from steersman_cluster.workloads.daemonsets.rolling_update import next_step, surges
from steersman_cluster.workloads.daemonsets.status import counted
from steersman_cluster.workloads.daemonsets.template_version import HASH_LABEL, Version, version_of
from steersman_cluster.workloads.pods import (
    CONTROLLER_INDEX,
    SELECTOR_INDEX,
    ControllerOfKind,
    by_controller_or_labels,
    by_selector,
    claim,
    is_empty,
    next_available_seconds,
    pod_from,
)
from steersman_cluster.workloads.requeue import after_first
from steersman_cluster.workloads.revisions import (
    WATCHED,
    CurrentRevision,
    history_of,
    revision_for,
    shorten,
)
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.status_writer import put_status

# The maximum number of Pods to create or delete in one reconcile, as in kube-controller-manager.
_BURST: Final = 250
_NODE_INDEX: Final = "node"


def controller() -> Controller[DaemonSet]:
    """Return a DaemonSet controller that shares no backoff state with other controllers."""
    return Controller(
        DaemonSet,
        reconcile=DaemonSetController().reconcile,
        watches=(
            Watch(
                Pod,
                to=ControllerOfKind(DaemonSet),
                indexes={CONTROLLER_INDEX: by_controller_or_labels, _NODE_INDEX: _by_set_and_node},
            ),
            Watch(Node, to=_daemon_sets_of_node, when=_matters),
            # A deleted revision is created again; the controller's own writes need no reconcile.
            changed_value(WATCHED, to=ControllerOfKind(DaemonSet), when=_never),
        ),
        writes=(
            Writes(Pod, verbs=("create", "patch", "delete")),
            Writes(apps_v1.ControllerRevision, verbs=("create", "patch", "delete")),
        ),
        when=changed.generation,
        indexes={SELECTOR_INDEX: by_selector},
        name="daemonset-controller",
        event_source="daemonset-controller",
    )


class DaemonSetController:
    """The reconcile function of DaemonSets, with the backoff state of failed Pods."""

    def __init__(self) -> None:
        self._failed = PerRun(FailedPods)

    async def reconcile(self, daemon_set: DaemonSet, ctx: Context) -> Outcome:
        """Take one step toward one Pod of the current template on each node that fits."""
        spec = daemon_set.spec
        if spec is None:
            return Done()
        if is_empty(spec.selector):
            note = "This daemon set is selecting all pods. A non-empty selector is required."
            ctx.record("SelectingAll", note, type="Warning")
            return Done()
        collisions = (daemon_set.status and daemon_set.status.collision_count) or 0
        kept = await revision_for(
            ctx,
            daemon_set,
            spec.template,
            await history_of(ctx, daemon_set, spec.selector),
            collisions=collisions,
            hash_label=HASH_LABEL,
        )
        version = version_of(daemon_set, kept.revision.labels.get(HASH_LABEL, ""))
        pods = await claim(ctx, daemon_set, spec.selector, Pod)
        pod_spec = daemon_spec(spec.template)
        nodes = sorted(ctx.list(Node), key=lambda node: node.name)
        fits = {node.name: fit(pod_spec, node) for node in nodes}
        placed = by_node(pods)
        plan = self._plan(daemon_set, spec, placed, fits, version, ctx)
        make = partial(pod_from, spec.template, owner=daemon_set, labels=version.labels)
        error = await _execute_plan(plan, lambda node: make(spec=on_node(pod_spec, node)), ctx)
        if not plan.is_idle:
            pods = ctx.by_index(Pod, CONTROLLER_INDEX, daemon_set.uid)
            placed = by_node(pods)
        await _shorten(ctx, kept, pods, spec.revision_history_limit)
        now, min_ready_seconds = ctx.now, spec.min_ready_seconds or 0
        status = counted(
            daemon_set,
            placed,
            fits,
            version,
            collisions=kept.collisions,
            min_ready_seconds=min_ready_seconds,
            now=now,
        )
        await put_status(ctx, daemon_set, status)
        if error is not None:
            raise error
        return after_first(plan.wait_seconds, next_available_seconds(pods, min_ready_seconds, now))

    def _plan(
        self,
        daemon_set: DaemonSet,
        spec: apps_v1.DaemonSetSpec,
        placed: Mapping[str, Sequence[Pod]],
        fits: Mapping[str, Fit],
        version: Version,
        ctx: Context,
    ) -> DaemonSetPlan:
        """Return the next actions: first for missing and surplus Pods,
        then for the rolling update.
        """
        strategy, now, failed = spec.update_strategy, ctx.now, self._failed.of(ctx.rng)
        seen = (daemon_set.status and daemon_set.status.observed_generation) or 0
        plan = make_plan(
            placed,
            fits,
            version,
            min_ready_seconds=spec.min_ready_seconds or 0,
            surges=surges(strategy),
            now=now,
            wait_for=lambda node: failed.wait_for((daemon_set.uid, seen, node), now),
        )
        if not plan.is_idle or (strategy is not None and strategy.type == "OnDelete"):
            return plan
        step = next_step(
            placed,
            fits,
            version,
            strategy=strategy,
            min_ready_seconds=spec.min_ready_seconds or 0,
            now=now,
        )
        return changed_value(step, notes=plan.notes, wait_seconds=plan.wait_seconds)


async def _execute_plan(
    plan: DaemonSetPlan, pod_for: Callable[[str], Pod], ctx: Context
) -> ApiError | None:
    """Execute the plan, and return the first error; after an error, create no more Pods."""
    for note in plan.notes:
        ctx.record(note.reason, note.note, type=note.type)
    error: ApiError | None = None
    for node in plan.make_on[:_BURST]:
        try:
            made = await ctx.create(pod_for(node))
        except ApiError as failure:
            if is_namespace_terminating(failure):
                break  # no event: the namespace is being deleted
            ctx.record("FailedCreate", f"Error creating: {failure.message}", type="Warning")
            error = failure
            break
        ctx.record("SuccessfulCreate", f"Created pod: {made.name}")
    for pod in plan.delete[:_BURST]:
        try:
            await ctx.delete(pod)
        except ApiError as failure:
            ctx.record("FailedDelete", f"Error deleting: {failure.message}", type="Warning")
            error = error or failure
            continue
        ctx.record("SuccessfulDelete", f"Deleted pod: {pod.name}")
    return error


async def _shorten(
    ctx: Context, kept: CurrentRevision, pods: Sequence[Pod], limit: int | None
) -> None:
    """Delete revisions beyond the history limit.

    Revisions of existing Pods count toward the limit, but are not deleted.
    """
    live = {pod.labels.get(HASH_LABEL) for pod in pods}

    def is_live(revision: apps_v1.ControllerRevision) -> bool:
        return revision.labels.get(HASH_LABEL) in live

    old = [each for each in kept.history if each is not kept.revision]
    if limit is not None and len(old) > limit:
        left = max(0, limit - sum(map(is_live, old)))
        await shorten(ctx, old, is_live=is_live, limit=left)


def _by_set_and_node(pod: Pod) -> tuple[str, ...]:
    """Return the index key of a DaemonSet's Pod: the DaemonSet and the node. Other Pods have no
    key.
    """
    controller = controller_of(pod)
    if controller is None or controller.kind != "DaemonSet":
        return ()
    return (_place(controller.uid, target_of(pod)),)


def _place(uid: str, node: str | None) -> str:
    return f"{uid}/{node or ''}"


def _matters(old: Node | None, new: Node) -> bool:
    """Return whether a change of a node can change which Pods should run on this node."""
    return old is None or old.labels != new.labels or _taints(old) != _taints(new)


def _taints(node: Node) -> tuple[core_v1.Taint, ...]:
    return (node.spec.taints if node.spec is not None else None) or ()


def _daemon_sets_of_node(node: Node, cached: CacheReader) -> list[ObjectKey]:
    """Return the DaemonSets that have no Pod on this node but should,
    or have one but should not.
    """
    is_gone = cached.get(Node, node.name) is None
    concerned: list[ObjectKey] = []
    for each in cached.list(DaemonSet):
        if each.spec is None:
            continue
        should_run, _ = fit(daemon_spec(each.spec.template), node)
        is_there = bool(cached.by_index(Pod, _NODE_INDEX, _place(each.uid, node.name)))
        misplaced = each.status.number_misscheduled if each.status is not None else 0
        if should_run != is_there or is_gone or (is_there and misplaced):
            concerned.append(ObjectKey(each.namespace, each.name))
    return concerned


def _never(_old: Any, _new: Any) -> bool:
    return False
