"""The scale subresource of custom resources."""

from typing import Any

import pytest

from steersman_cluster.apiserver.custom.scale import (
    BUILTIN_SCALE,
    NOT_SAID,
    replicas_errors,
    scale_of,
    selector_errors,
    selector_text,
    with_replicas,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.resources import ScalePaths

PATHS = ScalePaths(
    spec_replicas=("spec", "size"), status_replicas=("status", "size"), selector=("status", "sel")
)
METADATA = {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "5", "labels": {"x": "y"}}


def sample(**rest: Any) -> dict[str, Any]:
    return {"apiVersion": "g/v1", "kind": "Sample", "metadata": dict(METADATA), **rest}


def test_a_scale_contains_the_desired_and_observed_replicas() -> None:
    scale = scale_of(sample(spec={"size": 3}, status={"size": 2, "sel": "a=b"}), PATHS)

    assert scale == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "5"},
        "spec": {"replicas": 3},
        "status": {"replicas": 2, "selector": "a=b"},
    }


def test_a_scale_of_zero_replicas_omits_the_field() -> None:
    scale = scale_of(sample(spec={"size": 0}), PATHS)

    assert (scale["spec"], scale["status"]) == ({}, {"replicas": 0})


def test_an_object_without_replicas_has_no_scale_but_its_scale_can_be_patched() -> None:
    obj = sample()

    with pytest.raises(StatusError) as caught:
        scale_of(obj, PATHS)
    to_patch = scale_of(obj, PATHS, to_patch=True)

    assert caught.value.code == 500
    assert caught.value.message.endswith('the spec replicas field ".spec.size" does not exist')
    assert to_patch["spec"] == {"replicas": NOT_SAID}
    with pytest.raises(StatusError, match="400 BadRequest"):
        with_replicas(obj, to_patch, PATHS)


def test_scaling_changes_only_the_replicas() -> None:
    obj = sample(spec={"size": 3, "other": 1})

    after = with_replicas(obj, {"metadata": {}, "spec": {"replicas": 5}}, PATHS)

    assert after == sample(spec={"size": 5, "other": 1})
    assert obj == sample(spec={"size": 3, "other": 1})


def test_a_written_scale_keeps_its_resource_version() -> None:
    scale = {"metadata": {"resourceVersion": "4"}, "spec": {"replicas": 5}}

    assert with_replicas(sample(), scale, PATHS)["metadata"]["resourceVersion"] == "4"


def test_a_built_in_kind_cannot_be_scaled_below_zero() -> None:
    scale = {"metadata": {"name": "a"}, "spec": {"replicas": -1}}

    with pytest.raises(StatusError) as caught:
        with_replicas(sample(), scale, BUILTIN_SCALE)

    assert caught.value.message == (
        'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than'
        " or equal to 0"
    )


@pytest.mark.parametrize(
    ("obj", "sentence"),
    [
        (
            sample(spec={"size": "x"}),
            ".spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string,"
            " expected int64",
        ),
        (
            sample(spec=5),
            ".spec.size: Invalid value: 0: .spec.size accessor error: 5 is of the type int64,"
            " expected map[string]interface{}",
        ),
        (
            sample(spec={"size": -1}),
            ".spec.size: Invalid value: -1: should be a non-negative integer",
        ),
    ],
)
def test_invalid_replicas_are_rejected(obj: dict[str, Any], sentence: str) -> None:
    assert [str(each) for each in replicas_errors(obj, PATHS.spec_replicas)] == [sentence]


def test_a_selector_that_is_not_a_string_is_rejected() -> None:
    (error,) = selector_errors(sample(status={"sel": 5}), ("status", "sel"))

    assert error.detail == ".status.sel accessor error: 5 is of the type int64, expected string"


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {
                "matchLabels": {"m": "1"},
                "matchExpressions": [
                    {"key": "z", "operator": "Exists"},
                    {"key": "a", "operator": "In", "values": ["y", "x"]},
                    {"key": "n", "operator": "NotIn", "values": ["x"]},
                    {"key": "b", "operator": "DoesNotExist"},
                ],
            },
            "a in (x,y),!b,m=1,n notin (x),z",
        ),
        ({"app": "web"}, "app=web"),
        ({}, ""),
    ],
)
def test_selector_text_returns_the_string_form_of_a_selector(
    selector: dict[str, Any], text: str
) -> None:
    assert selector_text(selector) == text
