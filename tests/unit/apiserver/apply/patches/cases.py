"""Patches of every type, each with its target object."""

from typing import Any, NamedTuple

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.apply.patches import (
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_merge_patch,
)
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas

JSON = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"

SCHEMAS = BuiltinSchemas.read()

CONFIG_MAP = "api/v1 configmaps"
DEPLOYMENT = "apis/apps/v1 deployments"
SERVICE = "api/v1 services"

KINDS = {
    CONFIG_MAP: GroupVersionKind("", "v1", "ConfigMap"),
    DEPLOYMENT: GroupVersionKind("apps", "v1", "Deployment"),
    SERVICE: GroupVersionKind("", "v1", "Service"),
}

OBJECTS: dict[str, dict[str, Any]] = {
    CONFIG_MAP: {
        "metadata": {
            "name": "it",
            "labels": {"a/b": "1"},
            "finalizers": ["example.com/one", "example.com/two", "example.com/three"],
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "first", "uid": "uid-1"},
                {"apiVersion": "v1", "kind": "Pod", "name": "second", "uid": "uid-2"},
            ],
        },
        "data": {"color": "blue", "age": "7"},
    },
    DEPLOYMENT: {
        "metadata": {"name": "it"},
        "spec": {
            "selector": {"matchLabels": {"app": "it"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "template": {
                "metadata": {"labels": {"app": "it"}},
                "spec": {
                    "containers": [
                        {
                            "name": name,
                            "image": f"example.com/{name}:1",
                            "args": ["--one", "--two"],
                            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                            "ports": [{"containerPort": 80}, {"containerPort": 81}],
                        }
                        for name in ("main", "side", "third")
                    ],
                    "volumes": [{"name": "cache", "emptyDir": {}}],
                    "tolerations": [{"key": "x", "operator": "Exists"}],
                },
            },
        },
    },
    SERVICE: {
        "metadata": {"name": "it"},
        "spec": {
            "clusterIP": "None",
            "selector": {"app": "it"},
            "ports": [
                {"name": "web", "port": 80},
                {"name": "admin", "port": 81, "targetPort": "admin"},
                {"name": "dns", "port": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
            ],
        },
    },
}


class Case(NamedTuple):
    """A patch and its target object."""

    target: str
    type: str
    patch: Any
    query: str = ""

    def __str__(self) -> str:
        kind = self.type.removeprefix("application/").removesuffix("-patch+json")
        return f"{kind} {self.target.split()[1]} {str(self.patch)[:60]} {self.query}"


def patched(case: Case, obj: dict[str, Any]) -> dict[str, Any]:
    """Return ``obj`` as steersman patches it."""
    lenient = case.query.endswith("Ignore")
    if case.type == JSON:
        return apply_json_patch(obj, case.patch, lenient=lenient)
    if case.type == MERGE:
        return apply_merge_patch(obj, case.patch, lenient=lenient)
    return apply_strategic_merge_patch(obj, case.patch, SCHEMAS.of(KINDS[case.target]))


def _op(op: str, path: Any = None, **more: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **more}


_FINALIZERS = "/metadata/finalizers"

_JSON_PATCHES: list[Any] = [
    [],
    [_op("add", "/data/shape", value="round")],
    [_op("add", "/data/shape")],
    [_op("add", "/data", value={"only": "this"})],
    [_op("add", f"{_FINALIZERS}/1", value="example.com/new")],
    [_op("add", f"{_FINALIZERS}/-", value="example.com/new")],
    [_op("add", f"{_FINALIZERS}/-1", value="example.com/new")],
    [_op("add", f"{_FINALIZERS}/3", value="example.com/new")],
    [_op("add", f"{_FINALIZERS}/4", value="example.com/new")],
    [_op("add", f"{_FINALIZERS}/x", value="example.com/new")],
    [_op("add", "/nowhere/at/all", value="x")],
    [_op("add", "/data/color/deeper", value="x")],
    [_op("add", "", value={})],
    [_op("add", "data", value={})],
    [_op("add", "ignored/data", value={})],
    [_op("remove", "/data/color")],
    [_op("remove", "/data/missing")],
    [_op("remove", f"{_FINALIZERS}/0")],
    [_op("remove", f"{_FINALIZERS}/-1")],
    [_op("remove", f"{_FINALIZERS}/3")],
    [_op("remove", "/metadata/labels/a~1b")],
    [_op("replace", "/data/color", value="red")],
    [_op("replace", "/data/missing", value="red")],
    [_op("replace", f"{_FINALIZERS}/3", value="red")],
    [_op("replace", f"{_FINALIZERS}/-3", value="example.com/new")],
    [_op("replace", "", value=[])],
    [_op("replace", "", value="x")],
    [_op("move", "/data/colour", **{"from": "/data/color"})],
    [_op("move", "/data/colour", **{"from": "/data/missing"})],
    [_op("move", "/data/color/deeper", **{"from": "/data/color"})],
    [_op("move", f"{_FINALIZERS}/-", **{"from": f"{_FINALIZERS}/0"})],
    [_op("copy", "/data/colour", **{"from": "/data/color"})],
    [_op("copy", "/data/colour", **{"from": "/data/missing"})],
    [_op("copy", "/data/colour")],
    [
        _op("copy", "/metadata/annotations", **{"from": "/data"}),
        _op("add", "/data/later", value="x"),
        _op("add", "/metadata/annotations/other", value="y"),
    ],
    [_op("test", "/data/color", value="blue"), _op("remove", "/data/color")],
    [_op("test", "/data/color", value="red")],
    [_op("test", "/data", value={"age": "7", "color": "blue"})],
    [_op("test", "/data/missing", value=None)],
    [_op("test", "/data/missing/deeper", value=None)],
    [_op("test", _FINALIZERS, value=["example.com/one"])],
    [_op("explode", "/data")],
    [_op("add")],
    [{}],
    [None],
    [1],
    [[]],
    [{"op": 1}],
    [_op("add", 1)],
    [_op("move", "/data/x", **{"from": True})],
    {},
    "x",
    1,
    True,
    [_op("add", "/data/n", value="x")] * 10_001,
]

_MERGE_PATCHES: list[Any] = [
    {},
    [],
    "x",
    {"data": None},
    {"data": {"color": None, "missing": None, "age": "8", "new": "x"}},
    {"metadata": {"labels": {"a/b": None}}},
    {"metadata": {"annotations": {"new": "x", "gone": None}}},
    {"metadata": {"finalizers": ["example.com/two"]}},
    {"metadata": {"finalizers": None}},
    {
        "metadata": {
            "ownerReferences": [{"uid": "uid-1", "name": "x", "kind": "Y", "apiVersion": "v1"}]
        }
    },
]

_PODS: list[dict[str, Any]] = [
    {"containers": [{"name": "side", "image": "example.com/side:2"}]},
    {"containers": [{"name": "new", "image": "example.com/new:1"}]},
    {"containers": [{"name": "side", "$patch": "delete"}]},
    {"containers": [{"name": "missing", "$patch": "delete"}]},
    {"containers": [{"$patch": "delete"}]},
    {"containers": [{"$patch": "replace"}, {"name": "only", "image": "example.com/only:1"}]},
    {"containers": [{"$patch": "merge"}]},
    {"containers": [{"$patch": "explode", "name": "side"}]},
    {"containers": [{"image": "example.com/nameless:1"}]},
    {"containers": [1]},
    {"containers": [[1]]},
    {"containers": [{"name": "main", "args": ["--three"]}]},
    {
        "containers": [
            {"name": "main", "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]}
        ]
    },
    {"containers": [{"name": "main", "env": [{"name": "B", "$patch": "delete"}]}]},
    {"containers": [{"name": "main", "env": [{"name": "B", "value": None}]}]},
    {"containers": [{"name": "main", "env": None}]},
    {
        "containers": [
            {"name": "main", "ports": [{"containerPort": 81, "name": "x"}, {"containerPort": 8}]}
        ]
    },
    {
        "containers": [
            {"name": "main", "$retainKeys": ["name", "image"], "image": "example.com/x:1"}
        ]
    },
    {
        "containers": [{"name": "new", "image": "example.com/new:1"}],
        "$setElementOrder/containers": [{"name": "third"}, {"name": "new"}, {"name": "main"}],
    },
    {"$setElementOrder/containers": [{"name": "third"}, {"name": "side"}, {"name": "main"}]},
    {"$setElementOrder/containers": [{"name": "third"}, {"name": "main"}]},
    {"$setElementOrder/containers": [{"name": "side"}]},
    {"$setElementOrder/containers": [{}]},
    {"$setElementOrder/containers": "x"},
    {"$setElementOrder": []},
    {"$setElementOrder/initContainers": [{"name": "x"}]},
    {"$setElementOrder/nothing": [{"name": "x"}]},
    {
        "containers": [{"name": "main", "image": "example.com/x:1"}],
        "$setElementOrder/containers": [{"name": "third"}],
    },
    {
        "$setElementOrder/containers": [{"name": "third"}, {"name": "main"}],
        "containers": [
            {"name": "side", "$patch": "delete"},
            {"name": "main", "image": "example.com/x:1"},
        ],
    },
    {
        "volumes": [
            {"name": "cache", "$retainKeys": ["name", "configMap"], "configMap": {"name": "it"}}
        ]
    },
    {"volumes": [{"name": "cache", "$retainKeys": ["name"], "configMap": {"name": "it"}}]},
    {"volumes": [{"name": "cache", "$retainKeys": "name"}]},
    {"volumes": [{"name": "cache", "emptyDir": {"$patch": "delete"}, "configMap": {"name": "it"}}]},
    {"tolerations": [{"key": "y", "operator": "Exists"}]},
    {"nodeSelector": {"disk": "ssd", "gone": None}},
    {"securityContext": {"$patch": "replace", "runAsUser": 1}},
    {"securityContext": {"$patch": "explode", "runAsUser": 1}},
    {"affinity": {"$patch": "delete"}},
    {
        "initContainers": [
            {"name": "a", "image": "example.com/a:1"},
            {"name": "b", "$patch": "delete"},
        ]
    },
]

_STRATEGIC: list[tuple[str, Any]] = [
    *((DEPLOYMENT, {"spec": {"template": {"spec": spec}}}) for spec in _PODS),
    (DEPLOYMENT, {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
    (DEPLOYMENT, {"spec": {"strategy": {"type": "Recreate"}}}),
    (DEPLOYMENT, {"spec": {"replicas": 3, "paused": True, "minReadySeconds": None}}),
    (DEPLOYMENT, {"spec": {"template": {"$patch": "delete"}}}),
    (DEPLOYMENT, {"$patch": "delete"}),
    (DEPLOYMENT, {"$patch": "merge"}),
    (SERVICE, {"spec": {"ports": [{"port": 81, "targetPort": 8081}]}}),
    (SERVICE, {"spec": {"ports": [{"port": 53, "targetPort": 5353}]}}),
    (SERVICE, {"spec": {"ports": [{"port": 53, "$patch": "delete"}]}}),
    (SERVICE, {"spec": {"ports": [{"port": 82, "name": "first"}, {"port": 80}]}}),
    (SERVICE, {"spec": {"selector": {"app": None, "tier": "x"}}}),
    (
        SERVICE,
        {
            "spec": {
                "$setElementOrder/ports": [{"port": 81}, {"port": 80}],
                "ports": [{"port": 80, "name": "w"}],
            }
        },
    ),
    (CONFIG_MAP, []),
    (CONFIG_MAP, "x"),
    (CONFIG_MAP, {"data": {"color": None, "new": "x"}}),
    (CONFIG_MAP, {"data": {"$patch": "replace", "new": "x"}}),
    (CONFIG_MAP, {"data": {"$patch": "delete"}}),
    (CONFIG_MAP, {"data": None}),
    (CONFIG_MAP, {"metadata": {"finalizers": ["example.com/new", "example.com/two"]}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/two"]}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/none"]}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveList/finalizers": None}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveList/finalizers": "x"}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveList/nothing": ["x"]}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveListX/finalizers": ["x"]}}),
    (CONFIG_MAP, {"metadata": {"$deleteFromPrimitiveList": ["x"]}}),
    (CONFIG_MAP, {"metadata": {"finalizers": [1]}}),
    (CONFIG_MAP, {"metadata": {"finalizers": ["example.com/two", "example.com/two"]}}),
    (
        CONFIG_MAP,
        {
            "metadata": {
                "$setElementOrder/finalizers": ["example.com/three", "example.com/one"],
                "$deleteFromPrimitiveList/finalizers": ["example.com/two"],
            }
        },
    ),
    (
        CONFIG_MAP,
        {
            "metadata": {
                "$setElementOrder/finalizers": ["example.com/new", "example.com/one"],
                "finalizers": ["example.com/new"],
            }
        },
    ),
    (CONFIG_MAP, {"metadata": {"$setElementOrder/finalizers": ["a"], "finalizers": ["b"]}}),
    (CONFIG_MAP, {"metadata": {"$setElementOrder/finalizers": ["a"], "finalizers": None}}),
    (CONFIG_MAP, {"metadata": {"ownerReferences": [{"uid": "uid-2", "name": "renamed"}]}}),
    (CONFIG_MAP, {"metadata": {"ownerReferences": [{"uid": "uid-1", "$patch": "delete"}]}}),
    (CONFIG_MAP, {"metadata": {"labels": {"a/b": None, "new": "x"}}}),
    (CONFIG_MAP, {"metadata": {"annotations": {"gone": None, "new": "x"}}}),
]

_NO_JSON_PATCHES: list[Any] = [{}, [1], [{"op": 1}]]
_NO_MERGE_PATCHES: list[Any] = [[], "x"]

CASES = [
    *(Case(CONFIG_MAP, JSON, patch) for patch in _JSON_PATCHES),
    *(Case(CONFIG_MAP, JSON, patch, "fieldValidation=Ignore") for patch in _NO_JSON_PATCHES),
    *(Case(CONFIG_MAP, MERGE, patch) for patch in _MERGE_PATCHES),
    *(Case(CONFIG_MAP, MERGE, patch, "fieldValidation=Ignore") for patch in _NO_MERGE_PATCHES),
    Case(
        DEPLOYMENT,
        MERGE,
        {"spec": {"template": {"spec": {"volumes": [{"name": "x", "emptyDir": None}]}}}},
    ),
    *(Case(target, STRATEGIC, patch) for target, patch in _STRATEGIC),
]
