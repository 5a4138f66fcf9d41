"""Validation of resources that are embedded in custom resources."""

import pytest

from steersman_cluster.apiserver.schema.embedded_resources import part_errors
from steersman_cluster.apiserver.schema.node import Schema

EMBEDDED = Schema(type="object", embedded_resource=True)


def test_an_embedded_resource_requires_kind_and_api_version() -> None:
    errors = part_errors({"metadata": {"name": "one"}}, EMBEDDED, "part")

    assert [error.field for error in errors] == ["part.apiVersion", "part.kind"]


@pytest.mark.parametrize(
    "metadata",
    [{"name": True}, {"labels": {"a": 1}}, {"ownerReferences": [1]}, {"finalizers": "x"}],
)
def test_an_embedded_resource_with_malformed_metadata_has_no_further_errors(
    metadata: object,
) -> None:
    part = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}

    assert part_errors(part, EMBEDDED, "part") == []
