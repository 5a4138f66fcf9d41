"""Pods to create: minimal Pods, each with one change in its containers."""

import copy
from typing import Any

from tests.recorded.builtin_rules.cases import Object

GONE = object()  # as a value: remove the field
CONTAINER = {"name": "app", "image": "registry.example/app:1"}
POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one", "labels": {"app": "one"}},
    "spec": {"containers": [CONTAINER]},
}


def with_changes(base: Object, changes: dict[str, Any]) -> Object:
    """A copy of ``base`` with other fields in the spec, or at paths from the root."""
    result = copy.deepcopy(base)
    for path, value in changes.items():
        *parents, last = path[1:].split(".") if path.startswith("/") else ("spec", path)
        place = result
        for name in parents:
            place = place.setdefault(name, {})
        if value is GONE:
            place.pop(last, None)
        else:
            place[last] = value
    return result


def container(**fields: Any) -> dict[str, Any]:
    """The only container, with these fields added."""
    return {"containers": [{**CONTAINER, **fields}]}


def probe(**fields: Any) -> dict[str, Any]:
    return container(livenessProbe=fields)


def env(*variables: Any) -> dict[str, Any]:
    return container(env=list(variables))


def from_(**source: Any) -> dict[str, Any]:
    return env({"name": "A", "valueFrom": source})


def volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


def resources(limits: Any = None, requests: Any = None) -> dict[str, Any]:
    given = {"limits": limits, "requests": requests}
    return container(resources={key: value for key, value in given.items() if value is not None})


def node_terms(*terms: Any) -> dict[str, Any]:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": list(terms)}}}}


def pod_terms(*terms: Any, kind: str = "podAffinity") -> dict[str, Any]:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {kind: {required: list(terms)}}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def spread(**fields: Any) -> dict[str, Any]:
    whole = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "one"}},
        **fields,
    }
    kept = {key: value for key, value in whole.items() if value is not GONE}
    return {"topologySpreadConstraints": [kept]}


def sidecar(**fields: Any) -> dict[str, Any]:
    return {"initContainers": [{"name": "before", "image": "i", **fields}]}


LONG = "a" * 64
LABELLED = {"matchLabels": {"app": "one"}}
HTTP = {"path": "/", "port": 80}

