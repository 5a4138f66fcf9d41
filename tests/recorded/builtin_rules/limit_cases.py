"""Lists that are too long, texts that are too long, and states that only an update can have."""

from collections.abc import Iterator
from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object

ADMISSION = "admissionregistration.k8s.io/v1"
CONFIG_MAPS: Object = {
    "operations": ["*"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}


def limit_cases() -> Iterator[Case]:
    yield from _policies()
    yield from _services_of_the_api()
    yield from _levels()
    yield from _quotas_and_classes()
    yield from _nodes()
    yield from _conditions()
    yield from _slices()
    yield from _storage()
    yield from _attachments()
    yield from _volumes()
    yield from _jobs()


def _policies() -> Iterator[Case]:
    condition = {"expression": "true"}
    parts: dict[str, Object] = {
        "65 match conditions": {
            "validations": [condition],
            "matchConditions": [{"name": f"c{number}", **condition} for number in range(65)],
        },
        "21 annotations": {
            "auditAnnotations": [
                {"key": f"k{number}", "valueExpression": "'x'"} for number in range(21)
            ]
        },
        "a long value": {"auditAnnotations": [{"key": "k", "valueExpression": f"'{'x' * 5120}'"}]},
    }
    for says, part in parts.items():
        yield Case(
            says=says,
            plural="validatingadmissionpolicies",
            api_version=ADMISSION,
            body={
                "metadata": {"name": "limits"},
                "spec": {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}, **part},
            },
            namespaced=False,
        )


def _services_of_the_api() -> Iterator[Case]:
    changes: dict[str, Object] = {
        "no priority": {"spec": {"groupPriorityMinimum": 0}},
        "an odd status": {"status": {"conditions": [{"type": "Available", "status": "Odd"}]}},
    }
    for says, change in changes.items():
        yield Case(
            says=says,
            plural="apiservices",
            api_version="apiregistration.k8s.io/v1",
            body={"metadata": {"name": "v1.apps"}},
            change=change,
            subresource="status" if "status" in change else "",
            namespaced=False,
            there_already=True,
        )


def _levels() -> Iterator[Case]:
    for name in ("nominalConcurrencyShares", "lendablePercent"):
        yield Case(
            says=f"exempt without {name}",
            plural="prioritylevelconfigurations",
            api_version="flowcontrol.apiserver.k8s.io/v1",
            body={"metadata": {"name": "exempt"}},
            change={"spec": {"exempt": {name: None}}},
            namespaced=False,
            there_already=True,
        )


def _quotas_and_classes() -> Iterator[Case]:
    expressions = [
        {"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")
    ]
    yield Case(
        says="of Pods that end and that do not",
        plural="resourcequotas",
        body={
            "metadata": {"name": "limits"},
            "spec": {"hard": {"pods": 1}, "scopeSelector": {"matchExpressions": expressions}},
        },
    )
    pages = {"default": {"hugepages-2Mi": "4Mi"}, "defaultRequest": {"hugepages-2Mi": "2Mi"}}
    yield Case(
        says="of huge pages, whose request is less than their limit",
        plural="limitranges",
        body={"metadata": {"name": "limits"}, "spec": {"limits": [{"type": "Container", **pages}]}},
    )

    yield Case(
        says="with a name of the system",
        plural="priorityclasses",
        api_version="scheduling.k8s.io/v1",
        body={"metadata": {"name": "system-mine"}, "value": 1},
        namespaced=False,
    )


def _nodes() -> Iterator[Case]:
    yield Case(
        says="without swap space",
        plural="nodes",
        body={"metadata": {"name": "limits"}, "status": {"nodeInfo": {"swap": {"capacity": 0}}}},
        namespaced=False,
    )


def _conditions() -> Iterator[Case]:
    good: Object = {
        "type": "A",
        "status": "True",
        "reason": "Fine",
        "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    parts: dict[str, Object] = {
        "observed before the first generation": {"observedGeneration": -1},
        "a long reason": {"reason": "x" * 1025},
        "a long message": {"message": "x" * 32769},
    }
    for says, part in parts.items():
        yield Case(
            says=says,
            plural="poddisruptionbudgets",
            api_version="policy/v1",
            body={"metadata": {"name": "limits"}, "spec": {"minAvailable": 1}},
            change={"status": {"conditions": [{**good, **part}]}},
            subresource="status",
        )


def _slices() -> Iterator[Case]:
    def endpoint(**parts: Any) -> Object:
        return {"addresses": ["10.0.0.1"], **parts}

    def names(count: int) -> list[Object]:
        return [{"name": f"n{number}"} for number in range(count)]

    parts: dict[str, Object] = {
        "20001 ports": {"ports": [{}] * 20001},
        "1001 endpoints": {"endpoints": [endpoint()] * 1001},
        "101 addresses": {"endpoints": [endpoint(addresses=[f"10.0.0.{n}" for n in range(101)])]},
        "9 zones": {"endpoints": [endpoint(hints={"forZones": names(9)})]},
        "9 zones and 9 nodes": {
            "endpoints": [endpoint(hints={"forZones": names(9), "forNodes": names(9)})]
        },
        "9 nodes": {"endpoints": [endpoint(hints={"forNodes": names(9)})]},
        "a zone twice": {"endpoints": [endpoint(hints={"forZones": [{"name": "a"}] * 2})]},
        "a node twice": {"endpoints": [endpoint(hints={"forNodes": [{"name": "a"}] * 2})]},
    }
    for says, part in parts.items():
        yield Case(
            says=says,
            plural="endpointslices",
            api_version="discovery.k8s.io/v1",
            body={"metadata": {"name": "limits"}, "addressType": "IPv4", "endpoints": [], **part},
        )


