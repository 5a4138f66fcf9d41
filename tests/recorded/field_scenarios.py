"""Scenarios of several managers and one object, run on both servers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One write: manager, verb and body."""

    verb: str  # apply, force, create, put or merge
    manager: str
    body: Object = field(default_factory=dict)
    change: Callable[[Object], object] | None = None  # the change of the object before a put
    subresource: str = ""
    version: str = "v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The writes of several managers to one object."""

    name: str
    kind: str
    steps: tuple[Step, ...]


def apply(manager: str, subresource: str = "", version: str = "v1", **body: Any) -> Step:
    return Step(verb="apply", manager=manager, body=body, subresource=subresource, version=version)


def force(manager: str, **body: Any) -> Step:
    return Step(verb="force", manager=manager, body=body)


def create(manager: str, **body: Any) -> Step:
    return Step(verb="create", manager=manager, body=body)


def put(
    manager: str, change: Callable[[Object], object], subresource: str = "", version: str = "v1"
) -> Step:
    return Step(
        verb="put", manager=manager, change=change, subresource=subresource, version=version
    )


def merge(manager: str, subresource: str = "", **body: Any) -> Step:
    return Step(verb="merge", manager=manager, body=body, subresource=subresource)


def setting(*path: str, to: Any) -> Callable[[Object], object]:
    """A change of one field of the object."""

    def change(obj: Object) -> None:
        for name in path[:-1]:
            obj = obj.setdefault(name, {})
        obj[path[-1]] = to

    return change


def nothing(obj: Object) -> None:
    """A change of no field."""


def without_managers(obj: Object) -> None:
    """Remove managedFields, as a client without that field does."""
    del obj["metadata"]["managedFields"]


def container(name: str, **more: Any) -> Object:
    return {"name": name, "image": f"example.com/{name}", **more}


def workload(*containers: Object, **spec: Any) -> Object:
    return {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": list(containers)},
        },
        **spec,
    }


def only(*containers: Object) -> Object:
    """A configuration of only these containers."""
    return {"template": {"spec": {"containers": list(containers)}}}


def set_managed_fields(entries: Any) -> Callable[[Object], object]:
    return setting("metadata", "managedFields", to=entries)


def edit_managed_fields(obj: Object) -> None:
    """Give all fields of the entry to another manager, in another format."""
    [entry] = obj["metadata"]["managedFields"]
    entry["manager"] = "other"
    entry["fieldsV1"] = {
        "f:data": {"f:size": {}, ".": {}, "q:unknown": {}},
        "f:metadata": {"f:finalizers": {'v:"z"': {}, 'v:"b"': {}}},
    }


