"""Compares the children and the status of every AppService with its spec.

The comparison covers every field, because an operator that writes fewer or more fields does other
work than the others. No I/O.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]

NAME_LABEL = "app.kubernetes.io/name"
MISSING = "nothing"

REVISION = "deployment.kubernetes.io/revision"
# The metadata that the owner of an object sets.
OWNER_METADATA = ("labels", "annotations", "ownerReferences", "finalizers")

# The defaults of the server for Deployments, containers and Services.
DEPLOYMENT_DEFAULTS: Json = {
    "progressDeadlineSeconds": 600,
    "revisionHistoryLimit": 10,
    "strategy": {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    },
}
POD_DEFAULTS: Json = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
CONTAINER_DEFAULTS: Json = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
SERVICE_DEFAULTS: Json = {
    "externalTrafficPolicy": "Cluster",
    "internalTrafficPolicy": "Cluster",
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
    "sessionAffinity": "None",
}


def differences(
    apps: Mapping[str, Json],
    deployments: Mapping[str, Json],
    services: Mapping[str, Json],
    *,
    count: int,
    or_more: bool = False,
    has_pods: bool = True,
) -> Iterator[str]:
    """The differences between the cluster and the specs of ``count`` AppServices.

    With ``or_more``, there may be more AppServices, because a writer was stopped at an arbitrary
    time. Without ``has_pods``, Pods are not checked, because no controller creates them.
    """
    if len(apps) < count or (len(apps) > count and not or_more):
        yield f"expected {count} AppServices, found {len(apps)}"
    for kind, children in (("Deployment", deployments), ("Service", services)):
        for name in children.keys() - apps.keys():
            yield f"{kind} {name} has no AppService"
    for name, app in apps.items():
        yield from app_differences(
            app, deployments.get(name), services.get(name), has_pods=has_pods
        )


def app_differences(
    app: Json, deployment: Json | None, service: Json | None, *, has_pods: bool = True
) -> Iterator[str]:
    """The differences of one AppService and its children."""
    name = app["metadata"]["name"]
    if service is None:
        yield f"Service {name} does not exist"
    else:
        yield from _differences(
            f"Service {name}", expected_service(app), _service_owner_fields(service)
        )
    if deployment is None:
        yield f"Deployment {name} does not exist"
        return
    yield from _differences(
        f"Deployment {name}", expected_deployment(app), _owner_fields(deployment)
    )
    if has_pods and not _is_rolled_out(deployment):
        yield f"Deployment {name} does not have all Pods"
    yield from _differences(
        f"AppService {name}: status",
        expected_status(app, deployment),
        _status(app.get("status", {})),
    )


def expected_deployment(app: Json) -> Json:
    """The Deployment of an AppService, without fields of the server and other managers."""
    name, spec = app["metadata"]["name"], app["spec"]
    labels = {NAME_LABEL: name}
    container = {
        **CONTAINER_DEFAULTS,
        "name": name,
        "image": spec["image"],
        "imagePullPolicy": "IfNotPresent",
        "env": spec["envs"],
        "resources": spec["resources"],
        "ports": _container_ports(spec["ports"]),
    }
    return {
        "metadata": _child_metadata(app),
        "spec": {
            **DEPLOYMENT_DEFAULTS,
            "replicas": spec["size"],
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {**POD_DEFAULTS, "containers": [container]},
            },
        },
    }


def expected_service(app: Json) -> Json:
    """The Service of an AppService, without the addresses and ports that the server assigns."""
    ports = [{"protocol": "TCP", **port} for port in app["spec"]["ports"]]
    return {
        "metadata": _child_metadata(app),
        "spec": {
            **SERVICE_DEFAULTS,
            "type": "NodePort",
            "selector": {NAME_LABEL: app["metadata"]["name"]},
            "ports": ports,
        },
    }


def expected_status(app: Json, deployment: Json) -> Json:
    """The Deployment's status, the condition Ready, and the observed generation."""
    is_ready = _is_rolled_out(deployment) and (
        deployment["status"].get("availableReplicas", 0) == deployment["spec"]["replicas"]
    )
    ready = {
        "type": "Ready",
        "status": "True" if is_ready else "False",
        "reason": "RolledOut" if is_ready else "RollingOut",
        "lastTransitionTime": True,
    }
    inlined = _status(deployment.get("status", {}))
    return {
        **inlined,
        "observedGeneration": app["metadata"]["generation"],
        "conditions": {**inlined["conditions"], "Ready": ready},
    }


def _child_metadata(app: Json) -> Json:
    owner = {
        "apiVersion": app["apiVersion"],
        "kind": app["kind"],
        "name": app["metadata"]["name"],
        "uid": app["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {"labels": {NAME_LABEL: app["metadata"]["name"]}, "ownerReferences": [owner]}


def _container_ports(ports: Sequence[Json]) -> Sequence[Json]:
    """The container ports; all target ports here are distinct numbers."""
    return [
        {"containerPort": port["targetPort"], "protocol": port.get("protocol", "TCP")}
        for port in ports
    ]


def _owner_fields(child: Json) -> Json:
    """The fields of a child that its owner sets."""
    metadata = dict(child["metadata"])
    # The Deployment controller sets this annotation.
    annotations = {**metadata.pop("annotations", {})}
    annotations.pop(REVISION, None)
    if annotations:
        metadata["annotations"] = annotations
    given = {name: metadata[name] for name in OWNER_METADATA if name in metadata}
    return {"metadata": given, "spec": _without_empty_times(child["spec"])}


def _without_empty_times(spec: Json) -> Json:
    """The spec without the empty creationTimestamp that some clients send."""
    template = spec.get("template")
    if template is None or "creationTimestamp" not in template["metadata"]:
        return spec
    metadata = {
        name: value for name, value in template["metadata"].items() if name != "creationTimestamp"
    }
    return {**spec, "template": {**template, "metadata": metadata}}


def _service_owner_fields(service: Json) -> Json:
    given = _owner_fields(service)
    chosen = ("clusterIP", "clusterIPs")
    spec = {name: value for name, value in given["spec"].items() if name not in chosen}
    spec["ports"] = [
        {name: value for name, value in port.items() if name != "nodePort"}
        for port in given["spec"]["ports"]
    ]
    return {**given, "spec": spec}


def _status(status: Json) -> Json:
    """A status with its conditions by type, without the time and an empty message of Ready."""
    conditions = {each["type"]: dict(each) for each in status.get("conditions", ())}
    if ready := conditions.get("Ready"):
        if not ready.get("message"):
            ready.pop("message", None)
        ready["lastTransitionTime"] = bool(ready.get("lastTransitionTime"))
    return {**status, "conditions": conditions}


def _is_rolled_out(deployment: Json) -> bool:
    """Whether the Deployment controller has created all Pods, which never become ready here."""
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    is_seen: bool = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return is_seen and status.get("replicas", 0) == status.get("updatedReplicas", 0) == wanted


def _differences(where: str, wanted: Any, found: Any) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name in sorted({*wanted, *found}):
            yield from _differences(
                f"{where}.{name}", wanted.get(name, MISSING), found.get(name, MISSING)
            )
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (mine, theirs) in enumerate(zip(wanted, found, strict=True)):
            yield from _differences(f"{where}[{number}]", mine, theirs)
    elif wanted != found:
        yield f"{where}: {found!r} instead of {wanted!r}"
