from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.workloads.deployments import DEPLOYMENT
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.causes import causes_of, sentences_of
from tests.unit.apiserver.builtin.kind_handler import KindHandler

UNSELECTED = (
    'spec.template.metadata.labels: Invalid value: {"app":"web"}:'
    " `selector` does not match template `labels`"
)


def deployment(**spec: Any) -> Object:
    return {
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "nginx:1"}]},
            },
            **spec,
        },
    }


def created(obj: Object) -> Object:
    return KindHandler("apps/v1", "deployments").create(obj, namespace="default")


def changed(old: Object, **parts: Object) -> Object:
    new = {**old, **{name: {**old[name], **part} for name, part in parts.items()}}
    return KindHandler("apps/v1", "deployments").update(
        new, old, namespace="default", subresource=""
    )


def rejection(obj: Object) -> list[str]:
    with pytest.raises(StatusError) as raised:
        created(obj)
    return sentences_of(raised.value)


def test_a_minimal_deployment_is_stored_with_all_defaults() -> None:
    stored = created(deployment())

    template = stored["spec"].pop("template")
    assert stored["spec"] == {
        "progressDeadlineSeconds": 600,
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
    }
    # Priority, tolerations and service links are defaulted in pods, not in templates.
    assert sorted(template["spec"]) == [
        "containers",
        "dnsPolicy",
        "restartPolicy",
        "schedulerName",
        "securityContext",
        "terminationGracePeriodSeconds",
    ]


def test_an_explicit_value_is_not_defaulted() -> None:
    stored = created(deployment(replicas=0, strategy={"type": "Recreate"}))

    assert stored["spec"]["replicas"] == 0
    assert stored["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        (
            {"replicas": -1},
            ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
        ),
        ({"selector": None}, ["spec.selector: Required value", UNSELECTED]),
        (
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
        ),
        ({"selector": {"matchLabels": {"app": "other"}}}, [UNSELECTED]),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
            [
                "spec.selector.matchExpressions[0].operator: Invalid value:"
                ' "Near": not a valid selector operator',
                "spec.selector: Invalid value:"
                ' {"matchExpressions":[{"key":"a","operator":"Near"}]}: invalid label selector',
            ],
        ),
        (
            {"strategy": {"type": "Hope"}},
            [
                'spec.strategy: Unsupported value: {"Type":"Hope","RollingUpdate":null}:'
                ' supported values: "Recreate", "RollingUpdate"'
            ],
        ),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            [
                "spec.strategy.rollingUpdate: Forbidden:"
                " may not be specified when strategy `type` is 'Recreate'"
            ],
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}},
            [
                'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%":'
                " may not be 0 when `maxSurge` is 0"
            ],
        ),
        (
            {"minReadySeconds": 600},
            [
                "spec.progressDeadlineSeconds: Invalid value: 600:"
                " must be greater than minReadySeconds"
            ],
        ),
    ],
)
def test_an_invalid_deployment_is_rejected_with_the_path_of_each_error(
    spec: Object, errors: list[str]
) -> None:
    assert rejection(deployment(**spec)) == errors


def test_the_selector_of_a_deployment_is_immutable() -> None:
    old = created(deployment())

    with pytest.raises(StatusError) as raised:
        changed(old, spec={"selector": {"matchLabels": {"app": "other"}}})

    assert causes_of(raised.value)[-1] == {
        "reason": "FieldValueInvalid",
        "message": 'Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
        "field": "spec.selector",
    }


def test_a_change_of_spec_or_annotations_increments_the_generation() -> None:
    old = created(deployment())

    generations = [
        changed(old, **change)["metadata"]["generation"]
        for change in (
            {"spec": {"replicas": 2}},
            {"metadata": {"annotations": {"a": "b"}}},
            {"metadata": {"labels": {"a": "b"}}},
        )
    ]

    assert generations == [2, 2, 1]


def test_a_write_of_the_status_cannot_change_labels() -> None:
    old = created(deployment())
    new = {
        **old,
        "metadata": {**old["metadata"], "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "status": {"replicas": 1},
    }

    kept = KindHandler("apps/v1", "deployments").update(
        new, old, namespace="default", subresource="status"
    )

    assert "labels" not in kept["metadata"]
    assert kept["metadata"]["annotations"] == {"c": "d"}
    assert kept["status"] == {"replicas": 1}


def test_an_inconsistent_status_is_rejected() -> None:
    old = created(deployment())
    new = {**old, "status": {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}}

    errors = DEPLOYMENT.validate_status(new, old)

    assert [str(each) for each in errors] == [
        "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
    ]


def test_the_collision_count_cannot_be_decremented() -> None:
    old = {**created(deployment()), "status": {"collisionCount": 2}}

    errors = DEPLOYMENT.validate_status({**old, "status": {"collisionCount": 1}}, old)

    assert [str(each) for each in errors] == [
        "status.collisionCount: Invalid value: 1: cannot be decremented"
    ]


def test_a_name_that_is_not_a_hostname_gets_a_warning_on_create() -> None:
    new = {**deployment(), "metadata": {"name": "a.b"}}

    assert DEPLOYMENT.warnings(new, None) == [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising"
        " behavior; a DNS label is recommended: [must not contain dots]"
    ]
    assert DEPLOYMENT.warnings(new, new) == []
