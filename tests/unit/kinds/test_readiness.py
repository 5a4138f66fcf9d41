"""``is_ready`` follows the status that the controller of each kind reports."""

from typing import Any

import msgspec
import pytest

from steersman.kinds import (
    Codec,
    Condition,
    CustomResource,
    Part,
    Resource,
    Scheme,
    Unstructured,
    is_ready,
    metadata_only,
)
from steersman.kinds.core_v1 import ConfigMap, Service

GENERATION = 4


class Status(Part):
    observed_generation: int | None = None
    conditions: tuple[Condition, ...] | None = None


class App(CustomResource[Part, Status], group="app.example.com", version="v1"):
    """A custom resource."""


def both(api_version: str, kind: str, **body: Any) -> tuple[Resource | Unstructured, ...]:
    """The object as an instance of its class, and as the server returned it."""
    whole = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "web", "generation": GENERATION},
        **body,
    }
    cls = Scheme([App]).class_of(api_version, kind)
    typed = Codec().decode(cls, msgspec.json.encode(whole), wanted="read")
    return typed, Unstructured(whole)


def deployment(spec: dict[str, Any] | None = None, /, **status: Any) -> dict[str, Any]:
    return workload("apps/v1", "Deployment", spec or {"replicas": 2}, status)


def stateful_set(spec: dict[str, Any] | None = None, /, **status: Any) -> dict[str, Any]:
    return workload("apps/v1", "StatefulSet", spec or {"replicas": 2}, {"replicas": 2, **status})


def daemon_set(spec: dict[str, Any] | None = None, /, **status: Any) -> dict[str, Any]:
    counts = ("current", "desired", "updated")
    all_there = {f"{each}NumberScheduled": 2 for each in counts}
    more = {"numberMisscheduled": 0, "numberReady": 2, "numberAvailable": 2}
    return workload("apps/v1", "DaemonSet", spec or {}, {**all_there, **more, **status})


def workload(
    api_version: str, kind: str, spec: dict[str, Any], status: dict[str, Any]
) -> dict[str, Any]:
    return {
        "api_version": api_version,
        "kind": kind,
        "spec": {"selector": {}, "template": {}, **spec},
        "status": {"observedGeneration": GENERATION, **status},
    }


def obj(api_version: str, kind: str, **body: Any) -> dict[str, Any]:
    return {"api_version": api_version, "kind": kind, **body}


def conditions(**statuses: str) -> dict[str, Any]:
    return {"conditions": [{"type": type, "status": is_so} for type, is_so in statuses.items()]}


ALL_THERE: dict[str, Any] = {
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
}
OLD_REVISION: dict[str, Any] = {"currentRevision": "a", "updateRevision": "b"}
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}
PARTITIONED = {"replicas": 2, "updateStrategy": {"rollingUpdate": {"partition": 1}}}
CLAIM = obj("v1", "PersistentVolumeClaim")
DEFINITION = obj(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    spec={"group": "a.example.com", "names": {"kind": "A", "plural": "as"}, "scope": "Namespaced"}
    | {"versions": []},
)
BUDGET = {"disruptionsAllowed": 0, "expectedPods": 2, "desiredHealthy": 1}
AUTOSCALER = {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}}
SIGNING = {"spec": {"request": "YQ==", "signerName": "example.com/a"}}
ATTACHMENT = {"spec": {"attacher": "a", "nodeName": "b", "source": {}}}

