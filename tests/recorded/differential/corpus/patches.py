"""Strategic merge patches and server-side apply, with list keys and several managers."""

from collections.abc import Iterator

from tests.recorded.differential.corpus.kinds import (
    JSON_PATCH,
    STRATEGIC_PATCH,
    Place,
    builtin_kinds,
)
from tests.recorded.differential.scenario import GONE, Changed, Json, Request, Scenario

IMAGE = "example.com/main:1"


def scenarios() -> Iterator[Scenario]:
    """Scenarios about patches and applies."""
    yield _strategic_of_deployments()
    yield _strategic_of_services()
    yield _strategic_of_pods()
    yield _strategic_of_small_things()
    yield _apply_of_deployments()
    yield _apply_of_services()
    yield _apply_and_other_writers()
    yield _apply_of_status()
    yield _apply_of_small_things()
    yield _managed_fields()


def _deployment(at: Place, *containers: Json, **spec: Json) -> Json:
    return at.bare(
        "one",
        spec={
            "selector": {"matchLabels": {"app": "x"}},
            "template": {
                "metadata": {"labels": {"app": "x"}},
                "spec": {"containers": list(containers) or [{"name": "main", "image": IMAGE}]},
            },
            **spec,
        },
    )


def _pod_template(**spec: Json) -> Json:
    return {"spec": {"template": {"spec": spec}}}


def _containers(*containers: Json) -> Json:
    return _pod_template(containers=list(containers))


def _strategic_of_deployments() -> Scenario:
    at = Place(builtin_kinds()["apps/v1/deployments"], "strategic")
    main = {
        "name": "main",
        "image": IMAGE,
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}],
        "args": ["a", "b"],
    }
    side = {"name": "side", "image": IMAGE}
    order = "$setElementOrder/containers"
    cases: dict[str, Json] = {
        "image": _containers({"name": "main", "image": "example.com/new:2"}),
        "add-container": _containers({"name": "third", "image": IMAGE}),
        "add-env": _containers({"name": "main", "env": [{"name": "C", "value": "3"}]}),
        "change-env": _containers({"name": "main", "env": [{"name": "A", "value": "9"}]}),
        "delete-env": _containers({"name": "main", "env": [{"name": "B", "$patch": "delete"}]}),
        "replace-env": _containers(
            {"name": "main", "env": [{"name": "Z", "value": "1"}, {"$patch": "replace"}]}
        ),
        "atomic-args": _containers({"name": "main", "args": ["c"]}),
        "null-args": _containers({"name": "main", "args": None}),
        "change-port": _containers(
            {"name": "main", "ports": [{"containerPort": 80, "name": "http"}]}
        ),
        "delete-port": _containers(
            {"name": "main", "ports": [{"containerPort": 81, "$patch": "delete"}]}
        ),
        "delete-container": _containers({"name": "third", "$patch": "delete"}),
        "order": {"spec": {"template": {"spec": {order: [{"name": "side"}, {"name": "main"}]}}}},
        "order-and-change": {
            "spec": {
                "template": {
                    "spec": {
                        order: [{"name": "main"}, {"name": "new"}, {"name": "side"}],
                        "containers": [{"name": "new", "image": IMAGE}],
                    }
                }
            }
        },
        "order-incomplete": {
            "spec": {
                "template": {
                    "spec": {
                        order: [{"name": "side"}],
                        "containers": [{"name": "main", "image": IMAGE}],
                    }
                }
            }
        },
        "retain-keys": {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        "retain-keys-bad": {
            "spec": {"strategy": {"$retainKeys": ["type"], "rollingUpdate": {"maxSurge": 1}}}
        },
        "merge-into-strategy": {
            "spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}}
        },
        "replace-strategy": {"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}},
        "delete-map": {"spec": {"template": {"metadata": {"annotations": {"$patch": "delete"}}}}},
        "volumes": _pod_template(
            volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "x"}}]
        ),
        "volume-source-changes": _pod_template(
            volumes=[{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]
        ),
        "volume-without-retain": _pod_template(volumes=[{"name": "w", "emptyDir": {}}]),
        "tolerations": _pod_template(tolerations=[{"key": "a", "operator": "Exists"}]),
        "pull-secrets": _pod_template(imagePullSecrets=[{"name": "x"}]),
        "more-pull-secrets": _pod_template(imagePullSecrets=[{"name": "y"}]),
        "no-merge-key": _containers({"image": IMAGE}),
        "bad-directive": _containers({"name": "main", "$patch": "guess"}),
        "unknown-directive": {"spec": {"$odd": 1}},
        "replicas-null": {"spec": {"replicas": None}},
        "wrong-type": {"spec": {"replicas": "x"}},
        "list-for-map": {"spec": []},
        "invalid": {"spec": {"replicas": -1}},
        "unknown-field": {"spec": {"surprise": 1}},
        "nothing": {},
        "not-json": "x",
    }
    return at.scenario(
        at.create("created", _deployment(at, main, side)),
        *(at.patch(case, "one", body, sends=STRATEGIC_PATCH) for case, body in cases.items()),
        at.get("at-last", "one"),
    )


