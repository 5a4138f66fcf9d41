"""What goes wrong while an operator runs."""

from collections.abc import Awaitable, Sequence

from steersman.errors.root import SteersmanError, shown


class CacheError(SteersmanError):
    """A cache cannot answer, and to answer "nothing is there" would be a lie."""

    def __init__(self, *, wanted: str, problem: str, what_now: str) -> None:
        self.wanted = wanted
        self.problem = problem
        super().__init__(f"could not {wanted}: {problem}. {what_now}")


class NotFollowed(CacheError):
    """Nobody follows this kind, so that nothing is known of it."""


class NotSynced(CacheError):
    """Not everything that is there has been heard yet."""


class NotInScope(CacheError):
    """The cache holds other objects of the kind, and knows nothing of these."""


class CacheSyncTimeout(CacheError):
    """Caches were not filled in time; ``pending`` has each kind and what keeps it from that."""

    def __init__(
        self, *, wanted: str, pending: Sequence[tuple[str, str]], waited_seconds: float
    ) -> None:
        self.pending = tuple(pending)
        self.waited_seconds = waited_seconds
        listed = "; ".join(f"{kind}: {problem}" for kind, problem in self.pending)
        super().__init__(
            wanted=wanted,
            problem=f"after {waited_seconds:g} s there is no complete list of {listed}",
            what_now="Install the CustomResourceDefinition of a kind that is not served, or grant"
            " the right to list it; the list is tried again until it succeeds.",
        )


