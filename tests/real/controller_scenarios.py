"""Scenarios for Kubernetes' own controllers, and the resulting states."""

import json
import re
import threading
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from steersman.clock import SystemClock
from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.calls import HttpCaller, HttpResponse
from tests.real.kubectl_sessions.kubelet import NODE

Object: TypeAlias = dict[str, Any]

MERGE = "application/merge-patch+json"
# Longer than any controller takes, even on a busy machine.
MAX_POLLS = 600
POLL_SECONDS = 0.1

# Values that differ between two servers.
_RANDOM_VALUES = {
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"): "<time>",
    re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"): "<uid>",
    re.compile(r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])"): "<generated>",
    re.compile(r"\b10\.0\.\d+\.\d+\b"): "<address>",
    re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----"): "<certificate>",
    # The name of a CronJob's Job contains the minute.
    re.compile(r"(?<=late-)\d{8}"): "<minute>",
}

_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"

RECORDED_PATHS = (
    "/api/v1/{}/configmaps",
    "/api/v1/{}/endpoints",
    "/api/v1/{}/persistentvolumeclaims",
    "/api/v1/{}/pods",
    "/api/v1/{}/resourcequotas",
    "/api/v1/{}/serviceaccounts",
    "/apis/apps/v1/{}/controllerrevisions",
    "/apis/apps/v1/{}/daemonsets",
    "/apis/apps/v1/{}/deployments",
    "/apis/apps/v1/{}/replicasets",
    "/apis/apps/v1/{}/statefulsets",
    "/apis/autoscaling/v2/{}/horizontalpodautoscalers",
    "/apis/batch/v1/{}/cronjobs",
    "/apis/batch/v1/{}/jobs",
    "/apis/discovery.k8s.io/v1/{}/endpointslices",
    "/apis/policy/v1/{}/poddisruptionbudgets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A namespace of a cluster with controllers, and with a substitute for kubelets."""

    server: HttpCaller
    namespace: str

    def at(self, path: str) -> str:
        """A path in this namespace: ``apps/v1/deployments/web``."""
        group, version, rest = ["", *path.split("/", 1)] if path[:1] == "v" else path.split("/", 2)
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        return f"{root}/namespaces/{self.namespace}/{rest}"

    def create(self, path: str, obj: Object) -> Object:
        """Create an object."""
        return self._checked(self.server.call("POST", self.at(path), obj))

    def patch(self, path: str, patch: Object) -> Object:
        """Change an object."""
        return self._checked(self.server.call("PATCH", self.at(path), patch, sends=MERGE))

    def delete(self, path: str, **options: object) -> None:
        """Delete an object."""
        self._checked(self.server.call("DELETE", self.at(path), options))

    def get(self, path: str) -> Object | None:
        """The object, or None if it does not exist."""
        response = self.server.call("GET", self.at(path))
        return None if response.status == 404 else self._checked(response)

    def items(self, path: str) -> list[Object]:
        """List the objects of a kind."""
        return list(self._checked(self.server.call("GET", self.at(path)))["items"])

    def until(self, description: str, condition: Callable[[], object]) -> None:
        """Wait until the controllers have caused the condition."""
        pause = threading.Event()
        for _ in range(MAX_POLLS):
            if condition():
                return
            pause.wait(POLL_SECONDS)
        raise AssertionError(f"timed out until {description}\n{json.dumps(self.state(), indent=1)}")

    def until_status(self, path: str, **wanted: object) -> None:
        """Wait until an object's status has these fields."""

        def condition() -> bool:
            obj = self.get(path) or {}
            status, generation = obj.get("status", {}), obj.get("metadata", {}).get("generation")
            observed = status.get("observedGeneration", generation)
            return observed == generation and all(
                status.get(name, 0) == value for name, value in wanted.items()
            )

        self.until(f"{path} has {wanted}", condition)

    def state(self) -> Object:
        """All objects in the namespace, without values that differ between clusters."""
        found: Object = {}
        for path in RECORDED_PATHS:
            response = self.server.call("GET", path.format(f"namespaces/{self.namespace}"))
            kind = path.rpartition("/")[2]
            objects = [
                _normalized(each, self.namespace) for each in self._checked(response)["items"]
            ]
            found[kind] = sorted(objects, key=lambda each: json.dumps(each, sort_keys=True))
        return found

    def _checked(self, response: HttpResponse) -> Object:
        assert response.status < 300, response.body
        done: Object = response.json()
        return done


def _normalized(obj: Object, namespace: str) -> Object:
    text = json.dumps(obj).replace(namespace, "<namespace>")
    for pattern, replacement in _RANDOM_VALUES.items():
        text = pattern.sub(replacement, text)
    normalized: Object = json.loads(text)
    metadata = normalized["metadata"]
    for name in ("resourceVersion", "uid"):
        metadata.pop(name, None)
    if "hard" in normalized.get("spec", {}):
        # The real server also counts the usage of a quota, so the last writer is random.
        metadata.pop("managedFields", None)
    if "endpoints" in normalized:
        # The number of Pod changes that the controller receives at once is random, and so is the
        # name of the first.
        metadata.pop("generation", None)
    if "endpoints" in normalized or "subsets" in normalized:
        annotations = metadata.pop("annotations", {})
        annotations.pop(_TRIGGER, None)
        metadata |= {"annotations": annotations} if annotations else {}
        for each in normalized.get("subsets") or ():
            for part in ("addresses", "notReadyAddresses"):
                each.get(part, []).sort(key=json.dumps)
    status = normalized.get("status") or {}
    for parts in (
        metadata.get("managedFields"),
        normalized.get("endpoints"),
        status.get("conditions"),
    ):
        if parts:
            parts.sort(key=lambda each: json.dumps(each, sort_keys=True))
    return normalized


def template(**labels: str) -> Object:
    """The spec of a Pod that never completes."""
    container = {"name": "main", "image": "image:1"}
    return {"metadata": {"labels": labels}, "spec": {"containers": [container]}}


def workload(name: str, **spec: object) -> Object:
    """The common fields of Deployments, StatefulSets, ReplicaSets and DaemonSets."""
    pods = {"selector": {"matchLabels": {"app": name}}, "template": template(app=name)}
    return {"metadata": {"name": name}, "spec": {**pods, **spec}}


def image(version: int) -> Object:
    """A patch that starts a rollout."""
    containers = [{"name": "main", "image": f"image:{version}"}]
    return {"spec": {"template": {"spec": {"containers": containers}}}}


def make_node(cluster: ControlPlane) -> None:
    """Create the node of the simulated kubelet."""
    with cluster.caller() as server:
        node = {"metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}}}
        assert server.call("POST", "/api/v1/nodes", node).status == 201
        ready = {"type": "Ready", "status": "True", "reason": "StandIn", "message": ""}
        capacity = {"cpu": "8", "memory": "8Gi", "pods": "100"}
        status = {"conditions": [ready], "capacity": capacity, "allocatable": capacity}
        path = f"/api/v1/nodes/{NODE}/status"
        assert server.call("PATCH", path, {"status": status}, sends=MERGE).status == 200


def rollout(stage: Stage) -> None:
    """A Deployment starts, is rolled out, and rolled back; a Service and a budget follow it."""
    stage.create(
        "v1/services",
        {
            "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
        },
    )
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    stage.create("policy/v1/poddisruptionbudgets", {"metadata": {"name": "web"}, "spec": budget})
    stage.create("apps/v1/deployments", workload("web", replicas=2))
    stage.until_status("apps/v1/deployments/web", availableReplicas=2, updatedReplicas=2)
    for version in (2, 1):
        stage.patch("apps/v1/deployments/web", image(version))
        stage.until_status(
            "apps/v1/deployments/web", availableReplicas=2, updatedReplicas=2, replicas=2
        )
    stage.until(
        "the replica sets have revisions 2 and 3",
        lambda: (
            sorted(
                each["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
                for each in stage.items("apps/v1/replicasets")
            )
            == ["2", "3"]
        ),
    )
    stage.until_status("policy/v1/poddisruptionbudgets/web", currentHealthy=2, disruptionsAllowed=1)
    stage.until(
        "the slice has two ready endpoints",
        lambda: (
            [
                len([one for one in each["endpoints"] or () if one["conditions"]["ready"]])
                for each in stage.items("discovery.k8s.io/v1/endpointslices")
            ]
            == [2]
        ),
    )
    stage.until("only two pods are left", lambda: len(stage.items("v1/pods")) == 2)


def stateful_set(stage: Stage) -> None:
    """A StatefulSet starts in order, is scaled up, and is rolled out from the highest ordinal."""
    stage.create("apps/v1/statefulsets", workload("db", replicas=2, serviceName="db"))
    stage.until_status("apps/v1/statefulsets/db", availableReplicas=2)
    stage.patch("apps/v1/statefulsets/db", {"spec": {"replicas": 3}})
    stage.until_status("apps/v1/statefulsets/db", availableReplicas=3)
    stage.patch("apps/v1/statefulsets/db", image(2))
    stage.until_status("apps/v1/statefulsets/db", availableReplicas=3, updatedReplicas=3)
    stage.until(
        "the update is over",
        lambda: (
            (status := (stage.get("apps/v1/statefulsets/db") or {})["status"])["currentRevision"]
            == status["updateRevision"]
        ),
    )


def daemon_set(stage: Stage) -> None:
    """A DaemonSet has a Pod on the node, and another one after a rollout."""
    stage.create("apps/v1/daemonsets", workload("agent"))
    stage.until_status("apps/v1/daemonsets/agent", numberAvailable=1, desiredNumberScheduled=1)
    stage.patch("apps/v1/daemonsets/agent", image(2))
    stage.until_status("apps/v1/daemonsets/agent", numberAvailable=1, updatedNumberScheduled=1)


def jobs(stage: Stage) -> None:
    """Jobs complete; one is then deleted, and one is created by a late CronJob."""
    pods = template()
    pods["spec"]["restartPolicy"] = "Never"
    spec = {"template": pods, "completions": 2}
    stage.create("batch/v1/jobs", {"metadata": {"name": "done"}, "spec": spec})
    expiring = {**spec, "ttlSecondsAfterFinished": 0}
    stage.create("batch/v1/jobs", {"metadata": {"name": "passing"}, "spec": expiring})
    # Suspended until it is late, because a minute that ends meanwhile would start another Job.
    cron = {"schedule": "* * * * *", "jobTemplate": {"spec": spec}, "suspend": True}
    stage.create("batch/v1/cronjobs", {"metadata": {"name": "late"}, "spec": cron})
    before = SystemClock().now() - timedelta(seconds=90)
    last_time = f"{before:%Y-%m-%dT%H:%M:%SZ}"
    stage.patch("batch/v1/cronjobs/late/status", {"status": {"lastScheduleTime": last_time}})
    stage.patch("batch/v1/cronjobs/late", {"spec": {"suspend": False}})
    # Of several missed runs, only the last is started.
    stage.until("a job is created", lambda: len(stage.items("batch/v1/jobs")) == 3)
    # If it is suspended before the run is recorded, the run may never be recorded.
    stage.until(
        "the run is recorded",
        lambda: (
            (stage.get("batch/v1/cronjobs/late") or {})["status"]["lastScheduleTime"] != last_time
        ),
    )
    stage.patch("batch/v1/cronjobs/late", {"spec": {"suspend": True}})
    stage.until_status("batch/v1/jobs/done", succeeded=2)
    stage.until("the expired job is deleted", lambda: stage.get("batch/v1/jobs/passing") is None)
    stage.until(
        "all are complete",
        lambda: all(each["status"].get("completionTime") for each in stage.items("batch/v1/jobs")),
    )
    stage.until(
        "the cron job records the success",
        lambda: (stage.get("batch/v1/cronjobs/late") or {})["status"].get("lastSuccessfulTime"),
    )


def cascading_deletion(stage: Stage) -> None:
    """Owners are deleted with each of the three propagation policies."""
    for name in ("first", "behind", "alone"):
        stage.create("apps/v1/deployments", workload(name, replicas=1))
        stage.until_status(f"apps/v1/deployments/{name}", availableReplicas=1)
    stage.delete("apps/v1/deployments/first", propagationPolicy="Foreground")
    stage.delete("apps/v1/deployments/behind", propagationPolicy="Background")
    stage.delete("apps/v1/deployments/alone", propagationPolicy="Orphan")
    stage.until("the deployments are deleted", lambda: not stage.items("apps/v1/deployments"))
    stage.until("one set is left", lambda: len(stage.items("apps/v1/replicasets")) == 1)
    stage.until("one pod is left", lambda: len(stage.items("v1/pods")) == 1)
    stage.until(
        "the set has no owner",
        lambda: "ownerReferences" not in stage.items("apps/v1/replicasets")[0]["metadata"],
    )


def accounts(stage: Stage) -> None:
    """A deleted default ServiceAccount is recreated; a token Secret gets a valid token."""
    stage.until("the account exists", lambda: stage.get("v1/serviceaccounts/default"))
    stage.delete("v1/serviceaccounts/default")
    stage.until("the account is recreated", lambda: stage.get("v1/serviceaccounts/default"))
    stage.until("the root CA exists", lambda: stage.get("v1/configmaps/kube-root-ca.crt"))
    secret = {
        "metadata": {
            "name": "token",
            "annotations": {"kubernetes.io/service-account.name": "default"},
        },
        "type": "kubernetes.io/service-account-token",
    }
    stage.create("v1/secrets", secret)

    def token() -> str:
        found = (stage.get("v1/secrets/token") or {}).get("data", {}).get("token", "")
        return b64decode(found).decode()

    stage.until("the secret has a token", token)
    review = {"spec": {"token": token()}}
    reviewed = stage.server.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
    status = reviewed.json()["status"]
    assert status["user"]["username"] == f"system:serviceaccount:{stage.namespace}:default", status


def quota_and_autoscaler(stage: Stage) -> None:
    """A quota counts its usage, and an autoscaler reports that it has no metrics."""
    hard = {"pods": "5", "count/configmaps": "10", "requests.cpu": "2"}
    stage.create("v1/resourcequotas", {"metadata": {"name": "quota"}, "spec": {"hard": hard}})
    stage.until_status("v1/resourcequotas/quota", hard=hard)
    pods = template(app="counted")
    pods["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}}
    counted = workload("counted", replicas=2, template=pods)
    stage.create("apps/v1/replicasets", counted)
    used = {"pods": "2", "count/configmaps": "1", "requests.cpu": "1"}
    stage.until_status("v1/resourcequotas/quota", used=used)
    target = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "counted"}
    scaler = {"scaleTargetRef": target, "minReplicas": 3, "maxReplicas": 4}
    stage.create(
        "autoscaling/v2/horizontalpodautoscalers", {"metadata": {"name": "scaler"}, "spec": scaler}
    )
    stage.until_status("apps/v1/replicasets/counted", availableReplicas=3)
    used = {"pods": "3", "count/configmaps": "1", "requests.cpu": "1500m"}
    stage.until_status("v1/resourcequotas/quota", used=used)
    stage.until_status("autoscaling/v2/horizontalpodautoscalers/scaler", currentReplicas=3)


def volumes(stage: Stage) -> None:
    """A claim is bound to the matching volume, and is kept while a Pod uses it."""
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/nowhere"},
        "storageClassName": stage.namespace,
        "persistentVolumeReclaimPolicy": "Retain",
    }
    volume = {"metadata": {"name": f"volume-of-{stage.namespace}"}, "spec": spec}
    assert stage.server.call("POST", "/api/v1/persistentvolumes", volume).status == 201
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": stage.namespace,
    }
    stage.create("v1/persistentvolumeclaims", {"metadata": {"name": "claim"}, "spec": claim})
    stage.until_status("v1/persistentvolumeclaims/claim", phase="Bound")
    pod = template()
    pod["metadata"]["name"] = "user"
    pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}]
    stage.create("v1/pods", pod)
    stage.until_status("v1/pods/user", phase="Running")
    stage.delete("v1/persistentvolumeclaims/claim")
    stage.until(
        "the claim is being deleted",
        lambda: (
            "deletionTimestamp"
            in (stage.get("v1/persistentvolumeclaims/claim") or {}).get("metadata", {})
        ),
    )


