"""Scenarios of webhooks that respond."""

import json
from typing import Any

from tests.real.webhook_comparison import APPLY, MERGE, Scenario, Stage, until
from tests.webhook_server import RawReply, allow, deny, patch


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


def encoded(document: Any) -> bytes:
    return json.dumps(document).encode()


def pod(name: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "nothing"}]},
    }


def both_kinds(stage: Stage) -> None:
    stage.configure("mutating", stage.webhook("first"))
    stage.configure("validating", stage.webhook("second"))


def every_write(stage: Stage) -> None:
    both_kinds(stage)
    maps = f"{stage.namespace_path}/configmaps"

    stage.step("POST", f"{maps}?fieldManager=me&fieldValidation=Strict", config_map("a", x="y"))
    generated = {"metadata": {"generateName": "made-up-", "uid": "mine"}}
    stage.step("POST", f"{maps}?dryRun=All", generated)
    stage.step("PUT", f"{maps}/a?fieldManager=me", config_map("a", x="z"))
    stage.step("PATCH", f"{maps}/a?fieldManager=you", {"data": {"x": "w"}}, sends=MERGE)
    stage.step("PATCH", f"{maps}/a?fieldManager=you", {"data": {"x": "w"}}, sends=MERGE)
    applied = {"apiVersion": "v1", "kind": "ConfigMap", **config_map("b", x="y")}
    for _ in range(2):
        stage.step("PATCH", f"{maps}/b?fieldManager=me&force=true", applied, sends=APPLY)
    stage.step("PUT", f"{maps}/b", {"metadata": {"name": "b", "resourceVersion": "1"}})
    stage.step("DELETE", f"{maps}/b", {"preconditions": {"resourceVersion": "1"}})
    stage.step("DELETE", f"{maps}/b", {"propagationPolicy": "Background"})
    stage.step("DELETE", f"{maps}/b")


def finalizers(stage: Stage) -> None:
    both_kinds(stage)
    maps = f"{stage.namespace_path}/configmaps"

    held = {"metadata": {"name": "held", "finalizers": ["example.com/held"]}}
    stage.step("POST", maps, held)
    stage.step("DELETE", f"{maps}/held")
    stage.step("DELETE", f"{maps}/held?propagationPolicy=Foreground")
    stage.step("PATCH", f"{maps}/held", {"metadata": {"finalizers": None}}, sends=MERGE)


def pods(stage: Stage) -> None:
    both_kinds(stage)
    pods = f"{stage.namespace_path}/pods"

    stage.step("POST", pods, pod("a"))
    stage.step("PATCH", f"{pods}/a/status", {"status": {"phase": "Running"}}, sends=MERGE)
    binding = {"metadata": {"name": "a"}, "target": {"name": "node"}}
    stage.step("POST", f"{pods}/a/binding", binding)
    stage.step("DELETE", f"{pods}/a?gracePeriodSeconds=20")
    stage.step("DELETE", f"{pods}/a")
    stage.step("DELETE", f"{pods}/a?gracePeriodSeconds=0")
    stage.step("POST", f"{stage.namespace_path}/bindings", binding)
    for name in ("b", "c"):
        stage.send("POST", pods, pod(name))
    stage.step("DELETE", f"{pods}/b")
    stage.step("POST", f"{pods}/c/eviction", {"metadata": {"name": "c"}})