def _storage() -> Iterator[Case]:
    parameters: dict[str, dict[str, str]] = {
        "without a name": {"": "x"},
        "that are too many": {f"p{number}": "x" for number in range(513)},
        "that are too long": {"p": "x" * 256 * 1024},
    }
    for says, each in parameters.items():
        for plural, driver in (
            ("storageclasses", "provisioner"),
            ("volumeattributesclasses", "driverName"),
        ):
            yield Case(
                says=f"parameters {says}",
                plural=plural,
                api_version="storage.k8s.io/v1",
                body={
                    "metadata": {"name": "limits"},
                    driver: "example.com",
                    "parameters": each,
                },
                namespaced=False,
            )
    yield Case(
        says="a long ID",
        plural="csinodes",
        api_version="storage.k8s.io/v1",
        body={
            "metadata": {"name": "limits"},
            "spec": {"drivers": [{"name": "example.com", "nodeID": "x" * 257}]},
        },
        namespaced=False,
    )


def _attachments() -> Iterator[Case]:
    statuses: dict[str, Object] = {
        "long metadata": {"attachmentMetadata": {"a": "x" * 256 * 1024}},
        "a long error while attaching": {"attachError": {"message": "x" * 1025}},
        "a long error while detaching": {"detachError": {"message": "x" * 1025}},
        "a code below zero": {"attachError": {"errorCode": -1}},
    }
    for says, status in statuses.items():
        yield Case(
            says=says,
            plural="volumeattachments",
            api_version="storage.k8s.io/v1",
            body={
                "metadata": {"name": "limits"},
                "spec": {
                    "attacher": "example.com",
                    "nodeName": "n",
                    "source": {"persistentVolumeName": "v"},
                },
            },
            change={"status": {"attached": True, **status}},
            subresource="status",
            namespaced=False,
        )

    inline = {
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/"},
        "persistentVolumeReclaimPolicy": "Recycle",
    }
    yield Case(
        says="of an inline volume that is a recycled root",
        plural="volumeattachments",
        api_version="storage.k8s.io/v1",
        body={
            "metadata": {"name": "limits"},
            "spec": {
                "attacher": "example.com",
                "nodeName": "n",
                "source": {"inlineVolumeSpec": inline},
            },
        },
        namespaced=False,
    )


def _volumes() -> Iterator[Case]:
    common: Object = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    csi: Object = {"driver": "example.com", "volumeHandle": "h"}
    portal = {"targetPortal": "p" * 64, "iqn": "iqn.2026-01.com.example:a", "lun": 0}
    specs: dict[str, Object] = {
        "recycled root": {
            "hostPath": {"path": "/"},
            "persistentVolumeReclaimPolicy": "Recycle",
        },
        "a long portal": {"iscsi": {**portal, "initiatorName": "iqn.2026-01.com.example:b"}},
        "an empty class of attributes": {"csi": csi, "volumeAttributesClassName": ""},
        "a class of attributes without CSI": {
            "hostPath": {"path": "/a"},
            "volumeAttributesClassName": "c",
        },
    }
    for says, spec in specs.items():
        yield Case(
            says=says,
            plural="persistentvolumes",
            body={"metadata": {"name": "limits"}, "spec": {**common, **spec}},
            namespaced=False,
        )
    yield Case(
        says="mount options of a volume without a mount",
        plural="persistentvolumes",
        body={
            "metadata": {
                "name": "limits",
                "annotations": {"volume.beta.kubernetes.io/mount-options": "ro"},
            },
            "spec": {**common, "hostPath": {"path": "/a"}},
        },
        namespaced=False,
    )
    yield Case(
        says="its class of attributes is removed",
        plural="persistentvolumes",
        body={
            "metadata": {"name": "limits-of-attributes"},
            "spec": {**common, "csi": csi, "volumeAttributesClassName": "c"},
        },
        change={"spec": {"volumeAttributesClassName": None}},
        namespaced=False,
    )


def _jobs() -> Iterator[Case]:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}
    ready = {"type": "Ready"}
    ignored = {"action": "Ignore", "onPodConditions": [ready]}
    indexed = {"completionMode": "Indexed", "parallelism": 1}

    def failing(*rules: Object) -> Object:
        return {"podFailurePolicy": {"rules": list(rules)}}

    def succeeding(*rules: Object) -> Object:
        return {**indexed, "completions": 3, "successPolicy": {"rules": list(rules)}}

    codes = {"operator": "In", "values": [*range(1, 257)]}
    specs: dict[str, Object] = {
        "21 rules of failures": failing(*[ignored] * 21),
        "21 conditions of Pods": failing({**ignored, "onPodConditions": [ready] * 21}),
        "256 exit codes": failing({"action": "Ignore", "onExitCodes": codes}),
        "21 rules of success": succeeding(*[{"succeededCount": 1}] * 21),
        "long indexes": {
            **succeeding({"succeededIndexes": ",".join(map(str, range(0, 25_000, 2)))}),
            "completions": 25_000,
        },
        "many failed indexes of many": {
            **indexed,
            "completions": 100_001,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 10_001,
        },
        "a limit below zero": {**indexed, "completions": 1, "backoffLimitPerIndex": -1},
    }
    for says, spec in specs.items():
        yield Case(
            says=says,
            plural="jobs",
            api_version="batch/v1",
            body={"metadata": {"name": "limits"}, "spec": {"template": template, **spec}},
        )