def _strategic_of_services() -> Scenario:
    at = Place(builtin_kinds()["core/v1/services"], "strategic")
    cases: dict[str, Json] = {
        "change-port": {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}},
        "add-port": {"spec": {"ports": [{"port": 81, "name": "b"}]}},
        "delete-port": {"spec": {"ports": [{"port": 81, "$patch": "delete"}]}},
        "selector": {"spec": {"selector": {"app": None, "tier": "x"}}},
        "to-node-port": {"spec": {"type": "NodePort"}},
        "order": {
            "spec": {
                "$setElementOrder/ports": [{"port": 82}, {"port": 80}],
                "ports": [{"port": 82, "name": "c"}],
            }
        },
    }
    return at.scenario(
        at.create(
            "created",
            at.bare("one", spec={"selector": {"app": "x"}, "ports": [{"port": 80, "name": "a"}]}),
        ),
        *(at.patch(case, "one", body, sends=STRATEGIC_PATCH) for case, body in cases.items()),
    )


def _strategic_of_pods() -> Scenario:
    at = Place(builtin_kinds()["core/v1/pods"], "strategic")
    conditions = [{"type": "Ready", "status": "True"}, {"type": "Odd", "status": "False"}]
    cases: dict[str, tuple[Json, str]] = {
        "image": ({"spec": {"containers": [{"name": "main", "image": "example.com/new:2"}]}}, ""),
        "refused": ({"spec": {"containers": [{"name": "other", "image": IMAGE}]}}, ""),
        "toleration": ({"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}, ""),
        "status": ({"status": {"phase": "Running", "conditions": conditions}}, "status"),
        "condition": ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "status"),
        "delete-condition": (
            {"status": {"conditions": [{"type": "Odd", "$patch": "delete"}]}},
            "status",
        ),
        "addresses": ({"status": {"podIP": "10.1.1.1", "podIPs": [{"ip": "10.1.1.1"}]}}, "status"),
        "owner": (
            {
                "metadata": {
                    "ownerReferences": [
                        {
                            "apiVersion": "v1",
                            "kind": "Pod",
                            "name": "o",
                            "uid": "u",
                            "controller": True,
                        }
                    ]
                }
            },
            "",
        ),
        "second-controller": (
            {
                "metadata": {
                    "ownerReferences": [
                        {
                            "apiVersion": "v1",
                            "kind": "Pod",
                            "name": "p",
                            "uid": "w",
                            "controller": True,
                        }
                    ]
                }
            },
            "",
        ),
        "delete-owner": ({"metadata": {"ownerReferences": [{"uid": "u", "$patch": "delete"}]}}, ""),
    }
    return at.scenario(
        at.create(
            "created", at.bare("one", spec={"containers": [{"name": "main", "image": IMAGE}]})
        ),
        *(
            at.patch(case, "one", body, sends=STRATEGIC_PATCH, sub=sub)
            for case, (body, sub) in cases.items()
        ),
    )


def _strategic_of_small_things() -> Scenario:
    at = Place(builtin_kinds()["core/v1/configmaps"], "strategic")
    cases: dict[str, Json] = {
        "data": {"data": {"b": "2"}},
        "null": {"data": {"a": None}},
        "replace": {"data": {"$patch": "replace", "c": "3"}},
        "delete": {"data": {"$patch": "delete"}},
        "finalizers": {"metadata": {"finalizers": ["example.com/b", "example.com/a"]}},
        "more-finalizers": {"metadata": {"finalizers": ["example.com/c", "example.com/a"]}},
        "finalizer-order": {
            "metadata": {
                "$setElementOrder/finalizers": ["example.com/a", "example.com/b", "example.com/c"],
                "finalizers": ["example.com/c"],
            }
        },
        "finalizers-dropped": {
            "metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/c"]}
        },
        "whole-replaced": {"$patch": "replace", "metadata": {"name": "one"}, "data": {"z": "1"}},
        "whole-deleted": {"$patch": "delete"},
    }
    return at.scenario(
        at.create("created", at.bare("one", data={"a": "1"})),
        *(at.patch(case, "one", body, sends=STRATEGIC_PATCH) for case, body in cases.items()),
    )


