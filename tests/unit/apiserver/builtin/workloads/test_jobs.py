from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.embedded import EmbeddedServer
from tests.unit.apiserver.builtin.causes import causes_of, sentences_of
from tests.unit.apiserver.builtin.kind_handler import UID, KindHandler

TEMPLATE: Object = {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "nginx:1"}]}
}
BEGUN = "2026-01-02T03:04:05Z"
OWN_LABELS = {
    "batch.kubernetes.io/controller-uid": UID,
    "batch.kubernetes.io/job-name": "once",
    "controller-uid": UID,
    "job-name": "once",
}


def created(**spec: Any) -> Object:
    body = {"metadata": {"name": "once"}, "spec": {"template": TEMPLATE, **spec}}
    return KindHandler("batch/v1", "jobs").create(body, namespace="default")


def error_of_change(old: Object, **spec: Any) -> Object:
    new = {**old, "spec": {**old["spec"], **spec}}
    with pytest.raises(StatusError) as raised:
        KindHandler("batch/v1", "jobs").update(new, old, namespace="default", subresource="")
    return causes_of(raised.value)[-1]


def test_a_job_selects_pods_by_its_uid_label() -> None:
    stored = created()

    assert stored["spec"]["selector"] == {
        "matchLabels": {"batch.kubernetes.io/controller-uid": UID}
    }
    assert stored["spec"]["template"]["metadata"]["labels"] == OWN_LABELS
    assert stored["metadata"]["labels"] == OWN_LABELS


def test_a_job_with_a_manual_selector_gets_no_labels() -> None:
    labels = {"app": "web"}

    stored = created(
        manualSelector=True,
        selector={"matchLabels": labels},
        template={**TEMPLATE, "metadata": {"labels": labels}},
    )

    assert stored["spec"]["template"]["metadata"]["labels"] == labels


async def test_a_job_without_labels_gets_those_of_its_template() -> None:
    template = {**TEMPLATE, "metadata": {"labels": {"app": "web"}}}
    job: Object = {"metadata": {"name": "once"}, "spec": {"template": template}}
    named: Object = {**job, "metadata": {"name": "named", "labels": {"app": "web"}}}
    api, path = EmbeddedServer(), "/apis/batch/v1/namespaces/default/jobs"

    given = await api.asked("POST", path, job)
    own = await api.asked("POST", path, named)
    generated = await api.asked("POST", path, {**job, "metadata": {"generateName": "made-"}})

    assert generated["metadata"]["labels"] == {"app": "web"}
    assert own["metadata"]["labels"] == {"app": "web"}
    assert given["metadata"]["labels"] == given["spec"]["template"]["metadata"]["labels"]
    assert len(own["spec"]["template"]["metadata"]["labels"]) == 5


def test_a_job_with_the_restart_policy_always_is_rejected() -> None:
    forever = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Always"}}

    with pytest.raises(StatusError) as raised:
        created(template=forever)

    assert raised.value.message == (
        'Job.batch "once" is invalid: spec.template.spec.restartPolicy: Required value:'
        ' valid values: "OnFailure", "Never"'
    )


def test_the_template_of_a_running_job_is_immutable() -> None:
    old = created()
    container = {"name": "app", "image": "nginx:2"}
    template = old["spec"]["template"]

    cause = error_of_change(
        old, template={**template, "spec": {**template["spec"], "containers": [container]}}
    )

    assert cause["field"] == "spec.template"
    assert cause["message"].startswith('Invalid value: {"labels":{"batch.kubernetes.io/')
    assert '"Image":"nginx:2"' in cause["message"]
    assert cause["message"].endswith(": field is immutable")


def test_the_node_selector_of_a_suspended_job_can_change() -> None:
    old = created(suspend=True)
    template = old["spec"]["template"]
    spec = {**template["spec"], "nodeSelector": {"a": "b"}}
    new = {**old, "spec": {**old["spec"], "template": {**template, "spec": spec}}}

    stored = KindHandler("batch/v1", "jobs").update(new, old, namespace="default", subresource="")

    assert stored["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}


def test_the_name_of_a_cron_job_is_limited_to_52_characters() -> None:
    body = {
        "metadata": {"name": "a" * 53},
        "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": TEMPLATE}}},
    }

    with pytest.raises(StatusError) as raised:
        KindHandler("batch/v1", "cronjobs").create(body, namespace="default")

    assert causes_of(raised.value)[0]["message"].endswith("must be no more than 52 characters")


async def test_the_deletion_of_a_job_without_a_propagation_policy_gets_a_warning(
    api: EmbeddedServer, namespace: str
) -> None:
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"

    warned = await api.ask("DELETE", f"{jobs}/none")
    silent = await api.ask("DELETE", f"{jobs}/none?propagationPolicy=Background")

    assert [each[:24] for each in warned.warnings] == ["child pods are preserved"]
    assert silent.warnings == []


def test_a_job_that_an_older_version_completed_cannot_meet_its_criteria_later() -> None:
    complete = {"type": "Complete", "status": "True"}
    status: Object = {"startTime": BEGUN, "completionTime": BEGUN, "conditions": [complete]}
    old = {**created(), "status": status}
    met = {**status, "conditions": [complete, {**complete, "type": "SuccessCriteriaMet"}]}

    with pytest.raises(StatusError) as raised:
        KindHandler("batch/v1", "jobs").update(
            {**old, "status": met}, old, namespace="default", subresource="status"
        )

    assert "cannot set SuccessCriteriaMet=True for Job already" in sentences_of(raised.value)[0]


def test_a_schedule_of_an_older_version_with_a_time_zone_cannot_get_another() -> None:
    cron_jobs = KindHandler("batch/v1", "cronjobs")
    spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": TEMPLATE}}}
    old = cron_jobs.create({"metadata": {"name": "daily"}, "spec": spec}, namespace="default")
    old["spec"]["schedule"] = "TZ=UTC 0 0 * * *"
    new = {**old, "spec": {**old["spec"], "timeZone": "UTC"}}

    with pytest.raises(StatusError) as raised:
        cron_jobs.update(new, old, namespace="default", subresource="")

    assert "cannot use both timeZone field and TZ" in sentences_of(raised.value)[0]
