"""The comparison of children and status with the spec."""

from copy import deepcopy
from typing import Any

from bench.harness.state_check import (
    app_differences,
    differences,
    expected_deployment,
    expected_service,
    expected_status,
)

APP: dict[str, Any] = {
    "apiVersion": "app.example.com/v1",
    "kind": "AppService",
    "metadata": {"name": "web", "uid": "app-uid", "generation": 3},
    "spec": {
        "image": "nginx:1.7.9",
        "size": 2,
        "ports": [{"name": "http", "port": 80, "targetPort": 8080}],
        "envs": [{"name": "LOG_LEVEL", "value": "info"}],
        "resources": {"limits": {"memory": "128Mi"}},
    },
}
AVAILABLE = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}


def rolled_out(app: dict[str, Any] = APP) -> dict[str, Any]:
    """A Deployment with all Pods, none of which is ready."""
    deployment = deepcopy(dict(expected_deployment(app)))
    size = app["spec"]["size"]
    deployment["metadata"] |= {"name": "web", "generation": 1}
    deployment["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    deployment["status"] = {
        "observedGeneration": 1,
        "replicas": size,
        "updatedReplicas": size,
        "unavailableReplicas": size,
        "conditions": [AVAILABLE],
    }
    return deployment


def served() -> dict[str, Any]:
    """A Service with the fields that the server assigns."""
    service = deepcopy(dict(expected_service(APP)))
    service["metadata"]["name"] = "web"
    service["spec"] |= {"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"]}
    service["spec"]["ports"][0]["nodePort"] = 30_002
    return service


def reported(deployment: dict[str, Any]) -> dict[str, Any]:
    """The AppService with the expected status."""
    status = deepcopy(dict(expected_status(APP, deployment)))
    conditions = list(status["conditions"].values())
    conditions[-1] |= {"lastTransitionTime": "2026-11-16T05:00:00Z", "message": ""}
    return {**APP, "status": {**status, "conditions": conditions}}


def test_expected_children_have_no_differences() -> None:
    deployment = rolled_out()

    found = differences(
        {"web": reported(deployment)}, {"web": deployment}, {"web": served()}, count=1
    )

    assert list(found) == []


def test_the_expected_children_are_complete_objects() -> None:
    container = expected_deployment(APP)["spec"]["template"]["spec"]["containers"][0]

    assert container == {
        "name": "web",
        "image": "nginx:1.7.9",
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "LOG_LEVEL", "value": "info"}],
        "resources": {"limits": {"memory": "128Mi"}},
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    assert expected_service(APP)["spec"]["ports"] == [
        {"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}
    ]


def test_a_difference_is_reported_with_its_path() -> None:
    deployment = rolled_out()
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:latest"

    found = list(app_differences(reported(deployment), deployment, served()))

    assert found == [
        "Deployment web.spec.template.spec.containers[0].image:"
        " 'nginx:latest' instead of 'nginx:1.7.9'"
    ]


def test_an_unexpected_field_is_a_difference() -> None:
    deployment, service = rolled_out(), served()
    service["spec"]["publishNotReadyAddresses"] = True

    found = list(app_differences(reported(deployment), deployment, service))

    assert found == ["Service web.spec.publishNotReadyAddresses: True instead of 'nothing'"]


def test_unexpected_annotations_and_finalizers_are_differences() -> None:
    deployment, service = rolled_out(), served()
    deployment["metadata"]["annotations"]["note"] = "mine"
    service["metadata"]["finalizers"] = ["example.com/wait"]

    found = list(app_differences(reported(deployment), deployment, service))

    assert found == [
        "Service web.metadata.finalizers: ['example.com/wait'] instead of 'nothing'",
        "Deployment web.metadata.annotations: {'note': 'mine'} instead of 'nothing'",
    ]


def test_a_missing_child_is_a_difference() -> None:
    assert list(app_differences(APP, None, None)) == [
        "Service web does not exist",
        "Deployment web does not exist",
    ]


def test_a_child_of_another_owner_is_a_difference() -> None:
    deployment, service = rolled_out(), served()
    service["metadata"]["ownerReferences"][0]["uid"] = "another-uid"

    found = list(app_differences(reported(deployment), deployment, service))

    assert found == [
        "Service web.metadata.ownerReferences[0].uid: 'another-uid' instead of 'app-uid'"
    ]


def test_a_status_older_than_the_deployments_is_a_difference() -> None:
    deployment = rolled_out()
    app = reported(deployment)
    deployment["status"]["unavailableReplicas"] = 1

    assert list(app_differences(app, deployment, served())) == [
        "AppService web: status.unavailableReplicas: 2 instead of 1"
    ]


def test_a_status_without_a_ready_condition_is_a_difference() -> None:
    deployment = rolled_out()
    app = reported(deployment)
    app["status"]["conditions"].pop()

    (found,) = app_differences(app, deployment, served())

    assert found.startswith("AppService web: status.conditions.Ready: 'nothing' instead of")


def test_a_ready_condition_without_a_transition_time_is_a_difference() -> None:
    deployment = rolled_out()
    app = reported(deployment)
    del app["status"]["conditions"][-1]["lastTransitionTime"]

    (found,) = app_differences(app, deployment, served())

    assert "lastTransitionTime" in found


def test_ready_is_true_if_all_pods_are_available() -> None:
    deployment = rolled_out()
    deployment["status"] |= {"readyReplicas": 2, "availableReplicas": 2}

    ready = expected_status(APP, deployment)["conditions"]["Ready"]

    assert (ready["status"], ready["reason"]) == ("True", "RolledOut")


def test_a_deployment_that_is_still_scaling_is_a_difference() -> None:
    deployment = rolled_out()
    deployment["status"] |= {"replicas": 1, "updatedReplicas": 1}

    assert list(app_differences(reported(deployment), deployment, served())) == [
        "Deployment web does not have all Pods"
    ]


def test_without_pods_all_other_fields_are_compared() -> None:
    deployment = rolled_out()
    del deployment["status"]
    app = reported(deployment)
    app["status"]["observedGeneration"] -= 1

    assert list(app_differences(app, deployment, served(), has_pods=False)) == [
        "AppService web: status.observedGeneration: 2 instead of 3"
    ]


def test_extra_appservices_are_a_difference_unless_allowed() -> None:
    deployment = rolled_out()
    world = {"web": reported(deployment)}, {"web": deployment}, {"web": served()}

    assert list(differences(*world, count=0)) == ["expected 0 AppServices, found 1"]
    assert list(differences(*world, count=0, or_more=True)) == []
    assert list(differences(*world, count=2, or_more=True)) == ["expected 2 AppServices, found 1"]


def test_too_few_appservices_and_children_without_an_owner_are_differences() -> None:
    deployment = rolled_out()

    found = differences({}, {"web": deployment}, {}, count=1)

    assert list(found) == [
        "expected 1 AppServices, found 0",
        "Deployment web has no AppService",
    ]