def _apply_of_deployments() -> Scenario:
    at = Place(builtin_kinds()["apps/v1/deployments"], "apply/managers")
    main = {"name": "main", "image": IMAGE, "env": [{"name": "A", "value": "1"}]}

    def other(*containers: Json, **spec: Json) -> Json:
        return at.bare("one", spec={"template": {"spec": {"containers": list(containers)}}, **spec})

    two_ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    return at.scenario(
        at.apply("created", "one", _deployment(at, main, replicas=2)),
        at.apply(
            "env",
            "one",
            other({"name": "main", "env": [{"name": "B", "value": "2"}]}),
            manager="other",
        ),
        at.apply("container", "one", other({"name": "side", "image": IMAGE}), manager="third"),
        at.apply("image-conflict", "one", other({"name": "main", "image": "x"}), manager="other"),
        at.apply(
            "two-conflicts",
            "one",
            other({"name": "main", "image": "x", "env": [{"name": "A", "value": "9"}]}, replicas=3),
            manager="other",
        ),
        at.apply("ports", "one", other({"name": "main", "ports": two_ports}), manager="ports"),
        at.apply(
            "port-without-protocol",
            "one",
            other({"name": "main", "ports": [{"containerPort": 80, "name": "a"}]}),
            manager="port",
        ),
        at.apply("container-gone", "one", at.bare("one"), manager="third"),
        at.patch(
            "scaled",
            "one",
            {"spec": {"replicas": 5}},
            sub="scale",
            query={"fieldManager": "scaler"},
        ),
        at.apply("replicas-conflict", "one", _deployment(at, main, replicas=2)),
        at.apply("replicas-left", "one", _deployment(at, main)),
        at.apply(
            "env-twice",
            "one",
            other(
                {"name": "main", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}
            ),
            manager="twice",
        ),
        at.apply("no-key", "one", other({"image": IMAGE}), manager="keyless"),
        at.apply("null-replicas", "one", _deployment(at, main, replicas=None)),
        at.apply("text-replicas", "one", _deployment(at, main, replicas="x")),
        at.apply("invalid", "one", _deployment(at, main, replicas=-1), force=True),
        at.apply(
            "immutable",
            "one",
            _deployment(at, main, selector={"matchLabels": {"app": "y"}}),
            force=True,
        ),
        at.apply("unknown", "one", _deployment(at, {**main, "odd": 1})),
        at.apply(
            "unknown-warn",
            "one",
            _deployment(at, {**main, "odd": 1}),
            query={"fieldValidation": "Warn"},
        ),
        at.apply(
            "quantities",
            "one",
            _deployment(at, {**main, "resources": {"limits": {"cpu": "1000m"}}}),
        ),
        at.get("at-last", "one"),
    )


def _apply_of_services() -> Scenario:
    at = Place(builtin_kinds()["core/v1/services"], "apply/managers")

    def spec(**parts: Json) -> Json:
        return at.bare("one", spec=parts)

    return at.scenario(
        at.apply("created", "one", spec(selector={"app": "x"}, ports=[{"port": 80, "name": "a"}])),
        at.apply("other-port", "one", spec(ports=[{"port": 81, "name": "b"}]), manager="other"),
        at.apply("atomic-selector", "one", spec(selector={"tier": "y"}), manager="other"),
        at.apply(
            "port-changes", "one", spec(selector={"app": "x"}, ports=[{"port": 82, "name": "a"}])
        ),
        at.apply(
            "node-port",
            "one",
            spec(type="NodePort", selector={"app": "x"}, ports=[{"port": 82, "name": "a"}]),
        ),
        at.apply(
            "cluster-ip", "one", spec(selector={"app": "x"}, ports=[{"port": 82, "name": "a"}])
        ),
        at.get("at-last", "one"),
    )


def _apply_and_other_writers() -> Scenario:
    at = Place(builtin_kinds()["core/v1/configmaps"], "apply/writers")

    def data(**values: str) -> Json:
        return at.bare("one", data=values)

    return at.scenario(
        at.create("created", data(a="1", b="2"), {"fieldManager": "maker"}),
        at.apply("applied", "one", data(a="1", c="3")),
        at.apply("conflict", "one", data(b="9")),
        at.apply("forced", "one", data(b="9"), force=True),
        at.patch("merged", "one", {"data": {"c": "7"}}, query={"fieldManager": "merger"}),
        at.patch(
            "removed",
            "one",
            [{"op": "remove", "path": "/data/b"}],
            sends=JSON_PATCH,
            query={"fieldManager": "remover"},
        ),
        at.get("now", "one"),
        at.update(
            "updated", "one", Changed("now", {"data": {"x": "1"}}), {"fieldManager": "updater"}
        ),
        at.apply("applied-again", "one", data(y="1")),
        at.apply("same-as-updated", "one", data(x="1", y="1")),
        at.apply("emptied", "one", at.bare("one", data={})),
        at.apply("left", "one", at.bare("one")),
        at.apply("null", "one", at.bare("one", data=None)),
        at.apply("by-dry-run", "one", data(z="1"), query={"dryRun": "All"}),
        at.apply("manager-with-bad-characters", "one", data(q="1"), manager="m\u0007"),
        at.apply("long-manager", "one", data(q="1"), manager="m" * 129),
        at.patch("force-without-apply", "one", {"data": {"f": "1"}}, query={"force": "true"}),
        at.patch("bad-force", "one", {"data": {"f": "1"}}, query={"force": "perhaps"}),
        at.delete("deleted", "one"),
        at.apply("created-by-apply", "one", data(n="1")),
        at.apply("created-with-version", "two", at.bare("two", {"resourceVersion": "5"}, data={})),
    )


