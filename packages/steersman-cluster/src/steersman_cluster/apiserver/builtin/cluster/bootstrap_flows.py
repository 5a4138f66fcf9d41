"""The mandatory and the suggested flow control objects of every cluster.

The embedded server does not implement API priority and fairness. The objects exist only for clients
that read them.
"""

from collections.abc import Iterator
from typing import Any

from steersman_cluster.apiserver.meta.strategy import Object

API_VERSION = "flowcontrol.apiserver.k8s.io/v1"

# Name, concurrency shares, lendable percent, and (queues, hand size) if it has queues.
_LEVELS: tuple[tuple[str, int, int, tuple[int, int] | None], ...] = (
    ("catch-all", 5, 0, None),
    ("global-default", 20, 50, (128, 6)),
    ("leader-election", 10, 0, (16, 4)),
    ("node-high", 40, 25, (64, 6)),
    ("system", 30, 33, (64, 6)),
    ("workload-high", 40, 50, (128, 6)),
    ("workload-low", 100, 90, (128, 6)),
)


def flow_control_objects(now: str) -> Iterator[Object]:
    """Yield the priority levels, and then the flow schemas, which assign requests to levels."""
    exempt = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    yield _object("PriorityLevelConfiguration", "exempt", {"type": "Exempt", "exempt": exempt}, {})
    for name, shares, lends, queues in _LEVELS:
        limited = {
            "nominalConcurrencyShares": shares,
            "limitResponse": _response(queues),
            "lendablePercent": lends,
        }
        spec = {"type": "Limited", "limited": limited}
        yield _object("PriorityLevelConfiguration", name, spec, {})
    for name, level, precedence, by, rule in _schemas():
        schema: Object = {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": precedence,
            "rules": [rule],
        }
        if by:
            schema["distinguisherMethod"] = {"type": by}
        yield _object("FlowSchema", name, schema, {"conditions": [_not_dangling(level, now)]})


def _schemas() -> Iterator[tuple[str, str, int, str, Object]]:
    """Yield the parts of each flow schema.

    The parts are the name, priority level, precedence and distinguisher method of the flow schema,
    and a rule with its subjects.
    """
    all_users = (_group("system:unauthenticated"), _group("system:authenticated"))
    manager, scheduler = _user("system:kube-controller-manager"), _user("system:kube-scheduler")
    accounts = {
        "kind": "ServiceAccount",
        "serviceAccount": {"namespace": "kube-system", "name": "*"},
    }
    nodes = _group("system:nodes")
    leases = _resources("*", "coordination.k8s.io", "leases", namespaced=True)
    yield "exempt", "exempt", 1, "", _anything(_group("system:masters"))
    probes = [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}]
    yield "probes", "exempt", 2, "", {"subjects": [*all_users], "nonResourceRules": probes}
    electing = {**leases, "verbs": ["get", "create", "update"]}
    electors = {"subjects": [manager, scheduler, accounts], "resourceRules": [electing]}
    yield "system-leader-election", "leader-election", 100, "ByUser", electors
    own = _resources("*", "", "nodes", "nodes/status", namespaced=False)
    beating = {"subjects": [nodes], "resourceRules": [own, leases]}
    yield "system-node-high", "node-high", 400, "ByUser", beating
    yield "system-nodes", "system", 500, "ByUser", _anything(nodes)
    yield "kube-controller-manager", "workload-high", 800, "ByNamespace", _anything(manager)
    yield "kube-scheduler", "workload-high", 800, "ByNamespace", _anything(scheduler)
    yield "kube-system-service-accounts", "workload-high", 900, "ByNamespace", _anything(accounts)
    workloads = _anything(_group("system:serviceaccounts"))
    yield "service-accounts", "workload-low", 9000, "ByUser", workloads
    yield "global-default", "global-default", 9900, "ByUser", _anything(*all_users)
    yield "catch-all", "catch-all", 10000, "ByUser", _anything(*all_users)


def _object(kind: str, name: str, spec: Object, status: Object) -> Object:
    metadata = {
        "name": name,
        "generation": 1,
        "annotations": {"apf.kubernetes.io/autoupdate-spec": "true"},
    }
    return {
        "kind": kind,
        "apiVersion": API_VERSION,
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def _response(queues: tuple[int, int] | None) -> Object:
    if queues is None:
        return {"type": "Reject"}
    count, hand = queues
    queuing = {"queues": count, "handSize": hand, "queueLengthLimit": 50}
    return {"type": "Queue", "queuing": queuing}


def _not_dangling(level: str, now: str) -> Object:
    return {
        "type": "Dangling",
        "status": "False",
        "lastTransitionTime": now,
        "reason": "Found",
        "message": "This FlowSchema references the PriorityLevelConfiguration object named"
        f' "{level}" and it exists',
    }


def _anything(*subjects: Object) -> Object:
    return {
        "subjects": list(subjects),
        "resourceRules": [_resources("*", "*", "*", namespaced=False)],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }


def _resources(verb: str, group: str, *resources: str, namespaced: bool) -> Object:
    rule: dict[str, Any] = {"verbs": [verb], "apiGroups": [group], "resources": list(resources)}
    if not namespaced:
        rule["clusterScope"] = True
    rule["namespaces"] = ["*"]
    return rule


def _group(name: str) -> Object:
    return {"kind": "Group", "group": {"name": name}}


def _user(name: str) -> Object:
    return {"kind": "User", "user": {"name": name}}
