"""The effects of admission plugins, with the objects that they depend on.

Each scenario runs in its own namespace. Requests are repeated until the real server's plugins,
which see new objects a moment later, have caught up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.recorded.builtin_rules.cases import Object

CORE: Final = "/api/v1/namespaces/{namespace}"
STORAGE: Final = "/apis/storage.k8s.io/v1/storageclasses"
NETWORK: Final = "/apis/networking.k8s.io/v1"
PRIORITIES: Final = "/apis/scheduling.k8s.io/v1/priorityclasses"
RUNTIMES: Final = "/apis/node.k8s.io/v1/runtimeclasses"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The objects to create first, the requests to try then, and the labels of the namespace."""

    says: str
    given: list[tuple[str, Object]]
    tried: list[tuple[str, Object]]
    # Replaces the status of an existing object.
    statuses: list[tuple[str, Object]] = field(default_factory=list)
    # The existing object is updated with this change.
    changes: list[tuple[str, Object]] = field(default_factory=list)
    # The labels of the namespace.
    labels: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.says


def scenarios() -> Iterator[Scenario]:
    yield _limits()
    yield from _quotas()
    yield from _classes()
    yield _growth()
    yield from _standards()


def _named(name: str, **parts: Any) -> Object:
    return {"metadata": {"name": name}, **parts}


def _pod(name: str, *resources: Object, **spec: Any) -> tuple[str, Object]:
    containers = [
        {"name": f"c{index}", "image": "a:1", "resources": each}
        for index, each in enumerate(resources or ({},))
    ]
    return f"{CORE}/pods", _named(name, spec={"containers": containers, **spec})


def _claim(name: str, storage: str, **spec: Any) -> tuple[str, Object]:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return f"{CORE}/persistentvolumeclaims", _named(name, spec={**asked, **spec})


def _limits() -> Scenario:
    items = [
        {
            "type": "Container",
            "min": {"cpu": "50m"},
            "max": {"cpu": "2", "memory": "1Gi"},
            "default": {"cpu": "500m", "memory": "512Mi"},
            "defaultRequest": {"cpu": "100m"},
            "maxLimitRequestRatio": {"cpu": "8"},
        },
        {"type": "Pod", "max": {"cpu": "3"}},
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}},
    ]
    small = {"requests": {"cpu": "10m"}, "limits": {"cpu": "10m"}}
    large = {"requests": {"cpu": "1"}, "limits": {"cpu": "4", "memory": "2Gi"}}
    wide = {"requests": {"cpu": "100m"}, "limits": {"cpu": "2"}}
    half = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    return Scenario(
        says="a range of limits",
        given=[(f"{CORE}/limitranges", _named("limits", spec={"limits": items}))],
        tried=[
            _pod("plain"),
            _pod("two", {}, {"requests": {"cpu": "200m"}}),
            _pod("small", small),
            _pod("large", large),
            _pod("wide", wide),
            _pod("together", half, half),
            _claim("fits", "2Gi"),
            _claim("little", "1Mi"),
            _claim("much", "6Gi"),
        ],
    )


