"""What Go says where it converts and does not decode."""

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
def test_a_value_that_does_not_fit_is_reported_in_the_words_of_go(spec: Any, words: str) -> None:
    assert misconverted({"spec": spec}, DEPLOYMENT) == words


@pytest.mark.parametrize("spec", [None, {}, {"replicas": 3}, {"replicas": 3.0}, {"odd": 1}])
def test_of_what_fits_or_is_not_known_nothing_is_said(spec: Any) -> None:
    assert misconverted({"spec": spec}, DEPLOYMENT) == ""


def test_types_with_words_of_their_own_are_left_to_them() -> None:
    rolling: Any = {"strategy": {"rollingUpdate": {"maxSurge": []}}}

    assert misconverted({"spec": rolling}, DEPLOYMENT) == ""
