"""The kopf operator in a thread of its test, as docs/coming-from-kopf.md shows KopfRunner."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes
from kopf.testing import KopfRunner

OPERATOR = Path(__file__).with_name("kopf_site.py")
NAMESPACE = os.environ["TEST_NAMESPACE"]


def test_a_change_of_the_config_map_restarts_the_pods() -> None:
    kubernetes.config.load_kube_config()
    core = kubernetes.client.CoreV1Api()
    with KopfRunner(["run", "--standalone", "--all-namespaces", str(OPERATOR)]) as runner:
        core.create_namespaced_config_map(NAMESPACE, look("blue"))
        create_site()
        # Until the handler of the Site returns, it may still write the old digest.
        eventually(is_handled)
        before = digest()

        core.patch_namespaced_config_map("look", NAMESPACE, look("green"))

        eventually(lambda: digest() != before)
    assert runner.exception is None
    assert runner.exit_code == 0


def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(f"{holds} did not become true")


def is_handled() -> bool:
    api = kubernetes.client.CustomObjectsApi()
    site = api.get_namespaced_custom_object("web.example.com", "v1", NAMESPACE, "sites", "web")
    return "observedGeneration" in site.get("status", {})


def digest() -> str:
    deployment = kubernetes.client.AppsV1Api().read_namespaced_deployment("web", NAMESPACE)
    return deployment.spec.template.metadata.annotations["web.example.com/config"]


def look(color: str) -> dict[str, Any]:
    return {"metadata": {"name": "look"}, "data": {"COLOR": color}}


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
    test_a_change_of_the_config_map_restarts_the_pods()
