"""Resources inside of custom resources."""

import pytest

from steersman_cluster.apiserver.schema.embedded_resources import part_errors
from steersman_cluster.apiserver.schema.node import Schema

EMBEDDED = Schema(type="object", embedded_resource=True)


def test_an_embedded_resource_has_a_kind_and_a_version() -> None:
    errors = part_errors({"metadata": {"name": "one"}}, EMBEDDED, "part")

    assert [error.field for error in errors] == ["part.apiVersion", "part.kind"]


@pytest.mark.parametrize(
    "metadata",
    [{"name": True}, {"labels": {"a": 1}}, {"ownerReferences": [1]}, {"finalizers": "x"}],
)
def test_of_what_is_no_resource_at_all_nothing_more_is_asked(metadata: object) -> None:
    part = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}

    assert part_errors(part, EMBEDDED, "part") == []
