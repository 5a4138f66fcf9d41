"""A timer with kopf: each second, it copies the time from a ConfigMap to a Site's annotation."""

from typing import Any

import kopf
import kubernetes


@kopf.timer("web.example.com", "v1", "sites", interval=1.0)
def look_outside(name: str, namespace: str, patch: kopf.Patch, **_: Any) -> None:
    outside = kubernetes.client.CoreV1Api().read_namespaced_config_map("outside", namespace)
    patch.metadata.annotations["web.example.com/seen"] = outside.data["temperature"]
