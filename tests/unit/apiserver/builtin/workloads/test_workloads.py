from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.workloads.daemon_sets import TEMPLATE_GENERATION
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import KindHandler

SELECTOR = {"matchLabels": {"app": "web"}}
TEMPLATE: Object = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "app", "image": "nginx:1"}]},
}
CLAIM: Object = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def created(plural: str, *, api_version: str = "apps/v1", **spec: Any) -> Object:
    body = {"metadata": {"name": "web"}, "spec": {"template": TEMPLATE, **spec}}
    return KindHandler(api_version, plural).create(body, namespace="default")


def changed(plural: str, old: Object, *, api_version: str = "apps/v1", **spec: Any) -> Object:
    new = {**old, "spec": {**old["spec"], **spec}}
    return KindHandler(api_version, plural).update(new, old, namespace="default", subresource="")


def test_the_claim_templates_of_a_stateful_set_are_defaulted() -> None:
    stored = created("statefulsets", selector=SELECTOR, volumeClaimTemplates=[CLAIM])

    assert stored["spec"]["volumeClaimTemplates"] == [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {**CLAIM["spec"], "volumeMode": "Filesystem"},
            "status": {"phase": "Pending"},
        }
    ]
    assert stored["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 0},
    }


def test_containers_of_a_stateful_set_can_mount_its_claims() -> None:
    container = {
        **TEMPLATE["spec"]["containers"][0],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }

    stored = created(
        "statefulsets",
        selector=SELECTOR,
        template={**TEMPLATE, "spec": {"containers": [container]}},
        volumeClaimTemplates=[CLAIM],
    )

    assert "volumes" not in stored["spec"]["template"]["spec"]


def test_most_fields_of_a_stateful_set_are_immutable() -> None:
    old = created("statefulsets", selector=SELECTOR)

    with pytest.raises(StatusError) as raised:
        changed("statefulsets", old, serviceName="other")

    assert raised.value.message == (
        'StatefulSet.apps "web" is invalid: spec: Forbidden: updates to statefulset spec for fields'
        " other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit',"
        " 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    )


def test_a_template_change_increments_the_generation_annotation_of_a_daemon_set() -> None:
    old = created("daemonsets", selector=SELECTOR)
    container = {"name": "app", "image": "nginx:2"}

    new = changed("daemonsets", old, template={**TEMPLATE, "spec": {"containers": [container]}})

    assert old["metadata"]["annotations"] == {TEMPLATE_GENERATION: "1"}
    assert new["metadata"]["annotations"] == {TEMPLATE_GENERATION: "2"}


def test_the_selector_of_a_replication_controller_defaults_to_its_template_labels() -> None:
    stored = created("replicationcontrollers", api_version="v1")

    assert stored["spec"]["selector"] == {"app": "web"}
    assert stored["metadata"]["labels"] == {"app": "web"}


def test_only_replication_controllers_can_be_selected_by_status_replicas() -> None:
    selectable = KindHandler("v1", "replicationcontrollers").strategy.selectable

    fields = selectable(created("replicationcontrollers", api_version="v1"))

    assert fields["status.replicas"] == "0"
    assert "status.replicas" not in KindHandler("apps/v1", "replicasets").strategy.selectable(
        created("replicasets", selector=SELECTOR)
    )


def test_jobs_can_be_selected_by_status_successful() -> None:
    selectable = KindHandler("batch/v1", "jobs").strategy.selectable

    assert selectable({"metadata": {}})["status.successful"] == "0"
    assert selectable({"metadata": {}, "status": {"succeeded": 3}})["status.successful"] == "3"


def test_a_pod_template_gets_the_defaults_of_a_pod_spec() -> None:
    stored = KindHandler("v1", "podtemplates").create(
        {"metadata": {"name": "web"}, "template": TEMPLATE}, namespace="default"
    )

    assert stored["template"]["spec"]["restartPolicy"] == "Always"
    assert stored["metadata"]["generation"] == 1
