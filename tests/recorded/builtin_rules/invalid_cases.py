"""Invalid fields of Ingresses, autoscalers, flow control, admission policies and webhooks."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object

ADMISSION = "admissionregistration.k8s.io/v1"
FLOWS = "flowcontrol.apiserver.k8s.io/v1"


def invalid_cases() -> Iterator[Case]:
    """Each case has one field that a rule rejects, or that is close to it."""
    yield from _ingresses()
    yield from _metrics()
    yield from _behaviors()
    yield from _levels()
    yield from _flows()
    yield from _policies()
    yield from _webhooks()


def _cases(
    plural: str, api_version: str, specs: Mapping[str, Object], *, namespaced: bool = True
) -> Iterator[Case]:
    for says, spec in specs.items():
        yield Case(
            says=says,
            plural=plural,
            api_version=api_version,
            body={"metadata": {"name": f"invalid-{plural}"}, "spec": spec},
            namespaced=namespaced,
        )


def _ingresses() -> Iterator[Case]:
    backend: Object = {"service": {"name": "x", "port": {"number": 80}}}

    def path(text: str | None, kind: str | None = "Exact", **parts: Any) -> Object:
        whole = {"path": text, "pathType": kind, "backend": backend, **parts}
        return {key: value for key, value in whole.items() if value is not None}

    def of_paths(*paths: Object, **rule: Any) -> Object:
        return {"rules": [{**rule, "http": {"paths": list(paths)}}]}

    texts = ("/", "", "x", "/a//b", "/./a", "/a/../b", "/a/..", "/a/.", "/a%2fb", "/a%2Fb", None)
    specs = {
        f"path {text} of type {kind}": of_paths(path(text, kind))
        for text in texts
        for kind in ("Exact", "ImplementationSpecific")
    }
    specs |= {
        "a path without a type": of_paths(path("/", None)),
        "a path of an unknown type": of_paths(path("/", "Odd")),
        "a prefix": of_paths(path("a", "Prefix")),
        "a rule without paths": {"rules": [{"http": {"paths": []}}]},
        "a path without a backend": of_paths(path("/", backend={})),
        "a backend of both": of_paths(
            path("/", backend={**backend, "resource": {"kind": "X", "name": "x"}})
        ),
        "a backend of a resource": of_paths(path("/", backend={"resource": {"kind": "X"}})),
        "a service without a name": {"defaultBackend": {"service": {"port": {"number": 80}}}},
        "a service with an odd name": {
            "defaultBackend": {"service": {"name": "A b", "port": {"number": 80}}}
        },
        "a service without a port": {"defaultBackend": {"service": {"name": "x"}}},
        "a class": {"defaultBackend": backend, "ingressClassName": "A b"},
    }
    for port in ({"number": 0}, {"number": 65536}, {"name": "A b"}, {"name": "x", "number": 1}):
        specs[f"port {port}"] = {"defaultBackend": {"service": {"name": "x", "port": port}}}
    for host in ("1.2.3.4", "A.b", "*.example.com", "*", "a.*.com", "x" * 64 + ".com"):
        specs[f"host {host}"] = of_paths(path("/"), host=host)
        specs[f"TLS for {host}"] = {"defaultBackend": backend, "tls": [{"hosts": [host]}]}
    specs["TLS with an odd secret"] = {"defaultBackend": backend, "tls": [{"secretName": "A b"}]}
    yield from _cases("ingresses", "networking.k8s.io/v1", specs)


def _scaler(**parts: Any) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {"scaleTargetRef": target, "maxReplicas": 3, **parts}


def _metrics() -> Iterator[Case]:
    half: Object = {"type": "Utilization", "averageUtilization": 50}
    value: Object = {"type": "Value", "value": "1"}
    described = {"kind": "Service", "name": "x"}
    metrics: dict[str, Object] = {
        "nothing": {},
        "an unknown type": {"type": "Odd"},
        "another field": {"type": "Resource", "pods": {"metric": {"name": "x"}, "target": value}},
        "two fields": {
            "type": "Resource",
            "resource": {"name": "cpu", "target": half},
            "pods": {"metric": {"name": "x"}, "target": {"type": "AverageValue"}},
        },
    }
    for name in ("", "cpu", "A b", "memory", "example.com/x", "nothing"):
        metrics[f"resource {name!r}"] = {
            "type": "Resource",
            "resource": {"name": name, "target": half},
        }
        metrics[f"container resource {name!r}"] = {
            "type": "ContainerResource",
            "containerResource": {"name": name, "container": "x", "target": half},
        }
    targets: tuple[Object, ...] = (
        {},
        {"type": "Odd", "value": "1"},
        {"type": "Utilization"},
        {"type": "Utilization", "averageUtilization": 0},
        {"type": "Utilization", "averageUtilization": 5, "averageValue": "1"},
        {"type": "AverageValue", "averageValue": "0"},
        {"type": "AverageValue", "averageValue": "-1", "value": "1"},
        {"type": "Value", "value": "0"},
        {"type": "Value"},
    )
    for target in targets:
        metrics[f"target {target} of a resource"] = {
            "type": "Resource",
            "resource": {"name": "cpu", "target": target},
        }
        metrics[f"target {target} of a container"] = {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "", "target": target},
        }
        metrics[f"target {target} of pods"] = {
            "type": "Pods",
            "pods": {"metric": {"name": "x"}, "target": target},
        }
        metrics[f"target {target} of an object"] = {
            "type": "Object",
            "object": {"metric": {"name": "x"}, "describedObject": described, "target": target},
        }
        metrics[f"target {target} from outside"] = {
            "type": "External",
            "external": {"metric": {"name": "x"}, "target": target},
        }
    odd = {"name": "a/b", "selector": {"matchLabels": {"a!": "b"}}}
    for metric in ({}, odd):
        metrics[f"pods by {metric}"] = {"type": "Pods", "pods": {"metric": metric, "target": value}}
        metrics[f"an external one by {metric}"] = {
            "type": "External",
            "external": {"metric": metric, "target": value},
        }
        metrics[f"an object by {metric}"] = {
            "type": "Object",
            "object": {"metric": metric, "describedObject": {"kind": "a/b"}, "target": value},
        }
    specs = {f"metric: {says}": _scaler(metrics=[metric]) for says, metric in metrics.items()}
    yield from _cases("horizontalpodautoscalers", "autoscaling/v2", specs)


def _behaviors() -> Iterator[Case]:
    policy = {"type": "Pods", "value": 1, "periodSeconds": 60}
    rules: tuple[Object, ...] = (
        {"stabilizationWindowSeconds": -1},
        {"stabilizationWindowSeconds": 3601},
        {"stabilizationWindowSeconds": 3600},
        {"selectPolicy": "Odd"},
        {"tolerance": "-1"},
        {"tolerance": "500m"},
        {"policies": [{**policy, "type": "Odd"}]},
        {"policies": [{**policy, "value": 0}]},
        {"policies": [{**policy, "periodSeconds": 0}]},
        {"policies": [{**policy, "periodSeconds": 1801}]},
        {"policies": [{**policy, "periodSeconds": 1800}]},
        {"policies": []},
    )
    specs = {
        f"{way}: {rule}": _scaler(behavior={way: rule})
        for rule in rules
        for way in ("scaleUp", "scaleDown")
    }
    yield from _cases("horizontalpodautoscalers", "autoscaling/v2", specs)


def _levels() -> Iterator[Case]:
    def limited(queuing: Object | None = None, kind: str = "Queue", **parts: Any) -> Object:
        response: Object = {"type": kind}
        if queuing is not None:
            response["queuing"] = queuing
        return {"type": "Limited", "limited": {"limitResponse": response, **parts}}

    specs: dict[str, Object] = {
        "of no type": {},
        "of an unknown type": {"type": "Odd"},
        "limited by nothing": {"type": "Limited"},
        "exempt and limited": {"type": "Exempt", "limited": {}},
        "exempt with shares": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": -1}},
        "exempt and lending": {"type": "Exempt", "exempt": {"lendablePercent": 101}},
        "limited and exempt": {**limited({}), "exempt": {}},
        "rejecting": limited(kind="Reject"),
        "rejecting and queueing": limited({}, "Reject"),
        "responding oddly": limited(kind="Odd"),
        "queueing without queues": limited(),
    }
    for queuing in (
        {"queues": 0},
        {"queues": -1},
        {"queues": 10_000_001},
        {"handSize": 0},
        {"handSize": -1},
        {"queues": 2, "handSize": 3},
        {"queues": 512, "handSize": 20},
        {"queueLengthLimit": 0},
        {"queueLengthLimit": -1},
        {"queues": 64, "handSize": 6, "queueLengthLimit": 1},
    ):
        specs[f"queueing with {queuing}"] = limited(queuing)
    parts: tuple[Object, ...] = (
        {"nominalConcurrencyShares": -1},
        {"nominalConcurrencyShares": 0},
        {"lendablePercent": -1},
        {"lendablePercent": 101},
        {"borrowingLimitPercent": -1},
        {"borrowingLimitPercent": 0},
    )
    for part in parts:
        specs[f"limited with {part}"] = limited({}, **part)
    yield from _cases("prioritylevelconfigurations", FLOWS, specs, namespaced=False)


def _flows() -> Iterator[Case]:
    level = {"priorityLevelConfiguration": {"name": "exempt"}}
    subject: Object = {"kind": "User", "user": {"name": "x"}}
    resource: Object = {
        "verbs": ["get"],
        "apiGroups": [""],
        "resources": ["pods"],
        "namespaces": ["x"],
    }
    url: Object = {"verbs": ["get"], "nonResourceURLs": ["/x"]}

    def rule(resources: Object | None = None, urls: Object | None = None, **parts: Any) -> Object:
        whole: Object = {"subjects": [subject], **parts}
        if resources is not None:
            whole["resourceRules"] = [resources]
        if urls is not None:
            whole["nonResourceRules"] = [urls]
        return {**level, "rules": [whole]}

    specs: dict[str, Object] = {
        "of no level": {"priorityLevelConfiguration": {}},
        "of an odd level": {"priorityLevelConfiguration": {"name": "A b"}},
        "of precedence 0": {**level, "matchingPrecedence": 0},
        "of precedence -1": {**level, "matchingPrecedence": -1},
        "of precedence 10001": {**level, "matchingPrecedence": 10001},
        "distinguished oddly": {**level, "distinguisherMethod": {"type": "Odd"}},
        "without subjects": rule(resource, subjects=[]),
        "without rules": rule(),
    }
    for name in ("verbs", "apiGroups", "resources", "namespaces"):
        specs[f"without {name}"] = rule({**resource, name: []})
        specs[f"with all and one of {name}"] = rule({**resource, name: ["*", "x"]})
        specs[f"with odd {name}"] = rule({**resource, name: ["A b"]})
    specs["of the cluster and a namespace"] = rule({**resource, "clusterScope": True})
    specs["of the cluster"] = rule({**resource, "namespaces": [], "clusterScope": True})
    for texts in ([], ["*"], ["x"], ["/x", "*"], ["/x/*"], ["/*/x"], [""], ["/x x"]):
        specs[f"with URLs {texts}"] = rule(urls={**url, "nonResourceURLs": texts})
    specs["with URLs and odd verbs"] = rule(urls={**url, "verbs": ["odd"]})
    subjects: tuple[Object, ...] = (
        {"kind": "Odd"},
        {"kind": "User"},
        {"kind": "User", "user": {"name": ""}},
        {"kind": "Group", "group": {"name": ""}},
        {"kind": "Group", "user": {"name": "x"}},
        {"kind": "ServiceAccount", "serviceAccount": {"name": "", "namespace": "x"}},
        {"kind": "ServiceAccount", "serviceAccount": {"name": "x", "namespace": ""}},
        {"kind": "ServiceAccount", "serviceAccount": {"name": "A b", "namespace": "A b"}},
        {"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "x"}},
    )
    for each in subjects:
        specs[f"for {each}"] = rule(resource, subjects=[each])
    yield from _cases("flowschemas", FLOWS, specs, namespaced=False)


def _rule_changes() -> dict[str, Object]:
    whole: Object = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
    }
    changes: dict[str, Object] = {"no part": {}}
    for name in whole:
        changes[f"no {name}"] = {**whole, name: []}
        changes[f"all and one of {name}"] = {**whole, name: ["*", whole[name][0]]}
        changes[f"an empty one of {name}"] = {**whole, name: [""]}
    changes["an odd operation"] = {**whole, "operations": ["ODD"]}
    changes["an odd scope"] = {**whole, "scope": "Odd"}
    for resources in (
        ["*/*"],
        ["*/*", "pods"],
        ["pods/*", "pods/status"],
        ["*", "pods/status"],
        ["*/status", "pods/status"],
        ["pods", "pods"],
    ):
        changes[f"resources {resources}"] = {**whole, "resources": resources}
    return changes


def _policies() -> Iterator[Case]:
    rules = _rule_changes()
    good: Object = {
        "operations": ["*"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
    }
    odd_selector = {"matchLabels": {"a!": "b"}}
    constraints: dict[str, Object] = {
        "nothing": {},
        "no rule": {"resourceRules": []},
        "an odd policy": {"resourceRules": [good], "matchPolicy": "Odd"},
        "an odd selector": {"resourceRules": [good], "objectSelector": odd_selector},
        "odd namespaces": {"resourceRules": [good], "namespaceSelector": odd_selector},
        "an excluded rule": {"resourceRules": [good], "excludeResourceRules": [{}]},
        "a name twice": {"resourceRules": [{**good, "resourceNames": ["x", "x"]}]},
        "an odd name": {"resourceRules": [{**good, "resourceNames": ["a/b"]}]},
    }
    constraints |= {says: {"resourceRules": [each]} for says, each in rules.items()}
    validations = [{"expression": "true"}]
    specs: dict[str, Object] = {
        f"matching {says}": {"matchConstraints": each, "validations": validations}
        for says, each in constraints.items()
    }
    match = {"matchConstraints": {"resourceRules": [good]}}
    specs |= {
        "failing oddly": {**match, "validations": validations, "failurePolicy": "Odd"},
        "without validations": match,
        "without an expression": {**match, "validations": [{"expression": " "}]},
        "with an odd reason": {**match, "validations": [{"expression": "true", "reason": "Odd"}]},
        "with an empty message": {**match, "validations": [{"expression": "true", "message": " "}]},
        "with lines": {**match, "validations": [{"expression": "true", "message": "a\nb"}]},
    }
    for kind in (
        {},
        {"apiVersion": "v1"},
        {"kind": "X"},
        {"apiVersion": "a/b/c", "kind": "X"},
        {"apiVersion": "A b/v1", "kind": "A b"},
        {"apiVersion": "example.com/", "kind": "X"},
        {"apiVersion": "example.com/V 1", "kind": "X"},
    ):
        specs[f"with parameters {kind}"] = {**match, "validations": validations, "paramKind": kind}
    yield from _cases("validatingadmissionpolicies", ADMISSION, specs, namespaced=False)
    bindings: dict[str, Object] = {
        "of an odd policy": {"policyName": "A b", "validationActions": ["Deny"]},
        "without actions": {"policyName": "x"},
        "with an odd action": {"policyName": "x", "validationActions": ["Odd"]},
        "with an action twice": {"policyName": "x", "validationActions": ["Deny", "Deny"]},
        "denying and warning": {"policyName": "x", "validationActions": ["Deny", "Warn"]},
    }
    references: tuple[Object, ...] = (
        {},
        {"name": "x"},
        {"name": "x", "parameterNotFoundAction": "Odd"},
        {"name": "x", "selector": {}, "parameterNotFoundAction": "Deny"},
        {"name": "a/b", "parameterNotFoundAction": "Deny"},
        {"selector": odd_selector, "parameterNotFoundAction": "Allow"},
    )
    for each in references:
        bindings[f"with parameters {each}"] = {
            "policyName": "x",
            "validationActions": ["Deny"],
            "paramRef": each,
        }
    for says, each in constraints.items():
        bindings[f"matching {says}"] = {
            "policyName": "x",
            "validationActions": ["Deny"],
            "matchResources": each,
        }
    yield from _cases("validatingadmissionpolicybindings", ADMISSION, bindings, namespaced=False)


def _webhooks() -> Iterator[Case]:
    good: Object = {
        "name": "a.example.com",
        "clientConfig": {"url": "https://example.com/x"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    changes: dict[str, Object] = {
        f"of a rule with {says}": {"rules": [each]} for says, each in _rule_changes().items()
    }
    for name in ("", "a", "a.b", "A.b.c", "a.b.c"):
        changes[f"named {name!r}"] = {"name": name}
    parts: tuple[Object, ...] = (
        {"failurePolicy": "Odd"},
        {"matchPolicy": "Odd"},
        {"sideEffects": "Some"},
        {"sideEffects": None},
        {"timeoutSeconds": 0},
        {"timeoutSeconds": 31},
        {"timeoutSeconds": 30},
        {"admissionReviewVersions": []},
        {"admissionReviewVersions": ["v2"]},
        {"admissionReviewVersions": ["v1", "v1"]},
        {"admissionReviewVersions": ["V 1"]},
        {"namespaceSelector": {"matchLabels": {"a!": "b"}}},
        {"objectSelector": {"matchLabels": {"a!": "b"}}},
        {"matchConditions": [{"name": "", "expression": "true"}]},
        {"matchConditions": [{"name": "x", "expression": ""}]},
        {"matchConditions": [{"name": "x", "expression": "true"}] * 2},
        {"clientConfig": {}},
        {"clientConfig": {"url": "http://example.com"}},
        {"clientConfig": {"url": "https://"}},
        {"clientConfig": {"url": "https://a@example.com/x"}},
        {"clientConfig": {"url": "https://example.com/x?a=b#c"}},
        {"clientConfig": {"service": {"namespace": "", "name": ""}}},
        {"clientConfig": {"service": {"namespace": "x", "name": "y", "port": 0}}},
        {"clientConfig": {"service": {"namespace": "x", "name": "y", "path": "x//"}}},
        {"clientConfig": {"url": "https://x", "service": {"namespace": "x", "name": "y"}}},
    )
    for part in parts:
        changes[f"with {part}"] = part
    for kind in ("mutating", "validating"):
        for says, change in changes.items():
            if kind == "validating" or not says.startswith("of a rule"):
                yield Case(
                    says=says,
                    plural=f"{kind}webhookconfigurations",
                    api_version=ADMISSION,
                    body={
                        "metadata": {"name": "invalid-webhooks"},
                        "webhooks": [{**good, **change}],
                    },
                    namespaced=False,
                )
    for policy in ("Odd", "IfNeeded", "Never"):
        yield Case(
            says=f"reinvoked: {policy}",
            plural="mutatingwebhookconfigurations",
            api_version=ADMISSION,
            body={
                "metadata": {"name": "invalid-webhooks"},
                "webhooks": [{**good, "reinvocationPolicy": policy}],
            },
            namespaced=False,
        )
