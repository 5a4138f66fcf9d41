"""Who wrote when, by the API server's own record: its audit log.

Each replica is a user of its own, so that the record says which of them it was.
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

# Longer than any turn takes.
TOKEN_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A write that the server was asked for: the client, the time, and whether it did so.

    By the clock that shows the date: it is the server who says when.
    """

    writer: str
    unix_seconds: float
    was_done: bool


def audit_flags(directory: Path) -> Mapping[str, object]:
    """Have kube-apiserver write down in ``directory`` who writes what an operator has to do with.

    Leases and events do not count, nor what operators tell each other.
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
    """Where it is written down."""
    return directory / "audit.log"


def written(lines: Iterable[str]) -> Sequence[Written]:
    """What the record says of those whose accounts were made here, in order of time."""
    writes = []
    for event in map(json.loads, lines):
        writer = event["user"]["username"]
        if writer.startswith(PREFIX):
            # Of every request there is one line, once it is answered; it came in before that.
            received_time = datetime.fromisoformat(event["requestReceivedTimestamp"])
            status = event.get("responseStatus", {}).get("code", 0)
            writes.append(
                Written(
                    writer=writer.removeprefix(PREFIX),
                    unix_seconds=received_time.timestamp(),
                    was_done=200 <= status < 300,
                )
            )
    return sorted(writes, key=lambda each: each.unix_seconds)


def writes_at(log: Path) -> Sequence[Written]:
    """What the record in ``log`` says so far."""
    return written(whole_lines(log))


def first_by(writer: str, writes: Iterable[Written], *, since: float) -> float | None:
    """When ``writer`` first wrote after that moment; ``None`` if it has not."""
    return next(
        (
            each.unix_seconds
            for each in writes
            if each.writer == writer and each.unix_seconds > since
        ),
        None,
    )


def between_others(former: str, successor: str, writes: Sequence[Written]) -> int:
    """How many writes of ``former`` came while ``successor`` was writing already, and went on.

    Where one has handed over to the other, in whichever direction, there are none.
    """
    times = [each.unix_seconds for each in writes if each.writer == successor]
    if not times:
        return 0
    return sum(
        each.writer == former and times[0] < each.unix_seconds < times[-1] for each in writes
    )


def account(plane: RealControlPlane, name: str) -> Path:
    """A kubeconfig for the user ``name``, who may do everything, in a directory of its own."""
    create(plane, ACCOUNTS, {"metadata": {"name": name}})
    subject = {"kind": "ServiceAccount", "namespace": NAMESPACE, "name": name}
    allow_everything(plane, name, to=subject)
    asked_for = {"spec": {"expirationSeconds": TOKEN_SECONDS}}
    token = create(plane, f"{ACCOUNTS}/{name}/token", asked_for)["status"]["token"]
    directory = plane.directory / name
    directory.mkdir(mode=0o700)
    return write_kubeconfig(plane, directory / "kubeconfig", user=name, token=token)
