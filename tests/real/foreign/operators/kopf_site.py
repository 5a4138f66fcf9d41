"""Site with kopf, as docs/coming-from-kopf.md shows it; see ``kopf run``."""

from hashlib import sha256
from typing import Any

import kopf
import kubernetes
from kubernetes.client import ApiException

ZONE = "zone"
SITES = ("web.example.com", "v1", "sites")


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.persistence.finalizer = "web.example.com/site"


@kopf.on.create(*SITES)
@kopf.on.update(*SITES, field="spec")
@kopf.on.resume(*SITES)
def site_changed(body: kopf.Body, name: str, namespace: str, patch: kopf.Patch, **_: Any) -> None:
    wanted = body["spec"]["config"]
    config = config_map(wanted, namespace)
    if config is None:
        note = f"There is no ConfigMap {wanted}: create it, or name another."
        kopf.warn(body, reason="ConfigMissing", message=note)
        patch.status["conditions"] = [ready_condition("False", "ConfigMissing", note)]
        raise kopf.TemporaryError(note, delay=5)
    apply(kubernetes.client.CoreV1Api().patch_namespaced_config_map, record_of(name, namespace))
    apply_deployment(body, config)
    patch.status["observedGeneration"] = body["metadata"]["generation"]


@kopf.on.delete(*SITES)
def site_deleted(name: str, namespace: str, **_: Any) -> None:
    record = record_of(name, namespace)["metadata"]
    try:
        kubernetes.client.CoreV1Api().delete_namespaced_config_map(record["name"], ZONE)
    except ApiException as error:
        if error.status != 404:
            raise


@kopf.index(*SITES)
def by_config(body: kopf.Body, namespace: str, spec: kopf.Spec, **_: Any) -> dict[Any, Any]:
    return {(namespace, spec["config"]): dict(body)}


@kopf.on.event("", "v1", "configmaps")
def config_changed(
    type: str | None, name: str, namespace: str, body: kopf.Body, by_config: kopf.Index, **_: Any
) -> None:
    if type == "DELETED":
        return
    for site in by_config.get((namespace, name), ()):
        apply_deployment(site, body.get("data") or {})


@kopf.on.event("apps", "v1", "deployments", labels={"web.example.com/site": kopf.PRESENT})
def deployment_changed(
    type: str | None, name: str, namespace: str, body: kopf.Body, **_: Any
) -> None:
    api = kubernetes.client.CustomObjectsApi()
    group, version, plural = SITES
    try:
        site = api.get_namespaced_custom_object(group, version, namespace, plural, name)
    except ApiException as error:
        if error.status != 404:
            raise
        return
    if type == "DELETED":
        config = config_map(site["spec"]["config"], namespace)
        if config is not None and "deletionTimestamp" not in site["metadata"]:
            apply_deployment(site, config)
        return
    state = ("True", "RolledOut") if is_ready(body) else ("False", "RollingOut")
    condition = ready_condition(*state)
    if condition not in site.get("status", {}).get("conditions", ()):
        change = {"status": {"conditions": [condition]}}
        api.patch_namespaced_custom_object_status(group, version, namespace, plural, name, change)


def config_map(name: str, namespace: str) -> dict[str, str] | None:
    try:
        found = kubernetes.client.CoreV1Api().read_namespaced_config_map(name, namespace)
    except ApiException as error:
        if error.status != 404:
            raise
        return None
    return found.data or {}


def apply_deployment(site: Any, config: Any) -> None:
    deployment = deployment_of(site, config)
    # By default kopf sets the handled object as the owner, which is not always the Site.
    kopf.adopt(deployment, owner=site)
    apply(kubernetes.client.AppsV1Api().patch_namespaced_deployment, deployment)


def apply(patch: Any, obj: dict[str, Any]) -> None:
    patch(
        obj["metadata"]["name"],
        obj["metadata"]["namespace"],
        obj,
        field_manager="site-kopf",
        force=True,
        _content_type="application/apply-patch+yaml",
    )


def deployment_of(site: Any, config: Any) -> dict[str, Any]:
    name, spec = site["metadata"]["name"], site["spec"]
    labels = {"app.kubernetes.io/name": name, "web.example.com/site": name}
    digest = sha256(repr(sorted(config.items())).encode()).hexdigest()
    container = {
        "name": "site",
        "image": spec["image"],
        "envFrom": [{"configMapRef": {"name": spec["config"]}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": spec["replicas"],
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": {"web.example.com/config": digest}},
                "spec": {"containers": [container]},
            },
        },
    }


def record_of(name: str, namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{namespace}.{name}", "namespace": ZONE},
        "data": {"target": name},
    }


def ready_condition(status: str, reason: str, message: str = "") -> dict[str, str]:
    return {"type": "Ready", "status": status, "reason": reason, "message": message}


def is_ready(deployment: Any) -> bool:
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    counts = [status.get(each, 0) for each in ("replicas", "updatedReplicas", "availableReplicas")]
    is_seen = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return is_seen and counts == [wanted] * 3
