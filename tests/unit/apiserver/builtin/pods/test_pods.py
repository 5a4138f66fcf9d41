from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from steersman.clock import Clock
from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.pods.pods import (
    POD,
    bound,
    check_binding,
    eviction_options,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.clocks import FakeClock
from tests.unit.apiserver.builtin.causes import sentences_of
from tests.unit.apiserver.builtin.kind_handler import KindHandler

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOT_READY = {
    "key": "node.kubernetes.io/not-ready",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 300,
}
UNREACHABLE = {**NOT_READY, "key": "node.kubernetes.io/unreachable"}


def pod(**spec: Any) -> Object:
    containers = [{"name": "app", "image": "nginx"}]
    return {"metadata": {"name": "web"}, "spec": {"containers": containers, **spec}}


def created(obj: Object) -> Object:
    return KindHandler("v1", "pods").create(obj, namespace="default")


def rejection(obj: Object) -> list[str]:
    """Return the errors of a new pod, each as ``field: message``."""
    with pytest.raises(StatusError) as raised:
        created(obj)
    return sentences_of(raised.value)


def error_of_change(old: Object, **spec: Any) -> str:
    changed = {**old, "spec": {**old["spec"], **spec}}
    with pytest.raises(StatusError) as raised:
        KindHandler("v1", "pods").update(changed, old, namespace="default", subresource="")
    return raised.value.message


@dataclass(frozen=True, kw_only=True)
class StoredObjects:
    """A strategy context with these objects."""

    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    clock: Clock = field(default_factory=FakeClock)
    rng: Random = field(default_factory=lambda: Random(1))

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return self.objects.get((resource.resource, name))

    def every(self, resource: GroupResource, *, namespace: str = "") -> list[Object]:
        return [each for (kind, _), each in self.objects.items() if kind == resource.resource]


def test_a_minimal_pod_is_stored_with_all_defaults() -> None:
    stored = created(pod())

    assert stored["spec"] == {
        "containers": [
            {
                "name": "app",
                "image": "nginx",
                "resources": {},
                "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "tolerations": [NOT_READY, UNREACHABLE],
    }
    assert stored["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1", "IfNotPresent"),
        ("localhost:5000/a/b", "Always"),
        (f"nginx@sha256:{'a' * 64}", "IfNotPresent"),
        ("No Image", "IfNotPresent"),
    ],
)
def test_the_pull_policy_is_always_only_for_the_latest_tag(image: str, policy: str) -> None:
    stored = created(pod(containers=[{"name": "app", "image": image}]))

    assert stored["spec"]["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1m"}}, "Burstable"),
    ],
)
def test_the_qos_class_of_a_pod_is_derived_from_its_resources(
    resources: Object, quality: str
) -> None:
    stored = created(pod(containers=[{"name": "a", "image": "b", "resources": resources}]))

    assert stored["status"]["qosClass"] == quality


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"containers": []}, ["spec.containers: Required value"]),
        (
            {"containers": [{}]},
            ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
        ),
        ({"volumes": [{}]}, ["spec.volumes[0].name: Required value"]),
        (
            {"volumes": [{"name": "v", "emptyDir": {}, "secret": {"secretName": "s"}}]},
            ["spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            {
                "containers": [
                    {"name": "a", "image": "b", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
                ]
            },
            ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
        ),
        (
            {"restartPolicy": "Maybe"},
            [
                'spec.restartPolicy: Unsupported value: "Maybe": supported values:'
                ' "Always", "OnFailure", "Never"'
            ],
        ),
        (
            {"containers": [{"name": "a", "image": "b", "livenessProbe": {}}]},
            ["spec.containers[0].livenessProbe: Required value: must specify a handler type"],
        ),
        (
            {
                "containers": [
                    {
                        "name": "a",
                        "image": "b",
                        "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
                    }
                ]
            },
            [
                'spec.containers[0].resources.requests: Invalid value: "2":'
                " must be less than or equal to cpu limit of 1"
            ],
        ),
        (
            {"ephemeralContainers": [{"name": "e", "image": "i"}]},
            ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
        ),
        (
            {"hostNetwork": True, "hostUsers": False},
            ["spec.hostNetwork: Forbidden: when `hostUsers` is false"],
        ),
    ],
)
def test_each_error_in_a_pod_contains_its_path(spec: Object, errors: list[str]) -> None:
    assert rejection(pod(**spec)) == errors


def test_a_change_of_an_immutable_field_is_rejected_with_a_diff() -> None:
    old = created(pod())

    message = error_of_change(old, nodeSelector={"a": "b"})

    assert message.endswith(
        "(allow it to be set to 1 if it was previously negative)\n"
        "@@ -39,7 +39,9 @@\n"
        '  "TerminationGracePeriodSeconds": 30,\n'
        '  "ActiveDeadlineSeconds": null,\n'
        '  "DNSPolicy": "ClusterFirst",\n'
        '- "NodeSelector": null,\n'
        '+ "NodeSelector": {\n'
        '+  "a": "b"\n'
        "+ },\n"
        '  "ServiceAccountName": "",\n'
        '  "AutomountServiceAccountToken": null,\n'
        '  "NodeName": "",\n'
    )


def test_the_image_can_change_and_tolerations_can_be_added() -> None:
    old = created(pod())
    container = {**old["spec"]["containers"][0], "image": "other"}
    tolerations = [*old["spec"]["tolerations"], {"key": "a", "operator": "Exists"}]
    changed = {
        **old,
        "spec": {**old["spec"], "containers": [container], "tolerations": tolerations},
    }

    stored = KindHandler("v1", "pods").update(changed, old, namespace="default", subresource="")

    assert stored["spec"]["containers"][0]["image"] == "other"
    assert stored["spec"]["tolerations"] == tolerations
    assert stored["metadata"]["generation"] == 2