def config_maps() -> Iterator[Scenario]:
    def scenario(name: str, *steps: Step) -> Scenario:
        return Scenario(name=name, kind="ConfigMap", steps=steps)

    one = {"color": "red", "size": "7"}
    red, blue = {"color": "red"}, {"color": "blue"}
    yield scenario("a create owns all fields", create("a", data=one))
    yield scenario(
        "an update owns the changed fields",
        create("a", data=one),
        put("b", setting("data", "color", to="blue")),
        put("b", setting("metadata", "labels", to={"x": "y"})),
        put("a", setting("data", "color", to="green")),
    )
    yield scenario(
        "a put without a change changes no owner",
        create("a", data=one),
        put("b", nothing),
        put("b", without_managers),
        merge("c", data=red),
    )
    yield scenario(
        "a removed field has no owner",
        create("a", data=one),
        merge("b", data={"color": None}),
        merge("b", data=None),
    )
    yield scenario(
        "managers that apply the same value share the field",
        apply("a", data=one),
        apply("b", data=one),
        apply("b", data=red),
        apply("b", data=red),
        apply("a", data={"size": "7"}),
        apply("b", metadata={}),
    )
    yield scenario(
        "an apply of an updated field is a conflict",
        create("a", data=one),
        apply("b", data=blue),
        apply("b", data={**blue, "size": "8"}),
        force("b", data=blue),
        apply("b", data=blue),
    )
    yield scenario(
        "an apply of fields of several managers is a conflict with each",
        apply("a", data=one),
        apply("b", data=red),
        merge("c", data={"shape": "round"}),
        merge("d", data={"age": "1"}),
        apply("e", data={**blue, "size": "8", "shape": "flat", "age": "2"}),
        force("e", data={**blue, "size": "8", "shape": "flat", "age": "2"}),
    )
    yield scenario(
        "an update takes an applied field over",
        apply("a", data=one),
        merge("b", data=blue),
        apply("a", data=one),
        apply("a", data={"size": "7"}),
    )
    yield scenario(
        "a field that is no longer applied is removed",
        apply("a", data=one, metadata={"labels": {"x": "y"}, "annotations": {"n": "m"}}),
        apply("a", data=red, metadata={"annotations": {}}),
        apply("a", metadata={"labels": {"x": "y"}}),
    )
    yield scenario(
        "fields of other managers stay",
        apply("a", data=one),
        merge("b", data={"shape": "round"}),
        apply("a"),
    )
    yield scenario(
        "the first apply adds an entry for fields without an owner",
        create("a", data=one),
        put("b", set_managed_fields([])),
        put("b", setting("data", "color", to="blue")),
        apply("c", data=blue),
        apply("c", data={"color": "green"}),
    )
    yield scenario(
        "one empty entry clears all entries",
        apply("a", data=one),
        put("b", set_managed_fields([{}])),
        apply("a", data=red),
    )
    yield scenario("entries can be edited", create("a", data=one), put("b", edit_managed_fields))
    yield scenario(
        "invalid entries are ignored",
        create("a", data=one),
        put("b", set_managed_fields([{"manager": "x", "operation": "Steal", "apiVersion": "v1"}])),
        put(
            "b",
            set_managed_fields(
                [
                    {
                        "manager": "x",
                        "operation": "Update",
                        "apiVersion": "v1",
                        "fieldsType": "FieldsV1",
                        "fieldsV1": {"x": {}},
                    }
                ]
            ),
        ),
    )
    yield scenario(
        "entries of unknown versions are removed",
        create("a", data=one),
        put(
            "b",
            lambda obj: obj["metadata"]["managedFields"].append(
                {
                    "manager": "x",
                    "operation": "Update",
                    "apiVersion": "v7",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:data": {}},
                }
            ),
        ),
    )
    yield scenario(
        "the oldest of too many update entries are merged",
        create("zz", data=one),
        *(merge(f"m{n}", data={f"key-{n}": "x"}) for n in range(13)),
    )
    yield scenario(
        "nulls and empty maps are fields",
        apply("a", data=None),
        apply("a", data={}),
        apply("b", data=red, metadata={"labels": {}, "annotations": None}),
        apply("a", data=None),
        apply("c", metadata={"labels": {"x": "y"}, "finalizers": [], "ownerReferences": []}),
    )
    yield scenario(
        "finalizers are a set",
        create("a", data=one),
        apply("b", metadata={"finalizers": ["example.com/b", "example.com/a"]}),
        apply("c", metadata={"finalizers": ["example.com/c", "example.com/a"]}),
        apply("c", metadata={"finalizers": ["example.com/c"]}),
        apply("b", metadata={"finalizers": ["example.com/b"]}),
        merge("d", metadata={"finalizers": []}),
    )
    yield scenario(
        "owner references are merged by uid",
        create("a", data=one),
        apply(
            "b",
            metadata={
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"},
                    {"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "0"},
                ]
            },
        ),
        apply(
            "c",
            metadata={
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "r", "uid": "1"}]
            },
        ),
    )
    yield scenario(
        "names and versions have no owner",
        create("a", data=one),
        apply("b", metadata={"resourceVersion": None, "generateName": "i"}, data=red),
        apply("b", metadata={"generateName": "it"}),
    )
    last = "kubectl.kubernetes.io/last-applied-configuration"
    text = (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it"},'
        '"data":{"color":"red","size":"7","age":"1"}}'
    )
    yield scenario(
        "kubectl migrates from client-side to server-side apply",
        create("kubectl-client-side-apply", data=one, metadata={"annotations": {last: text}}),
        merge("other", data={"size": "8"}),
        apply("kubectl", data={"color": "blue", "size": "9"}),
        apply("kubectl", data={"color": "<blue>"}, metadata={"annotations": {"x": "y"}}),
        apply("kubectl", data={"color": "<blue>"}, metadata={"annotations": {last: "x"}}),
    )
    yield scenario(
        "an invalid configuration is rejected",
        create("a", data=one),
        apply("b", data={"n": 7}),
        apply("b", data=["n"]),
        apply("b", immutable="yes"),
        apply("b", immutable={"a": [1.5, None, "x", True]}),
        apply("b", colour="red"),
        apply("b", data={"n": {"a": "x"}}),
        apply("b", metadata={"finalizers": ["a", "a"]}),
        apply("b", metadata={"finalizers": [["a"]]}),
        apply("b", metadata={"finalizers": "a"}),
        apply("b", metadata={"managedFields": [{}]}),
        apply("b", metadata={"labels": {"n": 7, "m": 8}}),
        apply("b", kind="Secret"),
        apply("b", apiVersion="example.com/v1"),
    )