READY = {
    "a Deployment all of whose replicas are new and available": deployment(**ALL_THERE),
    "a Deployment of one replica by default": deployment(
        {"paused": False}, **dict.fromkeys(ALL_THERE, 1)
    ),
    "a Deployment of none": deployment({"replicas": 0}),
    "a StatefulSet at its new revision": stateful_set(
        **ALL_THERE, currentRevision="b", updateRevision="b"
    ),
    "a StatefulSet of an older server": stateful_set(updatedReplicas=2, readyReplicas=2),
    "a StatefulSet updated as far as its partition": stateful_set(
        PARTITIONED, **{**ALL_THERE, "updatedReplicas": 1}, **OLD_REVISION
    ),
    "a StatefulSet that people update": stateful_set(
        {"replicas": 2, **ON_DELETE}, **{**ALL_THERE, "updatedReplicas": 0}, **OLD_REVISION
    ),
    "a DaemonSet on every node": daemon_set(),
    "a DaemonSet that people update": daemon_set(ON_DELETE, updatedNumberScheduled=0),
    "a DaemonSet that no node wants": daemon_set(
        currentNumberScheduled=0, desiredNumberScheduled=0, numberReady=0, numberAvailable=0
    ),
    "a ReplicaSet with its replicas": workload(
        "apps/v1", "ReplicaSet", {"replicas": 2}, {**ALL_THERE}
    ),
    "a ReplicationController with its replicas": obj(
        "v1",
        "ReplicationController",
        spec={"replicas": 2},
        status={"observedGeneration": GENERATION, **ALL_THERE},
    ),
    "a Pod whose condition Ready is true": obj(
        "v1", "Pod", status={"phase": "Running", **conditions(Ready="True")}
    ),
    "a Pod that has done its work": obj(
        "v1", "Pod", status={"phase": "Succeeded", **conditions(Ready="False")}
    ),
    "a Job that is complete": obj("batch/v1", "Job", status=conditions(Complete="True")),
    "a CronJob": obj("batch/v1", "CronJob", spec={"schedule": "@daily", "jobTemplate": {}}),
    "a claim that is bound": {**CLAIM, "status": {"phase": "Bound"}},
    "a volume that waits for a claim": obj("v1", "PersistentVolume", status={"phase": "Available"}),
    "a Service": obj("v1", "Service", spec={"type": "NodePort"}),
    "a Service with a load balancer": obj(
        "v1",
        "Service",
        spec={"type": "LoadBalancer"},
        status={"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
    ),
    "a Node": obj("v1", "Node", status=conditions(Ready="True")),
    "a Namespace": obj("v1", "Namespace", status={"phase": "Active"}),
    "a definition that is served": {
        **DEFINITION,
        "status": conditions(Established="True", NamesAccepted="True"),
    },
    "an APIService": obj(
        "apiregistration.k8s.io/v1", "APIService", status=conditions(Available="True")
    ),
    "a budget with enough healthy Pods": obj(
        "policy/v1",
        "PodDisruptionBudget",
        status={"observedGeneration": GENERATION, "currentHealthy": 1, **BUDGET},
    ),
    "an autoscaler that scales": obj(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        **AUTOSCALER,
        status={"desiredReplicas": 2, **conditions(AbleToScale="True", ScalingActive="True")},
    ),
    "an autoscaler without conditions": obj(
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
        **AUTOSCALER,
        status={"desiredReplicas": 2, "currentReplicas": 2},
    ),
    "a signing request with a certificate": obj(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        **SIGNING,
        status={"certificate": "YQ==", **conditions(Approved="True")},
    ),
    "an attached volume": obj(
        "storage.k8s.io/v1", "VolumeAttachment", **ATTACHMENT, status={"attached": True}
    ),
    "a ConfigMap": obj("v1", "ConfigMap"),
    "a Role": obj("rbac.authorization.k8s.io/v1", "Role"),
    "an Ingress": obj("networking.k8s.io/v1", "Ingress"),
    "a custom resource whose condition Ready is true": obj(
        "app.example.com/v1",
        "App",
        spec={},
        status={"observedGeneration": GENERATION, **conditions(Available="False", Ready="True")},
    ),
    "a custom resource whose condition Available is true": obj(
        "app.example.com/v1", "App", spec={}, status=conditions(Available="True")
    ),
}

NOT_READY = {
    "a Deployment without a status": obj(
        "apps/v1", "Deployment", spec={"selector": {}, "template": {}}
    ),
    "a Deployment whose new spec has not been observed": deployment(
        **ALL_THERE | {"observedGeneration": GENERATION - 1}
    ),
    "a Deployment of none that has not been observed": deployment(
        {"replicas": 0}, observedGeneration=0
    ),
    "a Deployment with old replicas": deployment(**ALL_THERE | {"replicas": 3}),
    "a Deployment that is half updated": deployment(**ALL_THERE | {"updatedReplicas": 1}),
    "a Deployment that is half available": deployment(**ALL_THERE | {"availableReplicas": 1}),
    "a Deployment that has yet to shrink": deployment({"replicas": 1}, **ALL_THERE),
    "a StatefulSet at its old revision": stateful_set(**ALL_THERE, **OLD_REVISION),
    "a StatefulSet that is half updated": stateful_set(**ALL_THERE | {"updatedReplicas": 1}),
    "a StatefulSet that is half ready": stateful_set(**ALL_THERE | {"readyReplicas": 1}),
    "a StatefulSet that is half available": stateful_set(**ALL_THERE | {"availableReplicas": 1}),
    "a StatefulSet with one too many": stateful_set({"replicas": 1}, **ALL_THERE),
    "a StatefulSet short of its partition": stateful_set(
        PARTITIONED, **{**ALL_THERE, "updatedReplicas": 0}, **OLD_REVISION
    ),
    "a StatefulSet that people update, half ready": stateful_set(
        {"replicas": 2, **ON_DELETE}, **{**ALL_THERE, "readyReplicas": 1}
    ),
    "a DaemonSet not yet on every node": daemon_set(currentNumberScheduled=1),
    "a DaemonSet with old Pods": daemon_set(updatedNumberScheduled=1),
    "a DaemonSet with Pods that are not ready": daemon_set(numberReady=1),
    "a DaemonSet with Pods that are not available": daemon_set(numberAvailable=1),
    "a DaemonSet whose new spec has not been observed": daemon_set(observedGeneration=1),
    "a ReplicaSet that may not make Pods": workload(
        "apps/v1", "ReplicaSet", {"replicas": 2}, {**ALL_THERE, **conditions(ReplicaFailure="True")}
    ),
    "a Pod without conditions": obj("v1", "Pod", status={"phase": "Running"}),
    "a Pod that has failed": obj(
        "v1", "Pod", status={"phase": "Failed", **conditions(Ready="True")}
    ),
    "a Pod without a status": obj("v1", "Pod"),
    "a Job that runs": obj("batch/v1", "Job", status={"active": 1}),
    "a Job that has failed": obj("batch/v1", "Job", status=conditions(Failed="True")),
    "a claim that waits": {**CLAIM, "status": {"phase": "Pending"}},
    "a volume that was released": obj("v1", "PersistentVolume", status={"phase": "Released"}),
    "a Service whose load balancer is on its way": obj(
        "v1", "Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {}}
    ),
    "a Node whose kubelet is silent": obj("v1", "Node", status=conditions(Ready="Unknown")),
    "a Namespace on its way out": obj("v1", "Namespace", status={"phase": "Terminating"}),
    "a definition whose names are taken": {
        **DEFINITION,
        "status": conditions(Established="True", NamesAccepted="False"),
    },
    "a definition that is new": DEFINITION,
    "an APIService that is not available": obj(
        "apiregistration.k8s.io/v1", "APIService", status=conditions(Available="False")
    ),
    "a budget that is not kept": obj(
        "policy/v1",
        "PodDisruptionBudget",
        status={"observedGeneration": GENERATION, "currentHealthy": 0, **BUDGET},
    ),
    "an autoscaler without metrics": obj(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        **AUTOSCALER,
        status={"desiredReplicas": 2, **conditions(AbleToScale="True", ScalingActive="False")},
    ),
    "an autoscaler that is new": obj("autoscaling/v1", "HorizontalPodAutoscaler", **AUTOSCALER),
    "a signing request without a certificate": obj(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        **SIGNING,
        status=conditions(Approved="True"),
    ),
    "a volume that is not attached": obj(
        "storage.k8s.io/v1", "VolumeAttachment", **ATTACHMENT, status={"attached": False}
    ),
    "a custom resource without a status": obj("app.example.com/v1", "App", spec={}),
    "a custom resource whose status is about an older spec": obj(
        "app.example.com/v1",
        "App",
        spec={},
        status={"observedGeneration": GENERATION - 1, **conditions(Ready="True")},
    ),
    "a custom resource whose condition is about an older spec": obj(
        "app.example.com/v1",
        "App",
        spec={},
        status={"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]},
    ),
    "a custom resource that is available but not ready": obj(
        "app.example.com/v1", "App", spec={}, status=conditions(Available="True", Ready="False")
    ),
    "a custom resource that is reconciling": obj(
        "app.example.com/v1", "App", spec={}, status=conditions(Ready="True", Reconciling="True")
    ),
    "a custom resource that is stalled": obj(
        "app.example.com/v1", "App", spec={}, status=conditions(Ready="True", Stalled="True")
    ),
}


@pytest.mark.parametrize("body", READY.values(), ids=READY)
def test_an_object_whose_status_matches_its_spec_is_ready(body: dict[str, Any]) -> None:
    assert [is_ready(each) for each in both(**body)] == [True, True]


@pytest.mark.parametrize("body", NOT_READY.values(), ids=NOT_READY)
def test_an_object_whose_status_lags_its_spec_is_not_ready(body: dict[str, Any]) -> None:
    assert [is_ready(each) for each in both(**body)] == [False, False]


@pytest.mark.parametrize("body", READY.values(), ids=READY)
def test_an_object_that_is_being_deleted_is_never_ready(body: dict[str, Any]) -> None:
    metadata = {"name": "web", "deletionTimestamp": "2026-01-01T00:00:00Z"}

    assert [is_ready(each) for each in both(**body, metadata=metadata)] == [False, False]


def test_an_older_version_of_a_built_in_kind_has_the_rules_of_the_stable_one() -> None:
    bound = Unstructured({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget"})
    role = Unstructured({"apiVersion": "rbac.authorization.k8s.io/v1beta1", "kind": "Role"})

    assert not is_ready(bound)
    assert is_ready(role)


@pytest.mark.parametrize(("seen", "ready"), [("3", False), ("4", True), ("late", True)])
def test_a_generation_can_be_reported_as_text(seen: str, ready: bool) -> None:
    odd = Unstructured(
        {
            "apiVersion": "odd.example.com/v1",
            "kind": "Odd",
            "metadata": {"name": "odd", "generation": 4},
            "status": {"observedGeneration": seen, **conditions(Ready="True")},
        }
    )

    assert is_ready(odd) is ready


@pytest.mark.parametrize(
    "status", ["done", ["Ready"], {"conditions": "Ready"}, {"conditions": ["Ready", None]}]
)
def test_an_invalid_status_of_a_foreign_kind_is_not_ready(status: object) -> None:
    odd = {"apiVersion": "odd.example.com/v1", "kind": "Odd", "status": status}

    assert not is_ready(Unstructured(odd))


def test_metadata_alone_shows_readiness_only_of_kinds_without_a_status() -> None:
    assert not is_ready(metadata_only(Service)())
    assert is_ready(metadata_only(ConfigMap)())


def test_a_missing_object_is_rejected() -> None:
    with pytest.raises(TypeError, match="got an object of NoneType"):
        is_ready(None)  # type: ignore[arg-type]
