"""Reviews by the API server: whether the user of a token may read a path.

Results are cached for as long as the components of Kubernetes cache them, so that a scrape every
few seconds does not cost two more requests each time. Reviews that could not be made are not
cached. Tokens themselves are never stored, only their digests.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from enum import Enum
from typing import Final, Generic, TypeAlias, TypeVar

from steersman.client import Client, RetryPolicy
from steersman.clock import Clock
from steersman.errors import SteersmanError
from steersman.kinds import authentication_v1, authorization_v1

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

KNOWN_SECONDS: Final = 60.0
ALLOWED_SECONDS: Final = 300.0
DENIED_SECONDS: Final = 30.0

# No cluster has more scrapers. Invalid tokens fill only the cache for rejected ones.
MAX_REMEMBERED: Final = 1000

# The number of concurrent reviews; further ones wait. A client with invalid tokens must not be able
# to overload the API server through the operator.
MAX_CONCURRENT: Final = 4

REVIEW_SECONDS: Final = 5.0

ANONYMOUS: Final = "system:anonymous"


class AccessDecision(Enum):
    """The decision whether the user of a token may read a path."""

    ALLOWED = "allowed"
    UNKNOWN_CALLER = "unknown caller"
    FORBIDDEN = "forbidden"
    NO_RESPONSE = "no response"


# All attributes of a user that an authorizer may use.
_Extra: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
_User: TypeAlias = tuple[str, str, tuple[str, ...], _Extra]


class TokenReviews:
    """Reviews tokens and permissions, with at most one review at a time for each token."""

    def __init__(self, client: Client, *, clock: Clock) -> None:
        # A single attempt, because Prometheus scrapes again soon.
        self._client = client.with_settings(
            deadline_seconds=REVIEW_SECONDS, retry=RetryPolicy(attempts=1), dry_run=False
        )
        self._users = ExpiringCache[bytes, _User](MAX_REMEMBERED, clock=clock)
        self._unknown = ExpiringCache[bytes, bool](MAX_REMEMBERED, clock=clock)
        self._rights = ExpiringCache[tuple[_User, str], bool](MAX_REMEMBERED, clock=clock)
        self._reviews_in_flight = SharedRequests[bytes, AccessDecision]()
        self._places = asyncio.Semaphore(MAX_CONCURRENT)

    async def verdict(self, token: str, path: str) -> AccessDecision:
        """Return the decision whether the user of ``token`` may get ``path``."""
        digest = hashlib.sha256(token.encode()).digest()
        if self._unknown.get(digest):
            return AccessDecision.UNKNOWN_CALLER
        user = self._users.get(digest)
        is_allowed = None if user is None else self._rights.get((user, path))
        if is_allowed is not None:
            return AccessDecision.ALLOWED if is_allowed else AccessDecision.FORBIDDEN
        key = digest + path.encode()
        return await self._reviews_in_flight.join(key, lambda: self._ask(token, digest, path))

    async def _ask(self, token: str, digest: bytes, path: str) -> AccessDecision:
        async with self._places:
            try:
                user = self._users.get(digest) or await self._user(token)
                if user is None:
                    self._unknown.put(digest, True, for_seconds=KNOWN_SECONDS)
                    return AccessDecision.UNKNOWN_CALLER
                self._users.put(digest, user, for_seconds=KNOWN_SECONDS)
                is_allowed = self._rights.get((user, path))
                if is_allowed is None:
                    is_allowed = await self._may_get(user, path)
                    seconds = ALLOWED_SECONDS if is_allowed else DENIED_SECONDS
                    self._rights.put((user, path), is_allowed, for_seconds=seconds)
            except SteersmanError:
                # The client has observed the error.
                return AccessDecision.NO_RESPONSE
            return AccessDecision.ALLOWED if is_allowed else AccessDecision.FORBIDDEN

    async def _user(self, token: str) -> _User | None:
        review = authentication_v1.TokenReview(spec=authentication_v1.TokenReviewSpec(token=token))
        status = (await self._client.create(review)).status
        if status is None or not status.authenticated or status.user is None:
            return None
        user = status.user
        if not user.username or user.username == ANONYMOUS:
            return None
        extra = tuple(sorted((user.extra or {}).items()))
        return user.username, user.uid or "", tuple(user.groups or ()), extra

    async def _may_get(self, user: _User, path: str) -> bool:
        name, uid, groups, extra = user
        review = authorization_v1.SubjectAccessReview(
            spec=authorization_v1.SubjectAccessReviewSpec(
                user=name,
                uid=uid or None,
                groups=groups or None,
                extra=dict(extra) or None,
                non_resource_attributes=authorization_v1.NonResourceAttributes(
                    path=path, verb="get"
                ),
            ),
        )
        status = (await self._client.create(review)).status
        return status is not None and status.allowed and not status.denied


class ExpiringCache(Generic[K, V]):
    """A cache of at most ``most`` results, each with a time at which it expires.

    If the cache is full, the least recently used result is evicted.
    """

    def __init__(self, most: int, *, clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._entries: OrderedDict[K, tuple[V, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the result for ``key``; ``None`` if there is none or it has expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        value, ends_at = entry
        if self._clock.monotonic() >= ends_at:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def put(self, key: K, value: V, *, for_seconds: float) -> None:
        """Cache ``value`` for ``for_seconds``.

        A result that is already cached for ``key`` stays, with its expiry time.
        """
        if self.get(key) is not None:
            return
        self._entries[key] = value, self._clock.monotonic() + for_seconds
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


class SharedRequests(Generic[K, V]):
    """Makes at most one request at a time for each key; concurrent callers share its result."""

    def __init__(self) -> None:
        self._open: dict[K, asyncio.Future[V]] = {}

    async def join(self, key: K, ask: Callable[[], Awaitable[V]]) -> V:
        """Return the result of ``ask``, or of another caller's request for ``key`` in flight."""
        while (flight := self._open.get(key)) is not None:
            # If the other caller is cancelled, because its client disconnected, this one sends the
            # request.
            await asyncio.wait((flight,))
            if not flight.cancelled():
                return flight.result()
        flight = asyncio.get_running_loop().create_future()
        self._open[key] = flight
        try:
            answer = await ask()
        except BaseException:
            flight.cancel()
            raise
        else:
            flight.set_result(answer)
            return answer
        finally:
            del self._open[key]
