"""The kopf operator in a thread of its test: what docs/coming-from-kopf.md shows of KopfRunner."""

import os
import time
from pathlib import Path
from typing import Any

import kubernetes
from kopf.testing import KopfRunner

OPERATOR = Path(__file__).with_name("kopf_site.py")
NAMESPACE = os.environ["TEST_NAMESPACE"]


def test_a_change_of_the_config_map_starts_the_pods_anew() -> None:
    kubernetes.config.load_kube_config()
    core = kubernetes.client.CoreV1Api()
    with KopfRunner(["run", "--standalone", "--all-namespaces", str(OPERATOR)]) as runner:
        core.create_namespaced_config_map(NAMESPACE, look("blue"))
        create_site()
        before = eventually(lambda digest: digest != "")

        core.patch_namespaced_config_map("look", NAMESPACE, look("green"))

        eventually(lambda digest: digest != before)
    assert runner.exception is None
    assert runner.exit_code == 0


def eventually(holds: Any) -> str:
    for _ in range(200):
        try:
            deployment = kubernetes.client.AppsV1Api().read_namespaced_deployment("web", NAMESPACE)
            digest = deployment.spec.template.metadata.annotations["web.example.com/config"]
        except kubernetes.client.ApiException:
            digest = ""
        if holds(digest):
            return digest
        time.sleep(0.1)
    raise AssertionError("it never was")


def look(colour: str) -> dict[str, Any]:
    return {"metadata": {"name": "look"}, "data": {"COLOUR": colour}}


def create_site() -> None:
    kubernetes.client.CustomObjectsApi().create_namespaced_custom_object(
        "web.example.com",
        "v1",
        NAMESPACE,
        "sites",
        {
            "apiVersion": "web.example.com/v1",
            "kind": "Site",
            "metadata": {"name": "web"},
            "spec": {"image": "nginx", "replicas": 2, "config": "look"},
        },
    )


if __name__ == "__main__":
    test_a_change_of_the_config_map_starts_the_pods_anew()
