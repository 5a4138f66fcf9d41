"""Further controller scenarios: endpoints of Services, and decisions of autoscalers."""

import threading
from datetime import timedelta

from steersman.clock import SystemClock
from steersman_cluster.testing.calls import HttpCaller
from tests.real.controller_scenarios import (
    MAX_POLLS,
    POLL_SECONDS,
    Object,
    Stage,
    template,
    workload,
)


def endpoints(stage: Stage) -> None:
    """Services of every type with the same Pods, and one with manual endpoints."""
    ports = [
        {"name": "http", "port": 80, "targetPort": "web"},
        {"name": "admin", "port": 8081, "appProtocol": "example.com/admin"},
        {"name": "metrics", "port": 9090, "protocol": "UDP"},
        {"name": "nowhere", "port": 7, "targetPort": "nothing"},
    ]
    selector = {"selector": {"app": "web"}}
    services: dict[str, Object] = {
        "plain": {**selector, "ports": ports},
        "headless": {**selector, "clusterIP": "None"},
        "early": {**selector, "publishNotReadyAddresses": True, "ports": ports[:1]},
        "close": {**selector, "trafficDistribution": "PreferSameNode", "ports": ports[:2]},
        "missing": {"selector": {"app": "missing"}, "ports": ports[:1]},
        "by-hand": {"ports": ports[:1]},
        "outside": {"type": "ExternalName", "externalName": "example.com"},
    }
    for name, spec in services.items():
        metadata = {"name": name, "labels": {"type": name}}
        stage.create("v1/services", {"metadata": metadata, "spec": spec})
    by_hand = {
        "metadata": {"name": "by-hand", "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "subsets": [
            {
                "addresses": [{"ip": "192.0.2.1", "hostname": "one"}, {"ip": "fd00::1"}],
                "notReadyAddresses": [{"ip": "192.0.2.2"}],
                "ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 81}],
            }
        ],
    }
    stage.create("v1/endpoints", by_hand)
    pods = template(app="web")
    pods["spec"] |= {"hostname": "host", "subdomain": "headless"}
    pods["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 8080}]
    stage.create("apps/v1/replicasets", workload("web", replicas=2, template=pods))
    stage.until_status("apps/v1/replicasets/web", availableReplicas=2)

    def ready(name: str) -> int:
        return sum(
            each["conditions"]["ready"]
            for found in stage.items("discovery.k8s.io/v1/endpointslices")
            if found["metadata"]["labels"]["kubernetes.io/service-name"] == name
            for each in found["endpoints"] or ()
        )

    stage.until(
        "the endpoints are ready",
        lambda: all(ready(name) == 2 for name in ("plain", "headless", "early", "close")),
    )
    stage.until("the endpoints are mirrored", lambda: ready("by-hand") == 2)
    stage.patch("v1/services/plain", {"metadata": {"labels": {"type": "other"}}})
    stage.patch("v1/services/early", {"spec": {"ports": [{"name": "http", "port": 81}]}})
    stage.delete("v1/services/close")
    stage.until("the endpoints are deleted", lambda: stage.get("v1/endpoints/close") is None)
    stage.patch("apps/v1/replicasets/web", {"spec": {"replicas": 1}})
    stage.until("one endpoint is ready", lambda: ready("plain") == ready("headless") == 1)


def autoscaling_by_metrics(stage: Stage) -> None:
    """Autoscalers scale by metrics, which custom resources provide in place of a metrics server."""
    serve_pod_metrics(stage.server)
    for name, replicas in (("busy", 2), ("idle", 3)):
        pods = template(app=name)
        requests = {"cpu": "100m", "memory": "100Mi"}
        pods["spec"]["containers"][0]["resources"] = {"requests": requests}
        stage.create("apps/v1/replicasets", workload(name, replicas=replicas, template=pods))
        stage.until_status(f"apps/v1/replicasets/{name}", availableReplicas=replicas)
    later = f"{SystemClock().now() + timedelta(minutes=5):%Y-%m-%dT%H:%M:%SZ}"
    for pod in stage.items("v1/pods"):
        app = pod["metadata"]["labels"]["app"]
        usage = {"cpu": "85m" if app == "busy" else "1m", "memory": "50Mi"}
        metadata = {"name": pod["metadata"]["name"], "labels": {"app": app}}
        pod_metrics = {
            "apiVersion": "metrics.k8s.io/v1beta1",
            "kind": "PodMetrics",
            "metadata": metadata,
            "timestamp": later,
            "window": "15s",
            "containers": [{"name": "main", "usage": usage}],
        }
        stage.create("metrics.k8s.io/v1beta1/pods", pod_metrics)
    utilization = {"type": "Utilization", "averageUtilization": 50}
    cpu = {"name": "cpu", "target": utilization}
    memory = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "48Mi"}}
    metrics: list[Object] = [
        {"type": "Resource", "resource": memory},
        {"type": "ContainerResource", "containerResource": {**cpu, "container": "main"}},
        {"type": "Resource", "resource": cpu},
    ]
    for name in ("busy", "idle"):
        target = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name}
        spec = {"scaleTargetRef": target, "maxReplicas": 9, "metrics": metrics}
        metadata = {"name": name}
        stage.create(
            "autoscaling/v2/horizontalpodautoscalers", {"metadata": metadata, "spec": spec}
        )
    # The new Pods have no metrics, so the autoscaler scales no further.
    stage.until_status("apps/v1/replicasets/busy", availableReplicas=4)
    stage.until_status("autoscaling/v2/horizontalpodautoscalers/busy", currentReplicas=4)
    stage.until_status("autoscaling/v2/horizontalpodautoscalers/idle", currentReplicas=3)


def serve_pod_metrics(server: HttpCaller) -> None:
    """Serve the metrics API with a custom resource."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    metadata = {
        "name": "pods.metrics.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
    }
    names = {"plural": "pods", "kind": "PodMetrics", "listKind": "PodMetricsList"}
    spec = {
        "group": "metrics.k8s.io",
        "scope": "Namespaced",
        "names": names,
        "versions": [version],
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert server.call("POST", path, {"metadata": metadata, "spec": spec}).status in (201, 409)
    pause = threading.Event()
    for _ in range(MAX_POLLS):
        if server.call("GET", "/apis/metrics.k8s.io/v1beta1/pods").status == 200:
            return
        pause.wait(POLL_SECONDS)
    raise AssertionError("timed out until pod metrics are served")


# These run last, because other scenarios need a cluster without metrics.
SERVICE_SCENARIOS = (endpoints, autoscaling_by_metrics)
