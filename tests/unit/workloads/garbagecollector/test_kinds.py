"""The kinds that the collector watches, and repeated discovery."""

import pytest

from steersman.client import Discovery, ServedResource
from steersman.kinds import MetadataOnly, metadata_only
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.names import GroupVersionKind, ResourceType
from steersman_cluster.workloads.garbagecollector.discovery import (
    MAX_SECONDS,
    Definitions,
    defines,
)
from steersman_cluster.workloads.garbagecollector.kinds import (
    ServedKinds,
    deletable_kinds,
    is_rarely_changed,
)

ALL = ("delete", "list", "watch")


def served(
    api_version: str, kind: str, plural: str, verbs: tuple[str, ...] = ALL
) -> ServedResource:
    gvk = GroupVersionKind.of(api_version, kind)
    return ServedResource(
        resource_type=ResourceType(gvk=gvk, plural=plural, namespaced=True), verbs=verbs
    )


def definition(name: str, *, generation: int = 1) -> MetadataOnly:
    gvk = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    kind = ResourceType(gvk=gvk, plural="customresourcedefinitions", namespaced=False)
    assert defines(kind)
    return metadata_only(kind)(metadata=ObjectMeta(name=name, generation=generation))


def api_service(name: str, **labels: str) -> MetadataOnly:
    gvk = GroupVersionKind("apiregistration.k8s.io", "v1", "APIService")
    kind = ResourceType(gvk=gvk, plural="apiservices", namespaced=False)
    return metadata_only(kind)(
        metadata=ObjectMeta(
            name=name,
            labels={f"kube-aggregator.kubernetes.io/{k}": v for k, v in labels.items()},
        )
    )


def test_each_kind_is_watched_in_its_preferred_version() -> None:
    discovery = Discovery(
        (
            served("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
            served("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
        )
    )

    assert [str(each) for each in deletable_kinds(discovery)] == [
        "autoscaling/v2 HorizontalPodAutoscaler"
    ]


def test_events_and_kinds_without_watch_are_excluded() -> None:
    discovery = Discovery(
        (
            served("v1", "Binding", "bindings", ("create",)),
            served("v1", "Event", "events"),
            served("events.k8s.io/v1", "Event", "events"),
            served("v1", "Pod", "pods"),
        )
    )

    assert [str(each) for each in deletable_kinds(discovery)] == ["v1 Pod"]


@pytest.mark.parametrize(
    ("api_version", "namespaced", "is_so"),
    [
        ("v1", False, True),
        ("rbac.authorization.k8s.io/v1", False, True),
        ("rbac.authorization.k8s.io/v1", True, False),
        ("apiextensions.k8s.io/v1", False, False),
        ("sea.example.com/v1", False, False),
    ],
)
def test_only_built_in_cluster_scoped_kinds_rarely_change(
    api_version: str, namespaced: bool, is_so: bool
) -> None:
    gvk = GroupVersionKind.of(api_version, "Thing")

    assert is_rarely_changed(ResourceType(gvk=gvk, plural="things", namespaced=namespaced)) is is_so


def test_an_owner_is_found_in_any_served_version() -> None:
    kinds = ServedKinds(Discovery((served("apps/v1beta1", "Deployment", "deployments"),)))

    found = kinds.find("apps/v1beta1", "Deployment")

    assert found is not None
    assert found.resource_type.plural == "deployments"
    assert kinds.find("apps/v1", "Deployment") is None


def test_a_definition_that_is_already_served_needs_no_discovery() -> None:
    definitions = Definitions()
    definitions.set_served(frozenset(("widgets.example.com",)))

    definitions.update(definition("widgets.example.com"))

    assert not definitions.changed.is_set()
    assert definitions.wait_seconds() is None


def test_a_new_definition_repeats_discovery_until_it_is_served() -> None:
    definitions = Definitions()

    definitions.update(definition("widgets.example.com"))

    waits = [definitions.wait_seconds() or 0.0 for _ in range(12)]
    assert definitions.changed.is_set()
    assert waits == sorted(waits)
    assert waits[-1] == MAX_SECONDS
    definitions.set_served(frozenset(("widgets.example.com",)))
    assert definitions.wait_seconds() is None


def test_a_changed_definition_repeats_discovery() -> None:
    definitions = Definitions()
    definitions.set_served(frozenset(("widgets.example.com",)))
    definitions.update(definition("widgets.example.com"))

    definitions.update(definition("widgets.example.com", generation=2))

    assert definitions.changed.is_set()


def test_a_removed_definition_repeats_discovery() -> None:
    definitions = Definitions()
    definitions.set_served(frozenset(("widgets.example.com",)))
    definitions.update(definition("widgets.example.com"))

    definitions.remove("widgets.example.com")

    assert definitions.changed.is_set()


def test_kinds_of_an_aggregated_server_are_rediscovered_periodically() -> None:
    definitions = Definitions()
    definitions.set_served(frozenset(("v1.metrics.k8s.io", "v1.apps")))

    definitions.update(api_service("v1.apps", automanaged="onstart"))
    assert definitions.wait_seconds() is None

    definitions.update(api_service("v1.metrics.k8s.io"))
    assert definitions.wait_seconds() == MAX_SECONDS
