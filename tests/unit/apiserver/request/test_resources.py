"""What is served: built-in resources always, custom ones while they are defined."""

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


def test_a_definition_adds_what_it_serves_and_takes_it_away_again(
    deployments: ServedResource,
) -> None:
    registry, apples = ResourceRegistry([deployments]), custom(deployments, "apples")

    registry.define("apples.toys.example.com", [apples])
    while_defined = set(registry.groups())
    registry.define("apples.toys.example.com", [])

    assert while_defined == {"apps", "toys.example.com"}
    assert list(registry) == [deployments]


def test_every_change_is_a_new_revision(deployments: ServedResource) -> None:
    registry = ResourceRegistry([deployments])
    before = registry.revision

    registry.define("apples.toys.example.com", [custom(deployments, "apples")])

    assert registry.revision > before


def test_what_is_left_to_another_server_is_served_again_when_it_is_not(
    deployments: ServedResource,
) -> None:
    registry, apples = ResourceRegistry([deployments]), custom(deployments, "apples")
    registry.define("apples.toys.example.com", [apples])

    registry.claim({("toys.example.com", "v1"): GroupVersionInfo(1000, 100, remote=True)})
    while_claimed = registry.find("toys.example.com", "v1", "apples")
    registry.claim({})

    assert while_claimed is None
    assert registry.find("toys.example.com", "v1", "apples") is apples


def test_a_definition_never_hides_a_resource_of_the_servers_own(
    deployments: ServedResource,
) -> None:
    registry = ResourceRegistry([deployments])

    registry.define("deployments.apps", [custom(deployments, "deployments", group="apps")])

    assert registry.find("apps", "v1", "deployments") is deployments
    assert registry.versions(GroupResource("apps", "deployments")) == [deployments]


def test_a_definition_may_add_a_version_to_a_resource_of_the_servers_own(
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


def test_a_resource_that_differs_in_nothing_is_kept_as_it_is_sent(
    deployments: ServedResource,
) -> None:
    obj: Object = {"metadata": {}}

    assert deployments.to_stored(obj) is obj
    assert not deployments.converts


def test_only_what_the_author_wants_makes_a_new_generation(deployments: ServedResource) -> None:
    old = {"metadata": {"name": "a"}, "spec": {"replicas": 1}, "status": {"replicas": 0}}

    assert deployments.is_new_generation({**old, "spec": {"replicas": 2}}, old)
    assert not deployments.is_new_generation({**old, "status": {"replicas": 1}}, old)
    assert not deployments.is_new_generation({**old, "metadata": {"labels": {}}}, old)


def test_the_places_of_namespaced_objects_begin_with_their_namespace(
    deployments: ServedResource,
) -> None:
    assert deployments.place("default", "web") == "default/web"
    assert replace(deployments, namespaced=False).place("", "web") == "web"
