"""The operator's Deployment, NetworkPolicy and Services."""

from typing import Any

import pytest

from steersman.manager import ManagerSettings
from steersman.manifests import InstallManifests, parts_of
from tests.unit.manifests.operators import installation

NAMES = {"app.kubernetes.io/name": "shops", "app.kubernetes.io/component": "operator"}


def pod_of(parts: InstallManifests) -> Any:
    return parts.deployment["spec"]["template"]


def container_of(parts: InstallManifests) -> Any:
    (container,) = pod_of(parts)["spec"]["containers"]
    return container


@pytest.mark.parametrize("others", [{}, {"namespaces": ("a", "b")}, {"metrics": False}])
def test_the_manager_reads_its_settings_from_its_environment(others: dict[str, Any]) -> None:
    what = installation(**others)

    environ = {each["name"]: each["value"] for each in container_of(parts_of(what))["env"]}

    assert ManagerSettings.read([], environ, prog="operator") == what.settings


def test_two_replicas_elect_a_leader_and_run_on_different_nodes() -> None:
    parts = parts_of(installation())

    assert parts.deployment["spec"]["replicas"] == 2
    assert installation().settings.leader_election
    spread = pod_of(parts)["spec"]["topologySpreadConstraints"]
    assert [each["topologyKey"] for each in spread] == [
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    ]


def test_the_pods_have_no_privileges() -> None:
    pod = pod_of(parts_of(installation()))["spec"]

    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
    }


def test_probes_and_services_use_existing_ports() -> None:
    parts = parts_of(installation())
    container = container_of(parts)
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}

    assert ports == {"health": 8081, "metrics": 8443}
    assert container["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "health"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
    assert parts.metrics_service is not None
    (port,) = parts.metrics_service["spec"]["ports"]
    assert (port["name"], port["targetPort"]) == ("metrics", "metrics")


def test_every_selector_matches_the_pods() -> None:
    parts = parts_of(installation())
    labels = pod_of(parts)["metadata"]["labels"]
    assert parts.metrics_service is not None
    assert parts.monitor is not None

    selectors = (
        parts.deployment["spec"]["selector"]["matchLabels"],
        parts.disruption_budget["spec"]["selector"]["matchLabels"],
        parts.network_policy["spec"]["podSelector"]["matchLabels"],
        parts.metrics_service["spec"]["selector"],
        *(
            each["labelSelector"]["matchLabels"]
            for each in pod_of(parts)["spec"]["topologySpreadConstraints"]
        ),
    )

    assert all(selector == NAMES for selector in selectors)
    assert labels.items() >= NAMES.items()
    wanted = parts.monitor["spec"]["selector"]["matchLabels"]
    assert parts.metrics_service["metadata"]["labels"].items() >= wanted.items()


def test_no_selector_has_a_mutable_label() -> None:
    before, after = (parts_of(installation(version=version)) for version in ("1.2.3", "2.0.0-rc.1"))

    assert before.deployment["spec"]["selector"] == after.deployment["spec"]["selector"]
    assert before.deployment["metadata"]["labels"] != after.deployment["metadata"]["labels"]


def test_the_network_policy_allows_probes_metrics_dns_and_the_server_only() -> None:
    spec = parts_of(installation()).network_policy["spec"]

    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert [[port["port"] for port in rule["ports"]] for rule in spec["ingress"]] == [
        ["health"],
        ["metrics"],
    ]
    assert spec["ingress"][1]["from"] == [{"namespaceSelector": {}}]
    assert [[port["port"] for port in rule["ports"]] for rule in spec["egress"]] == [
        [53, 53],
        [443, 6443, 8443, 16443],
    ]


def test_without_metrics_there_are_no_metrics_objects() -> None:
    parts = parts_of(installation(metrics=False))

    assert (parts.metrics_service, parts.monitor) == (None, None)
    assert [each["name"] for each in container_of(parts)["ports"]] == ["health"]
    assert len(parts.network_policy["spec"]["ingress"]) == 1


def test_the_namespace_enforces_the_restricted_level() -> None:
    labels = parts_of(installation()).namespace["metadata"]["labels"]

    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_only_the_operators_pods_mount_the_token() -> None:
    parts = parts_of(installation())

    assert parts.account["automountServiceAccountToken"] is False
    assert pod_of(parts)["spec"]["automountServiceAccountToken"] is True
    assert pod_of(parts)["spec"]["serviceAccountName"] == parts.account["metadata"]["name"]
