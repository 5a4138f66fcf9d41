"""Every error steersman raises.

SteersmanError
├── ApiError                     the API server answered, and the answer was no
│   ├── BadRequest
│   ├── Unauthorized             it does not know who is asking
│   ├── Forbidden                it knows, and they may not
│   ├── NotFound
│   ├── MethodNotAllowed
│   ├── AlreadyExists
│   ├── Conflict                 somebody else wrote first; read again
│   ├── Expired                  the resourceVersion is too old; list again
│   ├── Invalid                  the object breaks its schema or a rule; see ``causes``
│   ├── TooManyRequests
│   └── ServerFailed             a 5xx answer
│       ├── Unavailable
│       └── ServerTimeout
│           └── TooLargeResourceVersion   this server has not got so far yet
├── Unreachable                  no answer; ``may_have_happened`` says whether a write may stand
│   └── DeadlinePassed
├── BadAnswer                    an answer that no API server should give
├── InvalidObject                an object that does not fit its Python class
├── ConfigError                  a kubeconfig or credential file that cannot be used
│   ├── CertificateRefused       the other side's certificate, or ours, was not accepted
│   └── CredentialPluginFailed
├── BadValue                     a value that Kubernetes would refuse
│   ├── BadName
│   └── NotAKind                 a class that does not say where its objects live
├── UnknownKind                  nobody has heard of this kind
├── CacheError                   a cache cannot answer
│   ├── NotFollowed              nobody follows this kind
│   ├── NotSynced                not everything has been heard yet
│   └── NotInScope               the cache holds other objects of the kind
├── UnknownIndex                 a cache has no index of this name
├── CacheMutated                 somebody changed objects that belong to a cache
├── QueueClosed                  a work queue gives out no more keys
├── NotHeld                      a key that nobody holds was said to be done
├── BadController                a controller that cannot work as it is declared
├── Undeclared                   a controller used a kind that it never declared
│   ├── UndeclaredRead
│   └── UndeclaredWrite
├── NotOurs                      refused to take over an object that someone else controls
├── BadOwner                     one object cannot be the owner of the other
├── BadOutcome                   a reconcile function returned something else than an outcome
├── ReconcileTimedOut            a reconcile function took longer than it may
├── ContextEnded                 a context was used after its reconcile had ended
├── Permanent                    raised by authors: trying again will not help until someone acts
├── NotLeading                   a write was held back because another replica may lead
├── BadSettings                  settings of a manager that cannot be used
├── ManagerFailed                a manager could not start, or what it runs has failed
├── NoConversion                 no way from one version of a kind to another
├── NamespaceHeld                something in a namespace that is being deleted stays there
├── NotSettled                   a condition that was waited for did not come about in time
├── Deadlock                     in a simulation, everybody waits and nothing can happen any more
├── DidNotSurvive                an operator came to something else when it was disturbed
├── TimeCannotBeSkipped          a test of a real cluster asked for what only a virtual one can do
├── ControlPlaneError            a control plane for tests could not be built, started or used
└── ClusterError                 the embedded cluster could not be started

A class statement or a call that is wrong in itself is a ``TypeError`` or ``ValueError``, as it is
everywhere in Python.

A message says who wanted what, why not, and what to do now. It never contains a secret: values
that came from credentials or from the data of a Secret stay out of it.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class SteersmanError(Exception):
    """The root of everything steersman raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # To copy or unpickle an exception, Python calls its class with the message; ours are made
        # from keywords.
        return _without_init, (type(self), *self.args), vars(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One reason among several for which the server refused an object."""

    reason: str
    message: str
    field: str = ""


class ApiError(SteersmanError):
    """The API server answered, and the answer was no."""

    what_now: ClassVar[str] = ""

    def __init__(
        self,
        *,
        wanted: str,
        code: int,
        reason: str,
        message: str,
        causes: tuple[Cause, ...] = (),
        retry_after_seconds: float | None = None,
        uid: str = "",
    ) -> None:
        self.wanted = wanted
        self.code = code
        self.reason = reason
        self.message = message
        self.causes = causes
        self.retry_after_seconds = retry_after_seconds
        self.uid = uid
        answer = f"{code} {reason}" if reason else str(code)
        sentence = f"could not {wanted}: the server answered {answer}: {message.rstrip('.')}."
        super().__init__(f"{sentence} {self.what_now}".rstrip())


class BadRequest(ApiError):
    """The server could not make sense of the request."""

    what_now = "The request itself is wrong; sending it again will not help."


class Unauthorized(ApiError):
    """The server does not know who is asking."""

    what_now = "Check the token, client certificate or plugin of the kubeconfig's user."


class Forbidden(ApiError):
    """The server knows who is asking, and they may not."""

    what_now = "Grant this verb on this resource in a Role or ClusterRole, or ask as someone else."


class NotFound(ApiError):
    """There is no such object, or no such resource."""


class MethodNotAllowed(ApiError):
    """The resource exists and does not support this verb."""


class AlreadyExists(ApiError):
    """An object of this name is there already."""

    what_now = "Apply or patch it, or choose another name."


class Conflict(ApiError):
    """Somebody else wrote first, or holds a field that this write wanted."""

    what_now = "Read the object again and decide afresh."


class Expired(ApiError):
    """The resourceVersion, or the continue token, is older than the server's history."""

    what_now = "List again."


class Invalid(ApiError):
    """The object breaks its schema or a rule; ``causes`` names the fields."""

    what_now = "Change the fields named above."


class TooManyRequests(ApiError):
    """The server sheds load, or an eviction would break a disruption budget."""

    what_now = "Ask again later, and less often."


class ServerFailed(ApiError):
    """The server failed; for a write, nobody knows whether it happened."""

    what_now = "If this was a write, read before writing again."


class Unavailable(ServerFailed):
    """The server, or what it depends on, is not there at the moment."""


class ServerTimeout(ServerFailed):
    """The server gave up before it had finished."""


class TooLargeResourceVersion(ServerTimeout):
    """This server has not got as far as the resourceVersion that was asked for."""

    what_now = "Wait for it to catch up, then ask again with the same version."


class Unreachable(SteersmanError):
    """No answer came.

    ``may_have_happened`` is false only where it is certain that the server never got the request.
    """

    def __init__(self, message: str, *, may_have_happened: bool = True) -> None:
        self.may_have_happened = may_have_happened
        super().__init__(message)


class DeadlinePassed(Unreachable):
    """No answer came in time."""


class BadAnswer(SteersmanError):
    """An answer that no API server should give: not JSON, too large, a redirect, another kind."""

    def __init__(self, *, wanted: str, problem: str, what_now: str) -> None:
        self.wanted = wanted
        self.problem = problem
        super().__init__(f"could not {wanted}: {problem}. {what_now}")


class InvalidObject(SteersmanError):
    """An object that does not fit its Python class; ``body`` holds it as it came."""

    def __init__(self, *, ref: str, into: str, problem: str, body: Mapping[str, object]) -> None:
        self.ref = ref
        self.into = into
        self.problem = problem
        self.body = body
        super().__init__(
            f"{ref} does not fit {into}: {problem}."
            f" Correct the object, or read it as Unstructured and widen the class."
        )


class ConfigError(SteersmanError):
    """A kubeconfig, certificate or token file that cannot be used."""

    def __init__(self, *, source: str, problem: str, what_now: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}. {what_now}")


class CertificateRefused(ConfigError):
    """The other side's certificate, or ours, was not accepted."""


class CredentialPluginFailed(ConfigError):
    """A credential plugin was not allowed, died, hung, or answered nonsense."""


class BadValue(SteersmanError, ValueError):
    """A value that Kubernetes would refuse."""

    def __init__(self, *, wanted: str, value: object, rule: str) -> None:
        self.wanted = wanted
        self.value = value
        self.rule = rule
        super().__init__(f"{_shown(value)} is not {wanted}: {rule}.")


class BadName(BadValue):
    """A name, label or path that Kubernetes would refuse, with the rule it broke."""


class NotAKind(BadValue, AttributeError):
    """A class that does not say where its objects live: it has no ``resource_type``."""


class UnknownKind(SteersmanError):
    """Nobody has heard of this kind: not the scheme, or not the server."""

    def __init__(self, *, kind: str, asked: str, what_now: str) -> None:
        self.kind = kind
        self.asked = asked
        super().__init__(f"{asked} does not know {kind}. {what_now}")


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


class UnknownIndex(SteersmanError, LookupError):
    """A cache has no index of this name."""

    def __init__(self, *, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        there = f"it has {', '.join(known)}" if known else "it has none"
        super().__init__(
            f"there is no index {_shown(name)} in this cache: {there}."
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
            f"nobody holds {_shown(key)} from the work queue {queue}, so nobody can be done with"
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

    ``may_have_happened`` where it had been sent by then, and no answer came in time.
    """

    def __init__(self, *, wanted: str, may_have_happened: bool = False) -> None:
        self.wanted = wanted
        self.may_have_happened = may_have_happened
        if may_have_happened:
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


class ManagerFailed(SteersmanError):
    """A manager could not start, or something that it runs has failed and took it along."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class NoConversion(SteersmanError):
    """No way from one version of a kind to another."""

    def __init__(self, *, source: str, target: str) -> None:
        self.source = source
        self.target = target
        super().__init__(
            f"no conversion leads from {source} to {target}."
            f" Give the Scheme a Conversion for each step between them."
        )


class NamespaceHeld(SteersmanError):
    """Something in a namespace that is being deleted cannot be deleted, or not even be found."""

    def __init__(self, *, namespace: str, problems: Sequence[str]) -> None:
        self.namespace = namespace
        self.problems = tuple(problems)
        super().__init__(
            f"Namespace {namespace} cannot be let go: {'; '.join(problems)}."
            f" Its conditions say more; it is tried again."
        )


class NotSettled(SteersmanError):
    """What was waited for did not come about in time."""

    def __init__(self, *, waited_for: str, waited_seconds: float, last_seen: str) -> None:
        self.waited_for = waited_for
        self.waited_seconds = waited_seconds
        self.last_seen = last_seen
        super().__init__(
            f"waited {waited_seconds:g} s for {waited_for}, in vain; last seen: {last_seen}."
        )


class Deadlock(SteersmanError):
    """In a simulation everybody waits, and nothing can happen any more."""

    def __init__(self, *, waiting: Sequence[str], after_seconds: float) -> None:
        self.waiting = tuple(waiting)
        self.after_seconds = after_seconds
        lines = "".join(f"\n  {each}" for each in waiting)
        super().__init__(
            f"nothing can happen any more after {after_seconds:g} s, and these wait."
            f" Find out who should have woken the first of them.{lines}"
        )


class DidNotSurvive(SteersmanError):
    """Disturbed, an operator came to something else: ``found``, after what ``story`` tells.

    ``fault`` and ``seed`` lead there again.
    """

    def __init__(
        self, *, sweep: str, fault: str, seed: int, story: Sequence[str], found: Sequence[str]
    ) -> None:
        self.sweep, self.fault, self.seed = sweep, fault, seed
        self.story, self.found = tuple(story), tuple(found)
        what, only = (f"the fault {fault!r}", f', only="{fault}"') if fault else ("no fault", "")
        lines = "".join(f"{line}\n" for line in (*story, *(f"  {each}" for each in found)))
        replay = f"replay: await {sweep}(scenario, seed={seed}{only})"
        super().__init__(f"with {what} and seed {seed} this happened:\n\n{lines}\n{replay}")


class TimeCannotBeSkipped(SteersmanError):
    """A test on a real cluster asked for what only time that is a number can do."""

    def __init__(self, *, wanted: str) -> None:
        self.wanted = wanted
        what_now = "Mark the test with pytest.mark.embedded_only, or wait with settle()."
        super().__init__(f"could not {wanted}: a real cluster has its own time. {what_now}")


class ControlPlaneError(SteersmanError):
    """A control plane for tests could not be found, built, started or used."""

    def __init__(self, *, problem: str, what_now: str, log_tail: str = "") -> None:
        self.problem = problem
        self.log_tail = log_tail
        tail = f"\n\n{log_tail}" if log_tail else ""
        super().__init__(f"{problem}. {what_now}{tail}")


class ClusterError(SteersmanError):
    """The embedded cluster could not be started, or not with what it was given."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


def _without_init(kind: type[SteersmanError], *args: object) -> SteersmanError:
    return kind.__new__(kind, *args)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"
