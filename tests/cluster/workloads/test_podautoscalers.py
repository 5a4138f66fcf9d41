"""HorizontalPodAutoscalers on the embedded server."""

from collections.abc import Awaitable, Callable
from typing import Any

from steersman.client import MergePatch, wait_for
from steersman.kinds import (
    Unstructured,
    apiextensions_v1,
    apps_v1,
    autoscaling_v2,
    core_v1,
    events_v1,
    is_ready,
    meta_v1,
)
from steersman.units import Quantity
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings

Autoscaler = autoscaling_v2.HorizontalPodAutoscaler
Deployment = apps_v1.Deployment

ALONE = WorkloadSettings(parts=("podautoscalers",))
LABELS = {"app": "web"}

Boat = Unstructured.of("test.example.com/v1", "Boat", plural="boats")


def annotated_usage(steps: Callable[[SimulatedCluster], Awaitable[None]]) -> None:
    simulate(steps, settings=ALONE)


def container() -> core_v1.Container:
    requests = {"cpu": Quantity("100m"), "memory": Quantity("100Mi")}
    return core_v1.Container(
        name="main", image="main", resources=core_v1.ResourceRequirements(requests=requests)
    )


def deployment(replicas: int) -> Deployment:
    return Deployment(
        metadata=meta_v1.ObjectMeta(name="web"),
        spec=apps_v1.DeploymentSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels=LABELS),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=LABELS),
                spec=core_v1.PodSpec(containers=(container(),)),
            ),
        ),
    )


def autoscaler(name: str = "web", *, of: str = "apps/v1/Deployment", **spec: Any) -> Autoscaler:
    version, _, kind = of.rpartition("/")
    target = autoscaling_v2.CrossVersionObjectReference(api_version=version, kind=kind, name="web")
    given: dict[str, Any] = {"max_replicas": 10, "scale_target_ref": target, **spec}
    return Autoscaler(
        metadata=meta_v1.ObjectMeta(name=name),
        spec=autoscaling_v2.HorizontalPodAutoscalerSpec(**given),
    )


def half() -> tuple[autoscaling_v2.MetricSpec, ...]:
    """A metric with half of the requested CPU as its target."""
    target = autoscaling_v2.MetricTarget(type="Utilization", average_utilization=50)
    source = autoscaling_v2.ResourceMetricSource(name="cpu", target=target)
    return (autoscaling_v2.MetricSpec(type="Resource", resource=source),)


async def put_pods(cluster: SimulatedCluster, number: int, cpu: str | None) -> None:
    annotations = {"nodes.steersman.dev/cpu-usage": cpu} if cpu else None
    since = "2020-01-01T00:00:00Z"
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": since}
    status = {"phase": "Running", "startTime": since, "conditions": [ready]}
    for each in range(number):
        pod = core_v1.Pod(
            metadata=meta_v1.ObjectMeta(name=f"web-{each}", labels=LABELS, annotations=annotations),
            spec=core_v1.PodSpec(containers=(container(),)),
        )
        await cluster.create(pod)
        await cluster.patch(
            core_v1.Pod, pod.name, MergePatch({"status": status}), subresource="status"
        )


async def use(cluster: SimulatedCluster, number: int, cpu: str) -> None:
    patch = MergePatch({"metadata": {"annotations": {"nodes.steersman.dev/cpu-usage": cpu}}})
    for each in range(number):
        await cluster.patch(core_v1.Pod, f"web-{each}", patch)


async def replicas(cluster: SimulatedCluster) -> int | None:
    found = await cluster.get(Deployment, "web")
    return found.spec.replicas if found.spec else None


async def conditions(
    cluster: SimulatedCluster, name: str = "web"
) -> dict[str, tuple[str, str | None]]:
    status = (await cluster.get(Autoscaler, name)).status
    said = (status.conditions if status else None) or ()
    return {each.type: (each.status, each.reason) for each in said}


async def events(cluster: SimulatedCluster) -> list[tuple[str | None, str | None]]:
    listed = await cluster.list(events_v1.Event)
    return sorted((each.reason, each.note) for each in listed)


def test_the_replicas_follow_the_usage_of_the_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(deployment(2))
        await put_pods(cluster, 2, "90m")
        await cluster.create(autoscaler(metrics=half()))
        await cluster.advance(1.0)
        await cluster.settle()
        grown = await replicas(cluster)

        await use(cluster, 2, "10m")
        await cluster.advance(290.0)
        await cluster.settle()
        held = await replicas(cluster)
        await cluster.advance(60.0)
        await cluster.settle()

        assert (grown, held, await replicas(cluster)) == (4, 4, 1)
        why = "cpu resource utilization (percentage of request) above target"
        assert await events(cluster) == [
            ("SuccessfulRescale", "New size: 1; reason: All metrics below target"),
            ("SuccessfulRescale", f"New size: 4; reason: {why}"),
        ]

    annotated_usage(steps)


