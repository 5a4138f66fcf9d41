"""The usage of objects, and the quotas that count them."""

from collections.abc import Mapping
from typing import Any

import pytest

from steersman.kinds import Resource, core_v1, meta_v1, metadata_only
from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.workloads.quotas.evaluators import (
    CLAIMS,
    PODS,
    SERVICES,
    kind_of_resource,
    usage,
)
from steersman_cluster.workloads.quotas.scopes import is_in_scope, rules_of
from tests.unit.workloads.pods.samples import NOW, ago

Requirements = core_v1.ResourceRequirements


def amounts(**quantities: str) -> Mapping[str, Quantity]:
    return {name.replace("_", "-"): Quantity(each) for name, each in quantities.items()}


def requirements(cpu: str, memory: str | None = None, /, **limits: str) -> Requirements:
    requests = {"cpu": cpu} if memory is None else {"cpu": cpu, "memory": memory}
    return Requirements(requests=amounts(**requests), limits=amounts(**limits) or None)


def container(resources: Requirements | None = None, **rest: Any) -> core_v1.Container:
    return core_v1.Container(name="main", image="main", resources=resources, **rest)


def pod(*containers: core_v1.Container, phase: str = "Running", **rest: Any) -> core_v1.Pod:
    return core_v1.Pod(
        spec=core_v1.PodSpec(containers=containers or (container(),), **rest),
        status=core_v1.PodStatus(phase=phase),
    )


def used(resource: GroupResource, obj: Resource) -> dict[str, str]:
    return {name: str(each) for name, each in usage(resource, obj, NOW).items()}


def test_a_pod_uses_the_sum_of_its_containers_requests() -> None:
    both = pod(
        container(requirements("100m", "1Gi", cpu="1")), container(requirements("200m", "1Gi"))
    )

    assert used(PODS, both) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "300m",
        "requests.cpu": "300m",
        "limits.cpu": "1",
        "memory": "2Gi",
        "requests.memory": "2Gi",
    }


def test_init_containers_count_as_far_as_they_request_more() -> None:
    first = container(requirements("1"))
    beside = container(requirements("300m"), restart_policy="Always")

    def cpu(*init: core_v1.Container) -> str:
        made = pod(container(requirements("200m")), init_containers=init)
        return used(PODS, made)["requests.cpu"]

    assert cpu(first) == "1"
    assert cpu(beside) == "500m"
    assert cpu(beside, first) == "1300m"
    assert cpu(first, beside) == "1"


def test_pod_level_requests_and_overhead_count() -> None:
    whole = pod(
        container(requirements("200m")),
        resources=requirements("1", cpu="2"),
        overhead=amounts(cpu="50m"),
    )

    found = used(PODS, whole)

    assert (found["requests.cpu"], found["limits.cpu"]) == ("1050m", "2050m")


def test_devices_and_huge_pages_count_under_their_names() -> None:
    special = {"example.com/gpu": Quantity(2), "hugepages-2Mi": Quantity("4Mi")}

    found = used(PODS, pod(container(Requirements(requests=special))))

    assert found["requests.example.com/gpu"] == "2"
    assert found["hugepages-2Mi"] == found["requests.hugepages-2Mi"] == "4Mi"


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_is_counted_and_uses_nothing(phase: str) -> None:
    assert used(PODS, pod(container(requirements("1")), phase=phase)) == {"count/pods": "1"}


def test_a_pod_that_is_overdue_for_deletion_uses_nothing() -> None:
    def ending(seconds_ago: float) -> core_v1.Pod:
        about = meta_v1.ObjectMeta(
            deletion_timestamp=ago(seconds_ago), deletion_grace_period_seconds=30
        )
        return core_v1.Pod(metadata=about, spec=core_v1.PodSpec(containers=(container(),)))

    assert "pods" in used(PODS, ending(30))
    assert used(PODS, ending(31)) == {"count/pods": "1"}


PORTS = (
    core_v1.ServicePort(port=80, node_port=30080),
    core_v1.ServicePort(port=81),
)

SERVICES_USED = [
    ({"type": "ClusterIP"}, "0", "0"),
    ({"type": "NodePort"}, "2", "0"),
    ({"type": "LoadBalancer"}, "2", "1"),
    ({"type": "LoadBalancer", "allocate_load_balancer_node_ports": False}, "1", "1"),
]


@pytest.mark.parametrize(("spec", "ports", "balancers"), SERVICES_USED)
def test_a_service_uses_what_its_type_needs(
    spec: dict[str, Any], ports: str, balancers: str
) -> None:
    service = core_v1.Service(spec=core_v1.ServiceSpec(ports=PORTS, **spec))

    assert used(SERVICES, service) == {
        "count/services": "1",
        "services": "1",
        "services.nodeports": ports,
        "services.loadbalancers": balancers,
    }