def _quota(name: str, hard: Object, used: Object, **spec: Any) -> Scenario:
    path = f"{CORE}/resourcequotas"
    return Scenario(
        says=name,
        given=[(path, _named("quota", spec={"hard": hard, **spec}))],
        statuses=[(f"{path}/quota/status", {"hard": hard, "used": used})],
        tried=[
            _pod("plain"),
            _pod("asking", {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1"}}),
            _pod("two", {"requests": {"cpu": "1"}}, {"limits": {"cpu": "1"}}),
            _pod("brief", activeDeadlineSeconds=10),
            (f"{CORE}/configmaps", _named("data")),
            (f"{CORE}/secrets", _named("secret")),
            (
                f"{CORE}/services",
                _named("ports", spec={"type": "NodePort", "ports": [{"port": 80}]}),
            ),
            _claim("claim", "2Gi", storageClassName="fast"),
            (
                "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
                _named("lease", spec={}),
            ),
        ],
    )


def _quotas() -> Iterator[Scenario]:
    counts = {"pods": "2", "configmaps": "5", "count/leases.coordination.k8s.io": "1"}
    none = dict.fromkeys(counts, "0")
    yield _quota("a quota with room", counts, none)
    yield _quota("a quota that is used up", counts, counts)
    yield _quota("a quota without a count", counts, {"pods": "0"})
    computed = {"requests.cpu": "1500m", "limits.cpu": "1"}
    yield _quota("a quota of what is asked for", computed, dict.fromkeys(computed, "0"))
    yield _quota("a quota that is nearly used", computed, {"requests.cpu": "1", "limits.cpu": "0"})
    storage = {
        "requests.storage": "5Gi",
        "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
        "services.nodeports": "0",
        "secrets": "0",
    }
    yield _quota("a quota of storage and ports", storage, dict.fromkeys(storage, "0"))
    for scope in ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating"):
        hard = {"pods": "0"}
        yield _quota(f"a quota of what is {scope}", hard, hard, scopes=[scope])
    rules = [{"scopeName": "PriorityClass", "operator": "DoesNotExist"}]
    hard = {"pods": "0"}
    selector = {"matchExpressions": rules}
    yield _quota("a quota of what has no class", hard, hard, scopeSelector=selector)


def _classes() -> Iterator[Scenario]:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    metadata = {"name": "rules-default", "annotations": default}
    yield Scenario(
        says="a class of storage for all",
        given=[(STORAGE, {"metadata": metadata, "provisioner": "example.com/a"})],
        tried=[_claim("any", "1Gi"), _claim("none", "1Gi", storageClassName="")],
    )
    default = {"ingressclass.kubernetes.io/is-default-class": "true"}
    metadata = {"name": "rules-default", "annotations": default}
    backend = {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}
    path = f"{NETWORK}/namespaces/{{namespace}}/ingresses"
    annotated = {"name": "old", "annotations": {"kubernetes.io/ingress.class": "x"}}
    yield Scenario(
        says="a class of ingresses for all",
        given=[
            (
                f"{NETWORK}/ingressclasses",
                {"metadata": metadata, "spec": {"controller": "example.com/a"}},
            )
        ],
        tried=[
            (path, _named("any", spec=backend)),
            (path, {"metadata": annotated, "spec": backend}),
        ],
    )
    yield Scenario(
        says="a priority for all",
        given=[(PRIORITIES, _named("rules-default", value=7, globalDefault=True))],
        tried=[
            (PRIORITIES, _named("rules-second", value=8, globalDefault=True)),
            (PRIORITIES, _named("rules-third", value=8)),
            _pod("any"),
            _pod("own", priority=7),
            _pod("other", priority=8),
            _pod("unknown", priorityClassName="missing"),
        ],
    )
    scheduling = {
        "nodeSelector": {"a": "b"},
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
    }
    yield Scenario(
        says="a runtime with nodes of its own",
        given=[
            (
                RUNTIMES,
                _named(
                    "rules-runtime",
                    handler="runsc",
                    overhead={"podFixed": {"cpu": "100m"}},
                    scheduling=scheduling,
                ),
            )
        ],
        tried=[
            _pod("chosen", runtimeClassName="rules-runtime"),
            _pod("same", runtimeClassName="rules-runtime", nodeSelector={"a": "b", "c": "d"}),
            _pod("other", runtimeClassName="rules-runtime", nodeSelector={"a": "c"}),
            _pod("lighter", runtimeClassName="rules-runtime", overhead={"cpu": "50m"}),
            _pod("none", overhead={"cpu": "50m"}),
            _pod("unknown", runtimeClassName="missing"),
        ],
    )


def _growth() -> Scenario:
    claims = f"{CORE}/persistentvolumeclaims"
    storage = {"resources": {"requests": {"storage": "2Gi"}}}
    bound = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    return Scenario(
        says="claims that would grow",
        given=[
            (STORAGE, _named("rules-grows", provisioner="a.b/c", allowVolumeExpansion=True)),
            (STORAGE, _named("rules-stays", provisioner="a.b/c")),
            _claim("pending", "1Gi", storageClassName="rules-grows"),
            _claim("grows", "1Gi", storageClassName="rules-grows"),
            _claim("stays", "1Gi", storageClassName="rules-stays"),
            _claim("missing", "1Gi", storageClassName="rules-missing"),
        ],
        statuses=[(f"{claims}/{name}/status", bound) for name in ("grows", "stays", "missing")],
        tried=[],
        changes=[
            (f"{claims}/{name}", {"spec": storage})
            for name in ("pending", "grows", "stays", "missing")
        ],
    )


def _secured(name: str, context: Object, **spec: Any) -> tuple[str, Object]:
    container = {"name": "c0", "image": "a:1", "securityContext": context}
    return f"{CORE}/pods", _named(name, spec={"containers": [container], **spec})


def _suspects() -> list[tuple[str, Object]]:
    good = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    port = {"name": "c0", "image": "a:1", "ports": [{"containerPort": 80, "hostPort": 80}]}
    probe = {"httpGet": {"host": "a.b", "port": 80}}
    odd = {
        "appArmorProfile": {"type": "Unconfined"},
        "seLinuxOptions": {"type": "spc_t", "user": "u", "role": "r"},
        "seccompProfile": {"type": "Unconfined"},
        "sysctls": [{"name": "kernel.msgmax", "value": "1"}],
        "runAsUser": 0,
        "runAsNonRoot": False,
    }
    volumes = [
        {"name": "a", "hostPath": {"path": "/"}},
        {"name": "b", "nfs": {"server": "a", "path": "/"}},
        {"name": "c", "emptyDir": {}},
    ]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [port]}}
    deployment = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    job = {"template": {"spec": {"restartPolicy": "Never", "containers": [port]}}}
    batch = "/apis/batch/v1/namespaces/{namespace}"
    return [
        _pod("plain"),
        _pod("two", {}, {}),
        _secured("good", good),
        _secured("privileged", {**good, "privileged": True, "allowPrivilegeEscalation": True}),
        _secured("capable", {**good, "capabilities": {"add": ["NET_ADMIN", "CHOWN"]}}),
        _secured("half", {**good, "capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}}),
        _secured("masked", {**good, "procMount": "Unmasked"}, hostUsers=False),
        _secured("root", {**good, "runAsUser": 0}),
        _secured("odd", good, securityContext=odd),
        _secured("odder", {**good, **{key: odd[key] for key in ("seLinuxOptions", "runAsUser")}}),
        _secured("hosts", good, hostNetwork=True, hostPID=True, hostIPC=True),
        _secured("volumes", good, volumes=volumes),
        _secured("windows", {}, os={"name": "windows"}),
        (f"{CORE}/pods", _named("port", spec={"containers": [port]})),
        (f"{CORE}/pods", _named("probe", spec={"containers": [{**port, "livenessProbe": probe}]})),
        ("/apis/apps/v1/namespaces/{namespace}/deployments", _named("web", spec=deployment)),
        (f"{batch}/jobs", _named("once", spec=job)),
        (
            f"{batch}/cronjobs",
            _named("often", spec={"schedule": "* * * * *", "jobTemplate": {"spec": job}}),
        ),
        (f"{CORE}/podtemplates", _named("template", template=template)),
    ]


def _standards() -> Iterator[Scenario]:
    label = "pod-security.kubernetes.io/"
    for labels in (
        {"enforce": "restricted"},
        {"enforce": "baseline", "warn": "restricted"},
        {"enforce": "baseline", "enforce-version": "v1.24"},
        {"enforce": "restricted", "enforce-version": "v1.20", "warn-version": "v1.30"},
        {"warn": "baseline"},
        {"audit": "restricted"},
    ):
        yield Scenario(
            says=f"a namespace with {labels}",
            given=[],
            tried=_suspects(),
            labels={f"{label}{key}": value for key, value in labels.items()},
        )
    space = "/api/v1/namespaces"
    yield Scenario(
        says="namespaces that become stricter",
        given=[_pod("a"), _pod("b"), _secured("c", {"privileged": True})],
        tried=[
            (space, {"metadata": {"name": f"plugins-{level}", "labels": {f"{label}warn": level}}})
            for level in ("baseline", "none")
        ],
        changes=[
            (f"{space}/{{namespace}}", {"metadata": {"labels": {f"{label}{mode}": value}}})
            for mode, value in (
                ("enforce", "baseline"),
                ("enforce", "restricted"),
                ("enforce", "strict"),
                ("warn-version", "v2"),
                ("audit", "restricted"),
            )
        ],
    )
