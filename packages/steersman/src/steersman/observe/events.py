"""What can happen, as frozen values: one class for each thing worth telling.

Working code makes one of these where the work is done and hands it to its ``Observer``. Logs,
metrics and whatever else wants to know are observers; none of them is known here. What happens in
controllers and to the operator as a whole is next door.

Structs, because some happen several times for each object, and a frozen dataclass takes ten times
as long to make.
"""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from steersman.names import ObjectRef
from steersman.observe.controller_events import ControllerObservation
from steersman.observe.manager_events import ManagerObservation


class RequestFinished(msgspec.Struct, frozen=True, kw_only=True):
    """The API server answered a request, or the last attempt at one failed."""

    verb: str
    resource: str
    ref: ObjectRef | None
    code: int | None
    took_seconds: float
    attempts: int
    error: Exception | None = None


class RequestRetried(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt failed in a way that is safe to repeat, and will be."""

    verb: str
    resource: str
    ref: ObjectRef | None
    attempt: int
    wait_seconds: float
    error: Exception


class RetriesSpent(msgspec.Struct, frozen=True, kw_only=True):
    """A request was not repeated, although it could be, because the retry budget is empty."""

    verb: str
    resource: str
    ref: ObjectRef | None
    error: Exception


class ApiWarned(msgspec.Struct, frozen=True, kw_only=True):
    """The API server sent a warning for people, such as a deprecation."""

    verb: str
    resource: str
    ref: ObjectRef | None
    text: str


class CredentialsRenewed(msgspec.Struct, frozen=True, kw_only=True):
    """A token or certificate was read or fetched anew."""

    source: str
    reason: str


class CredentialsNotRenewed(msgspec.Struct, frozen=True, kw_only=True):
    """A token or certificate should have been renewed, and the old one stays in use."""

    source: str
    error: Exception


class RiskAccepted(msgspec.Struct, frozen=True, kw_only=True):
    """Someone asked for something unsafe and gets it: an unverified server, a readable key."""

    source: str
    risk: str


class ResponseFailed(msgspec.Struct, frozen=True, kw_only=True):
    """A server of ours could not answer a request for a reason of its own, and said so.

    Nobody knows what the error says: perhaps what was in the request.
    """

    method: str
    path: str
    error: Exception

    def __repr__(self) -> str:
        return f"ResponseFailed(method={self.method!r}, path={self.path!r})"


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A reflector has listed all its objects and goes on from there; ``reason``: why it had to."""

    resource: str
    ref: ObjectRef
    count: int
    decode_failures: int
    took_seconds: float
    reason: str


class WatchStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A watch is open, after so many failures in a row to get there."""

    resource: str
    ref: ObjectRef
    failures: int


class WatchEventsReceived(msgspec.Struct, frozen=True, kw_only=True):
    """So many events have come through a watch since this was last said."""

    resource: str
    ref: ObjectRef
    events: int


class WatchEnded(msgspec.Struct, frozen=True, kw_only=True):
    """A watch is no longer open, for whatever reason."""

    resource: str
    ref: ObjectRef
    took_seconds: float


class ReflectorStopped(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody follows this here any more: after the last watch there will be no next."""

    resource: str
    ref: ObjectRef


class WatchFailed(msgspec.Struct, frozen=True, kw_only=True):
    """A list or watch failed and will be tried again; what is known of the objects stays.

    Of a row of failures that are alike, the first is news, and then fewer and fewer of them.
    """

    resource: str
    ref: ObjectRef
    error: Exception
    failures: int
    wait_seconds: float
    is_news: bool


class WatchSilent(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing came through a watch for so long that it was cut."""

    resource: str
    ref: ObjectRef
    silent_seconds: float


class OutOfOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A watch told something again, or too late: its version is not newer than what was heard.

    Told of the first in each watch.
    """

    resource: str
    ref: ObjectRef
    version: str
    reached_version: str


class HistoryRewound(msgspec.Struct, frozen=True, kw_only=True):
    """The server's history is shorter than it was (a restore?), and a fresh list is the truth."""

    resource: str
    ref: ObjectRef
    reached_version: str
    version: str


class KindMissing(msgspec.Struct, frozen=True, kw_only=True):
    """The server does not know the kind, or no longer; its objects are taken for gone."""

    resource: str
    ref: ObjectRef
    error: Exception


class StreamingRefused(msgspec.Struct, frozen=True, kw_only=True):
    """The server does not stream initial events; from now on they are listed in pages."""

    resource: str
    ref: ObjectRef
    error: Exception


class KeyAdded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A key came into a work queue that it was not in."""

    queue: str
    key: object
    priority: int


class KeyRaised(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A key that waits in a work queue was added again, and is more urgent now."""

    queue: str
    key: object
    old_priority: int
    priority: int


class KeyDelayed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A key is to come into a work queue later; ``requeues``: as often as that it has failed."""

    queue: str
    key: object
    wait_seconds: float
    requeues: int


class KeyTaken(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A worker has taken a key from a work queue."""

    queue: str
    key: object
    priority: int
    waited_seconds: float
    taken_at: float


class KeyDone(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A worker is done with a key."""

    queue: str
    key: object
    took_seconds: float


class QueueEnded(msgspec.Struct, frozen=True, kw_only=True):
    """A work queue gives out no more; ``left`` keys are dropped, ``held`` are still worked on."""

    queue: str
    left: int
    held: int


class CacheSynced(msgspec.Struct, frozen=True, kw_only=True):
    """A cache is whole: everything that was there has been heard."""

    resource: str
    scope: str
    objects: int


class CacheChecked(msgspec.Struct, frozen=True, kw_only=True):
    """How a cache stands; said every few seconds.

    ``pending_notifications`` are changes that handlers have not handled yet. ``failing_seconds`` is
    for how long lists and watches have failed.
    """

    resource: str
    scope: str
    objects: int
    decode_failures: int
    pending_notifications: int
    failing_seconds: float


class CacheStale(msgspec.Struct, frozen=True, kw_only=True):
    """A cache has been unable to follow for so long that it no longer counts as synced."""

    resource: str
    scope: str
    failing_seconds: float
    error: Exception | None


class CacheEnded(msgspec.Struct, frozen=True, kw_only=True):
    """A cache is no longer kept up to date."""

    resource: str
    scope: str


class ObjectNotDecoded(msgspec.Struct, frozen=True, kw_only=True):
    """An object does not fit its class, and is kept aside; the others go on."""

    resource: str
    ref: ObjectRef
    error: Exception


class IndexFailed(msgspec.Struct, frozen=True, kw_only=True):
    """An index function raised; the object is in the cache, and not in that index."""

    resource: str
    ref: ObjectRef
    index: str
    error: Exception


class HandlerFailed(msgspec.Struct, frozen=True, kw_only=True):
    """A handler raised when it was told of a change; it will be told of the next."""

    resource: str
    ref: ObjectRef
    handler: str
    error: Exception


class HandlerStuck(msgspec.Struct, frozen=True, kw_only=True):
    """A handler has been busy with one change for so long, while others wait for it."""

    resource: str
    ref: ObjectRef
    handler: str
    busy_seconds: float
    waiting: int


Observation: TypeAlias = (
    RequestFinished
    | RequestRetried
    | RetriesSpent
    | ApiWarned
    | CredentialsRenewed
    | CredentialsNotRenewed
    | RiskAccepted
    | ResponseFailed
    | KeyAdded
    | KeyRaised
    | KeyDelayed
    | KeyTaken
    | KeyDone
    | QueueEnded
    | Listed
    | WatchStarted
    | WatchEventsReceived
    | WatchEnded
    | ReflectorStopped
    | WatchFailed
    | WatchSilent
    | OutOfOrder
    | HistoryRewound
    | KindMissing
    | StreamingRefused
    | CacheSynced
    | CacheChecked
    | CacheStale
    | CacheEnded
    | ObjectNotDecoded
    | IndexFailed
    | HandlerFailed
    | HandlerStuck
    | ControllerObservation
    | ManagerObservation
)

# It must not raise, for it is called in the middle of the work; ``fan_out`` makes any one safe.
Observer: TypeAlias = Callable[[Observation], None]