def budgets(stage: Stage) -> None:
    labels = {"app": "a"}
    path = f"{stage.group_path('policy/v1')}/poddisruptionbudgets"
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
    stage.send("POST", path, {"metadata": {"name": "a"}, "spec": spec})
    numbers = {"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1}
    status = {"status": {"observedGeneration": 1, **numbers}}
    assert stage.send("PATCH", f"{path}/a/status", status, sends=MERGE)[0] == 200
    labelled = {**pod("a"), "metadata": {"name": "a", "labels": labels}}
    stage.send("POST", f"{stage.namespace_path}/pods", labelled)
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    stage.send("PATCH", f"{stage.namespace_path}/pods/a/status", {"status": running}, sends=MERGE)
    both_kinds(stage)

    stage.step("POST", f"{stage.namespace_path}/pods/a/eviction", {"metadata": {"name": "a"}})


def collections(stage: Stage) -> None:
    both_kinds(stage)
    maps = f"{stage.namespace_path}/configmaps"
    for name in ("a", "b", "c"):
        labelled = {"metadata": {"name": name, "labels": {"which": name}}}
        assert stage.send("POST", maps, labelled)[0] == 201

    stage.step("DELETE", f"{maps}?labelSelector=which in (a,b)".replace(" ", "%20"))
    stage.hooks.scripts["second"] = deny("not this one")
    stage.step("DELETE", f"{maps}?labelSelector=which")


def scales(stage: Stage) -> None:
    both_kinds(stage)
    deployments = f"{stage.group_path('apps/v1')}/deployments"
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod("a")["spec"]}
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template}
    stage.step("POST", f"{deployments}?fieldManager=me", {"metadata": {"name": "a"}, "spec": spec})

    scale = {"metadata": {"name": "a"}, "spec": {"replicas": 2}}
    stage.step("PUT", f"{deployments}/a/scale?fieldManager=you", scale)
    three = {"spec": {"replicas": 3}}
    stage.step("PATCH", f"{deployments}/a/scale?fieldManager=you", three, sends=MERGE)
    stage.hooks.scripts["first"] = patch({"op": "replace", "path": "/spec/replicas", "value": 7})
    stage.step("PATCH", f"{deployments}/a/scale?fieldManager=you", three, sends=MERGE)
    stage.step("GET", f"{deployments}/a")


def reviews_and_tokens(stage: Stage) -> None:
    both_kinds(stage)

    stage.step("POST", f"{stage.namespace_path}/serviceaccounts", {"metadata": {"name": "a"}})
    stage.hooks.scripts["second"] = deny("no tokens")
    stage.step("POST", f"{stage.namespace_path}/serviceaccounts/a/token", {})
    stage.hooks.scripts["second"] = allow
    wanted = {"namespace": stage.namespace, "verb": "get", "resource": "pods"}
    stage.step(
        "POST",
        f"{stage.group_path('authorization.k8s.io/v1')}/localsubjectaccessreviews",
        {"spec": {"user": "x", "resourceAttributes": wanted}},
    )


def created_by_update(stage: Stage) -> None:
    both_kinds(stage)
    lease = f"{stage.group_path('coordination.k8s.io/v1')}/leases/a"

    stage.step("PUT", f"{lease}?fieldManager=me&dryRun=All", {"metadata": {"name": "a"}})
    stage.step("PUT", lease, {"metadata": {"name": "a"}})
    stage.step("PUT", lease, {"metadata": {"name": "a"}, "spec": {"holderIdentity": "me"}})


def namespaces(stage: Stage) -> None:
    name = f"{stage.namespace}-own"
    own = {"matchLabels": {"scenario": name}}
    stage.configure("mutating", stage.webhook("first", namespaceSelector=own))
    stage.configure(
        "validating",
        stage.webhook("second", objectSelector=own, namespaceSelector={}),
        stage.webhook(
            "third",
            namespaceSelector=own,
            rules=[
                {
                    "operations": ["*"],
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["*"],
                    "scope": "Namespaced",
                }
            ],
        ),
    )
    metadata = {"name": name, "labels": {"scenario": name}}

    stage.step("POST", "/api/v1/namespaces", {"metadata": metadata})
    labelled = {"metadata": {"labels": {"more": "labels"}}}
    stage.step("PATCH", f"/api/v1/namespaces/{name}", labelled, sends=MERGE)
    stage.step("POST", f"/api/v1/namespaces/{name}/configmaps", config_map("a"))
    stage.step("DELETE", f"/api/v1/namespaces/{name}")
    stage.step("DELETE", f"/api/v1/namespaces/{name}")
    stage.step("POST", f"/api/v1/namespaces/{name}/configmaps", config_map("b"))
    stage.step("POST", f"/api/v1/namespaces/{name}-not/configmaps", config_map("b"))
    finalized = {"metadata": metadata, "spec": {}}
    stage.step("PUT", f"/api/v1/namespaces/{name}/finalize", finalized)