def deployments() -> Iterator[Scenario]:
    def scenario(name: str, *steps: Step) -> Scenario:
        return Scenario(name=name, kind="Deployment", steps=steps)

    web, log = container("web"), container("log")
    ports: list[Object] = [{"containerPort": 80}, {"containerPort": 443, "name": "tls"}]
    yield scenario(
        "defaults are owned by the creator, and not by an applier",
        create("a", spec=workload(web)),
        apply("b", spec={"replicas": 1}),
        apply("b", spec={"replicas": 2}),
        force("b", spec={"replicas": 2}),
        apply("b"),
    )
    yield scenario(
        "an apply owns the applied fields",
        apply("a", metadata={"labels": {"x": "y"}}, spec=workload(web, replicas=2)),
        merge("scaler", spec={"replicas": 5}),
        apply("a", spec=workload(web, replicas=2)),
        apply("a", spec=workload(web)),
        apply("a", spec=workload({**web, "image": "example.com/new"}, log)),
        apply("a", spec=workload(log, {**web, "image": "example.com/new"})),
        apply("a", spec=workload(log)),
    )
    yield scenario(
        "several managers add containers",
        apply("a", spec=workload(web)),
        apply("b", spec=only(log)),
        apply("b", spec=only(container("top"), log)),
        apply("b", spec=only(log, {**web, "tty": True})),
        apply("a", spec=workload(web, container("top"))),
        apply("b", spec=only({**web, "image": "example.com/mine"})),
        force("b", spec=only({**web, "image": "example.com/mine"})),
        apply("a", spec=workload(container("top"))),
        apply("b"),
    )
    yield scenario(
        "container ports are merged by number and protocol",
        apply("a", spec=workload({**web, "ports": ports})),
        apply("b", spec=only({**web, "ports": [{"containerPort": 80, "protocol": "UDP"}]})),
        apply("b", spec=only({**web, "ports": [{"containerPort": 80, "hostPort": 8080}]})),
        apply("a", spec=workload(web)),
        apply("c", spec=only({**web, "ports": [ports[0], {**ports[0], "protocol": "TCP"}]})),
    )
    yield scenario(
        "each list and map is merged by its type",
        create(
            "a",
            spec=workload(
                {
                    **web,
                    "env": [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}],
                    "args": ["x"],
                    "resources": {"requests": {"cpu": "100m", "memory": 64}},
                    "livenessProbe": {"httpGet": {"port": 80}},
                }
            ),
        ),
        merge(
            "b",
            spec={
                "template": {
                    "spec": {
                        "volumes": [{"name": "v", "emptyDir": {}}],
                        "tolerations": [{"key": "k", "operator": "Exists"}],
                        "nodeSelector": {"a": "b"},
                        "securityContext": {"runAsUser": 7},
                        "affinity": {"nodeAffinity": {}},
                    }
                }
            },
        ),
        apply("c", spec=only({**web, "env": [{"name": "C", "value": "3"}]})),
        apply("c", spec=only({**web, "env": [{"name": "A", "value": "3"}], "args": ["y"]})),
        apply("c", spec=only({**web, "resources": {"requests": {"cpu": "100m"}, "limits": {}}})),
        apply("c", spec={"template": {"spec": {"volumes": [{"name": "v", "emptyDir": None}]}}}),
        apply("c", spec={"template": {"spec": {"nodeSelector": {"a": "c"}}}}),
        apply("c", spec={"strategy": {"type": "Recreate", "rollingUpdate": None}}),
    )
    yield scenario(
        "the status subresource changes only the status",
        create("a", spec=workload(web)),
        merge("controller", "status", status={"replicas": 1, "observedGeneration": 1}),
        put(
            "controller",
            setting(
                "status",
                "conditions",
                to=[{"type": "Available", "status": "True"}, {"type": "A", "status": "False"}],
            ),
            "status",
        ),
        apply("other", "status", status={"replicas": 2}),
        apply("other", "status", status={"replicas": 1}, spec={"replicas": 7}),
        merge("controller", "status", metadata={"labels": {"a": "b"}, "annotations": {"a": "b"}}),
        put("a", setting("status", "replicas", to=9)),
    )
    yield scenario(
        "empty lists are no fields",
        apply("a", spec=workload({**web, "ports": [], "args": [], "env": None})),
        apply("b", spec=workload({**web, "resources": {}, "securityContext": {}})),
    )


