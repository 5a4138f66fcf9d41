"""An author's settings for an installation are in all of its forms."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from steersman.errors import BadValue
from steersman.kinds import core_v1
from steersman.manifests import (
    BundleSettings,
    DeploySettings,
    Document,
    Installation,
    bundle_tree,
    deploy_tree,
    helm_tree,
    install_documents,
    parts_of,
    rbac_tree,
)
from steersman.units import Quantity
from tests.unit.manifests.operators import ADDED, REGIONS, SHOPS, installation

WHAT = installation(SHOPS, REGIONS, deploy=ADDED, replicas=3)


def container_of(deployment: Document) -> Any:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return container


def egress_of(what: Installation) -> list[Any]:
    return list(parts_of(what).network_policy["spec"]["egress"])


def test_the_deployment_has_the_authors_variables_resources_and_labels() -> None:
    deployment = parts_of(WHAT).deployment

    container = container_of(deployment)
    assert deployment["spec"]["replicas"] == 3
    assert container["env"][-3] == {"name": "DATABASE_HOST", "value": "db.example.com"}
    assert container["resources"] == {
        "requests": {"cpu": "50m", "memory": "128Mi"},
        "limits": {"memory": "1Gi"},
    }
    pod = deployment["spec"]["template"]["metadata"]
    assert pod["annotations"] == {"example.com/contact": "{{ shop }}", "example.com/scrape": "true"}
    assert pod["labels"].items() >= {"team": "shop", "mesh": "on", **WHAT.selector}.items()
    assert "mesh" not in deployment["spec"]["selector"]["matchLabels"]


def test_every_object_has_the_authors_labels_and_annotations() -> None:
    for each in install_documents(WHAT):
        assert each["metadata"]["labels"]["team"] == "shop", each["kind"]
        assert each["metadata"]["annotations"]["example.com/contact"] == "{{ shop }}", each["kind"]


def test_the_network_policy_has_the_authors_egress_rules() -> None:
    usual = parts_of(installation()).network_policy["spec"]["egress"]

    egress = egress_of(WHAT)

    assert egress[: len(usual)] == usual
    assert egress[-1] == {"ports": [{"port": 5432, "protocol": "TCP"}]}


@pytest.mark.parametrize("namespaces", [(), ("a", "b")])
@pytest.mark.parametrize("everywhere", [False, True])
def test_extra_rules_are_granted_in_the_operators_namespaces(
    namespaces: tuple[str, ...], everywhere: bool
) -> None:
    rule = replace(ADDED.rules[0], everywhere=everywhere)
    what = installation(namespaces=namespaces, deploy=DeploySettings(rules=(rule,)))

    granted = {
        each["metadata"].get("namespace", "")
        for each in parts_of(what).grants
        if any("pods/log" in rule.get("resources", ()) for rule in each.get("rules", ()))
    }

    assert granted == ({""} if everywhere or not namespaces else {"a", "b"})


def test_the_kustomize_base_has_all_settings() -> None:
    tree = {**deploy_tree(WHAT), **rbac_tree(WHAT)}

    assert yaml.safe_load(tree["operator/deployment.yaml"]) == parts_of(WHAT).deployment
    assert "pods/log" in tree["rbac/operator.yaml"]
    assert "port: 5432" in tree["operator/network_policy.yaml"]


def test_settings_that_vary_by_cluster_are_values_of_the_chart() -> None:
    tree = helm_tree(WHAT)

    values = yaml.safe_load(tree["values.yaml"])
    assert values["replicas"] == 3
    assert [each["name"] for each in values["env"]] == ["DATABASE_HOST", "PASSWORD", "NODE"]
    assert values["networkPolicy"]["egress"] == egress_of(WHAT)[2:]
    assert values["podLabels"] == {"mesh": "on"}
    assert values["podAnnotations"] == {"example.com/scrape": "true"}
    assert values["resources"]["limits"] == {"memory": "1Gi"}
    assert "DATABASE_HOST" not in tree["templates/deployment.yaml"]


def test_a_label_overridden_for_pods_is_in_the_chart_once() -> None:
    otherwise = replace(
        ADDED, pod_labels={"team": "ops"}, pod_annotations={"example.com/contact": "ops"}
    )
    what = installation(SHOPS, REGIONS, deploy=otherwise)

    tree = helm_tree(what)

    pod = parts_of(what).deployment["spec"]["template"]["metadata"]
    assert (pod["labels"]["team"], pod["annotations"]["example.com/contact"]) == ("ops", "ops")
    assert yaml.safe_load(tree["values.yaml"])["podLabels"] == {"team": "ops"}
    _, template = tree["templates/deployment.yaml"].split("  template:\n")
    assert "team:" not in template
    assert "example.com/contact" not in template


def test_a_bundle_does_not_replace_itself() -> None:
    what = replace(WHAT, bundle=BundleSettings(replaces=WHAT.version))

    with pytest.raises(BadValue, match="it must be an earlier version than that of the bundle"):
        bundle_tree(what)


def test_a_bundle_has_the_settings() -> None:
    what = replace(
        WHAT,
        bundle=BundleSettings(channel="fast", replaces="1.1.0", icon=("image/svg+xml", b"<svg/>")),
    )

    tree = bundle_tree(what)

    csv = yaml.safe_load(tree["manifests/shops.clusterserviceversion.yaml"])
    (deployment,) = csv["spec"]["install"]["spec"]["deployments"]
    (cluster,) = csv["spec"]["install"]["spec"]["clusterPermissions"]
    assert deployment["spec"] == parts_of(what).deployment["spec"]
    assert any("pods/log" in rule["resources"] for rule in cluster["rules"])
    assert csv["spec"]["replaces"] == "shops.v1.1.0"
    assert csv["spec"]["icon"][0]["mediatype"] == "image/svg+xml"
    assert 'channels.v1="fast"' in tree["bundle.Dockerfile"]
    assert csv["metadata"]["annotations"]["example.com/contact"] == "{{ shop }}"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            DeploySettings(env=(core_v1.EnvVar(name="STEERSMAN_LOG_STYLE", value="text"),)),
            "the installation already sets it",
        ),
        (
            DeploySettings(limits={"memory": Quantity("1Mi")}),
            "it must not be less than the request",
        ),
    ],
)
def test_settings_that_the_server_rejects_are_rejected(settings: DeploySettings, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        installation(deploy=settings)