def cluster_scoped_objects(stage: Stage) -> None:
    labelled = {"matchLabels": {"scenario": stage.namespace}}
    stage.configure("validating", stage.webhook("first", objectSelector=labelled))
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    metadata = {"name": stage.namespace, "labels": {"scenario": stage.namespace}}

    stage.step("POST", roles, {"metadata": metadata})
    stage.step("PUT", f"{roles}/{stage.namespace}", {"metadata": {"name": stage.namespace}})
    stage.step("PUT", f"{roles}/{stage.namespace}", {"metadata": {"name": stage.namespace}})
    stage.step("DELETE", f"{roles}/{stage.namespace}")
    own = {"metadata": metadata, "webhooks": []}
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    stage.step("POST", path, own)
    stage.step("DELETE", f"{path}/{stage.namespace}")


def webhook_order_and_reinvocation(stage: Stage) -> None:
    def adds(name: str) -> Any:
        def script(review: Any) -> Any:
            annotations = review["request"]["object"]["metadata"].get("annotations")
            first = (
                [] if annotations else [{"op": "add", "path": "/metadata/annotations", "value": {}}]
            )
            seen = ",".join(sorted(annotations or {}))
            add = {"op": "add", "path": f"/metadata/annotations/{name}", "value": seen}
            return patch(*first, add)(review)

        return script

    stage.configure(
        "mutating",
        stage.webhook("c", adds("c")),
        stage.webhook("a", adds("a"), reinvocationPolicy="IfNeeded"),
        stage.webhook("only-c", objectSelector={"matchLabels": {"never": "matches"}}),
        name="early",
    )
    stage.configure(
        "mutating",
        stage.webhook("b", adds("b"), reinvocationPolicy="IfNeeded"),
        stage.webhook("d", adds("d")),
        name="late",
    )

    stage.step("POST", f"{stage.namespace_path}/configmaps", config_map("a"))
    stage.step("POST", f"{stage.namespace_path}/pods", pod("a"))


def versions(stage: Stage) -> None:
    def rule(group: str, version: str, resource: str) -> list[Any]:
        return [
            {
                "operations": ["*"],
                "apiGroups": [group],
                "apiVersions": [version],
                "resources": [resource],
            }
        ]

    scaler = rule("autoscaling", "v1", "horizontalpodautoscalers")
    event = rule("events.k8s.io", "v1", "events")
    change = patch({"op": "add", "path": "/metadata/labels", "value": {"changed": "yes"}})
    stage.configure(
        "mutating",
        stage.webhook("old", change, rules=scaler),
        stage.webhook("exact", rules=scaler, matchPolicy="Exact"),
    )
    stage.configure(
        "validating",
        stage.webhook("older", rules=scaler),
        stage.webhook("event", rules=event),
    )
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    target = {"type": "Utilization", "averageUtilization": 5}
    spec = {
        "maxReplicas": 3,
        "scaleTargetRef": reference,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }

    stage.step(
        "POST",
        f"{stage.group_path('autoscaling/v2')}/horizontalpodautoscalers?fieldManager=me",
        {"metadata": {"name": "a"}, "spec": spec},
    )
    event_body = {"metadata": {"name": "a"}, "involvedObject": {"namespace": stage.namespace}}
    stage.step("POST", f"{stage.namespace_path}/events?fieldManager=me", event_body)


def dry_runs(stage: Stage) -> None:
    stage.configure(
        "validating",
        stage.webhook("some", sideEffects="NoneOnDryRun"),
        stage.webhook(
            "all",
            sideEffects="None",
            admissionReviewVersions=["v2", "v1beta1", "v1"],
        ),
    )
    maps = f"{stage.namespace_path}/configmaps"

    stage.step("POST", f"{maps}?dryRun=All", config_map("a"))
    stage.hooks.scripts["all"] = lambda _: RawReply(
        body=encoded({"response": {"allowed": False, "status": {"message": "an old way"}}})
    )
    stage.step("POST", maps, config_map("a"))


