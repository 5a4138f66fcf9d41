"""Errors of Go's conversion of unstructured values."""

from typing import Any

import pytest

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.serializer.conversion_messages import misconverted

DEPLOYMENT = BuiltinSchemas.read().of(GroupVersionKind("apps", "v1", "Deployment"))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"replicas": "x"}, "unrecognized type: int32"),
        ({"replicas": True}, "unrecognized type: int32"),
        ({"replicas": 1.5}, "cannot convert float64 to int32"),
        ({"paused": 1}, "unrecognized type: bool"),
        ({"strategy": {"type": 1}}, "cannot convert int64 to v1.DeploymentStrategyType"),
        ({"strategy": {"type": []}}, "unrecognized type: string"),
        ([], "cannot restore struct from: slice"),
        ({"template": {"spec": {"containers": {}}}}, "cannot restore slice from map"),
        ({"selector": {"matchLabels": []}}, "cannot restore map from slice"),
        ({"selector": {"matchLabels": {"a": 1}}}, "cannot convert int64 to string"),
    ],
)
def test_a_value_of_the_wrong_type_is_reported_with_the_message_of_go(
    spec: Any, words: str
) -> None:
    assert misconverted({"spec": spec}, DEPLOYMENT) == words


@pytest.mark.parametrize("spec", [None, {}, {"replicas": 3}, {"replicas": 3.0}, {"odd": 1}])
def test_valid_values_and_unknown_fields_have_no_error(spec: Any) -> None:
    assert misconverted({"spec": spec}, DEPLOYMENT) == ""


def test_types_with_their_own_unmarshaler_are_not_checked() -> None:
    rolling: Any = {"strategy": {"rollingUpdate": {"maxSurge": []}}}

    assert misconverted({"spec": rolling}, DEPLOYMENT) == ""