def _apply_of_status() -> Scenario:
    at = Place(builtin_kinds()["apps/v1/deployments"], "apply/status")

    def condition(kind: str, status: str) -> Json:
        moment = "2026-01-02T03:04:05Z"
        return {
            "type": kind,
            "status": status,
            "lastTransitionTime": moment,
            "lastUpdateTime": moment,
        }

    def status(*conditions: Json, **parts: Json) -> Json:
        return at.bare("one", status={"conditions": list(conditions), **parts})

    return at.scenario(
        at.create("created", _deployment(at)),
        at.apply("applied", "one", status(condition("Ready", "True"), replicas=1), sub="status"),
        at.apply("other", "one", status(condition("Fresh", "True")), sub="status", manager="other"),
        at.apply(
            "conflict", "one", status(condition("Ready", "False")), sub="status", manager="other"
        ),
        at.apply("spec-ignored", "one", at.bare("one", spec={"replicas": 7}), sub="status"),
        at.apply("invalid", "one", status(replicas=-1), sub="status"),
        at.apply("too-ready", "one", status(replicas=1, readyReplicas=5), sub="status", force=True),
        at.apply("status-through-main", "one", status(replicas=9)),
        at.update(
            "written",
            "one",
            Changed(
                "applied", {"metadata.resourceVersion": GONE, "status": {}, "spec.replicas": 9}
            ),
            sub="status",
        ),
        at.get("at-last", "one"),
    )


def _apply_of_small_things() -> Scenario:
    at = Place(builtin_kinds()["core/v1/serviceaccounts"], "apply/lists")
    return at.scenario(
        at.apply(
            "created",
            "one",
            at.bare("one", secrets=[{"name": "a"}], imagePullSecrets=[{"name": "x"}]),
        ),
        at.apply("other", "one", at.bare("one", secrets=[{"name": "b"}]), manager="other"),
        at.apply(
            "owners",
            "one",
            at.bare(
                "one",
                {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]},
            ),
            manager="owner",
        ),
        at.apply(
            "finalizers", "one", at.bare("one", {"finalizers": ["example.com/a"]}), manager="holder"
        ),
        at.apply(
            "more-finalizers",
            "one",
            at.bare("one", {"finalizers": ["example.com/b"]}),
            manager="other-holder",
        ),
        at.apply("finalizer-gone", "one", at.bare("one"), manager="holder"),
        at.apply(
            "annotations", "one", at.bare("one", {"annotations": {"a": "1"}}), manager="notes"
        ),
        at.apply("generated-name", "one", at.bare("one", {"generateName": "x-"}), manager="notes"),
        at.apply("namespace", "one", at.bare("one", {"namespace": at.slug}), manager="notes"),
        at.apply(
            "other-namespace", "one", at.bare("one", {"namespace": "default"}), manager="notes"
        ),
    )


def _managed_fields() -> Scenario:
    at = Place(builtin_kinds()["core/v1/configmaps"], "managed-fields")

    def written(name: str, entries: Json) -> Request:
        changes = {"metadata.managedFields": entries, "metadata.resourceVersion": GONE}
        return at.update(name, "one", Changed("created", changes))

    entry = {
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:a": {}}},
    }
    return at.scenario(
        at.create("created", at.bare("one", data={"a": "1"})),
        written("own", [entry]),
        written("none", []),
        written("empty-entry", [{}]),
        written("bad-operation", [{**entry, "operation": "Guess"}]),
        written("bad-fields-type", [{**entry, "fieldsType": "FieldsV9"}]),
        written("bad-fields", [{**entry, "fieldsV1": {"data": {}}}]),
        written("bad-version", [{**entry, "apiVersion": "odd/v9"}]),
        written("no-version", [{**entry, "apiVersion": ""}]),
        at.create("at-creation", at.bare("two", {"managedFields": [entry]}, data={"a": "1"})),
        at.get("at-last", "one"),
    )
