"""The endpoints controller: it writes EndpointSlices and Endpoints according to a plan."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final

from steersman.client import MergePatch
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
from steersman.errors import ApiError, Forbidden
from steersman.kinds import core_v1, discovery_v1, meta_v1
from steersman.names import ObjectKey
from steersman.units import format_time
from steersman_cluster.workloads.api_errors import is_namespace_terminating
from steersman_cluster.workloads.pods import condition, is_ready
from steersman_cluster.workloads.services import subsets
from steersman_cluster.workloads.services.batch_period import ServiceBatches, SliceVersions
from steersman_cluster.workloads.services.endpoints import (
    MANAGED_BY,
    SERVICE_NAME,
    TRIGGER_TIME,
    ZONE,
    has_endpoints,
    labels_of,
)
from steersman_cluster.workloads.services.endpointslice_mirror import mirroring_controller
from steersman_cluster.workloads.services.selectors import (
    LABEL_INDEX,
    NODE_INDEX,
    SELECTOR_INDEX,
    by_label,
    by_node,
    by_selector,
    changes_endpoints,
    pods_of,
    services_of,
    services_on,
)
from steersman_cluster.workloads.services.slices import MANAGER, NewSlice, SlicePlan, make_plan
from steersman_cluster.workloads.settings import WorkloadSettings

Endpoints = core_v1.Endpoints
Pod = core_v1.Pod
Service = core_v1.Service
Slice = discovery_v1.EndpointSlice

#: The index of slices by namespace and Service.
SERVICE_INDEX: Final = "service"

# Room for a dash after the name.
_MAX_NAME_LENGTH: Final = 252


def controllers(_settings: WorkloadSettings) -> tuple[Controller[Any], ...]:
    """Return the controllers of EndpointSlices and Endpoints, and of mirrored slices."""
    return (_controller(), mirroring_controller())


def _controller() -> Controller[Service]:
    work = EndpointsController()
    return Controller(
        Service,
        name="endpoint-slice-controller",
        event_source="endpoint-slice-controller",
        reconcile=work.reconcile,
        indexes={SELECTOR_INDEX: by_selector},
        writes=(Writes(Slice, verbs=("create", "patch", "delete")), Endpoints),
        watches=(
            Watch(
                Slice,
                to=work.service_of,
                when=work.written.is_foreign,
                indexes={SERVICE_INDEX: _by_service},
            ),
            Watch(
                Pod,
                to=services_of,
                when=changes_endpoints,
                indexes={LABEL_INDEX: by_label, NODE_INDEX: by_node},
            ),
            Watch(core_v1.Node, to=services_on, when=_is_moved),
            # As in kube-controller-manager, manual changes of managed Endpoints are reverted.
            Watch(Endpoints, to=_of_same_name, when=_never),
        ),
    )


class EndpointsController:
    def __init__(self) -> None:
        self.written = SliceVersions()
        self._batches = ServiceBatches()

    async def reconcile(self, service: Service, ctx: Context) -> Outcome:
        if not has_endpoints(service):
            return Done()
        wait_seconds = self._batches.wait_seconds(service.uid, ctx.now)
        if wait_seconds:
            return Later(after_seconds=wait_seconds)
        pods = pods_of(service, ctx)
        try:
            await self._put_slices(service, pods, ctx)
            await _put_endpoints(service, pods, ctx)
        except Forbidden as error:
            if is_namespace_terminating(error):
                return Done()
            raise
        return Done()

    def service_of(self, slice: Slice, cached: CacheReader) -> tuple[ObjectKey, ...]:
        """Return the key of the Service to which ``slice`` belongs.

        The result is empty if this controller does not manage the slice.
        """
        if cached.get(Slice, slice.name, namespace=slice.namespace) is None:
            self.written.forget(slice)
        labels = slice.labels
        if labels.get(MANAGED_BY) != MANAGER or SERVICE_NAME not in labels:
            return ()
        return (ObjectKey(slice.namespace, labels[SERVICE_NAME]),)

    async def _put_slices(self, service: Service, pods: list[Pod], ctx: Context) -> None:
        there = ctx.by_index(Slice, SERVICE_INDEX, f"{service.namespace}/{service.name}")
        there.sort(key=lambda each: each.name)
        plan = make_plan(service, pods, there, node_of=partial(ctx.get, core_v1.Node))
        if plan.create or plan.update or plan.delete:
            trigger = _trigger_time(service, pods, plan, is_first=not there)
            try:
                await self._write(service, plan, trigger, ctx)
            except ApiError as error:
                _record_left_out(service, error.message, ctx)
                raise
        for pod in plan.pods_without_node:
            node = (pod.spec.node_name if pod.spec else None) or ""
            _record_left_out(
                service,
                f"skipping Pod {pod.name} for Service {service.namespace}/{service.name}:"
                f" Node {node} Not Found",
                ctx,
            )

    async def _write(
        self, service: Service, plan: SlicePlan, trigger: datetime | None, ctx: Context
    ) -> None:
        for new in plan.create:
            self.written.note(await ctx.create_owned(_new_slice(service, new, trigger)))
        for new in plan.update:
            if new.old is not None:
                change = _change(service, new, new.old, trigger)
                self.written.note(await ctx.patch(new.old, MergePatch(change)))
        for old in plan.delete:
            await ctx.delete(old)


async def _put_endpoints(service: Service, pods: list[Pod], ctx: Context) -> None:
    wanted, is_cut = subsets.truncated(subsets.subsets_of(service, pods))
    there = ctx.get(Endpoints, service.name)
    if there is not None and not is_cut and subsets.is_up_to_date(there, wanted, service):
        return
    labels = subsets.labels_of(service)
    annotations = {
        TRIGGER_TIME: _written(
            _born(service) if there is None else _ready_changes(_readiness_changes(pods, there))
        ),
        subsets.OVER_CAPACITY: "truncated" if is_cut else None,
    }
    if there is None:
        new = Endpoints(
            metadata=meta_v1.ObjectMeta(
                name=service.name,
                namespace=service.namespace,
                labels=labels,
                annotations={key: each for key, each in annotations.items() if each} or None,
            ),
            subsets=wanted or None,
        )
        await ctx.create(new)
        return
    gone = {key: None for key in there.labels if key not in labels}
    metadata = {"labels": {**gone, **labels}, "annotations": annotations}
    await ctx.patch(there, MergePatch({"metadata": metadata, "subsets": wanted or None}))


def _new_slice(service: Service, new: NewSlice, trigger: datetime | None) -> Slice:
    prefix = f"{service.name}-" if len(service.name) <= _MAX_NAME_LENGTH else service.name
    written = _written(trigger)
    return Slice(
        metadata=meta_v1.ObjectMeta(
            generate_name=prefix,
            namespace=service.namespace,
            labels=labels_of(service, MANAGER),
            annotations={TRIGGER_TIME: written} if written else None,
        ),
        address_type=new.address_type,
        ports=new.ports,
        endpoints=new.endpoints,
    )


def _change(
    service: Service, new: NewSlice, old: Slice, trigger: datetime | None
) -> dict[str, Any]:
    labels: dict[str, str | None] = dict.fromkeys(old.labels)
    change: dict[str, Any] = {
        "metadata": {
            "labels": {**labels, **labels_of(service, MANAGER)},
            "annotations": {TRIGGER_TIME: _written(trigger)},
        },
        "endpoints": new.endpoints,
    }
    if new.ports != (old.ports or ()):
        change["ports"] = new.ports
    return change


def _trigger_time(
    service: Service, pods: list[Pod], plan: SlicePlan, *, is_first: bool
) -> datetime | None:
    """Return the time of the change that causes this write, for latency metrics."""
    if is_first:
        return _born(service)
    before: dict[str | None, Any] = {}
    for new in plan.update:
        for each in (new.old.endpoints if new.old else None) or ():
            before[each.target_ref.name if each.target_ref else None] = each.conditions
    changed: set[str | None] = set()
    for new in (*plan.create, *plan.update):
        for each in new.endpoints:
            name = each.target_ref.name if each.target_ref else None
            if before.get(name) != each.conditions:
                changed.add(name)
    return _ready_changes([pod for pod in pods if pod.name in changed])


def _readiness_changes(pods: list[Pod], before: Endpoints) -> list[Pod]:
    """Return the Pods whose readiness has changed."""
    ready: dict[str | None, bool] = {}
    for each in before.subsets or ():
        for address in each.not_ready_addresses or ():
            ready[address.target_ref.uid if address.target_ref else None] = False
        for address in each.addresses or ():
            ready[address.target_ref.uid if address.target_ref else None] = True
    return [pod for pod in pods if ready.get(pod.uid) is not is_ready(pod)]


def _ready_changes(pods: Iterable[Pod]) -> datetime | None:
    ready = (condition(pod, "Ready") for pod in pods)
    times = (each.last_transition_time for each in ready if each is not None)
    return min((each for each in times if each is not None), default=None)


def _born(service: Service) -> datetime | None:
    return service.metadata.creation_timestamp


def _written(time: datetime | None) -> str | None:
    return None if time is None else format_time(time)


def _record_left_out(service: Service, why: str, ctx: Context) -> None:
    ctx.record(
        "FailedToUpdateEndpointSlices",
        f"Error updating Endpoint Slices for Service {service.namespace}/{service.name}: {why}",
        type="Warning",
    )


def _by_service(slice: Slice) -> Iterable[str]:
    labels = slice.labels
    if labels.get(MANAGED_BY) != MANAGER:
        return ()
    return (f"{slice.namespace}/{labels.get(SERVICE_NAME)}",)


def _is_moved(old: core_v1.Node | None, new: core_v1.Node) -> bool:
    return old is None or old.labels.get(ZONE) != new.labels.get(ZONE)


def _of_same_name(endpoints: Endpoints, _cached: CacheReader) -> tuple[ObjectKey, ...]:
    return (ObjectKey(endpoints.namespace, endpoints.name),)


def _never(_old: Endpoints | None, _new: Endpoints) -> bool:
    return False
