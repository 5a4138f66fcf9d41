"""``Context``: what a reconcile function may read and write, and why it runs."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from steersman.client import Client, Fields, Labels, Patch
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.context.lifespan import NO_LIFESPAN, lifespan_value
from steersman.controller.context.pending_calls import Call, verb
from steersman.controller.declaration.access import DeclaredAccess
from steersman.controller.declaration.declaration import Declaration
from steersman.controller.declaration.outcomes import Status
from steersman.controller.declaration.writes import APPLY, Kind
from steersman.controller.leadership import IsLeader
from steersman.controller.writer.reports import EffectiveWrite
from steersman.errors import ContextEnded, NotLeading, NotOurs
from steersman.kinds import Condition, Part, Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Why, Write

if TYPE_CHECKING:
    from steersman.client import ServedResource
    from steersman.controller.events.recorder import EventRecorder
    from steersman.controller.writer.writer import Writer
    from steersman.kinds import autoscaling_v1

Obj = TypeVar("Obj", bound=Resource | Unstructured)
T = TypeVar("T")

# What a write that applies something is reported as.
_APPLYING = frozenset({"apply", "apply status"})


def token_text(drawn: bytes) -> str:
    """How a token is written."""
    return urlsafe_b64encode(drawn).rstrip(b"=").decode()


class Context:
    """What a reconcile function gets beside its object.

    ``get``, ``list``, ``owned`` and ``by_index`` read from memory, our own writes included, and
    cost nothing. ``live`` asks the server, for what a cache will not do. Only kinds that the
    controller declares can be read or written. Where a read is given no namespace, that of the
    object is meant.
    """

    __slots__ = (
        "_access",
        "_applies",
        "_cached",
        "_client",
        "_clock",
        "_controller",
        "_is_ended",
        "_leads",
        "_lifespan",
        "_obj",
        "_own",
        "_recorder",
        "_refused",
        "_writer",
        "_writing",
        "calls",
        "failures",
        "whys",
        "writes",
        "wrote",
    )

    def __init__(
        self,
        controller: Declaration,
        obj: Resource | Unstructured,
        *,
        access: DeclaredAccess,
        cached: CacheReader,
        client: Client,
        writer: "Writer",
        recorder: "EventRecorder",
        clock: Clock,
        whys: tuple[Why, ...],
        failures: int,
        refused: Callable[[NotOurs], None],
        leads: IsLeader | None,
        lifespan: object = NO_LIFESPAN,
    ) -> None:
        self._controller = controller
        self._obj = obj
        self._access = access
        self._cached = cached
        self._writer = writer
        self._recorder = recorder
        self._clock = clock
        self._is_ended = False
        # What of its own it has applied or created, or tried to.
        self._own: list[tuple[type[Any], str | None, str]] = []
        self._applies = 0
        self._writing: set[asyncio.Task[Any] | None] = set()
        self._client = client
        self._refused = refused
        self._leads = leads
        self._lifespan = lifespan
        #: What was called of it, and may never have been awaited.
        self.calls: list[Call] = []
        #: Why it runs: what happened since the object was last looked at.
        self.whys = whys
        #: How often in a row it has failed before.
        self.failures = failures
        self.writes: list[Write] = []
        self.wrote: list[EffectiveWrite] = []

    def __repr__(self) -> str:
        return f"<Context of {self._obj.ref} for the controller {self._controller.name}>"

    @property
    def live(self) -> "LiveReader":
        """Reads that ask the server."""
        return LiveReader(
            self._client,
            may_get=self._may_get,
            may_list=self._may_list,
            home=self._home,
            calls=self.calls,
        )

    @property
    def rng(self) -> Random:
        """The operator's source of randomness."""
        return self._client.rng

    def token(self, size: int = 32) -> str:
        """A new secret: so many random bytes, as text of letters, digits, ``-`` and ``_``.

        The bytes come from ``rng``, which is the operating system's unless the manager was given
        another one. Each call returns a new secret: keep it in a Secret, and call only where there
        is none.
        """
        if size < 16:
            raise ValueError(f"a token of {size} bytes can be guessed; ask for 16 or more")
        return token_text(self.rng.randbytes(size))

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return self._clock.now()

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica leads at this moment.

        For the line before an effect outside the cluster, which no fence holds back: a process that
        was stopped and wakes up may have lost the lead long ago. It asks this machine's clock, and
        costs nothing. Let the error propagate: the leader does the work.
        """
        if self._leads is not None and not self._leads():
            raise NotLeading(wanted=f"an effect outside for {self._obj.ref}", was_stopped=True)
        self._check()

    def lifespan(self, kind: type[T]) -> T:
        """What the manager's ``lifespan`` yielded, such as a client of another system.

        ``NoLifespanValue`` unless that is an object of this class.
        """
        return lifespan_value(self._lifespan, kind)

    # Reading from memory

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """One object, or ``None``."""
        self._check()
        return self._cached.get(kind, name, namespace=self._home(kind, namespace))

    def owned(self, kind: type[Obj]) -> "list[Obj]":
        """All objects of a kind that the controller owns and that this object controls."""
        self._check()
        return self._cached.controlled(kind, self._obj.uid)

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """All objects for which the function of this index gave this value."""
        self._check()
        return self._cached.by_index(kind, index, value)

    # Writing

    @verb("ctx")
    async def create(self, obj: Obj) -> Obj:
        """A new object; ``AlreadyExists`` if there is one of its name.

        For what has no name of its own, and gets one by ``metadata.generateName``. What has one
        is better applied: that can be repeated.
        """
        self._may_write(type(obj), "create", ("create",), obj.name)
        return await self._sent(self._writer.create(obj, report=self._report))

    @verb("ctx")
    async def create_owned(self, child: Obj) -> Obj:
        """The same for an object that belongs to this one, and goes when it goes.

        Whether there are enough of them already is to be asked of ``owned``, which knows of each
        from the moment that this returns.
        """
        if self._access.may(type(child), "create"):
            self._may_write(type(child), "create", ("create",), child.name)
        else:
            self._may_own(type(child), "create", ("create",))
        created = await self._sent(self._writer.create_owned(child, self._obj, report=self._report))
        self._own.append((type(created), created.namespace, created.name))
        return created

    @verb("ctx")
    async def apply(self, obj: Obj, *, force: bool = False) -> Obj:
        """Exactly these fields of it are ours, with these values; its answer.

        ``Conflict`` if another manager holds one of them with another value, unless ``force``.
        If it would change nothing, nothing is sent.
        """
        # Of what is known to be there, an apply carries the uid, and never creates another.
        creates = self._access.may(type(obj), "create") or not self._is_known(obj)
        self._may_write(type(obj), "apply", APPLY if creates else ("patch",), obj.name)
        applied = await self._sent(self._writer.apply(obj, force=force, report=self._report))
        self._applies += 1
        return applied

    @verb("ctx")
    async def apply_owned(self, child: Obj, *, adopt: bool = False) -> Obj:
        """The same for an object that belongs to this one, and goes when it goes.

        It gets this object's namespace and an owner reference. ``NotOurs`` if it is there and
        someone else's, or nobody's unless ``adopt``; when that is gone, this object is looked at.
        """
        self._may_own(type(child), "own", APPLY)
        # Before it is tried: what is wanted and cannot be had just now is not to be pruned.
        self._own.append((type(child), child.namespace, child.name))
        try:
            applied = await self._sent(
                self._writer.apply_owned(child, self._obj, adopt=adopt, report=self._report)
            )
        except NotOurs as refusal:
            # At once, whatever the author makes of it: that may be gone before they are done.
            self._refused(refusal)
            raise
        self._applies += 1
        return applied

    @verb("ctx")
    async def apply_status(self, obj: Obj, status: Part | dict[str, Any]) -> Obj:
        """Say how things stand with this object, or another one of its kind.

        Sets ``observedGeneration`` where the status has it, and moves the ``lastTransitionTime``
        of a condition only when it flips. If it would change nothing, nothing is sent.
        """
        self._may_write_status(type(obj), "apply the status of", obj.name)
        applied = await self._sent(self._writer.apply_status(obj, status, report=self._report))
        self._applies += 1
        return applied

    @verb("ctx")
    async def patch(
        self, obj: Obj, patch: Patch, *, subresource: Literal["status"] | None = None
    ) -> Obj:
        """Some fields changed, if it is still the same object."""
        if subresource is None:
            self._may_write(type(obj), "patch", ("patch",), obj.name)
        else:
            self._may_write_status(type(obj), "patch the status of", obj.name)
        return await self._sent(
            self._writer.patch(obj, patch, subresource=subresource, report=self._report)
        )

    @verb("ctx")
    async def delete(
        self,
        obj: Resource | Unstructured,
        *,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Ask for its end, if it is still the same object; it is fine if it is gone already.

        A Pod gets ``grace_seconds`` to end; those of its own, if it is ``None``.
        """
        self._may_write(type(obj), "delete", ("delete",), obj.name)
        await self._sent(
            self._writer.delete(
                obj, propagation=propagation, grace_seconds=grace_seconds, report=self._report
            )
        )

    @verb("ctx")
    async def prune(self, *kinds: Kind) -> None:
        """Delete what this object owns and was neither applied nor created in this run.

        Of these kinds, or of all that the controller owns. Not for what is created, then, but for
        what is applied each time.
        """
        self._check()
        among = kinds or tuple(each.kind for each in self._controller.owned)
        for kind in among:
            self._may_own(kind, "prune", ("delete",))
        home = self._obj.namespace
        keep = {(kind, ObjectKey(there or home, name)) for kind, there, name in self._own}
        await self._sent(self._writer.prune(self._obj, among, keep=keep, report=self._report))

    def record(
        self,
        reason: str,
        note: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",
        action: str = "Reconcile",
        about: Resource | Unstructured | None = None,
        related: Resource | Unstructured | None = None,
    ) -> None:
        """An Event for people to read, about this object unless told otherwise.

        It is written in the background; what is repeated is counted, and a flood is cut.
        """
        self._check()
        self._recorder.record(
            about or self._obj, reason, note, type=type, action=action, related=related
        )

    # For whoever runs it

    async def add_finalizer(self, obj: Obj) -> Obj:
        """Put the controller's finalizer on its object; go on with the answer."""
        held = await self._writer.add_finalizer(obj, report=self._report)
        self._obj = held
        return held

    async def remove_finalizer(self, obj: Resource | Unstructured) -> None:
        """Take the controller's finalizer off its object."""
        await self._writer.remove_finalizer(obj, report=self._report)

    async def set_condition(self, obj: Resource | Unstructured, condition: Condition) -> None:
        """Put a condition on its object, beside what its status says; after the end, too."""
        await self._sent(self._writer.apply_condition(obj, condition, report=self._report))
        self._applies += 1

    async def report_status(
        self, obj: Resource | Unstructured, status: Status, *, can_wait: bool
    ) -> bool:
        """Apply the status with which a look at its object ends; not yet, if that can wait.

        Whether there is nothing left to be said. After the end, too.
        """
        self._access.check_write(
            type(obj), "apply the status of", ("patch",), name=obj.name, subresource="status"
        )
        write = self._writer.report_status(obj, status, can_wait=can_wait, report=self._report)
        is_said = await self._sent(write)
        if is_said:
            self._applies += 1
        return is_said

    def end(self) -> None:
        """From now on, whatever is asked of it raises ``ContextEnded``.

        A task that the function has left behind, as ``asyncio.gather`` does when one of several
        fails, is cancelled if it is still writing: the next look at the object may be near.
        """
        self._is_ended = True
        for task in self._writing:
            if task is not None:
                task.cancel()

    def ended(self) -> ContextEnded:
        """What it raises then."""
        return ContextEnded(controller=self._controller.name, ref=str(self._obj.ref))

    def _report(self, write: Write, body: bytes | None) -> None:
        self.writes.append(write)
        if write.is_change:
            self.wrote.append(EffectiveWrite(write.ref, write.version, body))

    @property
    def spared(self) -> int:
        """How many applies were not sent, because they would have changed nothing."""
        return self._applies - len([each for each in self.writes if each.verb in _APPLYING])

    async def _sent(self, write: Awaitable[T]) -> T:
        task = asyncio.current_task()
        self._writing.add(task)
        try:
            return await write
        finally:
            self._writing.discard(task)

    def _check(self) -> None:
        if self._is_ended:
            raise self.ended()

    def _home(self, kind: type[Any], namespace: str | None) -> str | None:
        if namespace is None and kind.resource_type.namespaced:
            return self._obj.namespace
        return namespace

    def _is_known(self, obj: Resource | Unstructured) -> bool:
        if obj.uid:
            return True
        return self._cached.find(type(obj), obj.name, namespace=obj.namespace) is not None

    def _may_own(self, kind: type[Any], wanted: str, verbs: tuple[str, ...]) -> None:
        self._check()
        self._access.check_own(kind, wanted, verbs)

    def _may_write(self, kind: type[Any], wanted: str, verbs: tuple[str, ...], name: str) -> None:
        self._check()
        self._access.check_write(kind, wanted, verbs, name=name)

    def _may_write_status(self, kind: type[Any], wanted: str, name: str) -> None:
        self._check()
        self._access.check_write(kind, wanted, ("patch",), name=name, subresource="status")

    def _may_get(self, kind: type[Any], name: str) -> None:
        self._check()
        self._access.check_get(kind, name)

    def _may_list(self, kind: type[Any]) -> None:
        self._check()
        self._access.check_list(kind)

    # The last one, because from here on ``list`` means this in the class.

    def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        labels: Labels | None = None,
    ) -> list[Obj]:
        """All objects in the namespace, or in all that are held, that match the selector."""
        self._check()
        home = None if all_namespaces else self._home(kind, namespace)
        return self._cached.list(kind, namespace=home, labels=labels)


