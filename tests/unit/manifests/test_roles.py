"""The permissions of the operator, and the roles for users."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeAlias

import pytest

import steersman as sm
from steersman.manager import needed_rules
from steersman.manifests import Document, Installation, parts_of
from tests.unit.manifests.operators import REGIONS, SHOPS, Spec, Status, installation, reconcile

# Namespace, group, resource, name if it is restricted, and verb.
Permission: TypeAlias = tuple[str | None, str, str, str | None, str]


def permissions_in(documents: Iterable[Document]) -> Iterator[Permission]:
    for document in documents:
        namespace = document["metadata"].get("namespace")
        for rule in document.get("rules", ()):
            names = rule.get("resourceNames", (None,))
            for group, resource, name, verb in product(
                rule["apiGroups"], rule["resources"], names, rule["verbs"]
            ):
                yield namespace, group, resource, name, verb


def granted(what: Installation) -> set[Permission]:
    parts = parts_of(what)
    return set(permissions_in((*parts.grants, *parts.metrics_grants)))


def permissions(
    namespace: str | None, resource: str, verbs: str, name: str | None = None
) -> set[Permission]:
    plural, _, group = resource.partition(".")
    path, _, below = group.partition("/")
    full = f"{plural}/{below}" if below else plural
    return {(namespace, path, full, name, verb) for verb in verbs.split()}


LEASES = permissions("shops-system", "leases.coordination.k8s.io", "create") | permissions(
    "shops-system", "leases.coordination.k8s.io", "get patch", "shop.shop.example.com"
)
METRICS = permissions(None, "tokenreviews.authentication.k8s.io", "create") | permissions(
    None, "subjectaccessreviews.authorization.k8s.io", "create"
)


def operator_permissions(namespace: str | None) -> set[Permission]:
    return (
        permissions(namespace, "shops.shop.example.com", "get list watch patch")
        | permissions(namespace, "shops.shop.example.com/status", "patch")
        | permissions(namespace, "shops.shop.example.com/finalizers", "update")
        | permissions(namespace, "deployments.apps", "get list watch create patch")
        | permissions(namespace, "secrets", "get list watch")
        | permissions(namespace, "configmaps", "get create patch")
        | permissions(namespace, "events.events.k8s.io", "create patch")
    )


NODES = permissions(None, "nodes", "get list")


def test_a_manifest_grants_an_operator_what_it_declares_and_nothing_more() -> None:
    assert granted(installation()) == operator_permissions(None) | NODES | LEASES | METRICS


def test_an_operator_limited_to_namespaces_has_no_permissions_elsewhere() -> None:
    what = installation(namespaces=("team-a", "team-b"))

    assert (
        granted(what)
        == operator_permissions("team-a")
        | operator_permissions("team-b")
        | NODES
        | LEASES
        | METRICS
    )


def test_cluster_scoped_kinds_are_granted_for_the_whole_cluster() -> None:
    what = installation(REGIONS, namespaces=("team-a",))

    places = {namespace for namespace, _, resource, _, _ in granted(what) if resource == "regions"}

    assert places == {None}


@pytest.mark.parametrize("namespaces", [(), ("team-a",), ("shops-system",)])
def test_the_grants_are_those_that_the_preflight_checks(namespaces: tuple[str, ...]) -> None:
    what = installation(SHOPS, REGIONS, namespaces=namespaces)

    asked = needed_rules(what.controllers, settings=what.settings, namespace=what.namespace)

    assert granted(what) == {
        (rule.namespace, rule.group, rule.path, name, verb)
        for rule in asked
        for name in rule.names or (None,)
        for verb in rule.verbs
    }


def test_without_metrics_the_operator_may_not_create_reviews() -> None:
    parts = parts_of(installation(metrics=False))

    assert parts.metrics_grants == ()
    assert parts.metrics_reader is None
    assert granted(installation(metrics=False)) == operator_permissions(None) | NODES | LEASES


def test_every_role_of_the_operator_is_bound_in_its_own_namespace() -> None:
    parts = parts_of(installation(namespaces=("team-a",)))
    documents = (*parts.grants, *parts.metrics_grants)
    roles = [each for each in documents if each["kind"] in ("Role", "ClusterRole")]
    bindings = {
        (each["roleRef"]["kind"], each["roleRef"]["name"], each["metadata"].get("namespace")): each
        for each in documents
        if each["kind"].endswith("Binding")
    }

    assert len(documents) == 2 * len(roles)
    account = parts.account["metadata"]
    for role in roles:
        meta = role["metadata"]
        binding = bindings[role["kind"], meta["name"], meta.get("namespace")]
        assert binding["kind"] == f"{role['kind']}Binding"
        assert binding["subjects"] == [
            {
                "kind": "ServiceAccount",
                "name": account["name"],
                "namespace": account["namespace"],
            }
        ]


def test_no_rule_has_a_wildcard() -> None:
    parts = parts_of(installation(SHOPS, REGIONS))
    documents = (*parts.grants, *parts.metrics_grants, *parts.user_roles)

    stars = [right for right in permissions_in(documents) if "*" in right]

    assert stars == []


def test_roles_of_a_kind_aggregate_to_admin_edit_and_view() -> None:
    admin, editor, viewer = parts_of(installation()).user_roles

    assert [each["metadata"]["name"] for each in (admin, editor, viewer)] == [
        "shops.shop.example.com-admin",
        "shops.shop.example.com-editor",
        "shops.shop.example.com-viewer",
    ]
    for role, its in (("admin", admin), ("edit", editor), ("view", viewer)):
        label = f"rbac.authorization.k8s.io/aggregate-to-{role}"
        assert its["metadata"]["labels"][label] == "true"
    change = "get list watch create update patch delete deletecollection"
    own, status = "shops.shop.example.com", "shops.shop.example.com/status"
    assert set(permissions_in([viewer])) == permissions(None, own, "get list watch") | permissions(
        None, status, "get"
    )
    assert set(permissions_in([editor])) == permissions(None, own, change) | permissions(
        None, status, "get"
    )
    assert set(permissions_in([admin])) == permissions(None, own, change) | permissions(
        None, status, "get update patch"
    )


def test_users_may_scale_scalable_kinds() -> None:
    class Fleet(
        sm.CustomResource[Spec, Status],
        group="shop.example.com",
        version="v1",
        crd=sm.Crd(scale=sm.ScalePaths(spec=".spec.size", status=".status.ready")),
    ):
        """A scalable kind."""

    what = installation(sm.Controller(Fleet, reconcile=reconcile))

    _, editor, viewer = parts_of(what).user_roles

    scale = "fleets.shop.example.com/scale"
    assert set(permissions_in([editor])) >= permissions(None, scale, "get update patch")
    assert set(permissions_in([viewer])) >= permissions(None, scale, "get")
    assert not set(permissions_in([viewer])) & permissions(None, scale, "update patch")


def test_a_scraper_may_read_the_metrics_and_nothing_else() -> None:
    reader = parts_of(installation()).metrics_reader

    assert reader is not None
    assert reader["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