def services() -> Iterator[Scenario]:
    def scenario(name: str, *steps: Step) -> Scenario:
        return Scenario(name=name, kind="Service", steps=steps)

    http, https = {"port": 80, "name": "http"}, {"port": 443, "name": "https"}
    yield scenario(
        "allocated fields have no owner",
        create("a", spec={"ports": [http], "selector": {"a": "b"}}),
        apply("b", spec={"ports": [https]}),
        apply("b", spec={"ports": [{**http, "protocol": "TCP", "targetPort": "web"}]}),
        force("b", spec={"ports": [{**http, "protocol": "TCP", "targetPort": "web"}]}),
        apply("b", spec={"selector": {"a": "b", "c": "d"}}),
        force("b", spec={"selector": {"c": "d"}}),
    )
    yield scenario(
        "ports are added and removed with their manager",
        apply("a", spec={"ports": [http, https]}),
        apply("a", spec={"ports": [https]}),
        merge("b", spec={"ports": [http]}),
        apply("a", spec={"ports": [https]}),
    )


TRIAL = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "map": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["kind", "id"],
                    "nullable": True,
                    "items": {
                        "type": "object",
                        "required": ["id"],
                        "properties": {
                            "id": {"type": "integer"},
                            "kind": {"type": "string", "default": "plain"},
                            "value": {"type": "string", "nullable": True},
                            "inner": {
                                "type": "object",
                                "additionalProperties": {"type": "string"},
                            },
                        },
                    },
                },
                "set": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "nullable": True,
                    "items": {"x-kubernetes-int-or-string": True},
                },
                "list": {"type": "array", "items": {"type": "string"}},
                "block": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                },
                "part": {
                    "type": "object",
                    "nullable": True,
                    "properties": {
                        "a": {"type": "integer"},
                        "b": {"type": "integer", "nullable": True},
                        "c": {
                            "type": "object",
                            "nullable": True,
                            "properties": {"d": {"type": "number"}},
                        },
                    },
                },
                "nested": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": {"type": "integer"},
                    },
                },
                "free": {
                    "type": "object",
                    "nullable": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "half": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {
                        "known": {"type": "object", "properties": {"a": {"type": "integer"}}}
                    },
                },
                "either": {"x-kubernetes-int-or-string": True, "nullable": True},
                "embedded": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "given": {
                    "type": "object",
                    "default": {},
                    "properties": {"size": {"type": "integer", "default": 3}},
                },
            },
        },
        "status": {
            "type": "object",
            "properties": {"phase": {"type": "string"}, "ready": {"type": "boolean"}},
        },
    },
}


