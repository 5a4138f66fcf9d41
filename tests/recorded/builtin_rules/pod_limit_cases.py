"""Pods to create whose lists or texts are too long, and other rare errors."""

from typing import Any

from tests.recorded.builtin_rules.pod_cases import container, resources, sidecar, volume

RULE: dict[str, Any] = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
LOCAL = {"type": "Localhost", "localhostProfile": "p"}
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/app"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/app"
MIRROR = "kubernetes.io/config.mirror"


def restarting(*rules: dict[str, Any]) -> dict[str, Any]:
    return container(restartPolicy="Never", restartPolicyRules=list(rules))


def searching(*names: str) -> dict[str, Any]:
    return {"dnsConfig": {"searches": list(names)}}


LIMITS: dict[str, dict[str, Any]] = {
    "20 restart rules": restarting(*[RULE] * 20),
    "21 restart rules": restarting(*[RULE] * 21),
    "256 exit codes": restarting(
        {**RULE, "exitCodes": {"operator": "In", "values": [*range(256)]}}
    ),
    "32 search paths": searching(*(f"d{number}.example" for number in range(32))),
    "33 search paths": searching(*(f"d{number}.example" for number in range(33))),
    "long search paths": searching(*[".".join(["d" * 60] * 4)] * 9),
    "a long profile": {
        "securityContext": {
            "appArmorProfile": {"type": "Localhost", "localhostProfile": "p" * 4096}
        }
    },
    "a token that is valid for too long": volume(
        projected={
            "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 2**32 + 1}}]
        }
    ),
    "a disk of Azure": volume(
        azureDisk={"diskName": "d", "diskURI": "https://a.blob.core.windows.net/b/c.vhd"}
    ),
    "a disk of Azure of another kind": volume(
        azureDisk={"diskName": "d", "diskURI": "https://a.blob", "kind": "Managed"}
    ),
    "a file share of Azure without a share": volume(azureFile={"secretName": "s"}),
    "huge pages of the containers, with a limit of the Pod": {
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
        **resources(
            limits={"hugepages-2Mi": "4Mi", "memory": "1Gi", "cpu": "1"},
            requests={"cpu": "500m"},
        ),
    },
    "an init container that restarts for a resize": sidecar(
        resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    ),
    "a type of seccomp that contradicts an annotation": {
        "/metadata.annotations": {SECCOMP: "unconfined"},
        **container(securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
    },
    "a type of seccomp that a profile contradicts": {
        "/metadata.annotations": {SECCOMP: "unconfined"},
        **container(securityContext={"seccompProfile": LOCAL}),
    },
    "a profile of seccomp that contradicts an annotation": {
        "/metadata.annotations": {SECCOMP: "localhost/other"},
        **container(securityContext={"seccompProfile": LOCAL}),
    },
    "a profile of AppArmor that contradicts an annotation": {
        "/metadata.annotations": {APP_ARMOR: "localhost/other"},
        **container(securityContext={"appArmorProfile": LOCAL}),
    },
    "a variable from a file, with a bad key": container(
        env=[
            {
                "name": "A",
                "valueFrom": {"fileKeyRef": {"key": "a=b", "volumeName": "v", "path": "p"}},
            }
        ]
    ),
    "a host process and another container": {
        "os": {"name": "windows"},
        "hostNetwork": True,
        "securityContext": {"windowsOptions": {"hostProcess": True}},
        **container(securityContext={"windowsOptions": {"hostProcess": False}}),
    },
    "a repository that climbs": volume(gitRepo={"repository": "r", "directory": "../d"}),
    "CSI with a secret of a bad name": volume(
        csi={"driver": "d.example", "nodePublishSecretRef": {"name": "A b"}}
    ),
    "an image without a reference": volume(image={}),
    "a claim that a volume creates": {
        "volumes": [
            {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
            {"name": "w", "persistentVolumeClaim": {"claimName": "one-v"}},
        ]
    },
    "a template of a claim with a bad label": volume(
        ephemeral={"volumeClaimTemplate": {"metadata": {"labels": {"a b": "c"}}, "spec": CLAIM}}
    ),
    "resources of a Pod on Windows": {
        "os": {"name": "windows"},
        "resources": {"limits": {"cpu": "1"}},
    },
    "a mirror Pod with claims": {
        "/metadata.annotations": {MIRROR: "m"},
        "nodeName": "n",
        "resourceClaims": [{"name": "c", "resourceClaimName": "x"}],
    },
    "a mirror Pod without a node": {"/metadata.annotations": {MIRROR: "m"}},
}
