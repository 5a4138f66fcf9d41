"""An installation as files: identical bytes every time, and the same objects in every form."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import steersman as sm
from steersman.kinds import core_v1
from steersman.manifests import (
    Document,
    Installation,
    Tree,
    crd_documents,
    crd_tree,
    deploy_tree,
    install_documents,
    parts_of,
    rbac_tree,
)
from tests.unit.manifests.operators import REGIONS, SHOPS, installation, reconcile

ROOT = Path(__file__).parents[3]

DIGEST = """
import hashlib
from steersman.manifests import crd_tree, deploy_tree, rbac_tree
from tests.unit.manifests.operators import REGIONS, SHOPS, installation
what = installation(SHOPS, REGIONS, namespaces=("b", "a"))
tree = {**crd_tree(what), **rbac_tree(what), **deploy_tree(what)}
print(hashlib.sha256(repr(list(tree.items())).encode()).hexdigest())
"""

INSTALLATIONS = [
    installation(),
    installation(SHOPS, REGIONS, namespaces=("team-a", "team-b"), metrics=False),
]


def whole_tree(what: Installation) -> Tree:
    return {**crd_tree(what), **rbac_tree(what), **deploy_tree(what)}


def kustomize_build(tree: Tree, folder: str = "") -> list[Any]:
    """The documents that kustomize builds from plain resources."""
    documents: list[Any] = []
    for name in yaml.safe_load(tree[f"{folder}kustomization.yaml"])["resources"]:
        if f"{folder}{name}" in tree:
            documents += yaml.safe_load_all(tree[f"{folder}{name}"])
        else:
            documents += kustomize_build(tree, f"{folder}{name}/")
    return documents


def identity_of(document: Document) -> tuple[str, str, str]:
    meta = document["metadata"]
    return document["kind"], meta.get("namespace", ""), meta["name"]


def test_the_same_operator_gives_the_same_bytes_every_time() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }

    assert len(found) == 1


def test_the_order_of_controllers_and_namespaces_changes_no_definition_and_no_role() -> None:
    one = installation(SHOPS, REGIONS, namespaces=("a", "b"))
    other = installation(REGIONS, SHOPS, namespaces=("b", "a"))

    assert crd_tree(one) == crd_tree(other)
    work = [each for each in parts_of(one).grants if each["metadata"].get("namespace") == "a"]
    assert [
        each for each in parts_of(other).grants if each["metadata"].get("namespace") == "a"
    ] == work


@pytest.mark.parametrize("what", INSTALLATIONS)
def test_the_pieces_together_are_the_objects_of_install_yaml(what: Installation) -> None:
    tree = whole_tree(what)

    installed = list(yaml.safe_load_all(tree["install.yaml"]))

    assert installed == list(install_documents(what))
    assert sorted(kustomize_build(tree), key=identity_of) == sorted(installed, key=identity_of)


@pytest.mark.parametrize("what", INSTALLATIONS)
def test_every_file_is_used(what: Installation) -> None:
    tree = whole_tree(what)
    folders = {path.rpartition("/")[0] for path in tree}

    listed = {
        f"{folder}/{name}".lstrip("/")
        for folder in folders
        for name in yaml.safe_load(tree[f"{folder}/kustomization.yaml".lstrip("/")])["resources"]
        if name.endswith(".yaml")
    }

    plain = {path for path in tree if not path.endswith("kustomization.yaml")}
    assert plain - listed == {"install.yaml"}


@pytest.mark.parametrize("what", INSTALLATIONS)
def test_each_object_comes_after_its_dependencies(what: Installation) -> None:
    documents = install_documents(what)
    places = {identity_of(each): number for number, each in enumerate(documents)}
    home = places["Namespace", "", what.namespace]

    for number, document in enumerate(documents):
        if document["metadata"].get("namespace") == what.namespace:
            assert home < number
        if "roleRef" in document:
            role = document["roleRef"]
            where = document["metadata"].get("namespace", "")
            assert places[role["kind"], where, role["name"]] < number
    assert documents[-1]["kind"] == "Deployment"


def test_every_object_is_unique_and_has_the_operators_labels() -> None:
    what = installation(SHOPS, REGIONS)
    parts = parts_of(what)

    documents = [each for each in parts.in_order if each not in parts.crds]

    assert len({identity_of(each) for each in parts.in_order}) == len(parts.in_order)
    for document in documents:
        assert document["metadata"]["labels"]["app.kubernetes.io/name"] == "shops"


def test_a_monitor_is_a_component_and_is_not_installed() -> None:
    tree = whole_tree(installation())

    kinds = {each["kind"] for each in install_documents(installation())}

    component = yaml.safe_load(tree["components/monitor/kustomization.yaml"])
    assert component["kind"] == "Component"
    assert kustomize_build(tree, "components/monitor/") == [parts_of(installation()).monitor]
    assert "ServiceMonitor" not in kinds


def test_an_operator_of_external_kinds_installs_no_definitions() -> None:
    pods = installation(sm.Controller(core_v1.Pod, reconcile=reconcile))

    tree = whole_tree(pods)

    assert crd_tree(pods) == {}
    assert parts_of(pods).user_roles == ()
    assert yaml.safe_load(tree["kustomization.yaml"])["resources"] == ["rbac", "operator"]
    assert "rbac/user-roles.yaml" not in tree


def test_definitions_are_sorted_by_name() -> None:
    crds = crd_documents(installation(SHOPS, REGIONS))

    assert [each["metadata"]["name"] for each in crds] == [
        "regions.shop.example.com",
        "shops.shop.example.com",
    ]