def trials() -> Iterator[Scenario]:
    def scenario(name: str, *steps: Step) -> Scenario:
        return Scenario(name=name, kind="Trial", steps=steps)

    def made(*items: tuple[int, str]) -> Object:
        return {"map": [{"id": number, "value": value} for number, value in items]}

    yield scenario(
        "a create owns all fields of a custom resource",
        create(
            "a",
            spec={
                "map": [{"id": 10}, {"id": 9, "kind": "x", "inner": {"k": "v"}}],
                "set": [10, 9, "b", "a"],
                "list": ["x"],
                "block": {"a": 1},
                "part": {"a": 1, "b": None, "c": {"d": 1.5}},
                "nested": {"x": {"y": 1}, "z": {}},
                "free": {"x": {"y": [1, {"z": 2}]}, "n": None, "e": {}},
                "half": {"known": {"a": 1}, "other": {"b": [1]}},
                "either": 7,
                "embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "b"}}},
            },
        ),
        put("b", setting("spec", "part", to=None)),
        merge("c", spec={"free": {"x": {"y": [1, {"z": 3}]}, "n": {"m": 1}}}),
        merge("d", spec={"free": {"x": 7, "n": None}, "half": {"known": None}}),
        put("e", setting("spec", "free", to={"x": {"new": 1}, "e": 5, "l": [1]})),
        put("e", setting("spec", "free", to={"x": [1], "e": {"v": 1}, "l": {"n": 1}, "n": None})),
    )
    yield scenario(
        "an apply owns all applied fields of a custom resource",
        apply(
            "a",
            spec={
                "map": [{"id": 10}, {"id": 9, "kind": "x", "inner": {"k": "v"}}],
                "set": [10, 9, "b", "a"],
                "list": ["x"],
                "block": {"a": 1},
                "part": {"a": 1, "b": None, "c": {"d": 1.5}},
                "nested": {"x": {"y": 1}, "z": {}},
                "free": {"x": {"y": [1, {"z": 2}]}, "n": None, "e": {}},
                "half": {"known": {"a": 1}, "other": {"b": [1]}},
                "either": 7,
                "embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "b"}}},
            },
        ),
        apply("b", spec={"block": {"b": 2}, "list": ["y"], "either": "7"}),
        apply("b", spec={"nested": {"x": {"y": 1, "q": 2}}, "part": {"c": {"d": 1.5}}}),
        apply("b", spec={"free": {"x": {"y": [2]}, "more": {"x": 1}}}),
        force("b", spec={"free": {"x": 5, "more": {"x": 1}}}),
        apply("a", spec={"part": {"c": {}}, "nested": {"z": {}}}),
        apply("b", spec={"nested": {}}),
        apply("b", spec=None),
    )
    yield scenario(
        "items keep the order in which they were applied",
        apply("a", spec=made((1, "a"), (2, "b"), (3, "c"))),
        apply("b", spec=made((5, "e"), (3, "c"), (4, "d"), (1, "a"))),
        apply("a", spec=made((3, "c"), (2, "b"), (1, "a"))),
        apply("c", spec=made((6, "f"), (2, "b"), (7, "g"))),
        apply("c", spec=made((7, "g"), (6, "f"))),
        apply("a", spec=made((8, "h"), (1, "a"))),
        apply("b", spec=made((4, "d"))),
    )
    yield scenario(
        "a set keeps the order in which it was applied",
        apply("a", spec={"set": ["a", "b", "c", 1]}),
        apply("b", spec={"set": ["d", "c", "a", "e"]}),
        apply("a", spec={"set": ["c", "b"]}),
        put("c", lambda obj: obj["spec"]["set"].reverse()),
        apply("b", spec={"set": ["x", "e", "d", "c"]}),
        apply("a", spec={"set": ["<>&", "é\u2028"]}),
        apply("a", spec={"set": []}),
        apply("b", spec={"set": None}),
    )
    yield scenario(
        "items without a value for a key have its default",
        create("a", spec={"map": [{"id": 1, "kind": "plain", "value": "x"}]}),
        apply("b", spec={"map": [{"id": 1, "value": "y"}]}),
        apply("b", spec={"map": [{"id": 1, "inner": {"k": "v"}}, {"id": 1, "kind": "other"}]}),
        apply("c", spec={"map": [{"id": 1, "value": None, "inner": {}}]}),
        apply("b", spec={"map": [{"id": 1}]}),
    )
    yield scenario(
        "an invalid configuration of a custom kind is rejected",
        create("a", spec=made((1, "a"))),
        apply("b", spec={"unknown": 1}),
        apply("b", spec={"part": {"unknown": 1}}),
        apply("b", spec={"part": {"a": "1"}}),
        apply("b", spec={"part": []}),
        apply("b", spec={"map": [{"id": 1}, {"id": 1}]}),
        apply("b", spec={"map": [{"id": 1}, {"id": 1, "kind": "plain"}]}),
        apply("b", spec={"set": ["a", "a"]}),
        apply("b", spec={"set": [1, "1", 1.0]}),
        apply("b", spec={"set": [{}]}),
        apply("b", spec={"list": ["a", 1]}),
        apply("b", spec={"list": {"a": 1}}),
        apply("b", spec={"nested": {"x": 1}}),
        apply("b", spec={"embedded": {"metadata": {"unknown": 1}}}),
        apply("b", other=1),
    )
    yield scenario(
        "the status subresource of a custom kind changes only the status",
        create("a", spec=made((1, "a")), status={"phase": "New"}),
        merge("b", "status", status={"phase": "Old"}),
        apply("c", "status", status={"phase": "Old", "ready": True}, spec=made((2, "b"))),
        apply("c", status={"phase": "New"}, spec=made((2, "b"))),
        apply("c", "status", status={"phase": "New"}),
        merge("b", "status", metadata={"labels": {"a": "b"}}),
    )
    yield scenario(
        "an apply in another version is converted",
        create("a", spec=made((1, "a"))),
        apply("b", version="v2", spec=made((2, "b"))),
        apply("b", spec=made((2, "b"))),
        apply("b", version="v2", spec=made((2, "c"))),
        put("a", setting("spec", "either", to=1), version="v2"),
        apply("c", version="v2", spec={"either": 2}),
        apply("b", version="v2"),
    )
    yield scenario(
        "a pruned field has an owner",
        create("a", spec=made((1, "a"))),
        apply("b", spec={"half": {"known": {"unknown": 1}}}),
        apply("b", spec={"half": {"known": {}}}),
    )
    yield scenario(
        "nulls in a custom resource",
        apply("a", spec={"part": None, "either": None, "free": None, "map": None}),
        apply("b", spec={"part": {"a": 1}, "free": {"x": 1}, "map": [{"id": 1}]}),
        apply("a", spec={"part": None, "either": None, "free": None, "map": None}),
        apply("b", spec={"part": {"b": None}, "free": {"x": None}}),
        apply("c", spec={"free": {"x": {"y": 1}}}),
        apply("b", spec={"given": {}}),
        apply("b", spec={"given": {"size": 3}}),
    )


SCENARIOS = [*config_maps(), *deployments(), *services(), *trials()]
