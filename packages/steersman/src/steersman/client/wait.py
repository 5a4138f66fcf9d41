"""Waits for a condition of an object, and retries after a conflict."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from random import Random
from typing import TypeVar

from steersman.client.client import Client
from steersman.client.request.paths import object_path
from steersman.client.request.retries import RetryPolicy
from steersman.client.selectors import Fields
from steersman.client.watch_events import Bookmark, DecodeFailure, ObjectDeleted, ObjectWritten
from steersman.clock import Clock
from steersman.errors import (
    Conflict,
    Expired,
    ServerFailed,
    TooManyRequests,
    Unreachable,
    WaitTimeout,
)
from steersman.kinds import Condition, Resource, Unstructured
from steersman.names import ObjectRef

Obj = TypeVar("Obj", bound=Resource | Unstructured)
T = TypeVar("T")

# The wait before the next list after an interrupted watch.
_PAUSE_SECONDS = 0.5


async def wait_for(
    client: Client,
    kind: type[Obj],
    name: str,
    holds: Callable[[Obj], bool],
    *,
    namespace: str | None = None,
    within_seconds: float,
    waited_for: str = "a state",
) -> Obj:
    """Return the object as soon as ``holds(object)`` is true.

    Raise ``WaitTimeout`` if that takes longer than ``within_seconds``. The object need not exist
    when the wait begins.
    """

    def answer(obj: Obj | None) -> Obj | None:
        return obj if obj is not None and holds(obj) else None

    return await _wait(client, kind, name, answer, namespace, within_seconds, waited_for)


async def wait_until_gone(
    client: Client,
    kind: type[Obj],
    name: str,
    *,
    uid: str = "",
    namespace: str | None = None,
    within_seconds: float,
) -> None:
    """Wait until the object called ``name`` does not exist.

    With ``uid``, a new object of the same name, which has another uid, ends the wait too.
    """

    def answer(obj: Obj | None) -> bool | None:
        return obj is None or (uid != "" and obj.uid != uid) or None

    await _wait(client, kind, name, answer, namespace, within_seconds, "the end")


def has_condition(type: str, status: str = "True") -> Callable[[Resource | Unstructured], bool]:
    """Return a predicate that is true if an object has a condition ``type`` with ``status``.

    The predicate accepts objects of any kind.
    """
    wanted = (type, status)

    def holds(obj: Resource | Unstructured) -> bool:
        if isinstance(obj, Unstructured):
            return any(
                isinstance(each, Mapping) and (each.get("type"), each.get("status")) == wanted
                for each in obj.get("status", "conditions") or ()
            )
        conditions = getattr(getattr(obj, "status", None), "conditions", None) or ()
        return any(
            isinstance(each, Condition) and (each.type, each.status) == wanted
            for each in conditions
        )

    return holds


async def retry_on_conflict(
    attempt: Callable[[], Awaitable[T]],
    *,
    clock: Clock,
    rng: Random,
    attempts: int = 5,
) -> T:
    """Await ``attempt()`` and return its result; after each ``Conflict``, try again.

    ``attempt`` must read the object each time it is called. It is called at most ``attempts``
    times.
    """
    policy = RetryPolicy(attempts=attempts, first_seconds=0.01, max_seconds=1.0)
    for number in range(1, attempts):
        try:
            return await attempt()
        except Conflict:
            await clock.sleep(policy.pause_seconds(number, rng=rng))
    return await attempt()


async def _wait(
    client: Client,
    kind: type[Obj],
    name: str,
    answer: Callable[[Obj | None], T | None],
    namespace: str | None,
    within_seconds: float,
    waited_for: str,
) -> T:
    """Call ``answer`` with each observed state of the object, and return the first non-``None``
    result.
    """
    # Raises if the namespace is missing: the list would match this name in all namespaces.
    object_path(kind.resource_type, namespace, name)
    last: Obj | None = None
    try:
        async with (
            client.clock.timeout(within_seconds),
            aclosing(_states(client, kind, name, namespace)) as states,
        ):
            async for last in states:
                found = answer(last)
                if found is not None:
                    return found
    except TimeoutError:
        pass
    raise WaitTimeout(
        waited_for=f"{waited_for} of {ObjectRef(kind.resource_type.gvk.kind, namespace, name)}",
        waited_seconds=within_seconds,
        last_seen="nothing" if last is None else f"version {last.resource_version}",
    )


async def _states(
    client: Client, kind: type[Obj], name: str, namespace: str | None
) -> AsyncGenerator[Obj | None, None]:
    """Yield the object's current state and each later one; ``None`` while it does not exist."""
    only_it = Fields.equal({"metadata.name": name})
    while True:
        try:
            listing = await client.list(kind, namespace=namespace, fields=only_it)
            yield listing.items[0] if listing.items else None
            async with client.watch(
                kind,
                namespace=namespace,
                fields=only_it,
                resource_version=listing.resource_version,
            ) as events:
                async for event in events:
                    match event:
                        case ObjectWritten(obj=obj):
                            yield obj
                        case ObjectDeleted():
                            yield None
                        case DecodeFailure(error=error):
                            raise error
                        case Bookmark():
                            pass
        except (Expired, ServerFailed, TooManyRequests, Unreachable):
            # The next list includes the changes that the watch missed.
            pass
        await client.clock.sleep(_PAUSE_SECONDS)