def claim(**status: Any) -> core_v1.PersistentVolumeClaim:
    return core_v1.PersistentVolumeClaim(
        spec=core_v1.PersistentVolumeClaimSpec(
            storage_class_name="fast",
            resources=core_v1.VolumeResourceRequirements(requests=amounts(storage="1Gi")),
        ),
        status=core_v1.PersistentVolumeClaimStatus(**status),
    )


def test_a_claim_also_counts_for_its_storage_class() -> None:
    assert used(CLAIMS, claim()) == {
        "count/persistentvolumeclaims": "1",
        "persistentvolumeclaims": "1",
        "requests.storage": "1Gi",
        "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
    }


def test_a_claim_with_a_larger_capacity_uses_that() -> None:
    larger = claim(allocated_resources=amounts(storage="5Gi"))

    assert used(CLAIMS, larger)["requests.storage"] == "5Gi"


def test_any_other_object_counts_as_one() -> None:
    deployment = metadata_only(core_v1.ConfigMap)()

    assert used(GroupResource("apps", "deployments"), deployment) == {"count/deployments.apps": "1"}
    assert used(GroupResource("", "secrets"), deployment) == {"count/secrets": "1", "secrets": "1"}


USERS = [
    ("pods", "pods"),
    ("cpu", "pods"),
    ("requests.memory", "pods"),
    ("limits.ephemeral-storage", "pods"),
    ("requests.example.com/gpu", "pods"),
    ("requests.hugepages-2Mi", "pods"),
    ("services.nodeports", "services"),
    ("requests.storage", "persistentvolumeclaims"),
    ("fast.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims"),
    ("secrets", "secrets"),
    ("count/secrets", "secrets"),
    ("count/widgets.example.com", "widgets.example.com"),
    ("count/events", None),
    ("example.com/gpu", None),
]


@pytest.mark.parametrize(("name", "user"), USERS)
def test_each_resource_name_counts_one_kind(name: str, user: str | None) -> None:
    found = kind_of_resource(name)

    assert (None if found is None else str(found)) == user


# Scopes

BEST_EFFORT, BURSTABLE = pod(), pod(container(requirements("1")))
SHORT = pod(active_deadline_seconds=5)
FOREIGN = pod(
    affinity=core_v1.Affinity(
        pod_anti_affinity=core_v1.PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=(
                core_v1.PodAffinityTerm(topology_key="zone", namespaces=("there",)),
            )
        )
    )
)
HIGH = pod(priority_class_name="high")

SCOPED: list[tuple[str, core_v1.Pod, core_v1.Pod]] = [
    ("Terminating", SHORT, BURSTABLE),
    ("NotTerminating", BURSTABLE, SHORT),
    ("BestEffort", BEST_EFFORT, BURSTABLE),
    ("NotBestEffort", BURSTABLE, BEST_EFFORT),
    ("CrossNamespacePodAffinity", FOREIGN, BURSTABLE),
    ("PriorityClass", HIGH, BURSTABLE),
]


@pytest.mark.parametrize(("scope", "inside", "outside"), SCOPED)
def test_a_scope_selects_some_pods(scope: str, inside: core_v1.Pod, outside: core_v1.Pod) -> None:
    rules = rules_of(core_v1.ResourceQuotaSpec(scopes=(scope,)))

    assert is_in_scope(inside, rules)
    assert not is_in_scope(outside, rules)
    assert not is_in_scope(core_v1.Service(), rules)


def classes(operator: str, *values: str) -> core_v1.ResourceQuotaSpec:
    rule = core_v1.ScopedResourceSelectorRequirement(
        scope_name="PriorityClass", operator=operator, values=values or None
    )
    return core_v1.ResourceQuotaSpec(
        scope_selector=core_v1.ScopeSelector(match_expressions=(rule,))
    )


OPERATORS = [
    (classes("In", "high", "low"), True, False),
    (classes("In", "low"), False, False),
    (classes("NotIn", "low"), True, True),
    (classes("NotIn", "high"), False, True),
    (classes("Exists"), True, False),
    (classes("DoesNotExist"), False, True),
]


@pytest.mark.parametrize(("spec", "high", "none"), OPERATORS)
def test_a_scope_selector_can_limit_the_values(
    spec: core_v1.ResourceQuotaSpec, high: bool, none: bool
) -> None:
    rules = rules_of(spec)

    assert (is_in_scope(HIGH, rules), is_in_scope(BEST_EFFORT, rules)) == (high, none)


def test_a_claim_is_in_the_scope_of_its_attributes_class() -> None:
    rules = rules_of(core_v1.ResourceQuotaSpec(scopes=("VolumeAttributesClass",)))

    assert is_in_scope(claim(current_volume_attributes_class_name="gold"), rules)
    assert not is_in_scope(claim(), rules)
