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