class LiveReader:
    """Reads that ask the server, for what a cache will not do."""

    __slots__ = ("_client", "_home", "_may_get", "_may_list", "calls")

    def __init__(
        self,
        client: Client,
        *,
        may_get: Callable[[type[Any], str], None],
        may_list: Callable[[type[Any]], None],
        home: Callable[[type[Any], str | None], str | None],
        calls: list[Call],
    ) -> None:
        self._client = client
        self.calls = calls
        self._may_get = may_get
        self._may_list = may_list
        self._home = home

    @verb("ctx.live")
    async def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj:
        """One object, as it is now; ``NotFound`` if it is not there."""
        self._may_get(kind, name)
        return await self._client.get(kind, name, namespace=self._home(kind, namespace))

    @verb("ctx.live")
    async def scale(
        self, kind: Kind, name: str, *, namespace: str | None = None
    ) -> "autoscaling_v1.Scale":
        """How many replicas an object of any kind has and should have.

        Whoever has ``autoscaling_v1.Scale`` among its ``reads`` may ask that of all objects.
        """
        from steersman.kinds import autoscaling_v1

        self._may_list(autoscaling_v1.Scale)
        home = self._home(kind, namespace)
        return await self._client.scale(kind, name, namespace=home).get()

    @verb("ctx.live")
    async def served(self, api_version: str, kind: str) -> "ServedResource | None":
        """Where objects of this kind live, if the server serves it; everybody may ask that."""
        return (await self._client.discover()).of_kind(api_version, kind)

    @verb("ctx.live")
    async def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> tuple[Obj, ...]:
        """All objects in the namespace that match the selectors, as they are now."""
        self._may_list(kind)
        home = self._home(kind, namespace)
        return (await self._client.list(kind, namespace=home, labels=labels, fields=fields)).items
