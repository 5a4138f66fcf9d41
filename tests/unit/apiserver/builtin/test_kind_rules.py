"""Validation of built-in kinds: one rule of each sort."""

from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.causes import sentences_of
from tests.unit.apiserver.builtin.kind_handler import KindHandler

NETWORK = "networking.k8s.io/v1"
STORAGE = "storage.k8s.io/v1"
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
BUDGET = {"selector": {}, "minAvailable": 1}


def errors_of_create(api_version: str, plural: str, **parts: Any) -> list[str]:
    with pytest.raises(StatusError) as raised:
        KindHandler(api_version, plural).create({"metadata": {"name": "it"}, **parts}, namespace="")
    return sentences_of(raised.value)


def errors_of_update(
    api_version: str, plural: str, old: Object, new: Object, part: str = ""
) -> list[str]:
    about = {"name": "it", "resourceVersion": "1"}
    handler = KindHandler(api_version, plural)
    stored = handler.create({"metadata": about, **old}, namespace="") | {
        "status": old.get("status")
    }
    with pytest.raises(StatusError) as raised:
        handler.update({**stored, **new}, stored, namespace="", subresource=part)
    return sentences_of(raised.value)


@pytest.mark.parametrize(
    ("api_version", "plural", "parts", "why"),
    [
        (
            NETWORK,
            "ingresses",
            {"spec": {"rules": [{"host": "10.0.0.1"}]}},
            'spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
        ),
        (
            NETWORK,
            "ingresses",
            {"spec": {"defaultBackend": {"service": {"name": "web"}}}},
            "spec.defaultBackend: Required value: port name or number is required",
        ),
        (
            NETWORK,
            "networkpolicies",
            {"spec": {"ingress": [{"ports": [{"port": 10, "endPort": 5}]}]}},
            "spec.ingress[0].ports[0].endPort: Invalid value: 10:"
            " must be greater than or equal to `port`",
        ),
        (
            NETWORK,
            "networkpolicies",
            {
                "spec": {
                    "egress": [
                        {"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["1.0.0.0/8"]}}]}
                    ]
                }
            },
            'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "1.0.0.0/8":'
            " must be a strict subset of `cidr`",
        ),
        (
            "autoscaling/v2",
            "horizontalpodautoscalers",
            {"spec": {"maxReplicas": 1, "scaleTargetRef": TARGET, "metrics": [{"type": "Pods"}]}},
            "spec.metrics[0].pods: Required value: must populate information for the given metric"
            " source",
        ),
        (
            "policy/v1",
            "poddisruptionbudgets",
            {"spec": {**BUDGET, "unhealthyPodEvictionPolicy": "Never"}},
            'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never":'
            ' supported values: "AlwaysAllow", "IfHealthyBudget"',
        ),
        (
            "v1",
            "persistentvolumes",
            {"spec": {**VOLUME, "local": {"path": "/a"}}},
            "spec.nodeAffinity: Required value: Local volume requires node affinity",
        ),
        (
            "v1",
            "persistentvolumes",
            {"spec": {**VOLUME, "nfs": {"server": "a", "path": "/"}, "hostPath": {"path": "/"}}},
            "spec.nfs: Forbidden: may not specify more than 1 volume type",
        ),
        (
            "v1",
            "persistentvolumeclaims",
            {"spec": {**CLAIM, "accessModes": ["ReadWriteOncePod", "ReadWriteMany"]}},
            "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        ),
        (
            "v1",
            "nodes",
            {"spec": {"taints": [{"key": "a", "effect": "Sometimes"}]}},
            'metadata.taints[0].effect: Unsupported value: "Sometimes":'
            ' supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        ),
        (
            "v1",
            "resourcequotas",
            {"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort", "NotBestEffort"]}},
            'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
        ),
        (
            "v1",
            "limitranges",
            {"spec": {"limits": [{"type": "Pod", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]}},
            'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        ),
        (
            STORAGE,
            "storageclasses",
            {"provisioner": "a.b/c", "reclaimPolicy": "Recycle"},
            'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
        ),
        (
            STORAGE,
            "csinodes",
            {"spec": {"drivers": [{"name": "a", "nodeID": "", "topologyKeys": []}]}},
            "spec.drivers[0].nodeID: Required value",
        ),
        (
            "discovery.k8s.io/v1",
            "endpointslices",
            {"addressType": "IPv6", "endpoints": [{"addresses": ["10.0.0.1"]}]},
            'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
        ),
        (
            "scheduling.k8s.io/v1",
            "priorityclasses",
            {"value": 2000000000},
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
        ),
        (
            "node.k8s.io/v1",
            "runtimeclasses",
            {"handler": "Odd Name"},
            'handler: Invalid value: "Odd Name": a lowercase RFC 1123 label must consist of lower'
            " case alphanumeric characters or '-', and must start and end with an alphanumeric"
            " character (e.g. 'my-name',  or '123-abc', regex used for validation is"
            " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
    ],
)
def test_a_new_object_that_violates_a_rule_is_rejected(
    api_version: str, plural: str, parts: Object, why: str
) -> None:
    assert errors_of_create(api_version, plural, **parts) == [why]


def test_a_bound_claim_cannot_request_less_than_its_capacity() -> None:
    bound = {"spec": CLAIM, "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    smaller = {**CLAIM, "volumeMode": "Filesystem", "resources": {"requests": {"storage": "1Mi"}}}

    assert errors_of_update("v1", "persistentvolumeclaims", bound, {"spec": smaller}) == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]


def test_the_mode_of_a_volume_is_immutable() -> None:
    spec = {**VOLUME, "hostPath": {"path": "/a", "type": ""}}
    block = {**spec, "volumeMode": "Block", "persistentVolumeReclaimPolicy": "Retain"}

    assert errors_of_update("v1", "persistentvolumes", {"spec": spec}, {"spec": block}) == [
        'volumeMode: Invalid value: "Block": field is immutable'
    ]


def test_a_budget_rejects_a_negative_number_of_pods() -> None:
    status = {"currentHealthy": -1}

    assert errors_of_update(
        "policy/v1", "poddisruptionbudgets", {"spec": BUDGET}, {"status": status}, "status"
    ) == ["status.currentHealthy: Invalid value: -1: must be greater than or equal to 0"]
