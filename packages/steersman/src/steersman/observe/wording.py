"""What a log says of each observation, and how loudly; every word is written here or next door."""

import logging
from typing import Final, TypeAlias

from steersman.errors import Expired, SteersmanError
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import controller_wording, manager_wording
from steersman.observe.controller_events import (
    ControllerObservation,
    ReconcileFinished,
    TriggerFailed,
)
from steersman.observe.events import (
    ApiWarned,
    CacheChecked,
    CacheEnded,
    CacheStale,
    CacheSynced,
    CredentialsNotRenewed,
    CredentialsRenewed,
    HandlerFailed,
    HandlerStuck,
    HistoryRewound,
    IndexFailed,
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    KindMissing,
    Listed,
    ObjectNotDecoded,
    Observation,
    OutOfOrder,
    QueueEnded,
    ReflectorStopped,
    RequestFinished,
    RequestRetried,
    ResponseFailed,
    RetriesSpent,
    RiskAccepted,
    StreamingRefused,
    WatchEnded,
    WatchEventsReceived,
    WatchFailed,
    WatchSilent,
    WatchStarted,
)
from steersman.observe.manager_events import ManagerObservation, RunnableFailed
from steersman.observe.phrases import Fields, length, place_of, raised, ref_fields

# The refusals that somebody has to do something about. Of the others the caller makes what it
# likes: to look for an object that is not there is no news.
_LOUD_CODES: Final = frozenset({401, 403, 429})

# There are so many of these that it matters how they are told from the others.
QUIET: Final = frozenset({KeyTaken, KeyDone, KeyAdded, KeyDelayed, KeyRaised})


def level_of(observation: Observation) -> int:
    """How loud an observation is."""
    match observation:
        case RequestFinished(error=None):
            return logging.DEBUG
        case ReconcileFinished():
            return controller_wording.level_of(observation)
        case KeyTaken() | KeyDone() | KeyAdded() | KeyDelayed() | KeyRaised():
            return logging.DEBUG
        case (
            RequestFinished(verb="list" | "watch")
            | RequestRetried(verb="list" | "watch")
            | RetriesSpent(verb="list" | "watch")
        ):
            # Who follows objects asks until there is an answer, and tells of a row of failures
            # once, not at each attempt (``WatchFailed``). Who lists them otherwise has the error.
            return logging.DEBUG
        case RequestFinished(code=code):
            loud = code is None or code >= 500 or code in _LOUD_CODES
            return logging.WARNING if loud else logging.DEBUG
        case RequestRetried() | CredentialsRenewed() | QueueEnded():
            return logging.INFO
        case RetriesSpent() | ApiWarned() | CredentialsNotRenewed() | RiskAccepted():
            return logging.WARNING
        case ResponseFailed():
            return logging.ERROR
        case WatchEventsReceived() | WatchEnded() | ReflectorStopped():
            return logging.DEBUG
        case WatchStarted(failures=failures):
            return logging.INFO if failures else logging.DEBUG
        case WatchFailed(is_news=is_news, error=error):
            # To be told that its version is forgotten is part of a watch's life.
            level = logging.INFO if isinstance(error, Expired) else logging.WARNING
            return level if is_news else logging.DEBUG
        case Listed() | StreamingRefused():
            return logging.INFO
        case WatchSilent() | OutOfOrder() | HistoryRewound() | KindMissing():
            return logging.WARNING
        case CacheChecked():
            return logging.DEBUG
        case CacheSynced() | CacheEnded():
            return logging.INFO
        case CacheStale() | ObjectNotDecoded() | IndexFailed() | HandlerFailed() | HandlerStuck():
            return logging.WARNING
        case _:
            return _level_of_the_rest(observation)