def namespace_deletion(stage: Stage) -> None:
    """A namespace and its objects are deleted after the removal of the last finalizer."""
    stage.create("apps/v1/deployments", workload("web", replicas=1))
    stage.until_status("apps/v1/deployments/web", availableReplicas=1)
    blocked = {"metadata": {"name": "held", "finalizers": ["example.com/held"]}}
    stage.create("v1/configmaps", blocked)
    place = f"/api/v1/namespaces/{stage.namespace}"
    stage.server.call("DELETE", place)

    def namespace_condition(kind: str) -> Object:
        status = stage.server.call("GET", place).json().get("status", {})
        found = (each for each in status.get("conditions", ()) if each["type"] == kind)
        return next(found, {})

    stage.until(
        "the namespace reports the finalizer",
        lambda: (
            namespace_condition("NamespaceFinalizersRemaining").get("message")
            == "Some content in the namespace has finalizers remaining:"
            " example.com/held in 1 resource instances"
        ),
    )
    stage.until("the pods are deleted", lambda: not stage.items("v1/pods"))
    stage.patch("v1/configmaps/held", {"metadata": {"finalizers": None}})
    stage.until("the namespace is deleted", lambda: stage.server.call("GET", place).status == 404)


SCENARIOS = (
    rollout,
    stateful_set,
    daemon_set,
    jobs,
    cascading_deletion,
    accounts,
    quota_and_autoscaler,
    volumes,
    namespace_deletion,
)
