"""The files of a bundle; tests/real/foreign validates it with the Operator Framework's tools."""

import base64
import json
import shlex
from typing import Any

import pytest
import yaml

import steersman as sm
from steersman.errors import BadName
from steersman.kinds import core_v1
from steersman.manifests import Document, Tree, bundle_tree, parts_of
from tests.unit.manifests.operators import REGIONS, SHOPS, Spec, Status, installation, reconcile


class Mall(
    sm.CustomResource[Spec, Status],
    group="shop.example.com",
    version="v1",
    crd=sm.Crd(
        scale=sm.ScalePaths(spec=".spec.size", status=".status.ready"),
        selectable_fields=(".spec.size",),
    ),
):
    """Shops under one roof."""


def manifests(tree: Tree) -> list[Any]:
    return [yaml.safe_load(text) for path, text in tree.items() if path.startswith("manifests/")]


def csv_of(tree: Tree) -> Any:
    (csv,) = (each for each in manifests(tree) if each["kind"] == "ClusterServiceVersion")
    return csv


def rules_of(grants: tuple[Document, ...]) -> list[Any]:
    return [rule for grant in grants for rule in grant.get("rules", ())]


def test_a_bundle_is_a_version_of_the_operator_in_a_channel() -> None:
    tree = bundle_tree(installation())

    annotations = yaml.safe_load(tree["metadata/annotations.yaml"])["annotations"]
    bundle = "operators.operatorframework.io.bundle"
    assert annotations == {
        f"{bundle}.mediatype.v1": "registry+v1",
        f"{bundle}.manifests.v1": "manifests/",
        f"{bundle}.metadata.v1": "metadata/",
        f"{bundle}.package.v1": "shops",
        f"{bundle}.channels.v1": "stable",
        f"{bundle}.channel.default.v1": "stable",
    }
    assert csv_of(tree)["metadata"]["name"] == "shops.v1.2.3"


def test_the_image_of_a_bundle_has_its_annotations_as_labels() -> None:
    tree = bundle_tree(installation())

    lines = tree["bundle.Dockerfile"].splitlines()
    labels = [shlex.split(line)[1] for line in lines if line.startswith("LABEL")]
    annotations = yaml.safe_load(tree["metadata/annotations.yaml"])["annotations"]
    assert dict(label.split("=", 1) for label in labels) == annotations


@pytest.mark.parametrize("version", ["0.9.0", "1.0.0-rc.1"])
def test_a_version_without_compatibility_is_a_candidate(version: str) -> None:
    tree = bundle_tree(installation(version=version))

    assert 'channels.v1="candidate"' in tree["bundle.Dockerfile"]
    assert csv_of(tree)["spec"]["maturity"] == "alpha"


def test_a_cluster_wide_operator_requests_cluster_permissions() -> None:
    what = installation(SHOPS, REGIONS)
    parts = parts_of(what)

    spec = csv_of(bundle_tree(what))["spec"]

    of_the_cluster = [each for each in parts.grants if "namespace" not in each["metadata"]]
    here = [each for each in parts.grants if "namespace" in each["metadata"]]
    (cluster,) = spec["install"]["spec"]["clusterPermissions"]
    (own,) = spec["install"]["spec"]["permissions"]
    assert cluster["rules"] == rules_of((*of_the_cluster, *parts.metrics_grants))
    assert own["rules"] == rules_of(tuple(here))
    assert cluster["serviceAccountName"] == own["serviceAccountName"] == "shops"
    assert {each["type"] for each in spec["installModes"] if each["supported"]} == {"AllNamespaces"}


def test_an_operator_of_some_namespaces_gets_their_names_from_olm() -> None:
    what = installation(namespaces=("a", "b"), metrics=False)
    in_a = [each for each in parts_of(what).grants if each["metadata"].get("namespace") == "a"]

    spec = csv_of(bundle_tree(what))["spec"]

    (own,) = spec["install"]["spec"]["permissions"]
    assert [rule for rule in rules_of(tuple(in_a)) if rule not in own["rules"]] == []
    assert {each["type"] for each in spec["installModes"] if each["supported"]} == {
        "OwnNamespace",
        "SingleNamespace",
        "MultiNamespace",
    }
    (deployment,) = spec["install"]["spec"]["deployments"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each for each in container["env"]}
    assert env["STEERSMAN_NAMESPACES"] == {
        "name": "STEERSMAN_NAMESPACES",
        "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['olm.targetNamespaces']"}},
    }


