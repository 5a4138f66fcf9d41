"""Validation and defaults of the built-in kinds."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tests.recorded.differential.corpus.kinds import Kind, Place, builtin_kinds
from tests.recorded.differential.corpus.pod_rules import POD, PODS
from tests.recorded.differential.scenario import GONE, Changed, Json, Request, Scenario, edited

Cases: TypeAlias = dict[str, Mapping[str, Json]]

CONFIG_MAP: Json = {"data": {"a": "1"}}
CONFIG_MAPS: Cases = {
    "nothing": {"data": GONE},
    "empty": {"data": {}},
    "bad-key": {"data": {"a/b": "x"}},
    "dots-as-key": {"data": {"..": "x"}},
    "long-key": {"data": {"k" * 254: "x"}},
    "empty-key": {"data": {"": "x"}},
    "both": {"binaryData": {"a": "AA=="}},
    "binary": {"binaryData": {"b": "AA=="}},
    "bad-binary": {"binaryData": {"b": "no base64"}},
    "bad-binary-key": {"binaryData": {"b c": "AA=="}},
    "immutable": {"immutable": True},
    "number": {"data": {"a": 1}},
    "null": {"data": {"a": None}},
}

SECRET: Json = {"data": {"a": "eA=="}}
SECRETS: Cases = {
    "plain": {},
    "text": {"stringData": {"b": "text", "a": "over"}},
    "bad-key": {"data": {"a b": "eA=="}},
    "bad-base64": {"data": {"a": "%%"}},
    "line-break": {"data": {"a": "eA=\n="}},
    "immutable": {"immutable": True},
    "tls": {"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}},
    "tls-without-key": {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}},
    "docker": {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e30="}},
    "docker-not-json": {
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": "eA=="},
    },
    "docker-missing": {"type": "kubernetes.io/dockerconfigjson"},
    "docker-old": {"type": "kubernetes.io/dockercfg", "data": {".dockercfg": "e30="}},
    "basic": {"type": "kubernetes.io/basic-auth", "data": {"username": "eA=="}},
    "basic-missing": {"type": "kubernetes.io/basic-auth"},
    "ssh": {"type": "kubernetes.io/ssh-auth", "data": {"ssh-privatekey": "eA=="}},
    "ssh-missing": {"type": "kubernetes.io/ssh-auth"},
    "account-token": {"type": "kubernetes.io/service-account-token"},
    "own-type": {"type": "example.com/own"},
}

NAMESPACES: Cases = {
    "plain": {},
    "finalizer": {"spec": {"finalizers": ["example.com/hold"]}},
    "bad-finalizer": {"spec": {"finalizers": ["hold"]}},
    "long-name": {"metadata.name": "n" * 64},
    "dotted-name": {"metadata.name": "a.b"},
    "status": {"status": {"phase": "Terminating"}},
}

LEASE: Json = {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}
LEASES: Cases = {
    "plain": {},
    "nothing": {"spec": GONE},
    "zero-duration": {"spec.leaseDurationSeconds": 0},
    "negative-duration": {"spec.leaseDurationSeconds": -1},
    "negative-transitions": {"spec.leaseTransitions": -1},
    "empty-holder": {"spec.holderIdentity": ""},
    "micro-time": {"spec.renewTime": "2026-01-02T03:04:05.123456Z"},
    "plain-time": {"spec.renewTime": "2026-01-02T03:04:05Z"},
    "nano-time": {"spec.renewTime": "2026-01-02T03:04:05.123456789Z"},
    "zoned-time": {"spec.renewTime": "2026-01-02T03:04:05.000000+02:00"},
    "bad-time": {"spec.renewTime": "yesterday"},
    "strategy": {"spec.strategy": "OldestEmulationVersion"},
    "strategy-and-preferred": {"spec.strategy": "Own", "spec.preferredHolder": "you"},
    "preferred-alone": {"spec.preferredHolder": "you"},
    "text-for-number": {"spec.leaseDurationSeconds": "15"},
    "float-for-number": {"spec.leaseDurationSeconds": 1.5},
}

EVENT: Json = {
    "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "x", "namespace": "NAMESPACE"},
    "reason": "Because",
    "message": "hello",
    "type": "Normal",
}
EVENTS: Cases = {
    "plain": {},
    "other-namespace": {"involvedObject.namespace": "elsewhere"},
    "cluster-object": {"involvedObject": {"kind": "Node", "name": "x"}},
    "no-namespace-of-object": {"involvedObject.namespace": GONE},
    "nothing": {"involvedObject": {}, "reason": GONE, "message": GONE, "type": GONE},
    "event-time": {
        "eventTime": "2026-01-02T03:04:05.000000Z",
        "action": "Do",
        "reportingComponent": "example.com/c",
        "reportingInstance": "i",
    },
    "event-time-alone": {"eventTime": "2026-01-02T03:04:05.000000Z"},
    "bad-type": {"eventTime": "2026-01-02T03:04:05.000000Z", "type": "Odd"},
    "odd-type": {"type": "Odd"},
    "long-message": {"message": "m" * 1025},
    "series": {"series": {"count": 2, "lastObservedTime": "2026-01-02T03:04:05.000000Z"}},
    "negative-count": {"count": -1},
}

SERVICE: Json = {"spec": {"selector": {"app": "x"}, "ports": [{"port": 80}]}}
SERVICES: Cases = {
    "plain": {},
    "no-spec": {"spec": GONE},
    "no-ports": {"spec.ports": []},
    "headless-without-ports": {"spec.ports": GONE, "spec.clusterIP": "None"},
    "headless": {"spec.clusterIP": "None"},
    "node-port": {"spec.type": "NodePort"},
    "node-port-chosen": {"spec.type": "NodePort", "spec.ports.0.nodePort": 32001},
    "node-port-outside": {"spec.type": "NodePort", "spec.ports.0.nodePort": 80},
    "node-port-of-cluster-ip": {"spec.ports.0.nodePort": 32002},
    "node-port-headless": {"spec.type": "NodePort", "spec.clusterIP": "None"},
    "load-balancer": {"spec.type": "LoadBalancer"},
    "load-balancer-without-node-ports": {
        "spec.type": "LoadBalancer",
        "spec.allocateLoadBalancerNodePorts": False,
    },
    "load-balancer-local": {
        "spec.type": "LoadBalancer",
        "spec.externalTrafficPolicy": "Local",
    },
    "load-balancer-class": {"spec.type": "LoadBalancer", "spec.loadBalancerClass": "example.com/x"},
    "class-of-cluster-ip": {"spec.loadBalancerClass": "example.com/x"},
    "external-name": {"spec": {"type": "ExternalName", "externalName": "example.com"}},
    "external-name-missing": {"spec": {"type": "ExternalName"}},
    "external-name-bad": {"spec": {"type": "ExternalName", "externalName": "Bad_Name"}},
    "external-name-with-address": {
        "spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": "10.0.9.9"}
    },
    "bad-type": {"spec.type": "Telepathy"},
    "bad-port": {"spec.ports.0.port": 0},
    "large-port": {"spec.ports.0.port": 65536},
    "no-port": {"spec.ports": [{}]},
    "text-port": {"spec.ports.0.port": "80"},
    "bad-protocol": {"spec.ports.0.protocol": "ICMP"},
    "udp": {"spec.ports.0.protocol": "UDP"},
    "target-name": {"spec.ports.0.targetPort": "http"},
    "bad-target-name": {"spec.ports.0.targetPort": "Not A Port"},
    "bad-target": {"spec.ports.0.targetPort": 70000},
    "zero-target": {"spec.ports.0.targetPort": 0},
    "app-protocol": {"spec.ports.0.appProtocol": "example.com/x"},
    "two-ports": {"spec.ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]},
    "nameless-ports": {"spec.ports": [{"port": 80}, {"port": 81}]},
    "same-name": {"spec.ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]},
    "same-port": {"spec.ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
    "bad-port-name": {"spec.ports.0.name": "A_B"},
    "bad-selector": {"spec.selector": {"bad key!": "x"}},
    "affinity": {"spec.sessionAffinity": "ClientIP"},
    "affinity-seconds": {
        "spec.sessionAffinity": "ClientIP",
        "spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}},
    },
    "affinity-config-alone": {"spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10}}},
    "bad-affinity": {"spec.sessionAffinity": "Sticky"},
    "bad-address": {"spec.clusterIP": "10.0.0.999"},
    "address-outside": {"spec.clusterIP": "192.168.0.1"},
    "bad-external-address": {"spec.externalIPs": ["127.0.0.1", "x"]},
    "source-ranges": {"spec.type": "LoadBalancer", "spec.loadBalancerSourceRanges": ["10.0.0.0/8"]},
    "bad-source-ranges": {"spec.type": "LoadBalancer", "spec.loadBalancerSourceRanges": ["x"]},
    "internal-local": {"spec.internalTrafficPolicy": "Local"},
    "bad-internal": {"spec.internalTrafficPolicy": "Nowhere"},
    "external-policy-of-cluster-ip": {"spec.externalTrafficPolicy": "Local"},
    "dual-stack": {"spec.ipFamilyPolicy": "RequireDualStack"},
    "prefer-dual-stack": {"spec.ipFamilyPolicy": "PreferDualStack"},
    "ipv6": {"spec.ipFamilies": ["IPv6"]},
    "bad-family": {"spec.ipFamilies": ["IPv5"]},
    "traffic-distribution": {"spec.trafficDistribution": "PreferClose"},
    "bad-traffic-distribution": {"spec.trafficDistribution": "Anywhere"},
    "publish-not-ready": {"spec.publishNotReadyAddresses": True},
    "name-with-digit-first": {"metadata.name": "1abc"},
    "long-name": {"metadata.name": "n" * 64},
}

DEPLOYMENT: Json = {
    "spec": {
        "selector": {"matchLabels": {"app": "x"}},
        "template": {"metadata": {"labels": {"app": "x"}}, **POD},
    }
}
DEPLOYMENTS: Cases = {
    "plain": {},
    "no-spec": {"spec": GONE},
    "empty-spec": {"spec": {}},
    "no-selector": {"spec.selector": GONE},
    "empty-selector": {"spec.selector": {}},
    "selector-mismatch": {"spec.template.metadata.labels": {"app": "y"}},
    "bad-selector-operator": {
        "spec.selector": {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["x"]}]}
    },
    "selector-in-without-values": {
        "spec.selector": {"matchExpressions": [{"key": "app", "operator": "In"}]}
    },
    "selector-exists-with-values": {
        "spec.selector": {
            "matchExpressions": [{"key": "app", "operator": "Exists", "values": ["x"]}]
        }
    },
    "negative-replicas": {"spec.replicas": -1},
    "zero-replicas": {"spec.replicas": 0},
    "text-replicas": {"spec.replicas": "3"},
    "negative-history": {"spec.revisionHistoryLimit": -1},
    "negative-min-ready": {"spec.minReadySeconds": -1},
    "deadline-too-short": {"spec.progressDeadlineSeconds": 5, "spec.minReadySeconds": 10},
    "negative-deadline": {"spec.progressDeadlineSeconds": -1},
    "recreate": {"spec.strategy": {"type": "Recreate"}},
    "recreate-with-rolling": {
        "spec.strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}
    },
    "bad-strategy": {"spec.strategy": {"type": "Sudden"}},
    "surge-percent": {"spec.strategy": {"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}}},
    "surge-and-unavailable-zero": {
        "spec.strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}
    },
    "surge-text": {"spec.strategy": {"rollingUpdate": {"maxSurge": "lots"}}},
    "surge-negative": {"spec.strategy": {"rollingUpdate": {"maxSurge": -1}}},
    "unavailable-too-much": {"spec.strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}},
    "no-containers": {"spec.template.spec.containers": []},
    "restart-never": {"spec.template.spec.restartPolicy": "Never"},
    "active-deadline": {"spec.template.spec.activeDeadlineSeconds": 5},
    "container-without-name": {"spec.template.spec.containers.0.name": GONE},
    "template-bad-label": {"spec.template.metadata.labels": {"app": "x", "b": "bad value!"}},
    "template-annotations": {"spec.template.metadata.annotations": {"bad key!": "x"}},
    "unknown-deep": {"spec.template.spec.containers.0.imagee": "x"},
    "doubled-env": {
        "spec.template.spec.containers.0.env": [
            {"name": "A", "value": "1"},
            {"name": "A", "value": "2"},
        ]
    },
    "status": {"status": {"replicas": 5}},
}


def _with_template(**spec: Json) -> Json:
    template = {"metadata": {"labels": {"app": "x"}}, **POD}
    return {"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template, **spec}}


OTHERS: dict[str, tuple[Json, Cases]] = {
    "apps/v1/statefulsets": (
        _with_template(serviceName="x"),
        {
            "plain": {},
            "no-selector": {"spec.selector": GONE},
            "bad-policy": {"spec.podManagementPolicy": "Odd"},
        },
    ),
    "apps/v1/daemonsets": (
        _with_template(),
        {"plain": {}, "mismatch": {"spec.template.metadata.labels": {"a": "b"}}},
    ),
    "apps/v1/replicasets": (
        _with_template(),
        {"plain": {}, "negative": {"spec.replicas": -1}},
    ),
    "batch/v1/jobs": (
        {"spec": {"template": edited(POD, {"spec.restartPolicy": "Never"})}},
        {
            "plain": {},
            "restart-always": {"spec.template.spec.restartPolicy": "Always"},
            "negative": {"spec.parallelism": -1},
            "selector": {"spec.selector": {"matchLabels": {"a": "b"}}},
        },
    ),
    "batch/v1/cronjobs": (
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {"spec": {"template": edited(POD, {"spec.restartPolicy": "Never"})}},
            }
        },
        {
            "plain": {},
            "bad-schedule": {"spec.schedule": "often"},
            "bad-zone": {"spec.timeZone": "X/Y"},
        },
    ),
    "rbac.authorization.k8s.io/v1/roles": (
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
        {
            "plain": {},
            "no-verbs": {"rules.0.verbs": []},
            "no-resources": {"rules.0.resources": []},
            "urls": {"rules.0": {"nonResourceURLs": ["/x"], "verbs": ["get"]}},
        },
    ),
    "rbac.authorization.k8s.io/v1/rolebindings": (
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"}},
        {
            "plain": {},
            "no-ref": {"roleRef": GONE},
            "bad-kind": {"roleRef.kind": "Pod"},
            "user-without-group": {"subjects": [{"kind": "User", "name": "x"}]},
            "account-without-namespace": {"subjects": [{"kind": "ServiceAccount", "name": "x"}]},
            "bad-subject": {"subjects": [{"kind": "Robot", "name": "x"}]},
        },
    ),
    "policy/v1/poddisruptionbudgets": (
        {"spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1}},
        {
            "plain": {},
            "both": {"spec.maxUnavailable": 1},
            "bad-percent": {"spec.minAvailable": "150%"},
            "negative": {"spec.minAvailable": -1},
        },
    ),
}


def scenarios() -> Iterator[Scenario]:
    """For each kind a scenario of valid and invalid creations; for some, one of updates."""
    kinds = builtin_kinds()
    tables: dict[str, tuple[Json, Cases]] = {
        "core/v1/configmaps": (CONFIG_MAP, CONFIG_MAPS),
        "core/v1/secrets": (SECRET, SECRETS),
        "core/v1/namespaces": ({}, NAMESPACES),
        "coordination.k8s.io/v1/leases": (LEASE, LEASES),
        "core/v1/events": (EVENT, EVENTS),
        "core/v1/services": (SERVICE, SERVICES),
        "core/v1/pods": (POD, PODS),
        "apps/v1/deployments": (DEPLOYMENT, DEPLOYMENTS),
        **OTHERS,
    }
    for title, (base, cases) in tables.items():
        yield _creations(kinds[title], base, cases)
    yield from _changes(kinds)


def _creations(kind: Kind, base: Json, cases: Cases) -> Scenario:
    at = Place(kind, "rules")
    return at.scenario(*(_creation(at, case, base, changes) for case, changes in cases.items()))


def _creation(at: Place, case: str, base: Json, changes: Mapping[str, Json]) -> Request:
    body = edited(at.bare(case, **base), changes)
    involved = body.get("involvedObject", {})
    if involved.get("namespace") == "NAMESPACE":
        body = edited(body, {"involvedObject.namespace": at.slug})
    return at.create(case, body)


def _changes(kinds: Mapping[str, Kind]) -> Iterator[Scenario]:
    tables: dict[str, tuple[Json, Cases]] = {
        "core/v1/configmaps": (
            {"data": {"a": "1"}, "immutable": True},
            {
                "data": {"data": {"a": "2"}},
                "mutable-again": {"immutable": False},
                "labels": {"metadata.labels": {"a": "b"}},
            },
        ),
        "core/v1/secrets": (
            SECRET,
            {
                "type": {"type": "example.com/x"},
                "text": {"stringData": {"b": "text"}},
                "data": {"data": {"c": "eA=="}},
            },
        ),
        "core/v1/services": (
            SERVICE,
            {
                "other-address": {"spec.clusterIP": "10.0.200.1"},
                "no-address": {"spec.clusterIP": GONE, "spec.clusterIPs": GONE},
                "headless": {"spec.clusterIP": "None", "spec.clusterIPs": ["None"]},
                "node-port": {"spec.type": "NodePort"},
                "cluster-ip-again": {"spec.type": "ClusterIP"},
                "external-name": {"spec": {"type": "ExternalName", "externalName": "example.com"}},
                "port": {"spec.ports": [{"port": 90}]},
            },
        ),
        "apps/v1/deployments": (
            DEPLOYMENT,
            {
                "selector": {
                    "spec.selector": {"matchLabels": {"app": "y"}},
                    "spec.template.metadata.labels": {"app": "y"},
                },
                "replicas": {"spec.replicas": 5},
                "image": {"spec.template.spec.containers.0.image": "example.com/new:2"},
                "status-ignored": {"status": {"replicas": 9}},
                "annotation": {"metadata.annotations": {"a": "b"}},
                "invalid": {"spec.replicas": -1},
            },
        ),
        "core/v1/pods": (
            POD,
            {
                "image": {"spec.containers.0.image": "example.com/new:2"},
                "name": {"spec.containers.0.name": "other"},
                "node": {"spec.nodeName": "somewhere"},
                "deadline": {"spec.activeDeadlineSeconds": 5},
                "toleration": {"spec.tolerations": [{"key": "a", "operator": "Exists"}]},
                "restart": {"spec.restartPolicy": "Never"},
                "labels": {"metadata.labels": {"a": "b"}},
            },
        ),
        "coordination.k8s.io/v1/leases": (LEASE, {"holder": {"spec.holderIdentity": "you"}}),
        "rbac.authorization.k8s.io/v1/rolebindings": (
            OTHERS["rbac.authorization.k8s.io/v1/rolebindings"][0],
            {"other-role": {"roleRef.name": "y"}},
        ),
        "batch/v1/jobs": (
            OTHERS["batch/v1/jobs"][0],
            {
                "parallelism": {"spec.parallelism": 5},
                "completions": {"spec.completions": 5},
                "template": {"spec.template.spec.containers.0.image": "example.com/new:2"},
            },
        ),
        "apps/v1/statefulsets": (
            OTHERS["apps/v1/statefulsets"][0],
            {"replicas": {"spec.replicas": 5}, "service": {"spec.serviceName": "y"}},
        ),
    }
    for title, (base, cases) in tables.items():
        at = Place(kinds[title], "changes")
        # Each is applied to the current object.
        requests = [at.create("created", at.bare("one", **base))]
        for case, changes in cases.items():
            requests += [
                at.get(f"before-{case}", "one"),
                at.update(case, "one", Changed(f"before-{case}", changes)),
            ]
        yield at.scenario(*requests)
