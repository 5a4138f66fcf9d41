"""How often an operator asks, by the API server's own count.

The operator is a user of its own, and everything it asks for falls under FlowSchemas of its own,
one for each kind of request: the server counts what it dispatches by FlowSchema, for all clients
at the same time. Their priority level is the one without queues and limits, where the
administrator's requests are as well.
"""

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.harness.accounts import RBAC, allow_everything, create, write_kubeconfig
from steersman_cluster.testing import RealControlPlane

# The user of the kubeconfig that may do nothing by itself.
USER = "limited"

PREFIX = "operator-"
VERBS: Mapping[str, tuple[str, ...]] = {
    "watches": ("watch",),
    "writes": ("create", "update", "patch", "delete", "deletecollection"),
    "reads": ("get", "list"),
}
# Those of the server's own begin at 100, but for the administrator's, which are no concern of ours.
FIRST_PRECEDENCE = 50

FLOW_SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"

DISPATCHED = re.compile(
    r"^apiserver_flowcontrol_dispatched_requests_total\{(.*)\} (\S+)$", re.MULTILINE
)
FLOW_SCHEMA = re.compile(rf'flow_schema="{PREFIX}(\w+)"')

ANSWERED = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')
WRITES = {"POST", "PUT", "PATCH", "APPLY", "DELETE"}
# What operators write. A Deployment's own controller writes nothing but its status, as long as
# no client asks for an older revision.
WRITTEN = {("appservices", ""), ("appservices", "status"), ("deployments", ""), ("services", "")}

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 30.0


def flow_schemas() -> Iterator[Mapping[str, Any]]:
    """What tells leases, watches, writes, reads and questions about the server itself apart."""
    everywhere = {"clusterScope": True, "namespaces": ["*"]}
    leases = {"apiGroups": ["*"], "resources": ["leases"], "verbs": ["*"], **everywhere}
    rules: dict[str, Mapping[str, Any]] = {"leases": {"resourceRules": [leases]}}
    for name, verbs in VERBS.items():
        any_kind = {"apiGroups": ["*"], "resources": ["*"], "verbs": [*verbs], **everywhere}
        rules[name] = {"resourceRules": [any_kind]}
    anything_else = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    rules["discovery"] = {"nonResourceRules": [anything_else]}
    for number, (name, rule) in enumerate(rules.items()):
        yield {
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
            "kind": "FlowSchema",
            "metadata": {"name": f"{PREFIX}{name}"},
            "spec": {
                "matchingPrecedence": FIRST_PRECEDENCE + number,
                "priorityLevelConfiguration": {"name": "exempt"},
                "rules": [{"subjects": [{"kind": "User", "user": {"name": USER}}], **rule}],
            },
        }


def counted(metrics: str) -> Mapping[str, float]:
    """How many requests of each kind the operator's user has made, by the server's metrics."""
    counts = dict.fromkeys(("leases", *VERBS, "discovery"), 0.0)
    for labels, number in DISPATCHED.findall(metrics):
        if found := FLOW_SCHEMA.search(labels):
            counts[found[1]] += float(number)
    return counts


def asked(plane: RealControlPlane) -> Mapping[str, float]:
    """The same, at this moment; work for the server, and none of it counts as the operator's."""
    with plane.caller() as api:
        return counted(api.call("GET", "/metrics", accept="text/plain").body.decode())


def refused(plane: RealControlPlane) -> float:
    """How many writes of what operators write have not been done so far."""
    with plane.caller() as api:
        return refused_in(api.call("GET", "/metrics", accept="text/plain").body.decode())


def refused_in(metrics: str) -> float:
    """The same, by the server's metrics.

    These do not say who asked; on a control plane where an operator is alone, it was the operator.
    """
    count = 0.0
    for labels, number in ANSWERED.findall(metrics):
        label = dict(LABEL.findall(labels))
        written = label.get("resource"), label.get("subresource")
        if written in WRITTEN and label.get("verb") in WRITES and label["code"][0] in "45":
            count += float(number)
    return count


def since(before: Mapping[str, float], after: Mapping[str, float]) -> Mapping[str, float]:
    """What came to it in between."""
    return {name: after[name] - before[name] for name in after}


def operator_account(plane: RealControlPlane) -> Path:
    """A kubeconfig for the operator alone, who may do everything and whose requests are counted."""
    allow_everything(plane, "operator", to={"apiGroup": RBAC, "kind": "User", "name": USER})
    for each in flow_schemas():
        create(plane, FLOW_SCHEMAS, each)
    _wait_until_counted(plane)
    return write_kubeconfig(
        plane,
        plane.directory / "operator-kubeconfig",
        user=USER,
        token=plane.credentials.limited_token,
    )


def _wait_until_counted(plane: RealControlPlane) -> None:
    """The server takes a moment to heed new FlowSchemas: ask until both kinds of them count."""
    deadline_at = time.monotonic() + PATIENCE_SECONDS
    while not all(asked(plane)[name] for name in ("reads", "discovery")):
        if time.monotonic() > deadline_at:
            raise AssertionError(f"no request was counted within {PATIENCE_SECONDS:g} s")
        for path in ("/api/v1/namespaces/default", "/version"):
            plane.kubectl("get", "--raw", path, context=USER)
        time.sleep(POLL_SECONDS)
