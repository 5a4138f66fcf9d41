"""Pods to create, with one change outside their containers and volumes."""

from typing import Any

from tests.recorded.builtin_rules.cases import Case
from tests.recorded.builtin_rules.pod_cases import (
    CONTAINER,
    CONTAINERS,
    GONE,
    LABELLED,
    LONG,
    POD,
    container,
    expression,
    node_terms,
    pod_terms,
    resources,
    sidecar,
    spread,
    volume,
    with_changes,
)
from tests.recorded.builtin_rules.pod_limit_cases import LIMITS
from tests.recorded.builtin_rules.pod_volume_cases import VOLUMES

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/app"
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"

RESOURCES: dict[str, dict[str, Any]] = {
    "limits alone": resources(limits={"cpu": "0.5", "memory": "1.5Gi"}),
    "requests alone": resources(requests={"cpu": 1, "memory": "64M"}),
    "requests and limits that are equal": resources(
        limits={"cpu": "1", "memory": "1Gi"}, requests={"cpu": "1000m", "memory": "1024Mi"}
    ),
    "some requests and limits": resources(limits={"cpu": "1"}, requests={"memory": "1"}),
    "requests above limits": resources(limits={"cpu": "1"}, requests={"cpu": "2"}),
    "a request below zero": resources(requests={"cpu": "-1"}),
    "less than a thousandth": resources(limits={"cpu": "1n", "memory": "0.0001"}),
    "an unknown resource": resources(limits={"gpu": "1"}),
    "a resource of another kind": resources(limits={"pods": "1"}),
    "a resource of a bad name": resources(limits={"a b": "1"}),
    "an extended resource": resources(limits={"example.com/gpu": "2"}),
    "a part of an extended resource": resources(limits={"example.com/gpu": "1500m"}),
    "an extended resource without a limit": resources(requests={"example.com/gpu": "1"}),
    "an extended resource with another limit": resources(
        limits={"example.com/gpu": "2"}, requests={"example.com/gpu": "1"}
    ),
    "an extended resource of a bad name": resources(limits={"requests.example.com/gpu": "1"}),
    "a native resource with a prefix": resources(limits={"kubernetes.io/x": "1"}),
    "huge pages": resources(limits={"hugepages-2Mi": "4Mi", "memory": "1Gi"}),
    "huge pages alone": resources(limits={"hugepages-2Mi": "4Mi"}),
    "huge pages that do not divide": resources(limits={"hugepages-2Mi": "3Mi", "cpu": "1"}),
    "huge pages of no size": resources(limits={"hugepages-x": "3Mi", "cpu": "1"}),
    "unknown claims": container(resources={"claims": [{"name": "c"}, {}]}),
    "claims": {
        "resourceClaims": [{"name": "c", "resourceClaimName": "x"}],
        **container(resources={"claims": [{"name": "c"}]}),
    },
    "claims twice": {
        "resourceClaims": [{"name": "c", "resourceClaimName": "x"}, {"name": "c"}],
        **container(resources={"claims": [{"name": "c", "request": "R"}, {"name": "c"}]}),
    },
    "claims of both kinds": {
        "resourceClaims": [
            {"name": "C", "resourceClaimName": "x", "resourceClaimTemplateName": "Y"}
        ]
    },
    "resources of the whole pod": {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
    "resources of the whole pod and of containers": {
        "resources": {"limits": {"cpu": "2"}},
        **resources(limits={"cpu": "1", "memory": "1Gi"}),
    },
    "resources of the whole pod that are too small": {
        "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
        **resources(limits={"cpu": "3"}, requests={"cpu": "2"}),
    },
    "resources of the whole pod of another kind": {
        "resources": {"limits": {"ephemeral-storage": "1"}}
    },
    "no claims of the whole pod": {"resources": {"claims": []}},
    "no claims of a container": container(resources={"claims": []}),
    "resources of an init container": sidecar(resources={"limits": {"cpu": "1"}}),
    "overhead below zero": {"overhead": {"cpu": "-1"}},
}

POLICIES: dict[str, dict[str, Any]] = {
    "restarted on failure": {"restartPolicy": "OnFailure"},
    "restarted sometimes": {"restartPolicy": "Sometimes"},
    "DNS of the host": {"dnsPolicy": "Default"},
    "an unknown DNS policy": {"dnsPolicy": "Unknown"},
    "DNS of its own": {
        "dnsPolicy": "None",
        "dnsConfig": {
            "nameservers": ["1.1.1.1"],
            "searches": ["a_b.c."],
            "options": [{"name": "x"}],
        },
    },
    "DNS of its own without a config": {"dnsPolicy": "None"},
    "DNS of its own without servers": {"dnsPolicy": "None", "dnsConfig": {"searches": ["a"]}},
    "DNS that is wrong": {
        "dnsConfig": {
            "nameservers": ["1.1.1.1", "x", "01.1.1.1", "::ffff:1.2.3.4"],
            "searches": ["A", "."],
            "options": [{"value": "1"}],
        }
    },
    "a hostname and a subdomain": {"hostname": "a", "subdomain": "b"},
    "a bad hostname and subdomain": {"hostname": "A", "subdomain": "b.c"},
    "a hostname over all": {"hostnameOverride": "a.b"},
    "a hostname over all on the host's network": {
        "hostnameOverride": LONG + "A",
        "hostNetwork": True,
        "setHostnameAsFQDN": True,
    },
    "a service account": {"serviceAccountName": "me"},
    "a service account by its old name": {"serviceAccount": "me"},
    "a bad service account": {"serviceAccountName": "A"},
    "a bad node": {"nodeName": "A_"},
    "a node": {"nodeName": "n1"},
    "a deadline": {"activeDeadlineSeconds": 5},
    "no time at all": {"activeDeadlineSeconds": 0},
    "much time": {"activeDeadlineSeconds": 2**31},
    "no grace": {"terminationGracePeriodSeconds": 0},
    "less than no grace": {"terminationGracePeriodSeconds": -5},
    "pull secrets": {"imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]},
    "aliases of hosts": {"hostAliases": [{"ip": "1.2.3.4", "hostnames": ["a.b"]}]},
    "bad aliases of hosts": {"hostAliases": [{"ip": "1.2.3", "hostnames": ["A"]}, {}]},
    "a scheduler": {"schedulerName": "mine"},
    "a priority": {"priority": 5},
    "a priority of zero": {"priority": 0},
    "a priority class": {"priorityClassName": "unknown"},
    "a preemption policy": {"preemptionPolicy": "Never"},
    "a runtime class": {"runtimeClassName": "unknown"},
    "no service links": {"enableServiceLinks": False},
    "Linux": {"os": {"name": "linux"}},
    "a system of no name": {"os": {}},
    "another system": {"os": {"name": "plan9"}},
    "Windows": {
        "os": {"name": "windows"},
        "hostPID": True,
        "securityContext": {"runAsUser": 1, "sysctls": [{"name": "a.b", "value": "c"}]},
        **container(securityContext={"privileged": True, "runAsGroup": 1}),
    },
    "Linux with options for Windows": {
        "os": {"name": "linux"},
        "securityContext": {"windowsOptions": {"runAsUserName": "x"}},
        **container(securityContext={"windowsOptions": {"runAsUserName": "x"}}),
    },
    "readiness gates": {"readinessGates": [{"conditionType": "a/b"}, {"conditionType": "a b"}]},
    "a scheduling gate": {"schedulingGates": [{"name": "a.b/c"}]},
    "bad scheduling gates": {"schedulingGates": [{"name": "A B"}, {"name": "A B"}]},
    "a scheduling gate on a node": {"schedulingGates": [{"name": "a"}], "nodeName": "n"},
    "users of its own": {"hostUsers": False},
    "users of its own on the host": {
        "hostUsers": False,
        "hostNetwork": True,
        "hostPID": True,
        "hostIPC": True,
    },
    "a shared process namespace on the host": {"shareProcessNamespace": True, "hostPID": True},
    "an annotation of seccomp": {"/metadata.annotations": {SECCOMP: "runtime/default"}},
    "a bad annotation of seccomp": {"/metadata.annotations": {SECCOMP: "localhost//a"}},
    "an unknown annotation of seccomp": {"/metadata.annotations": {SECCOMP: "x"}},
    "an annotation of AppArmor": {"/metadata.annotations": {APP_ARMOR: "localhost/p"}},
    "a bad annotation of AppArmor": {"/metadata.annotations": {APP_ARMOR: "x"}},
    "an annotation of AppArmor without a container": {
        "/metadata.annotations": {f"{APP_ARMOR}2": ""}
    },
    "annotations and fields that differ": {
        "/metadata.annotations": {SECCOMP: "unconfined", APP_ARMOR: "unconfined"},
        "securityContext": {
            "seccompProfile": {"type": "RuntimeDefault"},
            "appArmorProfile": {"type": "RuntimeDefault"},
        },
    },
    "a mirror of nothing": {"/metadata.annotations": {"kubernetes.io/config.mirror": "x"}},
    "a cost that is none": {
        "/metadata.annotations": {"controller.kubernetes.io/pod-deletion-cost": "+1"}
    },
    "a cost": {"/metadata.annotations": {"controller.kubernetes.io/pod-deletion-cost": "-1"}},
    "old annotations of init containers": {
        "/metadata.annotations": {"pod.beta.kubernetes.io/init-containers": "[]", "a": "b"}
    },
    "a name with a dot": {"/metadata.name": "a.b"},
}

SECURITY: dict[str, dict[str, Any]] = {
    "a user of the pod": {"securityContext": {"runAsUser": 1, "fsGroup": 2, "runAsNonRoot": True}},
    "users that cannot be": {
        "securityContext": {
            "runAsUser": -1,
            "runAsGroup": 2**31,
            "fsGroup": -1,
            "supplementalGroups": [1, -1],
        },
        **container(securityContext={"runAsUser": -1, "runAsGroup": -1}),
    },
    "sysctls": {"securityContext": {"sysctls": [{"name": "net.a", "value": "1"}]}},
    "bad sysctls": {
        "hostNetwork": True,
        "hostIPC": True,
        "securityContext": {
            "sysctls": [
                {"name": "net.a", "value": "1"},
                {"name": "net.a", "value": "1"},
                {"name": "kernel.shmmax", "value": "1"},
                {"name": "A", "value": "1"},
                {"value": "1"},
            ]
        },
    },
    "unknown policies": {
        "securityContext": {
            "fsGroupChangePolicy": "X",
            "supplementalGroupsPolicy": "X",
            "seLinuxChangePolicy": "X",
        }
    },
    "a seccomp profile": {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}},
    "a seccomp profile of nothing": {"securityContext": {"seccompProfile": {}}},
    "an unknown seccomp profile": {"securityContext": {"seccompProfile": {"type": "X"}}},
    "a local seccomp profile of no name": container(
        securityContext={"seccompProfile": {"type": "Localhost"}}
    ),
    "a local seccomp profile": container(
        securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "../x"}}
    ),
    "a seccomp profile with too much": container(
        securityContext={"seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}}
    ),
    "AppArmor profiles": {
        "securityContext": {"appArmorProfile": {"type": "Localhost"}},
        **container(securityContext={"appArmorProfile": {"type": "X"}}),
    },
    "AppArmor profiles with too much": {
        "securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": " x"}},
        **container(
            securityContext={"appArmorProfile": {"type": "Unconfined", "localhostProfile": "x"}}
        ),
    },
    "privileged without escalation": container(
        securityContext={"privileged": True, "allowPrivilegeEscalation": False}
    ),
    "an administrator without escalation": container(
        securityContext={
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["CAP_SYS_ADMIN"], "drop": ["ALL"]},
        }
    ),
    "an unmasked /proc": container(securityContext={"procMount": "Unmasked"}),
    "an odd /proc": container(securityContext={"procMount": "Odd"}),
}

