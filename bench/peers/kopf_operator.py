"""For ``kopf run``: a Deployment, a Service and a status for every AppService.

The operator follows the documentation of kopf: asynchronous handlers, another client library for
the children, ``kopf.append_owner_reference``, ``patch.status``, and ``kopf.on.event`` for changes
of a child. kopf has no resync; with ``$RESYNC_SECONDS``, a timer reconciles each object. With
``$STARTS``, the start of each reconcile is a line of that file: seconds on the monotonic clock,
name and generation. With ``$SLEEP_MS``, a reconcile only sleeps, and only kopf itself writes
annotations.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import kopf
from aiohttp import ClientResponse
from kubernetes_asyncio import client, config

from bench.harness.task import GROUP, PLURAL, VERSION

NAME_LABEL = "app.kubernetes.io/name"
# Server-side apply: one request, whether the child exists or not.
APPLIED = {
    "field_manager": "kopf-operator",
    "force": True,
    "_content_type": "application/apply-patch+yaml",
    "_preload_content": False,
}
COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
MERGED = {"_content_type": "application/merge-patch+json", "_preload_content": False}


def starts() -> TextIO | None:
    file = os.environ.get("STARTS")
    return Path(file).open("w", buffering=1) if file else None


STARTS = starts()
SLEEP_SECONDS = float(os.environ.get("SLEEP_MS", "0")) / 1000


@kopf.on.startup()
async def start(settings: kopf.OperatorSettings, memo: kopf.Memo, **_: Any) -> None:
    # Annotations only, because the schema has no field for the progress of kopf.
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
    status: kopf.Status,
    meta: kopf.Meta,
    patch: kopf.Patch,
    memo: kopf.Memo,
    **_: Any,
) -> None:
    if STARTS is not None:
        STARTS.write(f"{time.monotonic():.6f} {name} {meta['generation']}\n")
    if SLEEP_SECONDS:
        await asyncio.sleep(SLEEP_SECONDS)
        return
    deployment, service = children(name, spec)
    # kopf.adopt would also copy the labels.
    kopf.append_owner_reference([deployment, service])
    apps, core = client.AppsV1Api(memo.api), client.CoreV1Api(memo.api)
    await done(apps.patch_namespaced_deployment(name, namespace, deployment, **APPLIED))
    await done(core.patch_namespaced_service(name, namespace, service, **APPLIED))
    if status.get("observedGeneration") != meta["generation"]:
        patch.status["observedGeneration"] = meta["generation"]


if seconds := float(os.environ.get("RESYNC_SECONDS", "0")):
    kopf.timer(GROUP, VERSION, PLURAL, interval=seconds, initial_delay=seconds)(reconcile)


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
    """Copy the Deployment's status to the AppService if it has changed."""
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
    body = {"status": {**gone, **inlined, "conditions": conditions}}
    await done(
        client.CustomObjectsApi(memo.api).patch_namespaced_custom_object_status(
            GROUP, VERSION, namespace, PLURAL, name, body, **MERGED
        )
    )
    memo.inlined, memo.ready = inlined, ready


async def done(request: Awaitable[ClientResponse]) -> None:
    """Check the status of the response, without decoding it."""
    async with await request as response:
        response.raise_for_status()
        await response.read()


def is_ready(spec: kopf.Spec, status: kopf.Status, meta: kopf.Meta) -> bool:
    is_seen = status.get("observedGeneration", 0) >= meta["generation"]
    return is_seen and all(status.get(field, 0) == spec["replicas"] for field in COUNTS)


def children(name: str, spec: kopf.Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    labels = {NAME_LABEL: name}
    container = {
        "name": name,
        "image": spec["image"],
        "imagePullPolicy": "IfNotPresent",
        "env": list(spec.get("envs", ())),
        "resources": dict(spec.get("resources", {})),
        "ports": targets_of(spec["ports"]),
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


def targets_of(ports: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The container ports for the ports of a Service, without duplicates."""
    named: dict[tuple[str, str], int] = {}
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for port in ports:
        protocol = port.get("protocol", "TCP")
        target = port.get("targetPort", port["port"])
        name = {"name": target} if isinstance(target, str) else {}
        # A named target port gets the number of the first port with this target.
        number = named.setdefault((target, protocol), port["port"]) if name else target
        given = found.setdefault((number, protocol), {"containerPort": number})
        given |= {"protocol": protocol, **name}
    return list(found.values())
