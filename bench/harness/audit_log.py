"""The writes of each replica, from the audit log of the API server.

Each replica has its own user, which the audit log names.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench.harness.accounts import allow_everything, create, write_kubeconfig
from bench.harness.spans import whole_lines
from bench.harness.task import GROUP, NAMESPACE, PLURAL
from steersman_cluster.testing import RealControlPlane

ACCOUNTS = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
PREFIX = f"system:serviceaccount:{NAMESPACE}:"

# Longer than any turn.
TOKEN_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedWrite:
    """A write request: the client, the time, and whether it succeeded.

    The time is the wall clock of the server.
    """

    writer: str
    unix_seconds: float
    was_done: bool


def audit_flags(directory: Path) -> Mapping[str, object]:
    """The flags of kube-apiserver for an audit log of AppServices and their children.

    Leases, events and peering objects are not logged.
    """
    resources = [
        {"group": GROUP, "resources": [PLURAL, f"{PLURAL}/status"]},
        {"group": "apps", "resources": ["deployments"]},
        {"group": "", "resources": ["services"]},
    ]
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {
                "level": "Metadata",
                "verbs": ["create", "update", "patch", "delete"],
                "resources": resources,
            },
            {"level": "None"},
        ],
    }
    file = directory / "audit-policy.json"
    file.write_text(json.dumps(policy))
    return {"audit-policy-file": file, "audit-log-path": audit_log(directory)}


def audit_log(directory: Path) -> Path:
    """The path of the audit log."""
    return directory / "audit.log"


def audited_writes(lines: Iterable[str]) -> Sequence[AuditedWrite]:
    """The writes of the replicas' users, sorted by time."""
    writes = []
    for event in map(json.loads, lines):
        writer = event["user"]["username"]
        if writer.startswith(PREFIX):
            # Each request has one line, written after the response.
            received_time = datetime.fromisoformat(event["requestReceivedTimestamp"])
            status = event.get("responseStatus", {}).get("code", 0)
            writes.append(
                AuditedWrite(
                    writer=writer.removeprefix(PREFIX),
                    unix_seconds=received_time.timestamp(),
                    was_done=200 <= status < 300,
                )
            )
    return sorted(writes, key=lambda each: each.unix_seconds)


def writes_in_log(log: Path) -> Sequence[AuditedWrite]:
    """The writes in the audit log so far."""
    return audited_writes(whole_lines(log))


def first_write(writer: str, writes: Iterable[AuditedWrite], *, since: float) -> float | None:
    """The time of the first write of ``writer`` after ``since``, or ``None``."""
    return next(
        (
            each.unix_seconds
            for each in writes
            if each.writer == writer and each.unix_seconds > since
        ),
        None,
    )


def interleaved_writes(former: str, successor: str, writes: Sequence[AuditedWrite]) -> int:
    """The number of writes of ``former`` between two writes of ``successor``.

    There are none if one replica has taken over from the other.
    """
    times = [each.unix_seconds for each in writes if each.writer == successor]
    if not times:
        return 0
    return sum(
        each.writer == former and times[0] < each.unix_seconds < times[-1] for each in writes
    )


def replica_account(plane: RealControlPlane, name: str) -> Path:
    """Create the administrator ``name``, and return a kubeconfig in a separate directory."""
    create(plane, ACCOUNTS, {"metadata": {"name": name}})
    subject = {"kind": "ServiceAccount", "namespace": NAMESPACE, "name": name}
    allow_everything(plane, name, to=subject)
    token_request = {"spec": {"expirationSeconds": TOKEN_SECONDS}}
    token = create(plane, f"{ACCOUNTS}/{name}/token", token_request)["status"]["token"]
    directory = plane.directory / name
    directory.mkdir(mode=0o700)
    return write_kubeconfig(plane, directory / "kubeconfig", user=name, token=token)
