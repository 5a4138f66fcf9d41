"""Pod workers, which run and terminate the Pods of simulated nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from steersman.controller import (
    CacheReader,
    Context,
    Controller,
    Done,
    Later,
    Outcome,
    Watch,
    Writes,
)
from steersman.kinds import core_v1
from steersman_cluster.kubelet.addresses import address_of, pod_address
from steersman_cluster.kubelet.annotations import STOP_SECONDS, UNRESPONSIVE, seconds_of
from steersman_cluster.kubelet.containers import PodEvent
from steersman_cluster.kubelet.pod_lifecycle import (
    PodAddresses,
    killing_events,
    sync_pod,
    terminated_status,
    with_address,
)
from steersman_cluster.workloads import (
    WorkloadSettings,
    is_ended,
    is_simulated_node,
    put_pod_status,
)

BY_NODE: Final = "node"
BY_ADDRESS: Final = "address"


def kubelet(settings: WorkloadSettings) -> Controller[core_v1.Pod]:
    """Return the controller that runs the Pods of all nodes with a simulated kubelet."""
    return _controller(settings.pod_start_seconds, settings.routine_events)


@lru_cache(maxsize=16)  # it is a value, and validated when it is created
def _controller(start_seconds: float, records_routine: bool) -> Controller[core_v1.Pod]:
    return Controller(
        core_v1.Pod,
        reconcile=PodWorker(start_seconds=start_seconds, records_routine=records_routine).reconcile,
        while_deleting=True,
        when=matters,
        indexes={BY_NODE: by_node, BY_ADDRESS: by_address},
        watches=(Watch(core_v1.Node, to=pods_of, when=node_matters),),
        writes=(Writes(core_v1.Pod, verbs=("delete",)),),
        name="kubelet",
        event_source="kubelet",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodWorker:
    start_seconds: float
    records_routine: bool

    async def reconcile(self, pod: core_v1.Pod, ctx: Context) -> Outcome:
        node_name = pod.spec.node_name if pod.spec is not None else None
        node = ctx.get(core_v1.Node, node_name) if node_name else None
        if node is None or not is_managed(node):
            return Done()
        deletion_time = pod.deletion_time
        if deletion_time is not None:
            return await self._terminate(pod, deletion_time, ctx)
        return await self._sync(pod, node, ctx)

    async def _sync(self, pod: core_v1.Pod, node: core_v1.Node, ctx: Context) -> Outcome:
        now = ctx.now
        addresses = PodAddresses(host_ip=address_of(node), pod_ip=_pod_ip(pod, node, ctx))
        result = sync_pod(pod, addresses, now=now, start_seconds=self.start_seconds)
        updated = await put_pod_status(ctx, pod, result.status)
        while len(_holders(updated, ctx)) > 1:
            # Another Pod has taken the same address at the same time.
            addresses = replace(addresses, pod_ip=_free_ip(pod, node, ctx))
            if updated.status is not None and addresses.pod_ip == updated.status.pod_ip:
                break  # there are more Pods than addresses
            result = replace(result, status=with_address(updated, addresses))
            updated = await put_pod_status(ctx, updated, result.status)
        self._record(updated, result.events, ctx)
        return Done() if result.after_seconds is None else Later(after_seconds=result.after_seconds)

    async def _terminate(self, pod: core_v1.Pod, deletion_time: datetime, ctx: Context) -> Outcome:
        metadata = pod.metadata
        grace_seconds = metadata.deletion_grace_period_seconds or 0
        is_over = is_ended(pod)
        if grace_seconds and not is_over:
            stop_seconds = min(seconds_of(pod, STOP_SECONDS) or 0.0, grace_seconds)
            asked_time = deletion_time - timedelta(seconds=grace_seconds)
            left_seconds = stop_seconds - (ctx.now - asked_time).total_seconds()
            if stop_seconds and left_seconds > 0:
                self._record(pod, killing_events(pod), ctx)
                return Later(after_seconds=left_seconds)
            if not stop_seconds:
                self._record(pod, killing_events(pod), ctx)
        if metadata.finalizers and not is_over:
            # Controllers with finalizers on the Pod need its final status.
            pod = await put_pod_status(ctx, pod, terminated_status(pod, now=ctx.now))
        if grace_seconds or not metadata.finalizers:
            await ctx.delete(pod, grace_seconds=0)
        return Done()

    def _record(self, pod: core_v1.Pod, events: Iterable[PodEvent], ctx: Context) -> None:
        for each in events:
            if self.records_routine or not each.is_routine:
                ctx.record(each.reason, each.note, type=each.type, action="Run", about=pod)


# Nodes and Pods


def is_unresponsive(node: core_v1.Node) -> bool:
    """Return whether an annotation of ``node`` makes its simulated kubelet unresponsive."""
    return (node.metadata.annotations or {}).get(UNRESPONSIVE) == "true"


def is_managed(node: core_v1.Node) -> bool:
    """Return whether ``node`` has a simulated kubelet that responds."""
    return is_simulated_node(node) and not is_unresponsive(node)


def by_node(pod: core_v1.Pod) -> Iterable[str]:
    """Return the index key of ``pod``: the name of its node. A Pod without a node has no key."""
    name = pod.spec.node_name if pod.spec is not None else None
    return (name,) if name else ()


def by_address(pod: core_v1.Pod) -> Iterable[str]:
    """Return the index key of ``pod``: its IP address.

    A Pod that has ended has no key, and neither has a Pod that uses the IP address of its node.
    """
    status, spec = pod.status, pod.spec
    if status is None or spec is None or not status.pod_ip:
        return ()
    return () if spec.host_network or is_ended(pod) else (status.pod_ip,)


def pods_of(node: core_v1.Node, cached: CacheReader) -> Iterable[core_v1.Pod]:
    """Return the cached Pods that are bound to ``node``."""
    return cached.by_index(core_v1.Pod, BY_NODE, node.name)


def matters(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    """Return whether the kubelet has to sync a Pod after the change from ``old`` to ``new``.

    Changes of the status need no sync, because the kubelet writes the status itself.
    """
    spec, metadata = new.spec, new.metadata
    if spec is None or not spec.node_name:
        return False
    if old is None or old.spec is None or old.uid != new.uid:
        return True
    before = old.metadata
    return (
        spec.node_name != old.spec.node_name
        or metadata.deletion_timestamp != before.deletion_timestamp
        or metadata.deletion_grace_period_seconds != before.deletion_grace_period_seconds
        or metadata.generation != before.generation
        or metadata.annotations != before.annotations
        or bool(spec.readiness_gates)
    )


def node_matters(old: core_v1.Node | None, new: core_v1.Node) -> bool:
    """Return whether the change from ``old`` to ``new`` requires a sync of the node's Pods.

    This is the case if the node is new, or if its kubelet starts or stops responding.
    """
    return old is None or is_managed(old) != is_managed(new)


# Addresses


def _pod_ip(pod: core_v1.Pod, node: core_v1.Node, ctx: Context) -> str:
    if pod.spec is not None and pod.spec.host_network:
        return address_of(node)
    has = pod.status.pod_ip if pod.status is not None else None
    # Of two Pods with one address, which two kubelets may have given, one gets another.
    if has and all(each.uid >= pod.uid for each in _holders(pod, ctx)):
        return has
    return _free_ip(pod, node, ctx)


def _free_ip(pod: core_v1.Pod, node: core_v1.Node, ctx: Context) -> str:
    def is_taken(address: str) -> bool:
        return bool(ctx.by_index(core_v1.Pod, BY_ADDRESS, address))

    return pod_address(pod.uid, node, is_taken=is_taken)


def _holders(pod: core_v1.Pod, ctx: Context) -> list[core_v1.Pod]:
    """Return all Pods that have the same address as this Pod."""
    found = [ctx.by_index(core_v1.Pod, BY_ADDRESS, address) for address in by_address(pod)]
    return found[0] if found else []
