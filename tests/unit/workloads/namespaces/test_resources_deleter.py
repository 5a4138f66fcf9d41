"""The kinds that the namespace controller deletes."""

from steersman.client import Discovery, ServedResource
from steersman.names import GroupVersionKind, ResourceType
from steersman_cluster.workloads.namespaces.resources_deleter import deletable


def served(
    api_version: str, kind: str, *, namespaced: bool = True, verb: str = "delete"
) -> ServedResource:
    gvk = GroupVersionKind.of(api_version, kind)
    where = ResourceType(gvk=gvk, plural=f"{kind.lower()}s", namespaced=namespaced)
    return ServedResource(resource_type=where, verbs=(verb,))


def test_each_deletable_namespaced_kind_is_listed_once() -> None:
    resources = (
        served("v1", "Pod"),
        served("v1", "Node", namespaced=False),
        served("v1", "Binding", verb="create"),
        served("sea.example.com/v2", "Boat"),
        served("sea.example.com/v1", "Boat"),
    )

    found = deletable(Discovery(resources))

    assert [str(each.resource_type) for each in found] == ["v1 Pod", "sea.example.com/v2 Boat"]
