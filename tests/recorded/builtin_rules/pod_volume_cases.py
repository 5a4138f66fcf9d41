"""Pods to create, with one change in their volumes."""

from typing import Any

from tests.recorded.builtin_rules.pod_cases import container, volume


def mount(*mounts: Any, **fields: Any) -> dict[str, Any]:
    """The only container, with an emptyDir volume and these mounts."""
    return {**volume(emptyDir={}), **container(volumeMounts=list(mounts), **fields)}


VOLUMES: dict[str, dict[str, Any]] = {
    "a volume of nothing": volume(),
    "a volume without a name": {"volumes": [{"emptyDir": {}}]},
    "a volume's bad name": {"volumes": [{"name": "V", "emptyDir": {}}]},
    "two volumes of one name": {"volumes": [{"name": "v"}, {"name": "v"}]},
    "a volume of two things": volume(emptyDir={}, hostPath={"path": "/a"}),
    "an empty directory in memory": volume(emptyDir={"medium": "Memory", "sizeLimit": "1.5Gi"}),
    "an empty directory of less than nothing": volume(emptyDir={"sizeLimit": "-1"}),
    "a host's path": volume(hostPath={"path": "/a"}),
    "a host's path of a type": volume(hostPath={"path": "/a", "type": "Directory"}),
    "a host's path of an unknown type": volume(hostPath={"path": "/a", "type": "X"}),
    "a host's path of nothing": volume(hostPath={}),
    "a host's path that climbs": volume(hostPath={"path": "/a/../b"}),
    "a Secret": volume(secret={"secretName": "s", "items": [{"key": "k", "path": "p"}]}),
    "a Secret without a name": volume(secret={}),
    "a Secret with a bad mode": volume(secret={"secretName": "s", "defaultMode": 0o1000}),
    "a ConfigMap": volume(configMap={"name": "c", "optional": True}),
    "a ConfigMap without a name": volume(configMap={}),
    "a ConfigMap with bad items": volume(
        configMap={
            "name": "c",
            "items": [{}, {"key": "k", "path": "/a"}, {"key": "k", "path": "..a", "mode": -1}],
        }
    ),
    "a claim": volume(persistentVolumeClaim={"claimName": "c"}),
    "a claim without a name": volume(persistentVolumeClaim={}),
    "NFS": volume(nfs={"server": "s", "path": "/"}),
    "NFS without anything": volume(nfs={}),
    "iSCSI without anything": volume(iscsi={}),
    "iSCSI of a bad name": volume(iscsi={"targetPortal": "p", "iqn": "iqn.x", "lun": 300}),
    "a disk of GCE without anything": volume(gcePersistentDisk={"partition": 300}),
    "volumes of old without anything": {
        "volumes": [
            {"name": kind.lower(), kind: {}} for kind in ("flocker", "fc", "quobyte", "cinder")
        ]
    },
    "a volume of too many things": volume(emptyDir={}, cephfs={}, downwardAPI={}),
    "glusterfs without anything": volume(glusterfs={}),
    "rbd without anything": volume(rbd={}),
    "rbd": volume(rbd={"monitors": ["m"], "image": "i"}),
    "CSI": volume(csi={"driver": "d.example"}),
    "CSI without a driver": volume(csi={}),
    "CSI of a bad driver": volume(csi={"driver": "a_b"}),
    "CSI with a secret without a name": volume(
        csi={"driver": "d.example", "nodePublishSecretRef": {}}
    ),
    "an image": volume(image={"reference": "nginx"}),
    "an image by a bad policy": volume(image={"reference": "n:1", "pullPolicy": "X"}),
    "the downward API": volume(
        downwardAPI={
            "items": [
                {"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}},
                {
                    "path": "b",
                    "resourceFieldRef": {"containerName": "app", "resource": "limits.cpu"},
                },
            ]
        }
    ),
    "the downward API of nothing": volume(downwardAPI={"items": [{}]}),
    "the downward API of two things": volume(
        downwardAPI={
            "items": [
                {
                    "path": "a",
                    "fieldRef": {"fieldPath": "status.podIP"},
                    "resourceFieldRef": {"resource": "limits.cpu"},
                }
            ]
        }
    ),
    "the downward API without a container": volume(
        downwardAPI={"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}
    ),
    "projections": {
        "serviceAccountName": "me",
        **volume(
            projected={
                "sources": [
                    {"secret": {"name": "s"}},
                    {"configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}},
                    {
                        "downwardAPI": {
                            "items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]
                        }
                    },
                    {"serviceAccountToken": {"path": "t"}},
                ]
            }
        ),
    },
    "a projected token without a path": volume(
        projected={"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 1}}]}
    ),
    "projections that collide": volume(
        projected={
            "sources": [
                {"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}},
                {"configMap": {"items": [{"key": "k", "path": "p"}]}},
            ]
        }
    ),
    "a projection of two things": volume(
        projected={"sources": [{"secret": {"name": "s"}, "configMap": {"name": "c"}}]}
    ),
    "a claim made for the pod": volume(
        ephemeral={
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            }
        }
    ),
    "a claim made of nothing": volume(ephemeral={}),
    "a claim made badly": volume(
        ephemeral={"volumeClaimTemplate": {"metadata": {"name": "x"}, "spec": {"volumeMode": "X"}}}
    ),
    "a mount": mount({"name": "v", "mountPath": "/a", "readOnly": True, "subPath": "b"}),
    "a mount of nothing": mount({}),
    "a mount of another volume": mount({"name": "w", "mountPath": "/a"}),
    "two mounts in one place": mount(
        {"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/a"}
    ),
    "a mount below something else": mount({"name": "v", "mountPath": "/a", "subPath": "/b/../c"}),
    "a mount with two paths below": mount(
        {"name": "v", "mountPath": "/a", "subPath": "b", "subPathExpr": "$(C)"}
    ),
    "a mount that propagates": mount(
        {"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}
    ),
    "a mount that propagates for the privileged": mount(
        {"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"},
        securityContext={"privileged": True},
    ),
    "a mount that propagates oddly": mount(
        {"name": "v", "mountPath": "/a", "mountPropagation": "Oddly"}
    ),
    "a mount that is read-only below": mount(
        {"name": "v", "mountPath": "/a", "recursiveReadOnly": "Enabled"}
    ),
    "a mount that is read-only oddly": mount(
        {"name": "v", "mountPath": "/a", "recursiveReadOnly": "Oddly"}
    ),
    "a device": {
        **volume(persistentVolumeClaim={"claimName": "c"}),
        **container(volumeDevices=[{"name": "v", "devicePath": "/dev/x"}]),
    },
    "a device that is none": mount(
        {"name": "v", "mountPath": "/dev/x"},
        volumeDevices=[
            {"name": "v", "devicePath": "/dev/x"},
            {"devicePath": "../y"},
            {"name": "v"},
        ],
    ),
}