def custom_resources(stage: Stage) -> None:
    group = f"{stage.namespace}.example.com"
    properties = {
        "size": {"type": "integer", "default": 3},
        "color": {"type": "string", "default": "red"},
        "parts": {"type": "array", "items": {"type": "string"}},
    }
    object_schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": properties},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}

    def version(name: str, *, storage: bool) -> dict[str, Any]:
        return {
            "name": name,
            "served": True,
            "storage": storage,
            "schema": {"openAPIV3Schema": object_schema},
            "subresources": {"status": {}, "scale": scale},
        }

    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    definition = {
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced",
            "versions": [version("v1", storage=True), version("v2", storage=False)],
        },
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert stage.send("POST", definitions, definition)[0] == 201
    things = f"{stage.group_path(f'{group}/v1')}/things"
    until(lambda: stage.send("GET", things)[0] == 200)
    until(lambda: stage.send("GET", things.replace("/v1/", "/v2/"))[0] == 200)
    rule = {
        "operations": ["*"],
        "apiGroups": [group],
        "apiVersions": ["v2"],
        "resources": ["things", "things/*"],
    }
    stage.configure("mutating", stage.webhook("first", rules=[rule]))
    stage.configure("validating", stage.webhook("second", rules=[rule]))

    def thing(name: str, **spec: Any) -> dict[str, Any]:
        head = {"apiVersion": f"{group}/v1", "kind": "Thing"}
        return {**head, "metadata": {"name": name}, "spec": spec}

    stage.step("POST", f"{things}?fieldManager=me", thing("a", color="blue", unknown="x"))
    stage.hooks.scripts["first"] = patch(
        {"op": "replace", "path": "/spec", "value": {"size": 7}},
    )
    stage.step("POST", f"{things}?fieldManager=me", thing("b", color="blue"))
    stage.hooks.scripts["first"] = patch(
        {"op": "replace", "path": "/spec", "value": {"size": 7, "unknown": "x"}},
        {"op": "add", "path": "/more", "value": "unknown"},
    )
    second = {**thing("d", color="blue"), "apiVersion": f"{group}/v2"}
    stage.step("POST", things.replace("/v1/", "/v2/"), second)
    stage.hooks.scripts["first"] = patch({"op": "add", "path": "/spec/size", "value": "many"})
    stage.step("POST", things, thing("c"))
    stage.hooks.scripts["first"] = patch({"op": "replace", "path": "/kind", "value": "Other"})
    stage.step("POST", things, thing("c"))
    stage.hooks.scripts["first"] = allow
    status = {"status": {"size": 2}}
    stage.step("PATCH", f"{things}/a/status?fieldManager=me", status, sends=MERGE)
    size = {"spec": {"replicas": 5}}
    stage.step("PATCH", f"{things}/a/scale?fieldManager=me", size, sends=MERGE)
    stage.step("DELETE", f"{things}/a")
    stage.send("DELETE", f"{definitions}/things.{group}")


def unknown_fields(stage: Stage) -> None:
    """A mutated object is not pruned before it is stored."""
    group = f"{stage.namespace}.example.com"
    parts = {name: {"type": "object"} for name in ("spec", "status")}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": parts}},
        "subresources": {"status": {}},
    }
    names = {"plural": "things", "kind": "Thing"}
    definition = {
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [version]},
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert stage.send("POST", definitions, definition)[0] == 201
    things = f"{stage.group_path(f'{group}/v1')}/things"
    until(lambda: stage.send("GET", things)[0] == 200)
    rule = {"operations": ["*"], "apiGroups": [group], "apiVersions": ["*"], "resources": ["*/*"]}
    stage.configure("mutating", stage.webhook("first", rules=[rule]))

    def patch_twice(path: str) -> None:
        for _ in range(2):
            stage.step("PATCH", f"{path}?fieldManager=me", {}, sends=MERGE)

    body = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "a"}}
    stage.hooks.scripts["first"] = patch({"op": "add", "path": "/spec", "value": {"lost": 1}})
    stage.step("POST", f"{things}?fieldManager=me", body)
    patch_twice(f"{things}/a")
    stage.hooks.scripts["first"] = allow
    patch_twice(f"{things}/a")
    stage.hooks.scripts["first"] = patch({"op": "add", "path": "/status", "value": {"lost": 1}})
    patch_twice(f"{things}/a/status")
    patch_twice(f"{things}/a")
    stage.hooks.scripts["first"] = allow
    patch_twice(f"{things}/a")
    stage.send("DELETE", f"{definitions}/things.{group}")


SCENARIOS: tuple[Scenario, ...] = (
    every_write,
    finalizers,
    pods,
    budgets,
    collections,
    scales,
    reviews_and_tokens,
    created_by_update,
    namespaces,
    cluster_scoped_objects,
    webhook_order_and_reinvocation,
    versions,
    dry_runs,
    custom_resources,
    unknown_fields,
)
