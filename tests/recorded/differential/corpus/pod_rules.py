"""Rules and defaults of Pods."""

from collections.abc import Mapping

from tests.recorded.differential.scenario import GONE, Json

POD: Json = {"spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]}}

FIRST = "spec.containers.0"


def _volume(**source: Json) -> Mapping[str, Json]:
    return {"spec.volumes": [{"name": "v", **source}]}


def _mount(**mount: Json) -> Mapping[str, Json]:
    return {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        f"{FIRST}.volumeMounts": [{"name": "v", "mountPath": "/v", **mount}],
    }


def _probe(**probe: Json) -> Mapping[str, Json]:
    return {f"{FIRST}.livenessProbe": probe}


PODS: dict[str, Mapping[str, Json]] = {
    "plain": {},
    "no-spec": {"spec": GONE},
    "no-containers": {"spec.containers": []},
    "containers-gone": {"spec.containers": GONE},
    "null-containers": {"spec.containers": None},
    "no-image": {f"{FIRST}.image": GONE},
    "image-with-space": {f"{FIRST}.image": " x"},
    "latest-image": {f"{FIRST}.image": "example.com/main"},
    "tagged-latest": {f"{FIRST}.image": "example.com/main:latest"},
    "digest-image": {f"{FIRST}.image": "example.com/main@sha256:" + "0" * 64},
    "bad-container-name": {f"{FIRST}.name": "Main_1"},
    "same-container-name": {
        "spec.containers.-": {"name": "main", "image": "x"},
    },
    "same-name-in-init": {"spec.initContainers": [{"name": "main", "image": "x"}]},
    "init-container": {"spec.initContainers": [{"name": "first", "image": "x"}]},
    "sidecar": {"spec.initContainers": [{"name": "side", "image": "x", "restartPolicy": "Always"}]},
    "init-with-probe": {
        "spec.initContainers": [
            {"name": "first", "image": "x", "readinessProbe": {"tcpSocket": {"port": 1}}}
        ]
    },
    "ephemeral-at-creation": {"spec.ephemeralContainers": [{"name": "e", "image": "x"}]},
    "bad-pull-policy": {f"{FIRST}.imagePullPolicy": "Maybe"},
    "restart-never": {"spec.restartPolicy": "Never"},
    "bad-restart": {"spec.restartPolicy": "Sometimes"},
    "bad-dns-policy": {"spec.dnsPolicy": "Odd"},
    "dns-none-without-config": {"spec.dnsPolicy": "None"},
    "dns-config": {"spec.dnsPolicy": "None", "spec.dnsConfig": {"nameservers": ["10.0.0.1"]}},
    "negative-grace": {"spec.terminationGracePeriodSeconds": -1},
    "zero-deadline": {"spec.activeDeadlineSeconds": 0},
    "host-network": {"spec.hostNetwork": True, f"{FIRST}.ports": [{"containerPort": 80}]},
    "host-port-mismatch": {
        "spec.hostNetwork": True,
        f"{FIRST}.ports": [{"containerPort": 80, "hostPort": 81}],
    },
    "host-users": {"spec.hostPID": True, "spec.shareProcessNamespace": True},
    "bad-node-name": {"spec.nodeName": "Bad_Node"},
    "node-selector": {"spec.nodeSelector": {"disk": "ssd"}},
    "bad-node-selector": {"spec.nodeSelector": {"bad key!": "x"}},
    "bad-host-name": {"spec.hostname": "Bad_Host"},
    "bad-subdomain": {"spec.subdomain": "a.b"},
    "service-account": {"spec.serviceAccountName": "robot"},
    "old-service-account": {"spec.serviceAccount": "robot"},
    "bad-service-account": {"spec.serviceAccountName": "Bad_Robot"},
    "scheduler": {"spec.schedulerName": "mine"},
    "priority": {"spec.priority": 5},
    "priority-class-missing": {"spec.priorityClassName": "none"},
    "system-priority": {"spec.priorityClassName": "system-node-critical"},
    "runtime-class-missing": {"spec.runtimeClassName": "none"},
    "preemption": {"spec.preemptionPolicy": "Never"},
    "readiness-gates": {"spec.readinessGates": [{"conditionType": "example.com/ready"}]},
    "scheduling-gates": {"spec.schedulingGates": [{"name": "example.com/gate"}]},
    "gate-twice": {
        "spec.schedulingGates": [{"name": "example.com/gate"}, {"name": "example.com/gate"}]
    },
    "host-aliases": {"spec.hostAliases": [{"ip": "10.1.1.1", "hostnames": ["a"]}]},
    "bad-host-alias": {"spec.hostAliases": [{"ip": "x", "hostnames": ["A_B"]}]},
    "pull-secrets": {"spec.imagePullSecrets": [{"name": "x"}]},
    "empty-pull-secret": {"spec.imagePullSecrets": [{}]},
    "os-linux": {"spec.os": {"name": "linux"}},
    "os-other": {"spec.os": {"name": "plan9"}},
    "windows-with-linux-field": {
        "spec.os": {"name": "windows"},
        "spec.securityContext": {"runAsUser": 5},
    },
    # Containers.
    "command": {f"{FIRST}.command": ["a"], f"{FIRST}.args": ["b"], f"{FIRST}.workingDir": "/w"},
    "env": {f"{FIRST}.env": [{"name": "A", "value": "1"}, {"name": "B"}]},
    "env-empty-name": {f"{FIRST}.env": [{"name": ""}]},
    "env-bad-name": {f"{FIRST}.env": [{"name": "a=b"}]},
    "env-number": {f"{FIRST}.env": [{"name": "A", "value": 1}]},
    "env-both": {
        f"{FIRST}.env": [
            {
                "name": "A",
                "value": "1",
                "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
            }
        ]
    },
    "env-from-nothing": {f"{FIRST}.env": [{"name": "A", "valueFrom": {}}]},
    "env-field": {
        f"{FIRST}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    },
    "env-bad-field": {
        f"{FIRST}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.odd"}}}]
    },
    "env-resource": {
        f"{FIRST}.env": [
            {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
        ]
    },
    "env-config-map": {
        f"{FIRST}.env": [
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "bad key"}}}
        ]
    },
    "env-from": {f"{FIRST}.envFrom": [{"configMapRef": {"name": "x"}, "prefix": "P_"}]},
    "env-from-two": {
        f"{FIRST}.envFrom": [{"configMapRef": {"name": "x"}, "secretRef": {"name": "y"}}]
    },
    "ports": {f"{FIRST}.ports": [{"containerPort": 80, "name": "http"}]},
    "port-zero": {f"{FIRST}.ports": [{"containerPort": 0}]},
    "port-too-large": {f"{FIRST}.ports": [{"containerPort": 65536}]},
    "port-bad-name": {f"{FIRST}.ports": [{"containerPort": 80, "name": "far-too-long-a-name"}]},
    "port-same-name": {
        f"{FIRST}.ports": [
            {"containerPort": 80, "name": "a"},
            {"containerPort": 81, "name": "a"},
        ]
    },
    "port-twice": {f"{FIRST}.ports": [{"containerPort": 80}, {"containerPort": 80}]},
    "port-bad-protocol": {f"{FIRST}.ports": [{"containerPort": 80, "protocol": "ICMP"}]},
    "resources": {
        f"{FIRST}.resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": 0.5}}
    },
    "limits-only": {f"{FIRST}.resources": {"limits": {"cpu": "0.1", "memory": "1024Mi"}}},
    "guaranteed": {
        f"{FIRST}.resources": {
            "limits": {"cpu": "1", "memory": "1Gi"},
            "requests": {"cpu": "1", "memory": "1Gi"},
        }
    },
    "request-above-limit": {
        f"{FIRST}.resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}
    },
    "negative-resource": {f"{FIRST}.resources": {"requests": {"cpu": "-1"}}},
    "bad-quantity": {f"{FIRST}.resources": {"requests": {"cpu": "much"}}},
    "unknown-resource": {f"{FIRST}.resources": {"requests": {"odd": "1"}}},
    "extended-resource": {f"{FIRST}.resources": {"requests": {"example.com/gpu": "1"}}},
    "fractional-memory": {f"{FIRST}.resources": {"requests": {"memory": "100m"}}},
    "odd-quantities": {
        f"{FIRST}.resources": {
            "requests": {"cpu": "1000m", "memory": "1e3", "ephemeral-storage": "1.5Gi"}
        }
    },
    # Probes and hooks.
    "probe-http": _probe(httpGet={"port": 80}),
    "probe-named-port": _probe(httpGet={"port": "http", "path": "/x", "scheme": "HTTPS"}),
    "probe-exec": _probe(exec={"command": ["x"]}),
    "probe-exec-empty": _probe(exec={"command": []}),
    "probe-grpc": _probe(grpc={"port": 80}),
    "probe-nothing": _probe(periodSeconds=5),
    "probe-two": _probe(httpGet={"port": 80}, exec={"command": ["x"]}),
    "probe-bad-port": _probe(httpGet={"port": 0}),
    "probe-bad-name": _probe(tcpSocket={"port": "Bad Port"}),
    "probe-negative": _probe(httpGet={"port": 80}, initialDelaySeconds=-1),
    "probe-success-threshold": _probe(httpGet={"port": 80}, successThreshold=2),
    "probe-bad-scheme": _probe(httpGet={"port": 80, "scheme": "gopher"}),
    "hook": {f"{FIRST}.lifecycle": {"preStop": {"sleep": {"seconds": 1}}}},
    "hook-nothing": {f"{FIRST}.lifecycle": {"preStop": {}}},
    # Volumes.
    "volume-empty-dir": _volume(emptyDir={}),
    "volume-nothing": _volume(),
    "volume-two": _volume(emptyDir={}, hostPath={"path": "/x"}),
    "volume-bad-name": {"spec.volumes": [{"name": "Bad_V", "emptyDir": {}}]},
    "volume-twice": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]
    },
    "volume-host-path": _volume(hostPath={"path": "/x"}),
    "volume-host-path-up": _volume(hostPath={"path": "/x/../y"}),
    "volume-host-path-bad-type": _volume(hostPath={"path": "/x", "type": "Odd"}),
    "volume-config-map": _volume(configMap={"name": "x", "items": [{"key": "a", "path": "b"}]}),
    "volume-config-map-nameless": _volume(configMap={}),
    "volume-config-map-bad-path": _volume(
        configMap={"name": "x", "items": [{"key": "a", "path": "/b"}]}
    ),
    "volume-config-map-bad-mode": _volume(configMap={"name": "x", "defaultMode": 4096}),
    "volume-secret": _volume(secret={"secretName": "x"}),
    "volume-secret-nameless": _volume(secret={}),
    "volume-claim": _volume(persistentVolumeClaim={"claimName": "x"}),
    "volume-claim-nameless": _volume(persistentVolumeClaim={}),
    "volume-downward": _volume(
        downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}
    ),
    "volume-projected": _volume(
        projected={"sources": [{"serviceAccountToken": {"path": "token"}}]}
    ),
    "volume-projected-nothing": _volume(projected={"sources": []}),
    "volume-ephemeral": _volume(
        ephemeral={
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            }
        }
    ),
    "volume-csi": _volume(csi={"driver": "example.com"}),
    "volume-nfs-relative": _volume(nfs={"server": "x", "path": "relative"}),
    "mount": _mount(),
    "mount-read-only": _mount(readOnly=True),
    "mount-missing-volume": _mount(name="other"),
    "mount-no-path": _mount(mountPath=""),
    "mount-sub-path-up": _mount(subPath="../x"),
    "mount-same-path": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        f"{FIRST}.volumeMounts": [
            {"name": "v", "mountPath": "/v"},
            {"name": "v", "mountPath": "/v"},
        ],
    },
    # Scheduling, and users.
    "toleration": {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}]},
    "toleration-bad-operator": {"spec.tolerations": [{"key": "a", "operator": "Like"}]},
    "toleration-exists-with-value": {
        "spec.tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]
    },
    "toleration-bad-effect": {"spec.tolerations": [{"key": "a", "effect": "Never"}]},
    "toleration-seconds": {"spec.tolerations": [{"key": "a", "tolerationSeconds": 5}]},
    "affinity": {
        "spec.affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
                ]
            }
        }
    },
    "affinity-no-topology": {
        "spec.affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}
    },
    "affinity-bad-weight": {
        "spec.affinity": {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 500, "preference": {}}
                ]
            }
        }
    },
    "node-affinity-no-terms": {
        "spec.affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}
            }
        }
    },
    "spread": {
        "spec.topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ]
    },
    "spread-bad": {
        "spec.topologySpreadConstraints": [
            {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Odd"}
        ]
    },
    "security": {
        "spec.securityContext": {"runAsUser": 1000, "fsGroup": 5, "supplementalGroups": [1]}
    },
    "security-negative-user": {"spec.securityContext": {"runAsUser": -1}},
    "security-bad-seccomp": {"spec.securityContext": {"seccompProfile": {"type": "Odd"}}},
    "security-sysctl": {"spec.securityContext": {"sysctls": [{"name": "bad name", "value": "1"}]}},
    "privileged": {f"{FIRST}.securityContext": {"privileged": True}},
    "privileged-without-escalation": {
        f"{FIRST}.securityContext": {"privileged": True, "allowPrivilegeEscalation": False}
    },
    "bad-proc-mount": {f"{FIRST}.securityContext": {"procMount": "Odd"}},
    "bad-termination-policy": {f"{FIRST}.terminationMessagePolicy": "Odd"},
    "stdin-once": {f"{FIRST}.stdin": True, f"{FIRST}.stdinOnce": True, f"{FIRST}.tty": True},
    "status": {"status": {"phase": "Running"}},
    "many-mistakes": {
        f"{FIRST}.name": "Bad_Name",
        f"{FIRST}.ports": [{"containerPort": 0}],
        "spec.restartPolicy": "Odd",
        "spec.dnsPolicy": "Odd",
    },
    "unknown-fields": {"spec.surprise": 1, f"{FIRST}.surprise": 1},
    "wrong-type": {f"{FIRST}.command": "x"},
    "wrong-type-of-number": {"spec.terminationGracePeriodSeconds": "5"},
    "fraction-for-number": {"spec.terminationGracePeriodSeconds": 1.5},
    "whole-fraction-for-number": {"spec.terminationGracePeriodSeconds": 5.0},
}
