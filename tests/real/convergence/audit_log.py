"""The API server's audit log of writes and their users."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from steersman_cluster.testing.control_plane.control_plane import Flags

# Reads, renewals of Leases, access reviews, and writes of the server itself are left out.
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "None", "resources": [{"group": "coordination.k8s.io"}]},
        {"level": "None", "resources": [{"group": "authorization.k8s.io"}]},
        {"level": "Metadata"},
    ],
}

# Far more than a test writes, because a rotated log would miss writes.
_MAX_MEGABYTES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A write that the server has accepted or rejected."""

    verb: str
    resource: str
    name: str
    agent: str
    code: int

    @property
    def is_accepted(self) -> bool:
        """Whether the server accepted the write."""
        return 200 <= self.code < 300


class AuditLog:
    """The writes to a server that was started with ``flags``."""

    def __init__(self, directory: Path) -> None:
        self._policy = directory / "audit-policy.json"
        self._log = directory / "audit.log"
        self._policy.write_bytes(msgspec.json.encode(_POLICY))

    @property
    def flags(self) -> Flags:
        """The flags of the API server for this log."""
        return {
            "audit-policy-file": self._policy,
            "audit-log-path": self._log,
            "audit-log-maxsize": _MAX_MEGABYTES,
        }

    def follow(self) -> "Following":
        """Read the writes from now on."""
        return Following(self._log)


class Following:
    """A reader of the log that continues at its last position."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._at = log.stat().st_size if log.exists() else 0
        self.written: list[Written] = []

    def read(self) -> Sequence[Written]:
        """Read the new writes; ``written`` has all writes since the start."""
        with self._log.open("rb") as log:
            log.seek(self._at)
            lines = log.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self._at += len(whole)
        # A killed server may leave an incomplete line.
        new = [_read(line) for line in whole.splitlines() if line.endswith(b"}")]
        self.written += new
        return new


class _About(msgspec.Struct, frozen=True):
    resource: str = ""
    subresource: str = ""
    name: str = ""


class _Answer(msgspec.Struct, frozen=True):
    code: int = 0


class _Event(msgspec.Struct, frozen=True, rename="camel"):
    verb: str
    user_agent: str = ""
    object_ref: _About = _About()
    response_status: _Answer = _Answer()


_DECODER = msgspec.json.Decoder(_Event)


def _read(line: bytes) -> Written:
    event = _DECODER.decode(line)
    about = event.object_ref
    return Written(
        verb=event.verb,
        resource=f"{about.resource}/{about.subresource}" if about.subresource else about.resource,
        name=about.name,
        agent=event.user_agent,
        code=event.response_status.code,
    )
