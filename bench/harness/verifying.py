"""What must be so before a figure counts: the children and the status of every AppService.

Field by field, and nothing besides: an operator that leaves something out, or does more than
needed, has done other work than the rest. Pure: objects in, differences out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]

NAME_LABEL = "app.kubernetes.io/name"
MISSING = "nothing"

REVISION = "deployment.kubernetes.io/revision"
# What of an object's metadata is for its owner to say.
GIVEN = ("labels", "annotations", "ownerReferences", "finalizers")

# What the server adds to a Deployment and to its container, and to a Service.
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
    """Where the world is not what ``count`` AppServices ask for; nothing, if all is well.

    There may be ``or_more`` of them where an operator was stopped while creating some. Where none
    makes any, Deployments are not asked whether each ``has_pods``.
    """
    if len(apps) < count or (len(apps) > count and not or_more):
        yield f"there are {len(apps)} AppServices instead of {count}"
    for kind, children in (("Deployment", deployments), ("Service", services)):
        for name in children.keys() - apps.keys():
            yield f"{kind} {name} belongs to no AppService"
    for name, app in apps.items():
        yield from of_one(app, deployments.get(name), services.get(name), has_pods=has_pods)


def of_one(
    app: Json, deployment: Json | None, service: Json | None, *, has_pods: bool = True
) -> Iterator[str]:
    """The same, for one AppService."""
    name = app["metadata"]["name"]
    if service is None:
        yield f"Service {name}: is not there"
    else:
        yield from _unlike(f"Service {name}", wanted_service(app), _service_as_given(service))
    if deployment is None:
        yield f"Deployment {name}: is not there"
        return
    yield from _unlike(f"Deployment {name}", wanted_deployment(app), _as_given(deployment))
    if has_pods and not _is_rolled_out(deployment):
        yield f"Deployment {name}: has not all its Pods yet"
    yield from _unlike(
        f"AppService {name}: status", wanted_status(app, deployment), _status(app.get("status", {}))
    )


def wanted_deployment(app: Json) -> Json:
    """A Deployment for this AppService, without what the server and others say of it."""
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


def wanted_service(app: Json) -> Json:
    """A Service for this AppService, without the addresses and ports that the server chooses."""
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


def wanted_status(app: Json, deployment: Json) -> Json:
    """The Deployment's status, whether that is ready, and the generation that was looked at."""
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
    """Only targets that are numbers, which are different: no other AppServices are made here."""
    return [
        {"containerPort": port["targetPort"], "protocol": port.get("protocol", "TCP")}
        for port in ports
    ]


def _as_given(child: Json) -> Json:
    """What its owner said of a child, as far as one can tell."""
    metadata = dict(child["metadata"])
    # Not its owner's: the controller of Deployments counts them there.
    annotations = {**metadata.pop("annotations", {})}
    annotations.pop(REVISION, None)
    if annotations:
        metadata["annotations"] = annotations
    given = {name: metadata[name] for name in GIVEN if name in metadata}
    return {"metadata": given, "spec": _without_empty_times(child["spec"])}


def _without_empty_times(spec: Json) -> Json:
    """The same, without the time that some clients send although it was never set."""
    template = spec.get("template")
    if template is None or "creationTimestamp" not in template["metadata"]:
        return spec
    metadata = {
        name: value for name, value in template["metadata"].items() if name != "creationTimestamp"
    }
    return {**spec, "template": {**template, "metadata": metadata}}


def _service_as_given(service: Json) -> Json:
    given = _as_given(service)
    chosen = ("clusterIP", "clusterIPs")
    spec = {name: value for name, value in given["spec"].items() if name not in chosen}
    spec["ports"] = [
        {name: value for name, value in port.items() if name != "nodePort"}
        for port in given["spec"]["ports"]
    ]
    return {**given, "spec": spec}


def _status(status: Json) -> Json:
    """A status with its conditions by type, and without what is ours alone to say.

    A message that is empty is none; and each sees for itself since when it is ready, or not.
    """
    conditions = {each["type"]: dict(each) for each in status.get("conditions", ())}
    if ready := conditions.get("Ready"):
        if not ready.get("message"):
            ready.pop("message", None)
        ready["lastTransitionTime"] = bool(ready.get("lastTransitionTime"))
    return {**status, "conditions": conditions}


def _is_rolled_out(deployment: Json) -> bool:
    """Whether its own controller has made all the Pods; without a kubelet they never get ready."""
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    is_seen: bool = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return is_seen and status.get("replicas", 0) == status.get("updatedReplicas", 0) == wanted


def _unlike(where: str, wanted: Any, found: Any) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name in sorted({*wanted, *found}):
            yield from _unlike(
                f"{where}.{name}", wanted.get(name, MISSING), found.get(name, MISSING)
            )
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (mine, theirs) in enumerate(zip(wanted, found, strict=True)):
            yield from _unlike(f"{where}[{number}]", mine, theirs)
    elif wanted != found:
        yield f"{where}: {found!r} instead of {wanted!r}"