def describe(observation: Observation) -> tuple[str, Fields]:
    """What a log says of an observation: to those who read, and to those who search."""
    match observation:
        case ReconcileFinished():
            return controller_wording.describe(observation)
        case RequestFinished(error=None, code=code):
            text = f"{_asked(observation)}: {code} {_effort(observation)}"
            return text, _fields(observation)
        case RequestFinished(error=error):
            text = f"{_asked(observation)}: failed {_effort(observation)}: {error}"
            return text, _fields(observation)
        case RequestRetried(attempt=attempt, wait_seconds=wait_seconds, error=error):
            again = f"will be tried again in {length(wait_seconds)}"
            text = f"{_asked(observation)}: attempt {attempt} failed and {again}: {error}"
            return text, _fields(observation)
        case RetriesSpent(error=error):
            text = f"{_asked(observation)}: failed, and the retry budget is empty: {error}"
            return text, _fields(observation)
        case ApiWarned(text=warning):
            text = f"{_asked(observation)}: the API server warns: {warning}"
            return text, _fields(observation)
        case CredentialsRenewed(source=source, reason=reason):
            return f"credentials from {source} renewed: {reason}", {"source": source}
        case CredentialsNotRenewed(source=source, error=error):
            text = f"credentials from {source} not renewed, the old ones stay in use: {error}"
            return text, {"source": source, "error": type(error).__name__}
        case RiskAccepted(source=source, risk=risk):
            return f"{source}: {risk}", {"source": source}
        case ResponseFailed(method=method, path=path, error=error):
            what = type(error).__name__
            # Where, and not what it says: that may be what somebody wanted kept secret.
            text = f"{method} {path}: could not be answered: {what} {place_of(error)}"
            return text, {"method": method, "path": path, "error": what}
        case KeyAdded(priority=priority):
            text = f"{_queued(observation)}: added{_urgency(priority)}"
            return text, _key_fields(observation, priority=priority)
        case KeyRaised(old_priority=old, priority=priority):
            text = f"{_queued(observation)}: moved up from priority {old} to {priority}"
            return text, _key_fields(observation, priority=priority)
        case KeyDelayed(wait_seconds=wait_seconds, requeues=requeues):
            after = f", after failure {requeues}" if requeues else ""
            text = f"{_queued(observation)}: to be added in {length(wait_seconds)}{after}"
            return text, _key_fields(observation, wait_seconds=wait_seconds, requeues=requeues)
        case KeyTaken(priority=priority, waited_seconds=waited):
            text = f"{_queued(observation)}: taken after {length(waited)}{_urgency(priority)}"
            return text, _key_fields(observation, priority=priority, waited_seconds=waited)
        case KeyDone(took_seconds=took):
            text = f"{_queued(observation)}: done in {length(took)}"
            return text, _key_fields(observation, took_seconds=took)
        case QueueEnded(queue=queue, left=left, held=held):
            text = f"queue {queue}: shut down with {left} keys left and {held} still worked on"
            return text, {"queue": queue, "left": left, "held": held}
        case Listed(count=count, decode_failures=decode_failures, took_seconds=took, reason=reason):
            besides = f" and {decode_failures} that do not fit" if decode_failures else ""
            text = f"list {observation.ref}: {count} objects{besides} in {length(took)} ({reason})"
            return text, _watch_fields(observation, count=count, took_seconds=took, reason=reason)
        case WatchStarted(failures=failures):
            after = f" again, after {failures} failures" if failures else ""
            return f"watch {observation.ref}: open{after}", _watch_fields(observation)
        case WatchEventsReceived(events=events):
            return f"watch {observation.ref}: {events} events", _watch_fields(
                observation, events=events
            )
        case WatchEnded(took_seconds=took):
            text = f"watch {observation.ref}: ended after {length(took)}"
            return text, _watch_fields(observation, took_seconds=took)
        case ReflectorStopped():
            return f"watch {observation.ref}: no longer wanted", _watch_fields(observation)
        case WatchFailed(error=error, failures=failures, wait_seconds=wait_seconds):
            row = f"failed {failures} times in a row" if failures > 1 else "failed"
            again = f"will be tried again in {length(wait_seconds)}"
            text = f"watch {observation.ref}: {row} and {again}: {error}"
            name = type(error).__name__
            return text, _watch_fields(observation, error=name, failures=failures)
        case WatchSilent(silent_seconds=seconds):
            text = f"watch {observation.ref}: cut after {length(seconds)} of silence"
            return text, _watch_fields(observation, silent_seconds=seconds)
        case OutOfOrder(version=version, reached_version=reached):
            text = f"watch {observation.ref}: the server told of version {version} after {reached}"
            return text, _watch_fields(observation)
        case HistoryRewound(version=version, reached_version=reached):
            text = (
                f"watch {observation.ref}: the server's history was rewound from {reached} to"
                f" {version}, and what it has now is the truth"
            )
            return text, _watch_fields(observation)
        case KindMissing(error=error):
            text = (
                f"watch {observation.ref}: the server does not know the kind, and its objects are"
                f" taken for gone until it does: {error}"
            )
            return text, _watch_fields(observation, error=type(error).__name__)
        case StreamingRefused(error=error):
            text = f"watch {observation.ref}: initial events are not streamed, so listed: {error}"
            return text, _watch_fields(observation, error=type(error).__name__)
        case CacheSynced(objects=objects):
            text = f"{_cached(observation)}: synced, with {objects} objects"
            return text, _cache_fields(observation, objects=objects)
        case CacheChecked(
            objects=objects,
            decode_failures=decode_failures,
            pending_notifications=pending_notifications,
            failing_seconds=lost,
        ):
            text = (
                f"{_cached(observation)}: {objects} objects,"
                f" {pending_notifications} pending notifications"
            )
            return text, _cache_fields(
                observation,
                objects=objects,
                decode_failures=decode_failures,
                pending_notifications=pending_notifications,
                failing_seconds=lost,
            )
        case CacheStale(failing_seconds=lost, error=error):
            why = f": {error}" if error is not None else ""
            text = f"{_cached(observation)}: stale, unable to follow for {length(lost)}{why}"
            return text, _cache_fields(
                observation, failing_seconds=lost, error=type(error).__name__ if error else ""
            )
        case CacheEnded():
            return f"{_cached(observation)}: no longer kept", _cache_fields(observation)
        case ObjectNotDecoded(error=error):
            text = f"{observation.ref}: kept out of the cache: {error}"
            return text, _watch_fields(observation, error=type(error).__name__)
        case IndexFailed(index=index, error=error):
            text = f"{observation.ref}: kept out of the index {index}: {raised(error)}"
            return text, _watch_fields(observation, index=index, error=type(error).__name__)
        case HandlerFailed(handler=handler, error=error):
            text = f"{observation.ref}: the handler {handler} failed: {raised(error)}"
            return text, _watch_fields(observation, handler=handler, error=type(error).__name__)
        case HandlerStuck(handler=handler, busy_seconds=seconds, waiting=waiting):
            text = (
                f"{observation.ref}: the handler {handler} has been busy with this for"
                f" {length(seconds)}, and {waiting} changes wait for it"
            )
            return text, _watch_fields(observation, handler=handler, waiting=waiting)
        case _:
            return _describe_the_rest(observation)