def test_a_container_that_succeeded_cannot_run_again() -> None:
    old = created(pod(restartPolicy="OnFailure"))
    ended = {"name": "app", "state": {"terminated": {"exitCode": 0}}}
    running = {"name": "app", "state": {"running": {}}}

    errors = POD.validate_status(
        {**old, "status": {**old["status"], "containerStatuses": [running]}},
        {**old, "status": {**old["status"], "containerStatuses": [ended]}},
    )

    assert [str(each) for each in errors] == [
        "status.containerStatuses[0].state: Forbidden: may not be transitioned to"
        " non-terminated state"
    ]


def test_a_failed_container_can_run_again_if_the_restart_policy_allows_it() -> None:
    old = created(pod(restartPolicy="OnFailure"))
    failed = {"name": "app", "state": {"terminated": {"exitCode": 1}}}
    running = {"name": "app", "state": {"running": {}}}

    errors = POD.validate_status(
        {**old, "status": {**old["status"], "containerStatuses": [running]}},
        {**old, "status": {**old["status"], "containerStatuses": [failed]}},
    )

    assert errors == []


def test_a_priority_class_sets_the_priority_of_a_pod() -> None:
    known = {"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"}
    new = pod(priorityClassName="high")
    POD.default(new)

    POD.admit(new, None, StoredObjects(objects={("priorityclasses", "high"): known}))

    assert new["spec"]["priority"] == 7
    assert new["spec"]["preemptionPolicy"] == "Never"


def test_a_pod_without_a_class_gets_the_default_class_with_the_lowest_value() -> None:
    classes: dict[tuple[str, str], Object] = {
        ("priorityclasses", name): {
            "metadata": {"name": name},
            "value": value,
            "globalDefault": True,
        }
        for name, value in (("a", 9), ("b", 5))
    }
    new = pod()
    POD.default(new)

    POD.admit(new, None, StoredObjects(objects=classes))

    assert (new["spec"]["priorityClassName"], new["spec"]["priority"]) == ("b", 5)


def test_a_pod_gets_the_topology_labels_of_its_node() -> None:
    zone = {"topology.kubernetes.io/zone": "z1"}
    node = {"metadata": {"name": "n1", "labels": {**zone, "other": "x"}}}
    new = pod(nodeName="n1")
    POD.default(new)

    POD.prepare_create(new, StoredObjects(objects={("nodes", "n1"): node}))

    assert new["metadata"]["labels"] == zone


@pytest.mark.parametrize(
    ("spec", "phase", "asked", "seconds"),
    [
        ({}, "Pending", None, 0),
        ({"nodeName": "n"}, "Running", None, 30),
        ({"nodeName": "n"}, "Running", 5, 5),
        ({"nodeName": "n"}, "Running", -5, 1),
        ({"nodeName": "n"}, "Succeeded", 5, 0),
        ({"nodeName": "n"}, "Failed", None, 0),
        ({}, "Pending", 5, 0),
    ],
)
def test_a_pod_has_a_grace_period_only_if_it_is_assigned_and_not_finished(
    spec: Object, phase: str, asked: int | None, seconds: int
) -> None:
    assert POD.grace_seconds is not None
    running = {
        "metadata": {},
        "spec": {"terminationGracePeriodSeconds": 30, **spec},
        "status": {"phase": phase},
    }

    assert POD.grace_seconds(running, asked) == seconds


def test_a_binding_sets_the_node_and_does_not_modify_the_stored_pod() -> None:
    stored = created(pod())
    before = stored["spec"].copy(), stored["status"].copy()
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n1"}}
    node = {"metadata": {"labels": {"topology.kubernetes.io/region": "r"}}}

    after = bound(stored, binding, node=node, now=NOW)

    assert after["spec"]["nodeName"] == "n1"
    assert after["metadata"]["labels"] == {"topology.kubernetes.io/region": "r"}
    assert after["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }
    ]
    assert (stored["spec"], stored["status"]) == before


def test_a_pod_that_is_being_deleted_cannot_be_bound() -> None:
    stored = created(pod())
    stored["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    binding = {"metadata": {"name": "web"}, "target": {"name": "n1"}}

    with pytest.raises(StatusError) as raised:
        bound(stored, binding, node=None, now=NOW)

    assert raised.value.message == (
        'Operation cannot be fulfilled on pods/binding "web":'
        " pod web is being deleted, cannot be assigned to a host"
    )


def test_a_binding_without_a_target_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        check_binding({"metadata": {"name": "web"}, "target": {}}, "web")

    assert (raised.value.code, raised.value.message) == (500, "target.name: Required value")


def test_an_eviction_uses_its_delete_options() -> None:
    eviction = {"metadata": {"name": "web"}, "deleteOptions": {"gracePeriodSeconds": 3}}

    assert eviction_options(eviction, "web") == {"gracePeriodSeconds": 3}


def test_a_pod_can_be_selected_by_its_fields() -> None:
    assert POD.selectable(created(pod(nodeName="n", hostNetwork=True))) == {
        "metadata.name": "web",
        "metadata.namespace": "default",
        "spec.nodeName": "n",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "",
        "spec.hostNetwork": "true",
        "status.phase": "Pending",
        "status.podIP": "",
        "status.podIPs": "",
        "status.nominatedNodeName": "",
    }


def test_a_duplicate_environment_variable_gets_a_warning() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]

    warnings = POD.warnings(pod(containers=[{"name": "a", "image": "b", "env": env}]), None)

    assert warnings == [
        'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when'
        " using apply"
    ]
