"""The history of a simulation: all requests to the API server, with their status codes."""

import re
import zlib
from hashlib import blake2b
from typing import Final, NamedTuple

from steersman.wire import Request

MUTATING: Final = frozenset(("POST", "PUT", "PATCH", "DELETE"))

# Events, leases and reviews: their number does not matter. These are whole paths, because authors
# may use the same names for their own kinds and objects.
_BOOKKEEPING: Final = re.compile(
    r"/(?:api/v1|apis/events\.k8s\.io/[^/]+)/(?:namespaces/[^/]+/)?events(?:[/?].*)?"
    r"|/apis/coordination\.k8s\.io/[^/]+/(?:namespaces/[^/]+/)?leases(?:[/?].*)?"
    r"|/apis/auth(?:entication|orization)\.k8s\.io/.*"
)


class RecordedRequest(NamedTuple):
    """One request to the API server and its result.

    ``status`` is the HTTP status code, or 0 if no response arrived. ``is_change`` is true if the
    request changed anything in the store.
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
        """Whether this is a mutating request for an object other than an Event or a Lease.

        Requests for reviews, such as a SubjectAccessReview, do not count either.
        """
        return self.method in MUTATING and not is_bookkeeping(self.target)

    def __str__(self) -> str:
        response = self.status or "no response"
        return f"{self.at:10.3f} s  {self.actor:<12} {self.method:<6} {self.target} → {response}"


class History:
    """All requests, in order."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []

    def __len__(self) -> int:
        return len(self.requests)

    def __repr__(self) -> str:
        return f"<History of {len(self.requests)} requests>"

    def record(
        self, at: float, actor: str, request: Request, *, status: int, is_change: bool
    ) -> None:
        """Append a request."""
        digest = zlib.crc32(request.body) if request.body else 0
        self.requests.append(
            RecordedRequest(at, actor, request.method, request.target, digest, status, is_change)
        )

    def writes(self, *, since: int = 0, actor: str | None = None) -> list[RecordedRequest]:
        """Return the requests that changed objects, except events, leases and reviews.

        The first ``since`` requests are left out. With ``actor``, only requests of this actor are
        returned.
        """
        return [
            each
            for each in self.requests[since:]
            if each.is_change and each.is_write and (actor is None or each.actor == actor)
        ]

    def digest(self) -> str:
        """Return a hash of all requests; two histories with the same hash are equal."""
        whole = blake2b(digest_size=16)
        for each in self.requests:
            whole.update(repr(tuple(each)).encode())
        return whole.hexdigest()


def is_bookkeeping(target: str) -> bool:
    """Whether ``target``, a request's path and query, is for an event, a lease or a review."""
    return _BOOKKEEPING.fullmatch(target) is not None