class UnknownIndex(SteersmanError, LookupError):
    """A cache has no index of this name."""

    def __init__(self, *, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        there = f"it has {', '.join(known)}" if known else "it has none"
        super().__init__(
            f"there is no index {shown(name)} in this cache: {there}."
            f" Add an index under that name, or ask by one of those that are there."
        )


class CacheMutated(SteersmanError):
    """Somebody changed objects that belong to a cache; ``changed`` names them, and the fields."""

    def __init__(self, *, changed: Sequence[tuple[str, str]]) -> None:
        self.changed = tuple(changed)
        # Where, and never from what to what: it may be a Secret.
        listed = [f"{ref} at {path or 'its root'}" for ref, path in self.changed[:5]]
        if len(self.changed) > 5:
            listed.append(f"{len(self.changed) - 5} more")
        super().__init__(
            f"somebody changed objects that belong to a cache: {', '.join(listed)}. Everybody who"
            f" reads the cache shares them: make a copy with replace() or, of an Unstructured, with"
            f" changed(), and leave the original as it is."
        )


class QueueClosed(SteersmanError):
    """A work queue gives out no more keys: it was shut down, or drained."""

    def __init__(self, *, queue: str) -> None:
        self.queue = queue
        super().__init__(
            f"the work queue {queue} gives out no more keys: it was shut down. End this worker."
        )


class NotHeld(SteersmanError):
    """A key was said to be done, or its priority asked for, and no worker holds it."""

    def __init__(self, *, queue: str, key: object) -> None:
        self.queue = queue
        self.key = key
        super().__init__(
            f"nobody holds {shown(key)} from the work queue {queue}, so nobody can be done with"
            f" it. Call done() once for each get(), or take keys with `async with queue.take()`."
        )


class BadController(SteersmanError, ValueError):
    """A controller that cannot work as it is declared."""

    def __init__(self, *, controller: str, problem: str, what_now: str) -> None:
        self.controller = controller
        self.problem = problem
        super().__init__(f"the controller {controller} cannot work: {problem}. {what_now}")


class Undeclared(SteersmanError):
    """A controller used a kind that it never declared, so that it has neither cache nor rights."""

    def __init__(self, *, controller: str, wanted: str, what_now: str) -> None:
        self.controller = controller
        self.wanted = wanted
        super().__init__(
            f"the controller {controller} wanted to {wanted}, which it does not declare. {what_now}"
        )


class UndeclaredRead(Undeclared):
    """It read a kind that it never declared."""


class UndeclaredWrite(Undeclared):
    """It wrote a kind that it never declared."""


class NotOurs(SteersmanError):
    """An object with the wanted name exists, and someone else controls it, or some of its fields.

    ``actual_controller`` names its controller, if it has one; ``fields`` are those that another
    field manager holds.
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
        held = f", and others hold {', '.join(self.fields)}" if self.fields else ""
        super().__init__(
            f"{owner} wants to own {wanted}, which already exists and is {holder}{held}."
            f" Rename one of them, or delete the existing object."
        )


class BadOwner(SteersmanError, ValueError):
    """One object cannot be the owner of the other: Kubernetes would collect what it owns."""

    def __init__(self, *, owner: str, wanted: str, rule: str) -> None:
        self.owner = owner
        self.wanted = wanted
        self.rule = rule
        super().__init__(f"{owner} cannot own {wanted}: {rule}.")


class BadOutcome(SteersmanError, TypeError):
    """A reconcile function returned something else than an outcome."""

    def __init__(self, *, function: str, ref: str, returned: object) -> None:
        self.function = function
        self.ref = ref
        # Its type, and not what it holds: that may be a Secret.
        self.returned = "None" if returned is None else f"an object of {type(returned).__name__}"
        what_now = (
            "Write it as `async def`, and await there what is to be awaited."
            if isinstance(returned, Awaitable)
            else "Return sm.Done(), sm.Later() or sm.Later(after_seconds=…); raise what went wrong."
        )
        super().__init__(f"{function} returned {self.returned} for {ref}. {what_now}")


class NotAwaited(SteersmanError):
    """A reconcile function called a method of its context without await: nothing was sent.

    ``has_begun`` where a task awaits it that the function did not wait for: the write is cancelled,
    and may have been sent.
    """

    def __init__(self, *, ref: str, verb: str, where: str, has_begun: bool = False) -> None:
        self.ref = ref
        self.verb = verb
        self.where = where
        self.has_begun = has_begun
        super().__init__(
            f"the reconcile of {ref} returned before {verb} had ended, which it called at {where},"
            f" and the write was cancelled. Await the task that calls {verb}."
            if has_begun
            else f"the reconcile of {ref} called {verb} at {where} without await, and nothing was"
            f" sent. Write `await {verb}(…)`."
        )


class ReconcileTimedOut(SteersmanError):
    """A reconcile function took longer than it may, and was cancelled."""

    def __init__(self, *, controller: str, ref: str, timeout_seconds: float) -> None:
        self.controller = controller
        self.ref = ref
        self.timeout_seconds = timeout_seconds
        super().__init__(
            f"the controller {controller} was not done with {ref} after {timeout_seconds:g} s, and"
            f" will try again. Return sm.Later(after_seconds=…) instead of waiting, or raise"
            f" timeout_seconds of the controller."
        )


class ContextEnded(SteersmanError):
    """A context was used after its reconcile had ended: timed out, stopped, or leadership lost."""

    def __init__(self, *, controller: str, ref: str) -> None:
        self.controller = controller
        self.ref = ref
        super().__init__(
            f"the reconcile of {ref} by the controller {controller} has ended, and nothing more is"
            f" read or written for it. Let the function end."
        )


class Permanent(SteersmanError):
    """Trying again will not help until somebody changes the object; for authors to raise."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class NotLeading(SteersmanError):
    """A write was held back: this replica does not lead, or cannot be sure that it still does.

    ``may_have_happened`` where it had been sent by then, and no answer came in time;
    ``was_stopped`` where it is no write but a function of the author's that does not go on.
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
            problem = f"gave up on {wanted}, which was sent and may have been carried out"
        else:
            problem = f"did not send {wanted}"
        super().__init__(
            f"{problem}: this replica's time as leader is over, and another may act by now. It"
            f" will be done by whoever leads."
        )


class BadSettings(SteersmanError, ValueError):
    """A setting of a manager that cannot be used, with where it came from."""

    def __init__(self, *, source: str, problem: str, what_now: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}. {what_now}")


class BadManager(SteersmanError, ValueError):
    """A manager that cannot work as it is made."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"the manager cannot work: {problem}. {what_now}")


class NoLifespanValue(SteersmanError, LookupError):
    """A function asked for what the manager's lifespan gives, and it gives something else.

    ``given`` is the class of what it gave; ``None`` if the manager has no lifespan.
    """

    def __init__(self, *, wanted: str, given: str | None) -> None:
        self.wanted = wanted
        self.given = given
        problem = f"its lifespan gave an object of {given}" if given else "it has no lifespan"
        super().__init__(
            f"a {wanted} was wanted from the manager, and {problem}. Pass Manager(lifespan=…) a"
            f" function whose async context manager yields a {wanted}."
        )


class ManagerFailed(SteersmanError):
    """A manager could not start, or something that it runs has failed and took it along."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class NotSettled(SteersmanError):
    """What was waited for did not come about in time."""

    def __init__(self, *, waited_for: str, waited_seconds: float, last_seen: str) -> None:
        self.waited_for = waited_for
        self.waited_seconds = waited_seconds
        self.last_seen = last_seen
        super().__init__(
            f"waited {waited_seconds:g} s for {waited_for}, in vain; last seen: {last_seen}."
        )
