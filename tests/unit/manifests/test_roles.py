"""Who may do what: the operator what it declares, and people what suits their role."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TypeAlias

import pytest

import steersman as sm
from steersman.manager import needed_rules
from steersman.manifests import Document, Installation, parts_of
from tests.unit.manifests.operators import REGIONS, SHOPS, Spec, Status, installation, reconcile

# Where, and what of which group, perhaps by name, to do what with.
Right: TypeAlias = tuple[str | None, str, str, str | None, str]


def rights_in(documents: Iterable[Document]) -> Iterator[Right]:
    for document in documents:
        place = document["metadata"].get("namespace")
        for rule in document.get("rules", ()):
            names = rule.get("resourceNames", (None,))
            for group, resource, name, verb in product(
                rule["apiGroups"], rule["resources"], names, rule["verbs"]
            ):
                yield place, group, resource, name, verb


def granted(what: Installation) -> set[Right]:
    parts = parts_of(what)
    return set(rights_in((*parts.grants, *parts.metrics_grants)))


def rights(place: str | None, resource: str, verbs: str, name: str | None = None) -> set[Right]:
    plural, _, group = resource.partition(".")
    path, _, below = group.partition("/")
    full = f"{plural}/{below}" if below else plural
    return {(place, path, full, name, verb) for verb in verbs.split()}


LEASES = rights("shops-system", "leases.coordination.k8s.io", "create") | rights(
    "shops-system", "leases.coordination.k8s.io", "get patch", "shop.shop.example.com"
)
METRICS = rights(None, "tokenreviews.authentication.k8s.io", "create") | rights(
    None, "subjectaccessreviews.authorization.k8s.io", "create"
)


def work_in(place: str | None) -> set[Right]:
    return (
        rights(place, "shops.shop.example.com", "get list watch patch")
        | rights(place, "shops.shop.example.com/status", "patch")
        | rights(place, "shops.shop.example.com/finalizers", "update")
        | rights(place, "deployments.apps", "get list watch create patch")
        | rights(place, "secrets", "get list watch")
        | rights(place, "configmaps", "get create patch")
        | rights(place, "events.events.k8s.io", "create patch")
    )


NODES = rights(None, "nodes", "get list")


def test_a_manifest_grants_an_operator_what_it_declares_and_nothing_more() -> None:
    assert granted(installation()) == work_in(None) | NODES | LEASES | METRICS


def test_an_operator_limited_to_namespaces_has_no_permissions_elsewhere() -> None:
    what = installation(namespaces=("team-a", "team-b"))

    assert granted(what) == work_in("team-a") | work_in("team-b") | NODES | LEASES | METRICS


def test_cluster_scoped_kinds_are_granted_for_the_whole_cluster() -> None:
    what = installation(REGIONS, namespaces=("team-a",))

    places = {place for place, _, resource, _, _ in granted(what) if resource == "regions"}

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
    assert granted(installation(metrics=False)) == work_in(None) | NODES | LEASES


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

    stars = [right for right in rights_in(documents) if "*" in right]

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
    assert set(rights_in([viewer])) == rights(None, own, "get list watch") | rights(
        None, status, "get"
    )
    assert set(rights_in([editor])) == rights(None, own, change) | rights(None, status, "get")
    assert set(rights_in([admin])) == rights(None, own, change) | rights(
        None, status, "get update patch"
    )


def test_users_may_scale_scalable_kinds() -> None:
    class Fleet(
        sm.CustomResource[Spec, Status],
        group="shop.example.com",
        version="v1",
        crd=sm.Crd(scale=sm.ScalePaths(spec=".spec.size", status=".status.ready")),
    ):
        """Something with a size."""

    what = installation(sm.Controller(Fleet, reconcile=reconcile))

    _, editor, viewer = parts_of(what).user_roles

    scale = "fleets.shop.example.com/scale"
    assert set(rights_in([editor])) >= rights(None, scale, "get update patch")
    assert set(rights_in([viewer])) >= rights(None, scale, "get")
    assert not set(rights_in([viewer])) & rights(None, scale, "update patch")


def test_a_scraper_may_read_the_metrics_and_nothing_else() -> None:
    reader = parts_of(installation()).metrics_reader

    assert reader is not None
    assert reader["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