SCHEDULING: dict[str, dict[str, Any]] = {
    "a toleration": {"tolerations": [{"key": "a", "operator": "Exists"}]},
    "a toleration of everything": {"tolerations": [{"operator": "Exists"}]},
    "a toleration of what is not ready": {
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
        ]
    },
    "tolerations that are wrong": {
        "tolerations": [
            {"key": "a b", "operator": "Equal", "value": "c d", "effect": "X"},
            {"operator": "Equal"},
            {"key": "a", "operator": "Exists", "value": "b", "tolerationSeconds": 1},
            {"key": "a", "operator": "Lt", "value": "1"},
            {"key": "a", "operator": "Near"},
        ]
    },
    "a node selector": {"nodeSelector": {"a": "b"}},
    "a bad node selector": {"nodeSelector": {"a b": "c"}},
    "a bad value of a node selector": {"nodeSelector": {"a": "c d"}},
    "affinity to nodes": node_terms(
        expression("a", "In", "b"),
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
    ),
    "affinity to no nodes": node_terms(),
    "affinity to nodes that is wrong": node_terms(
        expression("a b", "In"),
        expression("a", "Exists", "b"),
        expression("a", "Gt"),
        expression("a", "Near", "b c"),
        {"matchFields": [{"key": "x", "operator": "Gt", "values": ["n"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["N", "m"]}]},
    ),
    "preferred nodes": {
        "affinity": {
            "nodeAffinity": {PREFERRED: [{"weight": 0, "preference": expression("a", "In", "b c")}]}
        }
    },
    "affinity to pods": pod_terms({"topologyKey": "a", "labelSelector": LABELLED}),
    "affinity to pods with keys": pod_terms(
        {"topologyKey": "a", "labelSelector": LABELLED, "mismatchLabelKeys": ["app"]},
        kind="podAntiAffinity",
    ),
    "affinity to pods that is wrong": pod_terms(
        {"topologyKey": ""},
        {"topologyKey": "a b", "namespaces": ["A"]},
        {
            "topologyKey": "a",
            "labelSelector": expression("a", "Near", "b c"),
            "namespaceSelector": {"matchLabels": {"a b": "c"}},
        },
        {"topologyKey": "a", "matchLabelKeys": ["x"], "mismatchLabelKeys": ["x"]},
        {
            "topologyKey": "a",
            "labelSelector": LABELLED,
            "matchLabelKeys": ["app"],
            "mismatchLabelKeys": ["app"],
        },
    ),
    "preferred pods": {
        "affinity": {
            "podAntiAffinity": {
                PREFERRED: [{"weight": 101, "podAffinityTerm": {"topologyKey": "a"}}]
            }
        }
    },
    "spread": spread(),
    "spread with keys": spread(labelSelector={}, matchLabelKeys=["app", "other"]),
    "spread of the old kind": spread(
        topologyKey="failure-domain.beta.kubernetes.io/zone", labelSelector=GONE
    ),
    "spread that is wrong": spread(
        maxSkew=0,
        topologyKey="",
        whenUnsatisfiable="X",
        minDomains=0,
        nodeAffinityPolicy="X",
        nodeTaintsPolicy="X",
        labelSelector=expression("a b", "In"),
    ),
    "spread with keys that are there": spread(matchLabelKeys=["app"]),
    "spread with keys and no selector": spread(labelSelector=GONE, matchLabelKeys=["app"]),
    "spread twice": {
        "topologySpreadConstraints": [
            *spread()["topologySpreadConstraints"],
            *spread()["topologySpreadConstraints"],
        ]
    },
}

WARNED: dict[str, dict[str, Any]] = {
    "env that hides env": container(
        env=[
            {"name": "A", "value": "1"},
            {"name": "A", "value": "$(A)2"},
            {"name": "A", "value": "3"},
        ]
    ),
    "ports that clash": {
        "containers": [
            {**CONTAINER, "ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 1}]},
            {"name": "b", "image": "b", "ports": [{"containerPort": 2, "name": "a"}]},
        ]
    },
    "old labels and annotations": {
        "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "/metadata.annotations": {"scheduler.alpha.kubernetes.io/critical-pod": ""},
        **volume(gitRepo={"repository": "r"}),
    },
    "parts of bytes": resources(limits={"memory": "100m"}),
}


def pod_cases() -> list[Case]:
    """All cases."""
    tables = (CONTAINERS, VOLUMES, RESOURCES, POLICIES, SECURITY, SCHEDULING, WARNED, LIMITS)
    return [
        Case(says=says, plural="pods", body=with_changes(POD, changes))
        for table in tables
        for says, changes in table.items()
    ]
