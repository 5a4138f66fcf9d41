"""The lifecycles and subresources of Pods, Namespaces and Services."""

from collections.abc import Iterator

from tests.recorded.differential.corpus.kinds import JSON_PATCH, Place, builtin_kinds
from tests.recorded.differential.scenario import Changed, Json, Request, Scenario

IMAGE = "example.com/main:1"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about lifecycles."""
    yield _graceful_ends()
    yield _bound_pods()
    yield _other_pod_subresources()
    yield _namespaces()
    yield _service_addresses()
    yield _protected_claims()
    yield _dependents()
    yield _tokens()


def _pod(at: Place, short: str, **spec: Json) -> Json:
    return at.bare(short, spec={"containers": [{"name": "main", "image": IMAGE}], **spec})


def _graceful_ends() -> Scenario:
    at = Place(builtin_kinds()["core/v1/pods"], "graceful-ends")
    node = {"nodeName": "somewhere"}
    return at.scenario(
        at.create("unscheduled", _pod(at, "unscheduled")),
        at.delete("unscheduled-deleted", "unscheduled"),
        at.create("scheduled", _pod(at, "scheduled", **node)),
        at.delete("scheduled-deleted", "scheduled"),
        at.get("scheduled-remains", "scheduled"),
        at.delete("again", "scheduled"),
        # One second is the minimum; more would depend on the time since the first request.
        at.delete("sooner", "scheduled", {"gracePeriodSeconds": 1}),
        at.delete("later", "scheduled", {"gracePeriodSeconds": 500}),
        at.patch("changed-meanwhile", "scheduled", {"metadata": {"labels": {"a": "b"}}}),
        at.delete("at-once", "scheduled", {"gracePeriodSeconds": 0}),
        at.get("gone", "scheduled"),
        at.create("own-grace", _pod(at, "own-grace", terminationGracePeriodSeconds=7, **node)),
        at.delete("own-grace-deleted", "own-grace"),
        at.create(
            "held",
            {
                **_pod(at, "held", **node),
                "metadata": {"name": "held", "finalizers": ["example.com/hold"]},
            },
        ),
        at.delete("held-deleted", "held"),
        at.delete("held-at-once", "held", {"gracePeriodSeconds": 0}),
        at.get("held-remains", "held"),
        at.patch(
            "let-go", "held", [{"op": "remove", "path": "/metadata/finalizers"}], sends=JSON_PATCH
        ),
        at.get("held-gone", "held"),
        at.create("finished", _pod(at, "finished", **node)),
        at.patch("finishes", "finished", {"status": {"phase": "Succeeded"}}, sub="status"),
        at.delete("finished-deleted", "finished"),
        at.create("many", _pod(at, "many", **node)),
        at.delete("many-deleted", None),
        at.list("many-remain"),
        at.delete("many-at-once", None, None, {"gracePeriodSeconds": "0"}),
        at.list("none-remain"),
        at.watch("events", {"resourceVersion": "{{unscheduled.metadata.resourceVersion}}"}),
    )


def _bound_pods() -> Scenario:
    at = Place(builtin_kinds()["core/v1/pods"], "binding")

    def bind(name: str, body: Json, pod: str = "one") -> Request:
        return Request(name=name, method="POST", path=at.path(pod, sub="binding"), body=body)

    target = {"apiVersion": "v1", "kind": "Node", "name": "somewhere"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "one"}, "target": target}
    return at.scenario(
        at.create("created", _pod(at, "one")),
        bind("no-target", {**binding, "target": {}}),
        bind("other-kind", {**binding, "target": {**target, "kind": "Pod"}}),
        bind("missing-pod", {**binding, "metadata": {"name": "none"}}, pod="none"),
        bind("bound", binding),
        bind("bound-again", binding),
        at.get("scheduled", "one"),
        Request(
            name="through-bindings",
            method="POST",
            path=at.path().replace("/pods", "/bindings"),
            body=binding,
        ),
    )


def _other_pod_subresources() -> Scenario:
    at = Place(builtin_kinds()["core/v1/pods"], "subresources")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "one"}}
    extra = {"name": "debug", "image": IMAGE}
    return at.scenario(
        at.create("created", _pod(at, "one", nodeName="somewhere")),
        at.get("ephemeral", "one", sub="ephemeralcontainers"),
        at.patch(
            "ephemeral-added",
            "one",
            {"spec": {"ephemeralContainers": [extra]}},
            sub="ephemeralcontainers",
        ),
        at.patch(
            "ephemeral-removed",
            "one",
            {"spec": {"ephemeralContainers": []}},
            sub="ephemeralcontainers",
        ),
        at.get("resize", "one", sub="resize"),
        at.patch(
            "resized",
            "one",
            {
                "spec": {
                    "containers": [
                        {"name": "main", "image": IMAGE, "resources": {"requests": {"cpu": "1"}}}
                    ]
                }
            },
            sub="resize",
        ),
        at.update("status", "one", Changed("created", {"status": {"phase": "Odd"}}), sub="status"),
        at.patch(
            "running", "one", {"status": {"phase": "Running", "podIP": "10.1.2.3"}}, sub="status"
        ),
        at.patch(
            "bad-address", "one", {"status": {"podIP": "x", "podIPs": [{"ip": "x"}]}}, sub="status"
        ),
        at.list("by-phase", {"fieldSelector": "status.phase=Running"}),
        at.list("by-node", {"fieldSelector": "spec.nodeName=somewhere,status.phase!=Failed"}),
        at.list("by-restart", {"fieldSelector": "spec.restartPolicy=Always"}),
        at.list("by-address", {"fieldSelector": "status.podIP=10.1.2.3"}),
        at.list("by-image", {"fieldSelector": "spec.image=x"}),
        Request(
            name="evicted-dry",
            method="POST",
            path=at.path("one", sub="eviction"),
            body={**eviction, "deleteOptions": {"dryRun": ["All"]}},
        ),
        Request(name="evicted", method="POST", path=at.path("one", sub="eviction"), body=eviction),
        Request(
            name="evicted-missing",
            method="POST",
            path=at.path("none", sub="eviction"),
            body={**eviction, "metadata": {"name": "none"}},
        ),
    )


def _namespaces() -> Scenario:
    at = Place(builtin_kinds()["core/v1/namespaces"], "ends")
    inside = Place(builtin_kinds()["core/v1/configmaps"], "ends", within=at.name("one"))
    config_map = inside.bare("thing", data={})
    finalize = at.path("one", sub="finalize")
    return at.scenario(
        at.create("created", at.bare("one")),
        inside.create("inside", config_map),
        at.patch("labelled", "one", {"metadata": {"labels": {"a": "b"}}}),
        at.update("finalizers-kept", "one", Changed("labelled", {"spec.finalizers": []})),
        at.delete("deleted", "one"),
        at.get("terminating", "one"),
        at.delete("deleted-again", "one"),
        inside.create("nothing-new", inside.bare("late", data={})),
        inside.apply("nothing-applied", "later", inside.bare("later", data={})),
        inside.patch("still-changed", "thing", {"data": {"a": "1"}}),
        inside.get("still-read", "thing"),
        inside.delete("still-deleted", "thing"),
        at.patch("still-labelled", "one", {"metadata": {"labels": {"c": "d"}}}),
        Request(
            name="finalized",
            method="PUT",
            path=finalize,
            body=Changed(
                "terminating",
                {
                    "metadata.resourceVersion": "{{still-labelled.metadata.resourceVersion}}",
                    "spec.finalizers": [],
                },
            ),
        ),
        at.get("gone", "one"),
        inside.get("inside-gone", "thing"),
        inside.list("list-in-missing"),
        inside.create("create-in-missing", config_map),
        inside.delete("delete-in-missing", "thing"),
        Request(name="default", method="GET", path="/api/v1/namespaces/default"),
        Request(name="delete-default", method="DELETE", path="/api/v1/namespaces/default"),
        Request(name="delete-system", method="DELETE", path="/api/v1/namespaces/kube-system"),
        Request(name="delete-public", method="DELETE", path="/api/v1/namespaces/kube-public"),
    )


def _service_addresses() -> Scenario:
    at = Place(builtin_kinds()["core/v1/services"], "addresses")
    address = "10.0.123.45"

    def service(short: str, **spec: Json) -> Json:
        return at.bare(short, spec={"ports": [{"port": 80}], **spec})

    return at.scenario(
        at.create("chosen", service("chosen", clusterIP=address)),
        at.create("taken", service("taken", clusterIP=address)),
        at.create("dry", service("dry", clusterIP="10.0.123.46"), {"dryRun": "All"}),
        at.create("not-taken", service("not-taken", clusterIP="10.0.123.46")),
        at.delete("freed", "chosen"),
        at.create("free-again", service("free-again", clusterIP=address)),
        at.create(
            "port", service("port", type="NodePort", ports=[{"port": 80, "nodePort": 31234}])
        ),
        at.create(
            "port-taken",
            service("port-taken", type="NodePort", ports=[{"port": 80, "nodePort": 31234}]),
        ),
        at.create(
            "port-other-protocol",
            service(
                "udp", type="NodePort", ports=[{"port": 80, "nodePort": 31234, "protocol": "UDP"}]
            ),
        ),
        at.create(
            "two-ports",
            service(
                "two", type="NodePort", ports=[{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
            ),
        ),
        at.patch("kept", "two", {"metadata": {"labels": {"a": "b"}}}),
        at.delete("port-freed", "port"),
        at.create(
            "port-free-again",
            service("again", type="NodePort", ports=[{"port": 80, "nodePort": 31234}]),
        ),
        at.create("dual", service("dual", clusterIPs=["10.0.123.50", "fd00::1"])),
        at.create(
            "mismatch", service("mismatch", clusterIP="10.0.123.51", clusterIPs=["10.0.123.52"])
        ),
        at.patch(
            "load-balancer",
            "two",
            {"status": {"loadBalancer": {"ingress": [{"ip": "10.9.9.9"}]}}},
            sub="status",
        ),
        at.patch(
            "bad-load-balancer",
            "two",
            {"status": {"loadBalancer": {"ingress": [{"ip": "x"}]}}},
            sub="status",
        ),
    )


def _protected_claims() -> Scenario:
    at = Place(builtin_kinds()["core/v1/persistentvolumeclaims"], "protection")
    return at.scenario(
        at.create("created", at.object("one")),
        at.delete("deleted", "one"),
        at.get("remains", "one"),
        at.patch("let-go", "one", {"metadata": {"finalizers": None}}),
        at.get("gone", "one"),
    )


def _dependents() -> Scenario:
    at = Place(builtin_kinds()["core/v1/configmaps"], "dependents")
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": "{{owner.metadata.uid}}",
    }
    blocking = {**owner, "controller": True, "blockOwnerDeletion": True}
    return at.scenario(
        at.create("owner", at.bare("owner")),
        at.create("owned", at.bare("owned", {"ownerReferences": [blocking]})),
        at.create(
            "two-controllers",
            at.bare("two", {"ownerReferences": [blocking, {**blocking, "uid": "x"}]}),
        ),
        at.create("twice", at.bare("twice", {"ownerReferences": [owner, owner]})),
        at.delete("foreground", "owner", {"propagationPolicy": "Foreground"}),
        at.get("waits", "owner"),
        at.delete("background-after", "owner", {"propagationPolicy": "Background"}),
        at.get("after", "owner"),
        at.get("owned-after", "owned"),
        at.create("orphaning", at.bare("orphaning")),
        at.delete("orphan", "orphaning", {"orphanDependents": True}),
        at.get("orphan-after", "orphaning"),
        at.delete("orphan-then-background", "orphaning", {"orphanDependents": False}),
        at.get("orphan-gone", "orphaning"),
    )


def _tokens() -> Scenario:
    at = Place(builtin_kinds()["core/v1/serviceaccounts"], "tokens")
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    path = at.path("one", sub="token")
    return at.scenario(
        at.create("created", at.bare("one")),
        Request(
            name="token", method="POST", path=path, body={**request, "spec": {"audiences": ["x"]}}
        ),
        Request(
            name="short",
            method="POST",
            path=path,
            body={**request, "spec": {"expirationSeconds": 5}},
        ),
        Request(name="missing", method="POST", path=at.path("none", sub="token"), body=request),
    )