def test_the_replicas_stay_within_bounds_and_change_no_faster_than_the_behavior_allows() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        policy = autoscaling_v2.HPAScalingPolicy(type="Pods", value=1, period_seconds=60)
        up = autoscaling_v2.HPAScalingRules(policies=(policy,))
        behavior = autoscaling_v2.HorizontalPodAutoscalerBehavior(scale_up=up)
        await cluster.create(deployment(2))
        await put_pods(cluster, 2, "400m")
        await cluster.create(autoscaler(metrics=half(), behavior=behavior, max_replicas=4))

        seen = []
        for _ in range(4):
            await cluster.advance(45.0)
            await cluster.settle()
            seen.append(await replicas(cluster))

        assert seen == [3, 4, 4, 4]
        assert (await conditions(cluster))["ScalingLimited"] == ("True", "TooManyReplicas")

    annotated_usage(steps)


def test_pods_without_metrics_cause_no_change_and_the_reason_is_reported() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(deployment(2))
        await put_pods(cluster, 2, None)
        await cluster.create(autoscaler(metrics=half()))
        await cluster.settle()

        assert await replicas(cluster) == 2
        assert await conditions(cluster) == {
            "AbleToScale": ("True", "SucceededGetScale"),
            "ScalingActive": ("False", "FailedGetResourceMetric"),
        }
        why = (
            "failed to get cpu utilization: unable to get metrics for resource cpu: unable to"
            " fetch metrics from resource metrics API: the server could not find the requested"
            " resource (get pods.metrics.k8s.io)"
        )
        assert ("FailedGetResourceMetric", why) in await events(cluster)

    annotated_usage(steps)


def test_a_missing_target_is_reported() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(autoscaler())
        await cluster.create(autoscaler("odd", of="example.com/v1/Nothing"))
        await cluster.settle()

        assert await conditions(cluster) == {"AbleToScale": ("False", "FailedGetScale")}
        assert await events(cluster) == [
            ("FailedGetScale", 'deployments.apps "web" not found'),
            ("FailedGetScale", 'no matches for kind "Nothing" in group "example.com"'),
        ]

    annotated_usage(steps)


def test_two_autoscalers_with_the_same_pods_are_disabled() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(deployment(2))
        await put_pods(cluster, 2, "50m")
        await cluster.create(autoscaler(metrics=half()))
        await cluster.create(autoscaler("other", metrics=half()))
        await cluster.settle()
        await use(cluster, 2, "100m")
        await cluster.settle()

        assert await replicas(cluster) == 2
        assert (await conditions(cluster))["ScalingActive"] == ("False", "AmbiguousSelector")

    annotated_usage(steps)


def test_a_target_that_a_user_scales_to_zero_stays_at_zero() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(deployment(0))
        await cluster.create(autoscaler(metrics=half()))
        await cluster.settle()

        assert await replicas(cluster) == 0
        assert (await conditions(cluster))["ScalingActive"] == ("False", "ScalingDisabled")

    annotated_usage(steps)


def boats() -> apiextensions_v1.CustomResourceDefinition:
    scale = apiextensions_v1.CustomResourceSubresourceScale(
        spec_replicas_path=".spec.crew",
        status_replicas_path=".status.crew",
        label_selector_path=".status.selector",
    )
    schema = apiextensions_v1.JSONSchemaProps(
        type="object", x_kubernetes_preserve_unknown_fields=True
    )
    return apiextensions_v1.CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(name="boats.test.example.com"),
        spec=apiextensions_v1.CustomResourceDefinitionSpec(
            group="test.example.com",
            scope="Namespaced",
            names=apiextensions_v1.CustomResourceDefinitionNames(plural="boats", kind="Boat"),
            versions=(
                apiextensions_v1.CustomResourceDefinitionVersion(
                    name="v1",
                    served=True,
                    storage=True,
                    schema=apiextensions_v1.CustomResourceValidation(open_api_v3_schema=schema),
                    subresources=apiextensions_v1.CustomResourceSubresources(scale=scale),
                ),
            ),
        ),
    )


def test_every_kind_with_a_scale_subresource_can_be_scaled_custom_resources_included() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        crd = await cluster.client.create(boats())
        await wait_for(cluster.client, type(crd), crd.name, is_ready, within_seconds=30.0)
        boat = {
            "apiVersion": "test.example.com/v1",
            "kind": "Boat",
            "metadata": {"name": "web"},
            "spec": {"crew": 2},
            "status": {"crew": 2, "selector": "app=web"},
        }
        await cluster.create(Boat(boat))
        await put_pods(cluster, 2, "75m")
        await cluster.create(autoscaler(of="test.example.com/v1/Boat", metrics=half()))
        await cluster.settle()

        assert (await cluster.get(Boat, "web")).body["spec"]["crew"] == 3

    annotated_usage(steps)


def test_without_an_autoscaler_nothing_is_read_or_written() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(deployment(2))
        await put_pods(cluster, 2, "90m")
        await cluster.settle()
        before = len(cluster.history)

        await cluster.advance(3600.0)
        await cluster.settle()

        targets = [each.target for each in cluster.history.requests[before:]]
        assert [each for each in targets if "/pods" in each or "/scale" in each] == []

    annotated_usage(steps)


def test_a_deleted_autoscaler_does_not_scale() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(deployment(2))
        await put_pods(cluster, 2, "50m")
        await cluster.create(autoscaler(metrics=half()))
        await cluster.settle()

        await cluster.delete(Autoscaler, "web")
        await use(cluster, 2, "100m")
        await cluster.advance(60.0)
        await cluster.settle()

        assert await replicas(cluster) == 2

    annotated_usage(steps)