CONTAINERS: dict[str, dict[str, Any]] = {
    "the smallest one": {},
    "no spec at all": {"/spec": GONE},
    "no containers": {"containers": []},
    "a container without a name": {"containers": [{"image": "i"}]},
    "a container without an image": {"containers": [{"name": "app"}]},
    "a container of nothing": {"containers": [{}]},
    "a container's name in upper case": container(name="App"),
    "a container's name with a dot": container(name="a.b"),
    "a container's name that is too long": container(name=LONG),
    "two containers of one name": {"containers": [CONTAINER, CONTAINER]},
    "two containers": {"containers": [CONTAINER, {"name": "b", "image": "b"}]},
    "an image without a tag": container(image="nginx"),
    "an image tagged latest": container(image="nginx:latest"),
    "an image with a port and a tag": container(image="localhost:5000/a/b:2"),
    "an image with a port and no tag": container(image="localhost:5000/a/b"),
    "an image with a digest": container(image=f"nginx@sha256:{'a' * 64}"),
    "an image in upper case": container(image="Nginx"),
    "an image with blanks around it": container(image=" nginx "),
    "an image of a domain": container(image="ghcr.io/Foo/bar"),
    "pulled never": container(imagePullPolicy="Never"),
    "pulled sometimes": container(imagePullPolicy="Sometimes"),
    "an unknown termination message policy": container(terminationMessagePolicy="Sing"),
    "a termination message path": container(terminationMessagePath="/var/x"),
    "a command, args and a directory": container(
        command=["sh"], args=["-c", "true"], workingDir="/var", stdin=True, tty=True
    ),
    "a port": container(ports=[{"containerPort": 80}]),
    "a port with all fields": container(
        ports=[
            {
                "containerPort": 80,
                "hostPort": 81,
                "hostIP": "127.0.0.1",
                "name": "w",
                "protocol": "UDP",
            }
        ]
    ),
    "a port without a number": container(ports=[{"name": "web"}]),
    "a port that is too large": container(ports=[{"containerPort": 65536}]),
    "a port below zero": container(ports=[{"containerPort": -1}]),
    "a host port that is too large": container(ports=[{"containerPort": 80, "hostPort": 70000}]),
    "an unknown protocol": container(ports=[{"containerPort": 80, "protocol": "HTTP"}]),
    "two ports of one name": container(
        ports=[{"containerPort": 80, "name": "web"}, {"containerPort": 81, "name": "web"}]
    ),
    "a port's name in upper case": container(ports=[{"containerPort": 80, "name": "Web"}]),
    "a port's name that is too long": container(
        ports=[{"containerPort": 80, "name": "abcdefghijklmnop"}]
    ),
    "a port's name of digits and dashes": container(
        ports=[{"containerPort": 80, "name": "-1--2-"}]
    ),
    "two ports on one host port": container(
        ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]
    ),
    "the host's network": {"hostNetwork": True, **container(ports=[{"containerPort": 80}])},
    "the host's network and another host port": {
        "hostNetwork": True,
        **container(ports=[{"containerPort": 80, "hostPort": 81}]),
    },
    "env": env({"name": "A", "value": "1"}, {"name": "b.c-d"}, {"name": "1 x"}),
    "env without a name": env({"value": "1"}),
    "env with an equals sign in its name": env({"name": "A=B"}),
    "env with a name that is not ASCII": env({"name": "Ä"}),
    "env from a field": from_(fieldRef={"fieldPath": "metadata.name"}),
    "env from a label": from_(fieldRef={"fieldPath": "metadata.labels['app.example/x']"}),
    "env from a label of a bad name": from_(fieldRef={"fieldPath": "metadata.labels['a b']"}),
    "env from all labels": from_(fieldRef={"fieldPath": "metadata.labels"}),
    "env from an unknown field": from_(fieldRef={"fieldPath": "spec.foo"}),
    "env from a field of something else": from_(fieldRef={"fieldPath": "spec.foo['a']"}),
    "env from a field of no path": from_(fieldRef={}),
    "env from a field of another version": from_(
        fieldRef={"apiVersion": "v2", "fieldPath": "metadata.name"}
    ),
    "env from the old name of a field": from_(fieldRef={"fieldPath": "spec.host"}),
    "env from a phase": from_(fieldRef={"fieldPath": "status.phase"}),
    "env from a resource": from_(resourceFieldRef={"resource": "limits.cpu", "divisor": "1m"}),
    "env from a resource without a divisor": from_(resourceFieldRef={"resource": "limits.memory"}),
    "env from a resource with a bad divisor": from_(
        resourceFieldRef={"resource": "limits.cpu", "divisor": "2"}
    ),
    "env from memory with a bad divisor": from_(
        resourceFieldRef={"resource": "requests.memory", "divisor": "3Mi"}
    ),
    "env from an unknown resource": from_(resourceFieldRef={"resource": "limits.gpu"}),
    "env from huge pages": from_(resourceFieldRef={"resource": "limits.hugepages-2Mi"}),
    "env from no resource": from_(resourceFieldRef={}),
    "env from a ConfigMap": from_(configMapKeyRef={"name": "c", "key": "k", "optional": True}),
    "env from a ConfigMap without a name": from_(configMapKeyRef={"key": "k"}),
    "env from a Secret without a key": from_(secretKeyRef={"name": "s"}),
    "env from a Secret's bad key": from_(secretKeyRef={"name": "s", "key": "a/b"}),
    "env from a Secret's key ..": from_(secretKeyRef={"name": "s", "key": ".."}),
    "env from a Secret's bad name": from_(secretKeyRef={"name": "S_", "key": "a"}),
    "env from nothing": from_(),
    "env from two places": from_(
        configMapKeyRef={"name": "c", "key": "k"}, secretKeyRef={"name": "c", "key": "k"}
    ),
    "env with a value and from somewhere": env(
        {"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    ),
    "env from a file": {
        **volume(emptyDir={}),
        **from_(fileKeyRef={"volumeName": "v", "path": "a/b", "key": "K"}),
    },
    "env from a file without anything": from_(fileKeyRef={}),
    "env from a file of another volume": {
        **volume(secret={"secretName": "s"}),
        **from_(fileKeyRef={"volumeName": "v", "path": "../b", "key": "K"}),
    },
    "env from whole ConfigMaps": container(
        envFrom=[{"configMapRef": {"name": "c"}, "prefix": "A_"}, {"secretRef": {"name": "s"}}]
    ),
    "env from a whole ConfigMap without a name": container(envFrom=[{"configMapRef": {}}]),
    "env from a whole Secret of a bad name": container(envFrom=[{"secretRef": {"name": "A"}}]),
    "env from nothing whole": container(envFrom=[{"prefix": "="}]),
    "env from two whole things": container(
        envFrom=[{"configMapRef": {"name": "c"}, "secretRef": {"name": "s"}}]
    ),
    "a probe by HTTP": probe(httpGet={"port": 80}),
    "a probe by HTTP with everything": probe(
        httpGet={
            "port": "web",
            "path": "/x",
            "scheme": "HTTPS",
            "host": "h",
            "httpHeaders": [{"name": "X-A", "value": "1"}],
        },
        initialDelaySeconds=1,
        timeoutSeconds=2,
        periodSeconds=3,
        failureThreshold=4,
        terminationGracePeriodSeconds=5,
    ),
    "a probe by HTTP without a port": probe(httpGet={"path": "/"}),
    "a probe by HTTP of a port's bad name": probe(httpGet={"port": "UP"}),
    "a probe by HTTP of another scheme": probe(httpGet={**HTTP, "scheme": "FTP"}),
    "a probe by HTTP with a bad header": probe(
        httpGet={**HTTP, "httpHeaders": [{"name": "a b", "value": "x"}]}
    ),
    "a probe by gRPC": probe(grpc={"port": 80}),
    "a probe by gRPC of no port": probe(grpc={}),
    "a probe by TCP": probe(tcpSocket={"port": 80}),
    "a probe by command": probe(exec={"command": ["true"]}),
    "a probe by no command": probe(exec={}),
    "a probe by nothing": probe(initialDelaySeconds=1),
    "a probe by two things": probe(exec={"command": ["true"]}, httpGet=HTTP),
    "a probe with numbers below zero": probe(
        httpGet=HTTP,
        initialDelaySeconds=-1,
        timeoutSeconds=-1,
        periodSeconds=-1,
        successThreshold=-1,
        failureThreshold=-1,
        terminationGracePeriodSeconds=-1,
    ),
    "a liveness probe that must succeed twice": probe(httpGet=HTTP, successThreshold=2),
    "a readiness probe that must succeed twice": container(
        readinessProbe={"httpGet": HTTP, "successThreshold": 2}
    ),
    "a readiness probe that ends pods": container(
        readinessProbe={"httpGet": HTTP, "terminationGracePeriodSeconds": 3}
    ),
    "a startup probe that must succeed twice": container(
        startupProbe={"httpGet": HTTP, "successThreshold": 2}
    ),
    "hooks": container(
        lifecycle={"postStart": {"exec": {"command": ["a"]}}, "preStop": {"httpGet": {"port": 1}}}
    ),
    "a hook of nothing": container(lifecycle={"preStop": {}}),
    "a hook that sleeps": container(lifecycle={"preStop": {"sleep": {"seconds": 5}}}),
    "a hook that sleeps too long": container(lifecycle={"preStop": {"sleep": {"seconds": 31}}}),
    "an init container": sidecar(),
    "an init container with a probe": sidecar(livenessProbe={"httpGet": HTTP}),
    "an init container with a hook": sidecar(lifecycle={"preStop": {"exec": {"command": ["a"]}}}),
    "an init container with restart rules alone": sidecar(restartPolicyRules=[{"action": "X"}]),
    "a hook and a signal": container(lifecycle={"stopSignal": "SIGTERM"}),
    "an init container of a container's name": sidecar(name="app"),
    "an init container without a name": {"initContainers": [{"image": "i"}]},
    "a side car": sidecar(restartPolicy="Always", readinessProbe={"httpGet": HTTP}),
    "an init container with an unknown restart policy": sidecar(restartPolicy="Maybe"),
    "a container with a restart policy": container(restartPolicy="OnFailure"),
    "a container with restart rules": container(
        restartPolicy="Never",
        restartPolicyRules=[
            {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}},
        ],
    ),
    "a container with bad restart rules": container(
        restartPolicyRules=[{"action": "Sing"}, {"exitCodes": {"operator": "Eq"}}]
    ),
    "a container with resize policies": container(
        resizePolicy=[
            {"resourceName": "cpu", "restartPolicy": "NotRequired"},
            {"resourceName": "gpu", "restartPolicy": "Sing"},
            {"resourceName": "cpu"},
        ]
    ),
    "an ephemeral container": {"ephemeralContainers": [{"name": "e", "image": "i"}]},
    "an ephemeral container with everything": {
        "ephemeralContainers": [
            {
                "name": "app",
                "image": "i",
                "ports": [{"containerPort": 1}],
                "targetContainerName": "missing",
            }
        ]
    },
}
