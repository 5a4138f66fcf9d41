"""``Context``: the reads and writes of a reconcile function, and why it runs."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from steersman.client import Client, Fields, Labels, Patch
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.context.lifespan import NO_LIFESPAN, lifespan_value
from steersman.controller.context.pending_calls import PendingCall, tracked
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

# The verbs of reported writes that are applies.
_APPLY_VERBS = frozenset({"apply", "apply status"})


def token_text(drawn: bytes) -> str:
    """Random bytes as the text of a token."""
    return urlsafe_b64encode(drawn).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextServices:
    """What all contexts of a control loop use."""

    access: DeclaredAccess
    cached: CacheReader
    client: Client
    writer: "Writer"
    recorder: "EventRecorder"
    leads: IsLeader | None = None  # None without leader election
    lifespan: object = NO_LIFESPAN


class Context:
    """The second argument of a reconcile function, beside its object.

    ``get``, ``list``, ``owned`` and ``by_index`` read from the cache, which includes the
    controller's own writes, and cost nothing. ``live`` reads from the server. Only kinds that the
    controller declares can be read or written. A read without a namespace is in the namespace of
    the object.
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
        services: ContextServices,
        *,
        whys: tuple[Why, ...],
        failures: int,
        refused: Callable[[NotOurs], None],
    ) -> None:
        self._controller = controller
        self._obj = obj
        self._access = services.access
        self._cached = services.cached
        self._writer = services.writer
        self._recorder = services.recorder
        self._clock: Clock = services.client.clock
        self._is_ended = False
        # The owned objects that were applied or created in this run, or were tried to be.
        self._own: list[tuple[type[Any], str | None, str]] = []
        self._applies = 0
        self._writing: set[asyncio.Task[Any] | None] = set()
        self._client = services.client
        self._refused = refused
        self._leads = services.leads
        self._lifespan = services.lifespan
        #: Its calls that may never have been awaited.
        self.calls: list[PendingCall] = []
        #: Why it runs: what happened since the last reconcile of the object.
        self.whys = whys
        #: The number of failures in a row before this run.
        self.failures = failures
        self.writes: list[Write] = []
        self.wrote: list[EffectiveWrite] = []

    def __repr__(self) -> str:
        return f"<Context of {self._obj.ref} for the controller {self._controller.name}>"

    @property
    def live(self) -> "LiveReader":
        """Reads from the server."""
        return LiveReader(
            self._client,
            check_get=self._check_get,
            check_list=self._check_list,
            namespace_of=self._namespace_of,
            calls=self.calls,
        )

    @property
    def rng(self) -> Random:
        """The operator's source of randomness."""
        return self._client.rng

    def token(self, size: int = 32) -> str:
        """A new secret: so many random bytes, as text of letters, digits, ``-`` and ``_``.

        The bytes come from ``rng``, which is the operating system's unless the manager has another
        one. Each call returns a new token: store it in a Secret, and call this only if there is
        none yet.
        """
        if size < 16:
            raise ValueError(f"a token of {size} bytes can be guessed; use 16 or more")
        return token_text(self.rng.randbytes(size))

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return self._clock.now()

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica is the leader at this moment.

        Call it immediately before an effect outside the cluster, which is not fenced: a process
        that was stopped may have lost leadership long ago. It reads this machine's clock only, and
        costs nothing. Let the error propagate: the leader does the work.
        """
        if self._leads is not None and not self._leads():
            raise NotLeading(wanted=f"an effect outside for {self._obj.ref}", was_stopped=True)
        self._check()

    def lifespan(self, kind: type[T]) -> T:
        """The value of the manager's ``lifespan``, such as a client of another system.

        ``NoLifespanValue`` unless it is an object of this class.
        """
        return lifespan_value(self._lifespan, kind)

    # Reads from the cache

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """One object, or ``None``."""
        self._check()
        return self._cached.get(kind, name, namespace=self._namespace_of(kind, namespace))

    def owned(self, kind: type[Obj]) -> "list[Obj]":
        """All objects of an owned kind that this object controls."""
        self._check()
        return self._cached.controlled(kind, self._obj.uid)

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """All objects with this value in the index."""
        self._check()
        return self._cached.by_index(kind, index, value)

    # Writes

    @tracked("ctx")
    async def create(self, obj: Obj) -> Obj:
        """Create an object; ``AlreadyExists`` if the name is taken.

        For objects with ``metadata.generateName``. An object with a name is better applied, because
        an apply can be repeated.
        """
        self._check_write(type(obj), "create", ("create",), obj.name)
        return await self._sent(self._writer.create(obj, report=self._report))

    @tracked("ctx")
    async def create_owned(self, child: Obj) -> Obj:
        """Create an object that this one controls; the garbage collector deletes it with this one.

        Count the existing ones with ``owned``, which includes each new object as soon as this
        method has returned.
        """
        if self._access.allows_any(type(child), "create"):
            self._check_write(type(child), "create", ("create",), child.name)
        else:
            self._check_own(type(child), "create", ("create",))
        created = await self._sent(self._writer.create_owned(child, self._obj, report=self._report))
        self._own.append((type(created), created.namespace, created.name))
        return created

    @tracked("ctx")
    async def apply(self, obj: Obj, *, force: bool = False) -> Obj:
        """Apply an object: the controller holds exactly these fields, with these values.

        ``Conflict`` if another manager holds one of them with another value, unless ``force``. An
        apply that would change nothing is not sent. Returns the object after it.
        """
        # An apply to a known object carries its uid, and so never creates one.
        creates = self._access.allows_any(type(obj), "create") or not self._is_known(obj)
        self._check_write(type(obj), "apply", APPLY if creates else ("patch",), obj.name)
        applied = await self._sent(self._writer.apply(obj, force=force, report=self._report))
        self._applies += 1
        return applied

    @tracked("ctx")
    async def apply_owned(self, child: Obj, *, adopt: bool = False) -> Obj:
        """Apply an object that this one controls; the garbage collector deletes it with this one.

        It gets this object's namespace and an owner reference. ``NotOurs`` if it exists and another
        owner controls it, or no owner does and ``adopt`` is false; this object is reconciled again
        when the other one is deleted.
        """
        self._check_own(type(child), "own", APPLY)
        # Before the apply: an object that cannot be applied just now must not be pruned.
        self._own.append((type(child), child.namespace, child.name))
        try:
            applied = await self._sent(
                self._writer.apply_owned(child, self._obj, adopt=adopt, report=self._report)
            )
        except NotOurs as refusal:
            # Before the author's function handles it: the other object may be deleted meanwhile.
            self._refused(refusal)
            raise
        self._applies += 1
        return applied

    @tracked("ctx")
    async def apply_status(self, obj: Obj, status: Part | dict[str, Any]) -> Obj:
        """Apply the status of this object, or of another one of its kind.

        Sets ``observedGeneration`` if the status has that field, and changes the
        ``lastTransitionTime`` of a condition only when the condition flips. An apply that would
        change nothing is not sent.
        """
        self._check_write_status(type(obj), "apply the status of", obj.name)
        applied = await self._sent(self._writer.apply_status(obj, status, report=self._report))
        self._applies += 1
        return applied

    @tracked("ctx")
    async def patch(
        self, obj: Obj, patch: Patch, *, subresource: Literal["status"] | None = None
    ) -> Obj:
        """Patch an object, with its uid as a precondition."""
        if subresource is None:
            self._check_write(type(obj), "patch", ("patch",), obj.name)
        else:
            self._check_write_status(type(obj), "patch the status of", obj.name)
        return await self._sent(
            self._writer.patch(obj, patch, subresource=subresource, report=self._report)
        )

    @tracked("ctx")
    async def delete(
        self,
        obj: Resource | Unstructured,
        *,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Delete an object, with its uid as a precondition; no error if it is gone already.

        ``grace_seconds`` are for Pods; ``None`` means those of the Pod's spec.
        """
        self._check_write(type(obj), "delete", ("delete",), obj.name)
        await self._sent(
            self._writer.delete(
                obj, propagation=propagation, grace_seconds=grace_seconds, report=self._report
            )
        )

    @tracked("ctx")
    async def prune(self, *kinds: Kind) -> None:
        """Delete the objects that this one controls and that were not applied in this run.

        Of these kinds, or of all owned kinds. For children that each run applies, not for children
        that are created once.
        """
        self._check()
        among = kinds or tuple(each.kind for each in self._controller.owned)
        for kind in among:
            self._check_own(kind, "prune", ("delete",))
        home = self._obj.namespace
        keep = {(kind, ObjectKey(namespace or home, name)) for kind, namespace, name in self._own}
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
        """Record a Kubernetes event about this object, or about ``about``.

        It is written in the background. Repeated events are counted, and floods are dropped.
        """
        self._check()
        self._recorder.record(
            about or self._obj, reason, note, type=type, action=action, related=related
        )

    # For the control loop

    async def add_finalizer(self, obj: Obj) -> Obj:
        """Add the controller's finalizer to its object, and continue with the answer."""
        held = await self._writer.add_finalizer(obj, report=self._report)
        self._obj = held
        return held

    async def remove_finalizer(self, obj: Resource | Unstructured) -> None:
        """Remove the controller's finalizer from its object."""
        await self._writer.remove_finalizer(obj, report=self._report)

    async def set_condition(self, obj: Resource | Unstructured, condition: Condition) -> None:
        """Set one condition of its object; also after ``end``."""
        await self._sent(self._writer.apply_condition(obj, condition, report=self._report))
        self._applies += 1

    async def report_status(
        self, obj: Resource | Unstructured, status: Status, *, can_wait: bool
    ) -> bool:
        """Apply the status of an outcome, unless it can wait; also after ``end``.

        Whether the object's status is up to date after it.
        """
        self._access.check_write(
            type(obj), "apply the status of", ("patch",), name=obj.name, subresource="status"
        )
        write = self._writer.report_status(obj, status, can_wait=can_wait, report=self._report)
        is_current = await self._sent(write)
        if is_current:
            self._applies += 1
        return is_current

    def end(self) -> None:
        """End the context: each later call raises ``ContextEnded``.

        Writes of tasks that the function has left behind are cancelled, because the next reconcile
        of the object may follow at once. ``asyncio.gather`` leaves tasks behind when one fails.
        """
        self._is_ended = True
        for task in self._writing:
            if task is not None:
                task.cancel()

    def ended(self) -> ContextEnded:
        """The error of a call after ``end``."""
        return ContextEnded(controller=self._controller.name, ref=str(self._obj.ref))

    def _report(self, write: Write, body: bytes | None) -> None:
        self.writes.append(write)
        if write.is_change:
            self.wrote.append(EffectiveWrite(write.ref, write.version, body))

    @property
    def spared(self) -> int:
        """The number of applies that were not sent, because they would have changed nothing."""
        return self._applies - len([each for each in self.writes if each.verb in _APPLY_VERBS])

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

    def _namespace_of(self, kind: type[Any], namespace: str | None) -> str | None:
        if namespace is None and kind.resource_type.namespaced:
            return self._obj.namespace
        return namespace

    def _is_known(self, obj: Resource | Unstructured) -> bool:
        if obj.uid:
            return True
        return self._cached.find(type(obj), obj.name, namespace=obj.namespace) is not None

    def _check_own(self, kind: type[Any], wanted: str, verbs: tuple[str, ...]) -> None:
        self._check()
        self._access.check_own(kind, wanted, verbs)

    def _check_write(self, kind: type[Any], wanted: str, verbs: tuple[str, ...], name: str) -> None:
        self._check()
        self._access.check_write(kind, wanted, verbs, name=name)

    def _check_write_status(self, kind: type[Any], wanted: str, name: str) -> None:
        self._check()
        self._access.check_write(kind, wanted, ("patch",), name=name, subresource="status")

    def _check_get(self, kind: type[Any], name: str) -> None:
        self._check()
        self._access.check_get(kind, name)

    def _check_list(self, kind: type[Any]) -> None:
        self._check()
        self._access.check_list(kind)

    # Last, because ``list`` means this method in the rest of the class body.

    def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        labels: Labels | None = None,
    ) -> list[Obj]:
        """All cached objects that match the selector, in one namespace or in all."""
        self._check()
        within = None if all_namespaces else self._namespace_of(kind, namespace)
        return self._cached.list(kind, namespace=within, labels=labels)


