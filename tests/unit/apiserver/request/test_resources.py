"""The registry of served resources: built-in ones, and custom ones while they are defined."""

from dataclasses import replace

import pytest

from steersman.names import GroupResource, GroupVersionKind
from steersman_cluster.apiserver.meta.group_versions import GroupVersionInfo
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.resources import ResourceRegistry, ServedResource
from tests.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def deployments(api: EmbeddedServer) -> ServedResource:
    found = api.server.registry.find("apps", "v1", "deployments")
    assert found is not None
    return found


def custom(like: ServedResource, plural: str, *, group: str = "toys.example.com") -> ServedResource:
    return replace(
        like, gvk=GroupVersionKind(group, "v1", plural.title()), plural=plural, custom=True
    )


def test_a_definition_adds_its_resources_and_their_removal_is_final(
    deployments: ServedResource,
) -> None:
    registry, apples = ResourceRegistry([deployments]), custom(deployments, "apples")

    registry.define("apples.toys.example.com", [apples])
    while_defined = set(registry.groups())
    registry.define("apples.toys.example.com", [])

    assert while_defined == {"apps", "toys.example.com"}
    assert list(registry) == [deployments]


def test_every_change_increments_the_revision(deployments: ServedResource) -> None:
    registry = ResourceRegistry([deployments])
    before = registry.revision

    registry.define("apples.toys.example.com", [custom(deployments, "apples")])

    assert registry.revision > before


def test_a_claimed_group_version_is_served_again_after_the_claim_ends(
    deployments: ServedResource,
) -> None:
    registry, apples = ResourceRegistry([deployments]), custom(deployments, "apples")
    registry.define("apples.toys.example.com", [apples])

    registry.claim({("toys.example.com", "v1"): GroupVersionInfo(1000, 100, remote=True)})
    while_claimed = registry.find("toys.example.com", "v1", "apples")
    registry.claim({})

    assert while_claimed is None
    assert registry.find("toys.example.com", "v1", "apples") is apples


def test_a_definition_does_not_replace_a_built_in_resource(
    deployments: ServedResource,
) -> None:
    registry = ResourceRegistry([deployments])

    registry.define("deployments.apps", [custom(deployments, "deployments", group="apps")])

    assert registry.find("apps", "v1", "deployments") is deployments
    assert registry.versions(GroupResource("apps", "deployments")) == [deployments]


def test_a_definition_can_add_a_version_to_a_built_in_resource(
    deployments: ServedResource,
) -> None:
    registry, resource = ResourceRegistry([deployments]), GroupResource("apps", "deployments")
    newer = replace(deployments, gvk=GroupVersionKind("apps", "v2", "Deployment"), custom=True)

    registry.define("deployments.apps", [newer])
    while_defined = registry.versions(resource)
    registry.define("deployments.apps", [])

    assert while_defined == [newer, deployments]
    assert registry.versions(resource) == [deployments]


def test_a_resource_is_found_by_its_path_and_in_every_version(
    deployments: ServedResource,
) -> None:
    old = replace(deployments, gvk=GroupVersionKind("apps", "v1beta1", "Deployment"))
    registry = ResourceRegistry([deployments, old])

    assert registry.find("apps", "v1", "deployments") is deployments
    assert registry.find("apps", "v2", "deployments") is None
    assert registry.versions(GroupResource("apps", "deployments")) == [deployments, old]


def test_a_resource_without_conversion_stores_the_object_unchanged(
    deployments: ServedResource,
) -> None:
    obj: Object = {"metadata": {}}

    assert deployments.to_stored(obj) is obj
    assert not deployments.converts


def test_only_a_change_of_the_spec_is_a_new_generation(deployments: ServedResource) -> None:
    old = {"metadata": {"name": "a"}, "spec": {"replicas": 1}, "status": {"replicas": 0}}

    assert deployments.is_new_generation({**old, "spec": {"replicas": 2}}, old)
    assert not deployments.is_new_generation({**old, "status": {"replicas": 1}}, old)
    assert not deployments.is_new_generation({**old, "metadata": {"labels": {}}}, old)


def test_the_place_of_a_namespaced_object_begins_with_its_namespace(
    deployments: ServedResource,
) -> None:
    assert deployments.place("default", "web") == "default/web"
    assert replace(deployments, namespaced=False).place("", "web") == "web"