def traced_error(observation: Observation, *, is_debug: bool) -> Exception | None:
    """The error whose trace belongs in the log, so that people find the line in their own code."""
    error = _error_with_a_place(observation, is_debug=is_debug)
    return None if error is None or error.__traceback__ is None else error


def _error_with_a_place(observation: Observation, *, is_debug: bool) -> Exception | None:
    match observation:
        case ReconcileFinished():
            return controller_wording.error_of(observation)
        case RunnableFailed(error=error):
            return None if isinstance(error, SteersmanError) else error
        case HandlerFailed(error=error) | IndexFailed(error=error) | TriggerFailed(error=error):
            # Perhaps once for each change: their lines say where, and that must do.
            return error if is_debug else None
        case _:
            return None


# What is left when everything else in an observation's match has been told: a checker sees to it
# that nothing else is.
_TheRest: TypeAlias = ControllerObservation | ManagerObservation


def _level_of_the_rest(observation: _TheRest) -> int:
    if isinstance(observation, ControllerObservation):
        return controller_wording.level_of(observation)
    return manager_wording.level_of(observation)


def _describe_the_rest(observation: _TheRest) -> tuple[str, Fields]:
    if isinstance(observation, ControllerObservation):
        return controller_wording.describe(observation)
    return manager_wording.describe(observation)


_Requested: TypeAlias = RequestFinished | RequestRetried | RetriesSpent | ApiWarned


def _asked(observation: _Requested) -> str:
    return f"{observation.verb} {observation.ref or observation.resource}"


def _fields(observation: _Requested) -> Fields:
    fields: dict[str, str | int | float] = {
        "verb": observation.verb,
        "resource": observation.resource,
    }
    if observation.ref is not None:
        fields |= ref_fields(observation.ref)
    if isinstance(observation, RequestFinished):
        fields["took_seconds"] = observation.took_seconds
        fields["attempts"] = observation.attempts
        if observation.code is not None:
            fields["code"] = observation.code
    if not isinstance(observation, ApiWarned) and observation.error is not None:
        fields["error"] = type(observation.error).__name__
    return fields


_Watched: TypeAlias = (
    Listed
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
    | ObjectNotDecoded
    | IndexFailed
    | HandlerFailed
    | HandlerStuck
)
_Cached: TypeAlias = CacheSynced | CacheChecked | CacheStale | CacheEnded


def _cached(observation: _Cached) -> str:
    return f"cache of {observation.resource}, {observation.scope}"


def _cache_fields(observation: _Cached, **more: str | int | float) -> Fields:
    return {"resource": observation.resource, "scope": observation.scope, **more}


def _watch_fields(observation: _Watched, **more: str | int | float) -> Fields:
    return {"resource": observation.resource, **ref_fields(observation.ref), **more}


_Queued: TypeAlias = KeyAdded | KeyRaised | KeyDelayed | KeyTaken | KeyDone


def _queued(observation: _Queued) -> str:
    return f"queue {observation.queue}: {observation.key}"


def _urgency(priority: int) -> str:
    return f" with priority {priority}" if priority else ""


def _key_fields(observation: _Queued, **more: int | float) -> Fields:
    key = observation.key
    fields: dict[str, str | int | float] = {"queue": observation.queue, "key": str(key), **more}
    match key:
        case ObjectRef():
            fields |= ref_fields(key)
        case ObjectKey(namespace=namespace, name=name):
            fields["name"] = name
            if namespace:
                fields["namespace"] = namespace
        case _:
            pass  # nobody knows what it stands for
    return fields


def _effort(finished: RequestFinished) -> str:
    took = f"in {length(finished.took_seconds)}"
    return f"{took} and {finished.attempts} attempts" if finished.attempts > 1 else took
