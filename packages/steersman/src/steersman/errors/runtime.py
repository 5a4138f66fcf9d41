"""Errors of a running operator."""

from collections.abc import Awaitable, Sequence

from steersman.errors.root import SteersmanError, shown


class CacheError(SteersmanError):
    """A cache cannot serve a read; returning an empty result instead would be wrong."""

    def __init__(self, *, wanted: str, problem: str, what_now: str) -> None:
        self.wanted = wanted
        self.problem = problem
        super().__init__(f"could not {wanted}: {problem}. {what_now}")


class NotWatched(CacheError):
    """No informer watches this kind."""


class NotSynced(CacheError):
    """The initial list of the cache is not complete yet."""


class NotInScope(CacheError):
    """The cache contains objects of the kind, but the requested ones are outside its scope."""


class CacheSyncTimeout(CacheError):
    """Caches did not sync in time; ``pending`` contains each of their kinds and the reason."""

    def __init__(
        self, *, wanted: str, pending: Sequence[tuple[str, str]], waited_seconds: float
    ) -> None:
        self.pending = tuple(pending)
        self.waited_seconds = waited_seconds
        listed = "; ".join(f"{kind}: {problem}" for kind, problem in self.pending)
        super().__init__(
            wanted=wanted,
            problem=f"these lists did not complete within {waited_seconds:g} s: {listed}",
            what_now="Install the CustomResourceDefinition of a kind that is not served, or grant"
            " permission to list it; the list is retried until it succeeds.",
        )


