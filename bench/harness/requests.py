"""The number of an operator's requests, from the metrics of the API server.

The operator has its own user, and one FlowSchema for each type of request, because the server
counts requests by FlowSchema. The priority level is ``exempt``, which has no queues and no limits,
as for the administrator.
"""

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.harness.accounts import RBAC, allow_everything, create, write_kubeconfig
from steersman_cluster.testing import RealControlPlane

# The user without permissions in the kubeconfig of the control plane.
USER = "limited"

PREFIX = "operator-"
VERBS: Mapping[str, tuple[str, ...]] = {
    "watches": ("watch",),
    "writes": ("create", "update", "patch", "delete", "deletecollection"),
    "reads": ("get", "list"),
}
# Before the server's own FlowSchemas, which begin at 100, except for the administrator's.
FIRST_PRECEDENCE = 50

FLOW_SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"

DISPATCHED = re.compile(
    r"^apiserver_flowcontrol_dispatched_requests_total\{(.*)\} (\S+)$", re.MULTILINE
)
FLOW_SCHEMA = re.compile(rf'flow_schema="{PREFIX}(\w+)"')

TOTAL = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')
WRITES = {"POST", "PUT", "PATCH", "APPLY", "DELETE"}
# The resources that operators write. The Deployment controller writes only the status, unless a
# client requests a rollback.
WRITTEN = {("appservices", ""), ("appservices", "status"), ("deployments", ""), ("services", "")}

POLL_SECONDS = 0.1
TIMEOUT_SECONDS = 30.0


def flow_schemas() -> Iterator[Mapping[str, Any]]:
    """FlowSchemas for leases, watches, writes, reads and discovery."""
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


def counts_in(metrics: str) -> Mapping[str, float]:
    """The number of the operator's requests of each type, from the server's metrics."""
    counts = dict.fromkeys(("leases", *VERBS, "discovery"), 0.0)
    for labels, number in DISPATCHED.findall(metrics):
        if found := FLOW_SCHEMA.search(labels):
            counts[found[1]] += float(number)
    return counts


def request_counts(plane: RealControlPlane) -> Mapping[str, float]:
    """The current number of requests of each type; this request itself is not counted."""
    with plane.caller() as api:
        return counts_in(api.call("GET", "/metrics", accept="text/plain").body.decode())


def rejected_writes(plane: RealControlPlane) -> float:
    """The current number of rejected writes."""
    with plane.caller() as api:
        return rejected_writes_in(api.call("GET", "/metrics", accept="text/plain").body.decode())


def rejected_writes_in(metrics: str) -> float:
    """The number of rejected writes, from the server's metrics.

    The metrics have no user. On a control plane with one operator, these are its writes.
    """
    count = 0.0
    for labels, number in TOTAL.findall(metrics):
        label = dict(LABEL.findall(labels))
        written = label.get("resource"), label.get("subresource")
        if written in WRITTEN and label.get("verb") in WRITES and label["code"][0] in "45":
            count += float(number)
    return count


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> Mapping[str, float]:
    """The difference of two counts."""
    return {name: after[name] - before[name] for name in after}


def operator_account(plane: RealControlPlane) -> Path:
    """A kubeconfig of an administrator whose requests are counted, for the operator."""
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
    """Send requests until they are counted: the server applies new FlowSchemas with a delay."""
    deadline_at = time.monotonic() + TIMEOUT_SECONDS
    while not all(request_counts(plane)[name] for name in ("reads", "discovery")):
        if time.monotonic() > deadline_at:
            raise AssertionError(f"no request was counted within {TIMEOUT_SECONDS:g} s")
        for path in ("/api/v1/namespaces/default", "/version"):
            plane.kubectl("get", "--raw", path, context=USER)
        time.sleep(POLL_SECONDS)
