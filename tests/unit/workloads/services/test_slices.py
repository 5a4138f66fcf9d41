"""Distribution of endpoints over slices."""

import pytest

from steersman.kinds import core_v1, replace
from tests.unit.workloads.services.samples import (
    HTTP,
    all_written,
    many,
    plan,
    pod,
    service,
    written,
)


def test_an_endpoint_is_marked_as_ready_serving_and_terminating() -> None:
    pods = [
        pod("ready"),
        pod("unready", ips=("10.0.0.2",), ready=False),
        pod("ending", ips=("10.0.0.3",), ending=True),
    ]

    (made,) = plan(service(), pods).create

    states = {
        each.target_ref.name: (
            each.conditions.ready,
            each.conditions.serving,
            each.conditions.terminating,
        )
        for each in made.endpoints
        if each.target_ref and each.conditions
    }
    assert states == {
        "ready": (True, True, False),
        "unready": (False, False, False),
        "ending": (False, True, True),
    }


def test_an_endpoint_names_its_pod_node_and_zone() -> None:
    (made,) = plan(service(), [pod()]).create

    (endpoint,) = made.endpoints
    assert endpoint.addresses == ("10.0.0.1",)
    assert (endpoint.node_name, endpoint.zone) == ("node-1", "east")
    assert endpoint.target_ref == core_v1.ObjectReference(
        kind="Pod", namespace="here", name="web-1", uid="uid-of-web-1"
    )


def test_publishnotreadyaddresses_makes_every_endpoint_ready() -> None:
    pods = [pod("unready", ready=False), pod("ending", ips=("10.0.0.3",), ending=True)]

    (made,) = plan(service(publish_not_ready_addresses=True), pods).create

    assert [each.conditions.ready for each in made.endpoints if each.conditions] == [True, True]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_an_ended_pod_is_not_an_endpoint(phase: str) -> None:
    (made,) = plan(service(), [pod(phase=phase)]).create

    assert made.endpoints == ()


def test_a_pod_without_an_address_is_not_an_endpoint() -> None:
    (made,) = plan(service(), [pod(ips=())]).create

    assert made.endpoints == ()


def test_a_pod_on_an_unknown_node_is_left_out() -> None:
    lost = pod("lost", ips=("10.0.0.2",), node="node-9")

    make_plan = plan(service(), [pod(), lost])

    assert [each.addresses for each in make_plan.create[0].endpoints] == [("10.0.0.1",)]
    assert make_plan.pods_without_node == (lost,)


def test_a_named_target_port_is_looked_up_in_each_pod() -> None:
    pods = [pod("old", port=8080), pod("new", ips=("10.0.0.2",), port=9090)]

    make_plan = plan(service(), pods)

    ports = [each.port for new in make_plan.create for each in new.ports]
    assert sorted(port for port in ports if port) == [8080, 9090]
    assert [len(new.endpoints) for new in make_plan.create] == [1, 1]


def test_a_port_that_no_container_has_is_left_out() -> None:
    other = replace(HTTP, name="other", target_port="nowhere")

    (made,) = plan(service(ports=(HTTP, other)), [pod()]).create

    assert [each.name for each in made.ports] == ["http"]


def test_an_endpoint_has_the_hostname_of_a_pod_in_the_subdomain() -> None:
    pods = [pod("web-0", subdomain="web"), pod("web-1", ips=("10.0.0.2",), subdomain="other")]

    (made,) = plan(service(cluster_ip="None"), pods).create

    assert [each.hostname for each in made.endpoints] == ["web-0", None]


def test_each_address_family_has_its_own_slices() -> None:
    both = pod(ips=("10.0.0.1", "fd00::1"))

    make_plan = plan(service(ip_families=("IPv6", "IPv4")), [both])

    assert [(new.address_type, new.endpoints[0].addresses) for new in make_plan.create] == [
        ("IPv6", ("fd00::1",)),
        ("IPv4", ("10.0.0.1",)),
    ]


def test_a_service_without_pods_has_one_unchanged_empty_slice() -> None:
    first = plan(service(), [])

    again = plan(service(), [], all_written(service(), first))

    assert [(new.ports, new.endpoints) for new in first.create] == [((), ())]
    assert (again.create, again.update, again.delete) == ((), (), ())


def test_a_slice_holds_no_more_than_a_hundred_endpoints() -> None:
    make_plan = plan(service(), many(250))

    assert [len(new.endpoints) for new in make_plan.create] == [100, 100, 50]


def test_an_unchanged_service_has_an_empty_plan() -> None:
    first = plan(service(), many(150))

    again = plan(service(), many(150), all_written(service(), first))

    assert (again.create, again.update, again.delete) == ((), (), ())


def test_a_change_of_one_pod_updates_one_slice() -> None:
    there = all_written(service(), plan(service(), many(250)))
    pods = [*many(250)[:-1], pod("web-0249", ips=("10.1.0.249",), ready=False)]

    again = plan(service(), pods, there)

    assert [new.old for new in again.update] == [there[2]]
    assert (again.create, again.delete) == ((), ())


def test_a_new_endpoint_is_added_to_a_slice_with_room() -> None:
    there = all_written(service(), plan(service(), many(150)))

    again = plan(service(), many(151), there)

    assert [(new.old, len(new.endpoints)) for new in again.update] == [(there[1], 51)]
    assert again.create == ()


def test_a_slice_is_updated_rather_than_replaced_when_all_its_pods_go() -> None:
    there = all_written(service(), plan(service(), [pod()]))

    again = plan(service(), [], there)

    assert [(new.old, new.endpoints, new.ports) for new in again.update] == [(there[0], (), ())]
    assert (again.create, again.delete) == ((), ())


def test_a_slice_is_updated_rather_than_replaced_when_the_ports_change() -> None:
    there = all_written(service(), plan(service(), [pod()]))

    again = plan(service(), [pod(port=9090)], there)

    assert [(new.old, new.ports[0].port) for new in again.update] == [(there[0], 9090)]
    assert (again.create, again.delete) == ((), ())


def test_a_slice_has_the_labels_of_its_service() -> None:
    there = all_written(service(), plan(service(), [pod()]))
    renamed = service()
    renamed = replace(renamed, metadata=replace(renamed.metadata, labels={"team": "red"}))

    again = plan(renamed, [pod()], there)

    assert [new.old for new in again.update] == there


def test_a_duplicate_slice_after_a_lost_response_is_deleted() -> None:
    of = service()
    (new,) = plan(of, [pod()]).create
    (empty,) = plan(of, []).create
    twice = [written(of, new, "web-1"), written(of, new, "web-2")]
    empty_twice = [written(of, empty, "web-1"), written(of, empty, "web-2")]

    full, none = plan(of, [pod()], twice), plan(of, [], empty_twice)

    assert (full.create, full.update, full.delete) == ((), (), (twice[1],))
    assert (none.create, none.update, none.delete) == ((), (), (empty_twice[1],))


def test_slices_of_an_earlier_service_are_not_adopted() -> None:
    there = all_written(service(uid="gone"), plan(service(uid="gone"), [pod()]))

    again = plan(service(), [pod()], there)

    assert list(again.delete) == there
    assert [len(new.endpoints) for new in again.create] == [1]


def test_traffic_distribution_adds_topology_hints() -> None:
    (made,) = plan(service(traffic_distribution="PreferSameNode"), [pod()]).create

    hints = made.endpoints[0].hints
    assert hints is not None
    assert [each.name for each in hints.for_zones or ()] == ["east"]
    assert [each.name for each in hints.for_nodes or ()] == ["node-1"]
