"""What happened in a simulation: who asked the server for what, and what it said, in order."""

import re
import zlib
from hashlib import blake2b
from typing import Final, NamedTuple

from steersman.wire import Request

MUTATING: Final = frozenset(("POST", "PUT", "PATCH", "DELETE"))

# Of these nobody asks whether there are more than necessary: they are told, or kept alive.
# Whole paths, because authors may call their own kinds and objects what they like.
_BESIDE: Final = re.compile(
    r"/(?:api/v1|apis/events\.k8s\.io/[^/]+)/(?:namespaces/[^/]+/)?events(?:[/?].*)?"
    r"|/apis/coordination\.k8s\.io/[^/]+/(?:namespaces/[^/]+/)?leases(?:[/?].*)?"
    r"|/apis/auth(?:entication|orization)\.k8s\.io/.*"
)


class RecordedRequest(NamedTuple):
    """One request, and what became of it; ``status`` is 0 where no answer came.

    ``is_change``: whether anything is different for it.
    """

    at: float
    actor: str
    method: str
    target: str
    digest: int
    status: int
    is_change: bool

    @property
    def is_write(self) -> bool:
        """Whether it wrote an object that matters; not an event, a lease or a review."""
        return self.method in MUTATING and not is_bookkeeping(self.target)

    def __str__(self) -> str:
        answer = self.status or "no answer"
        return f"{self.at:10.3f} s  {self.actor:<12} {self.method:<6} {self.target} → {answer}"


class History:
    """All that was asked, in order."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []

    def __len__(self) -> int:
        return len(self.requests)

    def __repr__(self) -> str:
        return f"<History of {len(self.requests)} requests>"

    def record(
        self, at: float, actor: str, request: Request, *, status: int, is_change: bool
    ) -> None:
        """One more."""
        digest = zlib.crc32(request.body) if request.body else 0
        self.requests.append(
            RecordedRequest(at, actor, request.method, request.target, digest, status, is_change)
        )

    def writes(self, *, since: int = 0, actor: str | None = None) -> list[RecordedRequest]:
        """What was changed since so many requests, by anybody or by one."""
        return [
            each
            for each in self.requests[since:]
            if each.is_change and each.is_write and (actor is None or each.actor == actor)
        ]

    def digest(self) -> str:
        """The same for the same history, and for no other."""
        whole = blake2b(digest_size=16)
        for each in self.requests:
            whole.update(repr(tuple(each)).encode())
        return whole.hexdigest()


def is_bookkeeping(target: str) -> bool:
    """Whether a request is about what is only told, or kept alive."""
    return _BESIDE.fullmatch(target) is not None
