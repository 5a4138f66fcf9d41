"""Table rows of every kind except Pods."""

from pathlib import Path

import pytest
import yaml

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.table_columns import Cell
from steersman_cluster.apiserver.tables.builtin import builtin_printer
from tests.embedded import EmbeddedServer
from tests.unit.apiserver.tables.table_samples import printer_of, shown

CELLS = yaml.safe_load(Path(__file__).with_name("cells.yaml").read_text(encoding="utf-8"))
ROWS = [
    pytest.param(resource, each["is"], each["row"], id=f"{resource}-{number}")
    for resource, rows in CELLS.items()
    for number, each in enumerate(rows)
]
# Groups whose objects are reviews, which are not stored.
REVIEW_GROUPS = ("authentication.k8s.io", "authorization.k8s.io")


@pytest.mark.parametrize(("resource", "obj", "row"), ROWS)
def test_a_row_equals_that_of_kube_apiserver(resource: str, obj: Object, row: list[Cell]) -> None:
    assert list(shown(resource, obj).values()) == row


def test_every_built_in_kind_has_a_table(api: EmbeddedServer) -> None:
    listed = {*CELLS, "pods"}

    kept = {
        str(each.group_resource)
        for each in api.server.registry
        if each.gvk.group not in REVIEW_GROUPS and each.plural != "bindings"
    }

    assert kept <= listed


@pytest.mark.parametrize(
    ("resource", "subresource", "has_table"),
    [
        (GroupResource("", "pods"), "status", True),
        (GroupResource("", "pods"), "resize", False),
        (GroupResource("apps", "deployments"), "scale", True),
        (GroupResource("", "namespaces"), "finalize", False),
        (GroupResource("apiregistration.k8s.io", "apiservices"), "status", False),
        (GroupResource("", "bindings"), "", False),
        (GroupResource("authorization.k8s.io", "subjectaccessreviews"), "", False),
    ],
)
def test_a_subresource_that_returns_another_kind_has_no_table(
    resource: GroupResource, subresource: str, has_table: bool
) -> None:
    assert (builtin_printer(resource, subresource) is not None) is has_table


def test_flow_schemas_are_sorted_by_precedence() -> None:
    order = printer_of("flowschemas", "flowcontrol.apiserver.k8s.io").order
    assert order is not None
    schemas: list[Object] = [
        {"metadata": {"name": "b"}, "spec": {"matchingPrecedence": 5}},
        {"metadata": {"name": "a"}, "spec": {"matchingPrecedence": 5}},
        {"metadata": {"name": "c"}, "spec": {"matchingPrecedence": 1}},
    ]

    assert [each["metadata"]["name"] for each in sorted(schemas, key=order)] == ["c", "a", "b"]
