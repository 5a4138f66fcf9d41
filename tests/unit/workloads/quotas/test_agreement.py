"""The quota controller counts the same usage that the API server charges."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.kinds import Codec, Resource, core_v1
from steersman.names import GroupResource
from steersman.units import Quantity
from steersman_cluster.apiserver.builtin.plugins import quota_usage
from steersman_cluster.workloads.quotas.evaluators import (
    CLAIMS,
    PODS,
    SERVICES,
    kind_of_resource,
    usage,
)
from steersman_cluster.workloads.quotas.scopes import is_in_scope, rules_of
from tests.unit.workloads.pods.samples import NOW

SCOPES = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
)

texts = st.sampled_from(("0", "100m", "1", "1500m", "64Mi", "1G", "3"))
resources = st.sampled_from(
    ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu", "storage")
)
amounts = st.dictionaries(resources, texts, max_size=3)
requirements = st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})


def containers(*policies: str | None) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"name": st.just("main"), "resources": requirements},
        optional={"restartPolicy": st.sampled_from(policies)} if policies else {},
    )


pods = st.fixed_dictionaries(
    {
        "metadata": st.just({"name": "web", "namespace": "here"}),
        "spec": st.fixed_dictionaries(
            {"containers": st.lists(containers(), min_size=1, max_size=3)},
            optional={
                "initContainers": st.lists(containers("Always"), max_size=3),
                "resources": requirements,
                "overhead": amounts,
                "activeDeadlineSeconds": st.integers(1, 9),
                "priorityClassName": st.sampled_from(("high", "low")),
            },
        ),
        "status": st.fixed_dictionaries(
            {"phase": st.sampled_from(("Pending", "Running", "Succeeded", "Failed"))}
        ),
    }
)

services = st.fixed_dictionaries(
    {
        "metadata": st.just({"name": "web", "namespace": "here"}),
        "spec": st.fixed_dictionaries(
            {
                "type": st.sampled_from(("ClusterIP", "NodePort", "LoadBalancer")),
                "ports": st.lists(
                    st.fixed_dictionaries({"port": st.just(80)}, optional={"nodePort": st.just(1)}),
                    max_size=3,
                ),
            },
            optional={"allocateLoadBalancerNodePorts": st.booleans()},
        ),
    }
)

claims = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": st.just("web")},
            optional={
                "annotations": st.just({"volume.beta.kubernetes.io/storage-class": "annotated"})
            },
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "storageClassName": st.sampled_from(("fast", "slow")),
                "resources": st.fixed_dictionaries(
                    {"requests": st.dictionaries(st.just("storage"), texts)}
                ),
            },
        ),
        "status": st.fixed_dictionaries(
            {}, optional={"allocatedResources": st.dictionaries(st.just("storage"), texts)}
        ),
    }
)


def decoded(kind: type[Resource], plain: dict[str, Any]) -> Resource:
    return Codec().decode(kind, msgspec.json.encode(plain), wanted="a sample")


@given(pods)
def test_a_pod_is_counted_as_the_server_charges_it(plain: dict[str, Any]) -> None:
    pod = decoded(core_v1.Pod, plain)

    assert usage(PODS, pod, NOW) == quota_usage.usage(PODS, plain)


@given(pods, st.sampled_from(SCOPES))
def test_a_pod_is_in_the_same_scopes(plain: dict[str, Any], scope: str) -> None:
    pod = decoded(core_v1.Pod, plain)
    rules = rules_of(core_v1.ResourceQuotaSpec(scopes=(scope,)))

    quota = {"spec": {"scopes": [scope]}}
    assert is_in_scope(pod, rules) == quota_usage.is_in_scope(PODS, plain, quota)


@given(services)
def test_a_service_is_counted_as_the_server_charges_it(plain: dict[str, Any]) -> None:
    service = decoded(core_v1.Service, plain)

    assert usage(SERVICES, service, NOW) == quota_usage.usage(SERVICES, plain)


@given(claims)
def test_a_claim_is_counted_as_the_server_charges_it(plain: dict[str, Any]) -> None:
    claim = decoded(core_v1.PersistentVolumeClaim, plain)

    assert usage(CLAIMS, claim, NOW) == quota_usage.usage(CLAIMS, plain)


NAMES = (
    "pods",
    "cpu",
    "limits.memory",
    "requests.example.com/gpu",
    "hugepages-2Mi",
    "services",
    "services.nodeports",
    "persistentvolumeclaims",
    "requests.storage",
    "fast.storageclass.storage.k8s.io/requests.storage",
    "secrets",
    "count/pods",
    "count/secrets",
    "count/deployments.apps",
    "storage",
    "example.com/gpu",
)
KINDS = (
    PODS,
    SERVICES,
    CLAIMS,
    GroupResource("", "secrets"),
    GroupResource("apps", "deployments"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_resource_name_counts_the_same_kind(name: str) -> None:
    hard = {name: str(Quantity(1))}

    theirs = [each for each in KINDS if quota_usage.matching(each, hard)]

    found = kind_of_resource(name)
    assert theirs == ([] if found is None else [found])
