"""For ``kopf run``: a Deployment, a Service and a status for every AppService.

As its documentation shows: asynchronous handlers, a client library of one's own for the children,
``kopf.adopt``, ``patch.status``, and ``kopf.on.event`` for what happens to a child.
"""

from datetime import UTC, datetime
from typing import Any

import kopf
from kubernetes_asyncio import client, config

from bench.task import GROUP, PLURAL, VERSION

NAME_LABEL = "app.kubernetes.io/name"
# Server-side apply: one request, whether the child is there or not.
APPLIED = {
    "field_manager": "kopf-operator",
    "force": True,
    "_content_type": "application/apply-patch+yaml",
}


@kopf.on.startup()
async def start(settings: kopf.OperatorSettings, memo: kopf.Memo, **_: Any) -> None:
    # Progress in annotations only, as for any resource whose schema does not allow it elsewhere.
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage()
    await config.load_kube_config()
    memo.api = client.ApiClient()


@kopf.on.cleanup()
async def stop(memo: kopf.Memo, **_: Any) -> None:
    await memo.api.close()


@kopf.on.create(GROUP, VERSION, PLURAL)
@kopf.on.update(GROUP, VERSION, PLURAL, field="spec")
@kopf.on.resume(GROUP, VERSION, PLURAL)
async def reconcile(
    name: str,
    namespace: str,
    spec: kopf.Spec,
    meta: kopf.Meta,
    patch: kopf.Patch,
    memo: kopf.Memo,
    **_: Any,
) -> None:
    deployment, service = children(name, spec)
    kopf.adopt([deployment, service])
    await client.AppsV1Api(memo.api).patch_namespaced_deployment(
        name, namespace, deployment, **APPLIED
    )
    await client.CoreV1Api(memo.api).patch_namespaced_service(name, namespace, service, **APPLIED)
    patch.status["observedGeneration"] = meta["generation"]


@kopf.on.event("apps", "v1", "deployments", labels={NAME_LABEL: kopf.PRESENT})
async def report(
    name: str,
    namespace: str,
    spec: kopf.Spec,
    status: kopf.Status,
    meta: kopf.Meta,
    memo: kopf.Memo,
    type: str | None,
    **_: Any,
) -> None:
    """Inline the Deployment's status in its owner's, when it has changed."""
    inlined = {field: value for field, value in status.items() if field != "observedGeneration"}
    ready = "True" if is_ready(spec, status, meta) else "False"
    if type == "DELETED" or (inlined, ready) == (memo.get("inlined"), memo.get("ready")):
        return
    if ready != memo.get("ready"):
        memo.since = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    condition = {
        "type": "Ready",
        "status": ready,
        "reason": "RolledOut" if ready == "True" else "RollingOut",
        "lastTransitionTime": memo.since,
    }
    conditions = [*inlined.get("conditions", ()), condition]
    gone = {field: None for field in memo.get("inlined") or () if field not in inlined}
    await client.CustomObjectsApi(memo.api).patch_namespaced_custom_object_status(
        GROUP,
        VERSION,
        namespace,
        PLURAL,
        name,
        {"status": {**gone, **inlined, "conditions": conditions}},
        _content_type="application/merge-patch+json",
    )
    memo.inlined, memo.ready = inlined, ready


def is_ready(spec: kopf.Spec, status: kopf.Status, meta: kopf.Meta) -> bool:
    counts = [
        status.get(field, 0) for field in ("replicas", "updatedReplicas", "availableReplicas")
    ]
    return status.get("observedGeneration", 0) >= meta["generation"] and counts == [
        spec["replicas"]
    ] * len(counts)


def children(name: str, spec: kopf.Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    labels = {NAME_LABEL: name}
    container = {
        "name": name,
        "image": spec["image"],
        "env": list(spec.get("envs", ())),
        "resources": dict(spec.get("resources", {})),
    }
    metadata = {"name": name, "labels": labels}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**metadata},
        "spec": {
            "replicas": spec.get("size", 1),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata},
        "spec": {"type": "NodePort", "selector": labels, "ports": list(spec["ports"])},
    }
    return deployment, service