def test_the_bundles_deployment_equals_that_of_the_installation() -> None:
    what = installation()
    expected = parts_of(what).deployment

    (deployment,) = csv_of(bundle_tree(what))["spec"]["install"]["spec"]["deployments"]

    assert deployment["spec"] == expected["spec"]
    assert (deployment["name"], deployment["label"]) == ("shops", expected["metadata"]["labels"])


def test_each_kind_is_described_and_has_an_example() -> None:
    mall = sm.Controller(Mall, reconcile=reconcile, owns=(core_v1.Service,))

    csv = csv_of(bundle_tree(installation(SHOPS, mall)))

    owned, _ = csv["spec"]["customresourcedefinitions"]["owned"]
    assert owned == {
        "name": "malls.shop.example.com",
        "version": "v1",
        "kind": "Mall",
        "displayName": "Mall",
        "description": "Shops under one roof.",
        "resources": [{"kind": "Service", "name": "", "version": "v1"}],
        "specDescriptors": [
            {
                "path": "size",
                "displayName": "Size",
                "x-descriptors": ["urn:alm:descriptor:com.tectonic.ui:podCount"],
            }
        ],
        "statusDescriptors": [{"path": "ready", "displayName": "Ready"}],
    }
    examples = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    assert [each["kind"] for each in examples] == ["Mall", "Shop"]
    # Older servers do not support selectable fields.
    assert csv["spec"]["minKubeVersion"] == "1.32.0"


def test_a_bundle_contains_definitions_and_objects_that_olm_does_not_create() -> None:
    what = installation()
    parts = parts_of(what)

    found = manifests(bundle_tree(what))

    kinds = {each["kind"] for each in found}
    assert kinds == {
        "ClusterServiceVersion",
        "CustomResourceDefinition",
        "ClusterRole",
        "PodDisruptionBudget",
        "Service",
    }
    assert [each for each in found if each["kind"] == "CustomResourceDefinition"] == [*parts.crds]
    assert not any("namespace" in each["metadata"] for each in found)


def test_an_operator_of_external_kinds_owns_no_definitions() -> None:
    tree = bundle_tree(installation(sm.Controller(core_v1.Secret, reconcile=reconcile)))

    assert csv_of(tree)["spec"]["customresourcedefinitions"]["owned"] == []
    assert not any(path.endswith(".crd.yaml") for path in tree)


def test_a_bundle_has_the_given_replaced_version_and_icon() -> None:
    what = installation()

    spec = csv_of(bundle_tree(what, replaces="1.2.2", icon=("image/png", b"picture")))["spec"]

    assert spec["replaces"] == "shops.v1.2.2"
    (icon,) = spec["icon"]
    assert base64.b64decode(icon["base64data"]) == b"picture"
    assert icon["mediatype"] == "image/png"
    assert not {"replaces", "icon"} & csv_of(bundle_tree(what))["spec"].keys()


def test_a_version_is_part_of_a_name_in_lower_case_and_without_a_plus() -> None:
    csv = csv_of(bundle_tree(installation(version="1.0.0-RC.1+build.5")))

    assert csv["metadata"]["name"] == "shops.v1.0.0-rc.1-build.5"
    assert csv["spec"]["version"] == "1.0.0-RC.1+build.5"


def test_a_name_that_is_too_long_for_a_label_is_rejected() -> None:
    what = installation(name="s" * 50, version="1.0.0-a-long-word")

    with pytest.raises(BadName, match="at most 63 letters"):
        bundle_tree(what)


def test_a_bundle_is_the_same_bytes_every_time() -> None:
    what = installation(SHOPS, REGIONS, namespaces=("b", "a"))

    assert list(bundle_tree(what).items()) == list(bundle_tree(what).items())