class LiveReader:
    """Reads from the server, for what the cache cannot answer."""

    __slots__ = ("_check_get", "_check_list", "_client", "_namespace_of", "calls")

    def __init__(
        self,
        client: Client,
        *,
        check_get: Callable[[type[Any], str], None],
        check_list: Callable[[type[Any]], None],
        namespace_of: Callable[[type[Any], str | None], str | None],
        calls: list[PendingCall],
    ) -> None:
        self._client = client
        self.calls = calls
        self._check_get = check_get
        self._check_list = check_list
        self._namespace_of = namespace_of

    @tracked("ctx.live")
    async def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj:
        """One object from the server; ``NotFound`` if there is none."""
        self._check_get(kind, name)
        return await self._client.get(kind, name, namespace=self._namespace_of(kind, namespace))

    @tracked("ctx.live")
    async def scale(
        self, kind: Kind, name: str, *, namespace: str | None = None
    ) -> "autoscaling_v1.Scale":
        """The ``scale`` subresource of an object of any kind.

        The controller must have ``autoscaling_v1.Scale`` among its ``reads``.
        """
        from steersman.kinds import autoscaling_v1

        self._check_list(autoscaling_v1.Scale)
        within = self._namespace_of(kind, namespace)
        return await self._client.scale(kind, name, namespace=within).get()

    @tracked("ctx.live")
    async def served(self, api_version: str, kind: str) -> "ServedResource | None":
        """The resource of this kind, if the server serves it; needs no declaration."""
        return (await self._client.discover()).of_kind(api_version, kind)

    @tracked("ctx.live")
    async def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> tuple[Obj, ...]:
        """All objects in the namespace that match the selectors, from the server."""
        self._check_list(kind)
        within = self._namespace_of(kind, namespace)
        found = await self._client.list(kind, namespace=within, labels=labels, fields=fields)
        return found.items