class UnknownIndex(SteersmanError, LookupError):
    """A cache has no index of this name."""

    def __init__(self, *, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        existing = f"its indexes are {', '.join(known)}" if known else "it has no indexes"
        super().__init__(
            f"this cache does not have the index {shown(name)}: {existing}."
            f" Add an index with that name, or use an existing one."
        )


class CacheMutated(SteersmanError):
    """The operator's code changed objects in a cache; ``changed`` names the objects and fields."""

    def __init__(self, *, changed: Sequence[tuple[str, str]]) -> None:
        self.changed = tuple(changed)
        # Only paths, because the values may be a Secret's.
        listed = [f"{ref} at {path or 'its root'}" for ref, path in self.changed[:5]]
        if len(self.changed) > 5:
            listed.append(f"{len(self.changed) - 5} more")
        super().__init__(
            f"the operator changed objects that belong to a cache: {', '.join(listed)}. All readers"
            f" of the cache share them: make a copy with replace() or, of an Unstructured, with"
            f" changed(), and leave the original as it is."
        )


class QueueClosed(SteersmanError):
    """A work queue delivers no more keys, because it was shut down or drained."""

    def __init__(self, *, queue: str) -> None:
        self.queue = queue
        super().__init__(
            f"the work queue {queue} was shut down and returns no more keys. End this worker."
        )


class NotProcessing(SteersmanError):
    """``done`` or ``processing_priority`` was called for a key that no worker is processing."""

    def __init__(self, *, queue: str, key: object) -> None:
        self.queue = queue
        self.key = key
        super().__init__(
            f"no worker holds {shown(key)} from the work queue {queue}. Call done() once for each"
            f" get(), or take keys with `async with queue.take()`."
        )


class BadController(SteersmanError, ValueError):
    """A controller whose declaration is invalid."""

    def __init__(self, *, controller: str, problem: str, what_now: str) -> None:
        self.controller = controller
        self.problem = problem
        super().__init__(f"the controller {controller} is invalid: {problem}. {what_now}")


class Undeclared(SteersmanError):
    """A controller used a kind that it does not declare.

    The controller has neither a cache nor permissions for that kind.
    """

    def __init__(self, *, controller: str, wanted: str, what_now: str) -> None:
        self.controller = controller
        self.wanted = wanted
        super().__init__(
            f"the controller {controller} cannot {wanted}, because it does not declare this kind."
            f" {what_now}"
        )


class UndeclaredRead(Undeclared):
    """A controller read an undeclared kind."""


class UndeclaredWrite(Undeclared):
    """A controller wrote an undeclared kind."""


class NotOurs(SteersmanError):
    """An object that a controller wants to own already exists, and is not its own.

    Either another owner controls the object (``actual_controller``), or no owner controls it and
    the controller has not applied it before, or another field manager owns some ``fields``.
    """

    def __init__(
        self,
        *,
        wanted: str,
        owner: str,
        actual_controller: str | None,
        fields: Sequence[str] = (),
    ) -> None:
        self.wanted = wanted
        self.owner = owner
        self.actual_controller = actual_controller
        self.fields = tuple(fields)
        holder = f"controlled by {actual_controller}" if actual_controller else "not controlled"
        held = f", and others own {', '.join(self.fields)}" if self.fields else ""
        super().__init__(
            f"{owner} wants to own {wanted}, which already exists and is {holder}{held}."
            f" Rename one of them, or delete the existing object."
        )


class BadOwner(SteersmanError, ValueError):
    """An object cannot be the owner of another object.

    Kubernetes' garbage collector would delete the owned object.
    """

    def __init__(self, *, owner: str, wanted: str, rule: str) -> None:
        self.owner = owner
        self.wanted = wanted
        self.rule = rule
        super().__init__(f"{owner} cannot own {wanted}: {rule}.")


class BadOutcome(SteersmanError, TypeError):
    """A reconcile function returned something other than an outcome."""

    def __init__(self, *, function: str, ref: str, returned: object) -> None:
        self.function = function
        self.ref = ref
        # Only the type, because the value may be a Secret.
        self.returned = "None" if returned is None else f"an object of {type(returned).__name__}"
        what_now = (
            "Write it as `async def`, and use await in it."
            if isinstance(returned, Awaitable)
            else "Return sm.Done(), sm.Later() or sm.Later(after_seconds=…); raise errors."
        )
        super().__init__(f"{function} returned {self.returned} for {ref}. {what_now}")


class NotAwaited(SteersmanError):
    """A reconcile function called a method of its context without ``await``.

    If ``has_begun`` is false, nothing was sent. If it is true, the function passed the call to a
    task and returned without waiting for that task. The call is then cancelled, but a write may
    already have been sent.
    """

    def __init__(self, *, ref: str, verb: str, where: str, has_begun: bool = False) -> None:
        self.ref = ref
        self.verb = verb
        self.where = where
        self.has_begun = has_begun
        super().__init__(
            f"the reconcile of {ref} returned before {verb}, called at {where}, had returned, and"
            f" the write was cancelled. Await the task that calls {verb}."
            if has_begun
            else f"the reconcile of {ref} called {verb} at {where} without await, and nothing was"
            f" sent. Write `await {verb}(…)`."
        )


class ReconcileTimedOut(SteersmanError):
    """A reconcile function exceeded its timeout, and was cancelled."""

    def __init__(self, *, controller: str, ref: str, timeout_seconds: float) -> None:
        self.controller = controller
        self.ref = ref
        self.timeout_seconds = timeout_seconds
        super().__init__(
            f"the controller {controller} did not finish the reconcile of {ref} within"
            f" {timeout_seconds:g} s, and will retry it. Return sm.Later(after_seconds=…) instead"
            f" of waiting, or raise timeout_seconds of the controller."
        )


class ContextEnded(SteersmanError):
    """A context was used after its reconcile had ended, for example by a timeout."""

    def __init__(self, *, controller: str, ref: str) -> None:
        self.controller = controller
        self.ref = ref
        super().__init__(
            f"the reconcile of {ref} by the controller {controller} has ended, and its context"
            f" no longer reads or writes. Return from the function."
        )


class Permanent(SteersmanError):
    """An error for operators to raise when no retry can help until the object is changed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class NotLeading(SteersmanError):
    """A write was blocked: this replica does not lead, or cannot be sure that it still leads.

    ``may_have_happened`` is true if the write was sent before, and no response arrived in time.
    ``was_stopped`` is true if the error is not about a write: instead, a function of the operator
    author, or its effect outside the cluster, was stopped.
    """

    def __init__(
        self, *, wanted: str, may_have_happened: bool = False, was_stopped: bool = False
    ) -> None:
        self.wanted = wanted
        self.may_have_happened = may_have_happened
        self.was_stopped = was_stopped
        if was_stopped:
            problem = f"stopped {wanted}"
        elif may_have_happened:
            problem = f"stopped waiting for {wanted}, which was sent and may have succeeded"
        else:
            problem = f"did not send {wanted}"
        super().__init__(
            f"{problem}: this replica no longer leads, and another replica may lead now. The"
            f" leader does this work."
        )


class BadSettings(SteersmanError, ValueError):
    """An invalid setting of a manager; ``source`` is the place where the setting was given."""

    def __init__(self, *, source: str, problem: str, what_now: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}. {what_now}")


class BadManager(SteersmanError, ValueError):
    """A manager whose configuration is invalid."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"the manager is invalid: {problem}. {what_now}")


class NoLifespanValue(SteersmanError, LookupError):
    """The manager's lifespan does not provide a value of the class that a function requested.

    ``given`` is the class of the value that the lifespan provides; ``None`` if the manager has no
    lifespan.
    """

    def __init__(self, *, wanted: str, given: str | None) -> None:
        self.wanted = wanted
        self.given = given
        problem = f"its lifespan yields an object of {given}" if given else "it has no lifespan"
        super().__init__(
            f"the manager cannot provide a {wanted}: {problem}. Pass Manager(lifespan=…) a"
            f" function whose async context manager yields a {wanted}."
        )


class ManagerFailed(SteersmanError):
    """A manager could not start, or stopped because a part of it failed."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class WaitTimeout(SteersmanError):
    """The condition that a call waits for was not met in time."""

    def __init__(self, *, waited_for: str, waited_seconds: float, last_seen: str) -> None:
        self.waited_for = waited_for
        self.waited_seconds = waited_seconds
        self.last_seen = last_seen
        super().__init__(
            f"waited {waited_seconds:g} s for {waited_for} without success; last seen: {last_seen}."
        )
