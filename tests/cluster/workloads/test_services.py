"""The endpoints of Services, on the embedded server."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from steersman.client import Labels, MergePatch
from steersman.kinds import core_v1, discovery_v1, events_v1, meta_v1, replace
from steersman_cluster.simulation import SimulatedWorld, simulate
from steersman_cluster.workloads import WorkloadSettings

Endpoints = core_v1.Endpoints
Slice = discovery_v1.EndpointSlice

ALONE = WorkloadSettings(parts=("services",))
WEB: Mapping[str, str] = {"app": "web"}


def told(story: Callable[[SimulatedWorld], Awaitable[None]]) -> None:
    simulate(story, settings=ALONE)


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
    world: SimulatedWorld, number: int, *, ready: bool = True, node: str = "node-1"
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
    await world.create(pod)
    await put_ready(world, number, ready)


async def put_ready(world: SimulatedWorld, number: int, ready: bool) -> None:
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
    await world.patch(
        core_v1.Pod, f"web-{number}", MergePatch({"status": status}), subresource="status"
    )


async def slices(world: SimulatedWorld, name: str = "web") -> list[Slice]:
    return await world.list(Slice, labels=Labels.equal({"kubernetes.io/service-name": name}))


def test_a_service_has_a_slice_and_endpoints_with_its_pods() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(node())
        await put_pod(world, 1)
        await put_pod(world, 2, ready=False)

        await world.create(service())
        await world.settle()

        (found,) = await slices(world)
        assert found.labels == {
            "team": "blue",
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        assert found.name.startswith("web-")
        assert [each.kind for each in found.metadata.owner_references or ()] == ["Service"]
        ready = {e.addresses[0]: e.conditions and e.conditions.ready for e in found.endpoints or ()}
        assert ready == {"10.0.0.1": True, "10.0.0.2": False}
        (subset,) = list((await world.get(Endpoints, "web")).subsets or ())
        assert [each.ip for each in subset.addresses or ()] == ["10.0.0.1"]
        assert [each.ip for each in subset.not_ready_addresses or ()] == ["10.0.0.2"]

    told(story)


def test_a_burst_of_pod_changes_becomes_one_write() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(node())
        await world.create(service())
        await world.settle()
        (before,) = await slices(world)

        for number in range(20):
            await put_pod(world, number)
        await world.settle()

        (after,) = await slices(world)
        assert len(after.endpoints or ()) == 20
        assert after.name == before.name
        assert after.generation == before.generation + 1

    told(story)


def test_nothing_is_written_where_nothing_has_changed() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(node())
        await put_pod(world, 1)
        await world.create(service())
        await world.settle()
        (before,) = await slices(world)
        endpoints = await world.get(Endpoints, "web")

        patch = MergePatch({"metadata": {"annotations": {"a": "b"}}})
        await world.patch(core_v1.Pod, "web-1", patch)
        await world.patch(core_v1.Service, "web", patch)
        await world.settle()

        assert await slices(world) == [before]
        assert await world.get(Endpoints, "web") == endpoints

    told(story)


def test_a_pod_that_is_deleted_or_relabelled_leaves_the_slice() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(node())
        for number in range(3):
            await put_pod(world, number)
        await world.create(service())
        await world.settle()

        await world.delete(core_v1.Pod, "web-0")
        away = MergePatch({"metadata": {"labels": {"app": "other"}}})
        await world.patch(core_v1.Pod, "web-1", away)
        await world.settle()

        (found,) = await slices(world)
        assert [each.addresses for each in found.endpoints or ()] == [("10.0.0.2",)]

    told(story)


def test_a_slice_that_somebody_has_changed_or_deleted_is_put_right() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(node())
        await put_pod(world, 1)
        await world.create(service())
        await world.settle()
        (made,) = await slices(world)

        await world.patch(Slice, made.name, MergePatch({"endpoints": []}))
        await world.settle()
        (mended,) = await slices(world)
        await world.delete(Slice, made.name)
        await world.delete(Endpoints, "web")
        await world.settle()
        (again,) = await slices(world)

        assert mended.endpoints == again.endpoints == made.endpoints
        assert again.name != made.name
        assert (await world.get(Endpoints, "web")).subsets

    told(story)


def test_more_than_a_hundred_pods_are_in_several_slices() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(node())
        for number in range(130):
            await put_pod(world, number)
        await world.create(service())
        await world.settle()

        assert sorted(len(each.endpoints or ()) for each in await slices(world)) == [30, 100]

    told(story)


def test_a_service_without_a_selector_or_with_another_name_has_none() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(service("bare", selector=None))
        await world.create(service("outside", type="ExternalName", external_name="example.com"))
        await world.settle()

        assert await slices(world, "bare") == await slices(world, "outside") == []
        assert await world.find(Endpoints, "bare") is None

    told(story)


def test_a_headless_service_says_so_on_its_slice() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(service(cluster_ip="None", ports=None))
        await world.settle()

        (found,) = await slices(world)
        assert found.labels["service.kubernetes.io/headless"] == ""

    told(story)


def test_a_pod_on_an_unknown_node_is_left_out_until_the_node_is_there() -> None:
    async def story(world: SimulatedWorld) -> None:
        await put_pod(world, 1, node="node-9")
        await world.create(service())
        await world.settle()
        (without,) = await slices(world)
        complaints = [each.note for each in await world.list(events_v1.Event)]

        await world.create(node("node-9"))
        await world.settle()

        (found,) = await slices(world)
        assert not without.endpoints
        assert len(found.endpoints or ()) == 1
        home = without.namespace
        assert complaints == [
            f"Error updating Endpoint Slices for Service {home}/web: skipping Pod web-1 for"
            f" Service {home}/web: Node node-9 Not Found"
        ]

    told(story)


def test_the_endpoints_of_a_service_go_with_it() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(service())
        await world.settle()

        await world.delete(core_v1.Service, "web")
        await world.settle()

        assert await world.find(Endpoints, "web") is None

    told(story)


def by_hand(*ips: str) -> Endpoints:
    subset = core_v1.EndpointSubset(
        addresses=tuple(core_v1.EndpointAddress(ip=each) for each in ips),
        ports=(core_v1.EndpointPort(name="db", port=5432, protocol="TCP"),),
    )
    return Endpoints(metadata=meta_v1.ObjectMeta(name="db"), subsets=(subset,))


def test_endpoints_written_by_hand_are_mirrored_to_slices() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(service("db", selector=None))
        await world.create(by_hand("1.2.3.4"))
        await world.settle()
        (first,) = await slices(world, "db")

        changed = by_hand("1.2.3.4", "1.2.3.5")
        await world.patch(Endpoints, "db", MergePatch({"subsets": changed.subsets}))
        await world.settle()

        (mirror,) = await slices(world, "db")
        assert mirror.name == first.name
        assert [each.addresses for each in mirror.endpoints or ()] == [("1.2.3.4",), ("1.2.3.5",)]
        assert mirror.labels["endpointslice.kubernetes.io/managed-by"] == (
            "endpointslicemirroring-controller.k8s.io"
        )
        assert [each.kind for each in mirror.metadata.owner_references or ()] == ["Endpoints"]

    told(story)


def test_a_mirror_goes_when_its_service_is_given_a_selector() -> None:
    async def story(world: SimulatedWorld) -> None:
        await world.create(service("db", selector=None))
        await world.create(by_hand("1.2.3.4"))
        await world.settle()

        await world.patch(core_v1.Service, "db", MergePatch({"spec": {"selector": dict(WEB)}}))
        await world.settle()

        managers = [
            each.labels["endpointslice.kubernetes.io/managed-by"]
            for each in await slices(world, "db")
        ]
        assert managers == ["endpointslice-controller.k8s.io"]

    told(story)


def test_endpoints_that_are_not_to_be_mirrored_are_not() -> None:
    async def story(world: SimulatedWorld) -> None:
        unwanted = by_hand("1.2.3.4")
        labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
        await world.create(service("db", selector=None))
        await world.create(replace(unwanted, metadata=replace(unwanted.metadata, labels=labels)))
        await world.settle()

        assert await slices(world, "db") == []

    told(story)
