"""The scale client of the autoscaler controller.

It reads the scales of targets and the usage of Pods, and writes the autoscalers' status.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from steersman.client import Client, Labels, MergePatch, RestMapper, Subresource
from steersman.errors import ApiError, NotFound, SteersmanError, UnknownKind
from steersman.kinds import (
    Unstructured,
    apps_v1,
    autoscaling_v1,
    autoscaling_v2,
    core_v1,
)
from steersman.manager import Services
from steersman_cluster.workloads.podautoscalers.decision import Autoscaler
from steersman_cluster.workloads.podautoscalers.metrics import MetricQuery
from steersman_cluster.workloads.podautoscalers.metrics_client import annotated_usage, server_usage
from steersman_cluster.workloads.podautoscalers.replica_calculator import ScalingProblem, Usages
from steersman_cluster.workloads.status_writer import merge_difference, plain

_MEASUREMENTS: Final = Unstructured.of("metrics.k8s.io/v1beta1", "PodMetrics", plural="pods")

# The usual targets, which need no discovery.
_USUAL: Final[dict[tuple[str, str], type[Any]]] = {
    ("apps/v1", "Deployment"): apps_v1.Deployment,
    ("apps/v1", "ReplicaSet"): apps_v1.ReplicaSet,
    ("apps/v1", "StatefulSet"): apps_v1.StatefulSet,
    ("v1", "ReplicationController"): core_v1.ReplicationController,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleTarget:
    """The target of an autoscaler, with the scale that was read from its scale subresource."""

    place: Subresource[autoscaling_v1.Scale]
    scale: autoscaling_v1.Scale

    @property
    def replicas(self) -> int:
        """Return the desired number of replicas in the scale of the target."""
        return (self.scale.spec.replicas if self.scale.spec else None) or 0

    @property
    def selector(self) -> str:
        """Return the selector of the target's Pods, from the status of the scale."""
        return (self.scale.status.selector if self.scale.status else None) or ""


class ScaleClient:
    """A client that reads the scales of autoscalers' targets, and the usage of Pods."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._mapper = RestMapper(client)

    async def scale_of(self, hpa: Autoscaler) -> ScaleTarget | str:
        """Return the target of ``hpa`` with its scale, or why this scale cannot be read."""
        target = hpa.spec.scale_target_ref
        version = target.api_version or ""
        if version.count("/") > 1:
            return f"unexpected GroupVersion string: {version}"
        kind = _USUAL.get((version, target.kind))
        if kind is None:
            group = version.rpartition("/")[0]
            word = f"{target.kind}.{group}" if group else target.kind
            try:
                kind = Unstructured.at((await self._mapper.named(word)).resource_type)
            except UnknownKind:
                return f'no matches for kind "{target.kind}" in group "{group}"'
        place = self._client.scale(kind, target.name, namespace=hpa.namespace)
        try:
            return ScaleTarget(place=place, scale=await place.get())
        except ApiError as error:
            return message_of(error)

    async def usages(
        self,
        query: MetricQuery,
        pods: Sequence[core_v1.Pod],
        *,
        namespace: str,
        selector: Labels,
        now: datetime,
    ) -> Usages | ScalingProblem:
        """Return the usage of ``pods``, from their annotations or else from a metrics server."""
        found = annotated_usage(pods, query.resource, query.container, now)
        if found:
            return found
        why = f"unable to get metrics for resource {query.resource}"
        try:
            listed = await self._client.list(_MEASUREMENTS, namespace=namespace, labels=selector)
        except NotFound:
            # The message of kube-controller-manager without a metrics server.
            return ScalingProblem(
                f"{why}: unable to fetch metrics from resource metrics API: the server could not"
                f" find the requested resource (get pods.metrics.k8s.io)"
            )
        except SteersmanError as error:
            said = message_of(error) if isinstance(error, ApiError) else str(error)
            return ScalingProblem(
                f"{why}: unable to fetch metrics from resource metrics API: {said}"
            )
        if not listed.items:
            return ScalingProblem(f"{why}: no metrics returned from resource metrics API")
        return server_usage((each.body for each in listed.items), query.resource, query.container)


async def put_status(
    services: Services,
    hpa: Autoscaler,
    status: autoscaling_v2.HorizontalPodAutoscalerStatus,
    *,
    field_manager: str,
) -> bool:
    """Change the status of ``hpa`` to ``status``, and return whether they were different.

    If they are equal, no request is sent.
    """
    before = hpa.status
    change = merge_difference({} if before is None else plain(before), plain(status))
    if change:
        patch = MergePatch({"metadata": {"uid": hpa.uid}, "status": change})
        place = services.client.status(Autoscaler, hpa.name, namespace=hpa.namespace)
        await services.caches.record_write(place.patch(patch, field_manager=field_manager))
    return bool(change)


def message_of(error: ApiError) -> str:
    """Return the message in the API server's error response."""
    return error.message
