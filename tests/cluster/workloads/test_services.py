"""The endpoints of Services, on the embedded server."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from steersman.client import Labels, MergePatch
from steersman.kinds import core_v1, discovery_v1, events_v1, meta_v1, replace
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings

Endpoints = core_v1.Endpoints
Slice = discovery_v1.EndpointSlice

ALONE = WorkloadSettings(parts=("services",))
WEB: Mapping[str, str] = {"app": "web"}


def run_steps(steps: Callable[[SimulatedCluster], Awaitable[None]]) -> None:
    simulate(steps, settings=ALONE)


def service(name: str = "web", **spec: Any) -> core_v1.Service:
    given: dict[str, Any] = {
        "selector": WEB,
        "ports": (core_v1.ServicePort(name="http", port=80, target_port="http"),),
        **spec,
    }
    return core_v1.Service(
        metadata=meta_v1.ObjectMeta(name=name, labels={"team": "blue"}),
        spec=core_v1.ServiceSpec(**given),
    )


def node(name: str = "node-1") -> core_v1.Node:
    return core_v1.Node(metadata=meta_v1.ObjectMeta(name=name))


async def put_pod(
    cluster: SimulatedCluster, number: int, *, ready: bool = True, node: str = "node-1"
) -> None:
    ports = (core_v1.ContainerPort(name="http", container_port=8080),)
    pod = core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=f"web-{number}", labels=WEB),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="main", ports=ports),),
            node_name=node,
            termination_grace_period_seconds=0,
        ),
    )
    await cluster.create(pod)
    await put_ready(cluster, number, ready)


async def put_ready(cluster: SimulatedCluster, number: int, ready: bool) -> None:
    ip = f"10.0.{number // 250}.{number % 250}"
    since = "2030-01-01T00:00:00Z" if ready else None
    status = {
        "phase": "Running",
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "conditions": [
            {
                "type": "Ready",
                "status": "True" if ready else "False",
                "lastTransitionTime": since,
            }
        ],
    }
    await cluster.patch(
        core_v1.Pod, f"web-{number}", MergePatch({"status": status}), subresource="status"
    )


async def slices(cluster: SimulatedCluster, name: str = "web") -> list[Slice]:
    return await cluster.list(Slice, labels=Labels.equal({"kubernetes.io/service-name": name}))


def test_a_service_has_a_slice_and_endpoints_with_its_pods() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node())
        await put_pod(cluster, 1)
        await put_pod(cluster, 2, ready=False)

        await cluster.create(service())
        await cluster.settle()

        (found,) = await slices(cluster)
        assert found.labels == {
            "team": "blue",
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        assert found.name.startswith("web-")
        assert [each.kind for each in found.metadata.owner_references or ()] == ["Service"]
        ready = {e.addresses[0]: e.conditions and e.conditions.ready for e in found.endpoints or ()}
        assert ready == {"10.0.0.1": True, "10.0.0.2": False}
        (subset,) = list((await cluster.get(Endpoints, "web")).subsets or ())
        assert [each.ip for each in subset.addresses or ()] == ["10.0.0.1"]
        assert [each.ip for each in subset.not_ready_addresses or ()] == ["10.0.0.2"]

    run_steps(steps)


def test_a_burst_of_pod_changes_becomes_one_write() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node())
        await cluster.create(service())
        await cluster.settle()
        (before,) = await slices(cluster)

        for number in range(20):
            await put_pod(cluster, number)
        await cluster.settle()

        (after,) = await slices(cluster)
        assert len(after.endpoints or ()) == 20
        assert after.name == before.name
        assert after.generation == before.generation + 1

    run_steps(steps)


def test_an_unchanged_service_writes_nothing() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node())
        await put_pod(cluster, 1)
        await cluster.create(service())
        await cluster.settle()
        (before,) = await slices(cluster)
        endpoints = await cluster.get(Endpoints, "web")

        patch = MergePatch({"metadata": {"annotations": {"a": "b"}}})
        await cluster.patch(core_v1.Pod, "web-1", patch)
        await cluster.patch(core_v1.Service, "web", patch)
        await cluster.settle()

        assert await slices(cluster) == [before]
        assert await cluster.get(Endpoints, "web") == endpoints

    run_steps(steps)


def test_a_pod_that_is_deleted_or_relabelled_leaves_the_slice() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node())
        for number in range(3):
            await put_pod(cluster, number)
        await cluster.create(service())
        await cluster.settle()

        await cluster.delete(core_v1.Pod, "web-0")
        away = MergePatch({"metadata": {"labels": {"app": "other"}}})
        await cluster.patch(core_v1.Pod, "web-1", away)
        await cluster.settle()

        (found,) = await slices(cluster)
        assert [each.addresses for each in found.endpoints or ()] == [("10.0.0.2",)]

    run_steps(steps)


def test_a_slice_that_a_user_changes_or_deletes_is_restored() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node())
        await put_pod(cluster, 1)
        await cluster.create(service())
        await cluster.settle()
        (made,) = await slices(cluster)

        await cluster.patch(Slice, made.name, MergePatch({"endpoints": []}))
        await cluster.settle()
        (mended,) = await slices(cluster)
        await cluster.delete(Slice, made.name)
        await cluster.delete(Endpoints, "web")
        await cluster.settle()
        (again,) = await slices(cluster)

        assert mended.endpoints == again.endpoints == made.endpoints
        assert again.name != made.name
        assert (await cluster.get(Endpoints, "web")).subsets

    run_steps(steps)


def test_more_than_a_hundred_pods_are_in_several_slices() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(node())
        for number in range(130):
            await put_pod(cluster, number)
        await cluster.create(service())
        await cluster.settle()

        assert sorted(len(each.endpoints or ()) for each in await slices(cluster)) == [30, 100]

    run_steps(steps)


def test_a_service_without_a_selector_or_with_an_external_name_has_no_slices() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(service("bare", selector=None))
        await cluster.create(service("outside", type="ExternalName", external_name="example.com"))
        await cluster.settle()

        assert await slices(cluster, "bare") == await slices(cluster, "outside") == []
        assert await cluster.find(Endpoints, "bare") is None

    run_steps(steps)


def test_the_slice_of_a_headless_service_has_the_headless_label() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(service(cluster_ip="None", ports=None))
        await cluster.settle()

        (found,) = await slices(cluster)
        assert found.labels["service.kubernetes.io/headless"] == ""

    run_steps(steps)


def test_a_pod_on_an_unknown_node_is_left_out_until_the_node_exists() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await put_pod(cluster, 1, node="node-9")
        await cluster.create(service())
        await cluster.settle()
        (without,) = await slices(cluster)
        complaints = [each.note for each in await cluster.list(events_v1.Event)]

        await cluster.create(node("node-9"))
        await cluster.settle()

        (found,) = await slices(cluster)
        assert not without.endpoints
        assert len(found.endpoints or ()) == 1
        home = without.namespace
        assert complaints == [
            f"Error updating Endpoint Slices for Service {home}/web: skipping Pod web-1 for"
            f" Service {home}/web: Node node-9 Not Found"
        ]

    run_steps(steps)


def test_the_endpoints_of_a_service_are_deleted_with_it() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(service())
        await cluster.settle()

        await cluster.delete(core_v1.Service, "web")
        await cluster.settle()

        assert await cluster.find(Endpoints, "web") is None

    run_steps(steps)


def by_hand(*ips: str) -> Endpoints:
    subset = core_v1.EndpointSubset(
        addresses=tuple(core_v1.EndpointAddress(ip=each) for each in ips),
        ports=(core_v1.EndpointPort(name="db", port=5432, protocol="TCP"),),
    )
    return Endpoints(metadata=meta_v1.ObjectMeta(name="db"), subsets=(subset,))


def test_endpoints_written_by_hand_are_mirrored_to_slices() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(service("db", selector=None))
        await cluster.create(by_hand("1.2.3.4"))
        await cluster.settle()
        (first,) = await slices(cluster, "db")

        changed = by_hand("1.2.3.4", "1.2.3.5")
        await cluster.patch(Endpoints, "db", MergePatch({"subsets": changed.subsets}))
        await cluster.settle()

        (mirror,) = await slices(cluster, "db")
        assert mirror.name == first.name
        assert [each.addresses for each in mirror.endpoints or ()] == [("1.2.3.4",), ("1.2.3.5",)]
        assert mirror.labels["endpointslice.kubernetes.io/managed-by"] == (
            "endpointslicemirroring-controller.k8s.io"
        )
        assert [each.kind for each in mirror.metadata.owner_references or ()] == ["Endpoints"]

    run_steps(steps)


def test_a_mirrored_slice_is_deleted_when_its_service_gets_a_selector() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        await cluster.create(service("db", selector=None))
        await cluster.create(by_hand("1.2.3.4"))
        await cluster.settle()

        await cluster.patch(core_v1.Service, "db", MergePatch({"spec": {"selector": dict(WEB)}}))
        await cluster.settle()

        managers = [
            each.labels["endpointslice.kubernetes.io/managed-by"]
            for each in await slices(cluster, "db")
        ]
        assert managers == ["endpointslice-controller.k8s.io"]

    run_steps(steps)


def test_endpoints_with_the_skip_mirror_label_are_not_mirrored() -> None:
    async def steps(cluster: SimulatedCluster) -> None:
        unwanted = by_hand("1.2.3.4")
        labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
        await cluster.create(service("db", selector=None))
        await cluster.create(replace(unwanted, metadata=replace(unwanted.metadata, labels=labels)))
        await cluster.settle()

        assert await slices(cluster, "db") == []

    run_steps(steps)
