"""``Context``: the reads and writes of a reconcile function, and the reasons for the reconcile."""

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
from steersman.observe import ReconcileReason, Write

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
    """Return the random bytes ``drawn``, encoded as the text of a token."""
    return urlsafe_b64encode(drawn).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextServices:
    """The services that all contexts of a control loop share."""

    access: DeclaredAccess
    cached: CacheReader
    client: Client
    writer: "Writer"
    recorder: "EventRecorder"
    leads: IsLeader | None = None  # None without leader election
    lifespan: object = NO_LIFESPAN


class Context:
    """The second argument of a reconcile function; the first is the object to reconcile.

    ``get``, ``list``, ``owned`` and ``by_index`` read from the cache, which includes the
    controller's own writes, and send no request. ``live`` reads from the API server. Only kinds
    that the controller declares can be read or written. A read without a namespace uses the
    namespace of the reconciled object.
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
        "reasons",
        "writes",
        "wrote",
    )

    def __init__(
        self,
        controller: Declaration,
        obj: Resource | Unstructured,
        services: ContextServices,
        *,
        reasons: tuple[ReconcileReason, ...],
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
        # The owned objects for which an apply or create was attempted in this run.
        self._own: list[tuple[type[Any], str | None, str]] = []
        self._applies = 0
        self._writing: set[asyncio.Task[Any] | None] = set()
        self._client = services.client
        self._refused = refused
        self._leads = services.leads
        self._lifespan = services.lifespan
        #: The calls that may never have been awaited.
        self.calls: list[PendingCall] = []
        #: The reasons of this run: what has happened since the last reconcile of the object.
        self.reasons = reasons
        #: The number of consecutive failures before this run.
        self.failures = failures
        self.writes: list[Write] = []
        self.wrote: list[EffectiveWrite] = []

    def __repr__(self) -> str:
        return f"<Context of {self._obj.ref} for the controller {self._controller.name}>"

    @property
    def live(self) -> "LiveReader":
        """A reader that reads from the API server instead of the cache."""
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
        """Return a new secret text that encodes ``size`` random bytes.

        The text contains letters, digits, ``-`` and ``_``. The bytes come from ``rng``, by default
        the operating system's source of randomness. Each call returns a new token: store the token
        in a Secret, and call this method only if no token exists yet.
        """
        if size < 16:
            raise ValueError(f"a token must have at least 16 bytes, got {size}")
        return token_text(self.rng.randbytes(size))

    @property
    def now(self) -> datetime:
        """Return the current time, in UTC."""
        return self._clock.now()

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica is the leader at this moment.

        Call this immediately before an effect outside the cluster. After a loss of leadership, only
        writes to the cluster are rejected, and a process that was suspended may have lost
        leadership long ago. The check only reads this machine's clock and sends no request. Do not
        catch the error: the new leader does the work.
        """
        if self._leads is not None and not self._leads():
            raise NotLeading(
                wanted=f"an effect outside the cluster for {self._obj.ref}", was_stopped=True
            )
        self._check()

    def lifespan(self, kind: type[T]) -> T:
        """Return the value of the manager's ``lifespan``, such as a client of another system.

        Raise ``NoLifespanValue`` unless the value is an instance of ``kind``.
        """
        return lifespan_value(self._lifespan, kind)

    # Reads from the cache

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """Return the cached object; ``None`` if the cache does not contain it."""
        self._check()
        return self._cached.get(kind, name, namespace=self._namespace_of(kind, namespace))

    def owned(self, kind: type[Obj]) -> "list[Obj]":
        """Return all cached objects of ``kind`` that the reconciled object controls."""
        self._check()
        return self._cached.controlled(kind, self._obj.uid)

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """Return the cached objects of ``kind`` that the index ``index`` lists under ``value``."""
        self._check()
        return self._cached.by_index(kind, index, value)

    # Writes

    @tracked("ctx")
    async def create(self, obj: Obj) -> Obj:
        """Create ``obj``; raise ``AlreadyExists`` if an object with this name exists.

        Use this method for objects with ``metadata.generateName``. For an object with a name, use
        ``apply`` instead, because an apply can be repeated.
        """
        self._check_write(type(obj), "create", ("create",), obj.name)
        return await self._sent(self._writer.create(obj, report=self._report))

    @tracked("ctx")
    async def create_owned(self, child: Obj) -> Obj:
        """Create ``child``, with the reconciled object as its controlling owner.

        The cluster's garbage collector deletes ``child`` after the owner has been deleted. To count
        the existing children, use ``owned``, which includes ``child`` as soon as this method has
        returned.
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
        """Apply ``obj``: the controller then owns exactly the fields in ``obj``.

        If another field manager owns one of the fields with another value, raise ``Conflict``
        unless ``force`` is true. An apply that would change nothing is not sent. Return the object
        after the apply.
        """
        # An apply to a known object carries its uid, and so never creates one.
        creates = self._access.allows_any(type(obj), "create") or not self._is_known(obj)
        self._check_write(type(obj), "apply", APPLY if creates else ("patch",), obj.name)
        applied = await self._sent(self._writer.apply(obj, force=force, report=self._report))
        self._applies += 1
        return applied

    @tracked("ctx")
    async def apply_owned(self, child: Obj, *, adopt: bool = False) -> Obj:
        """Apply ``child``, with the reconciled object as its controlling owner.

        ``child`` gets the owner's namespace and an owner reference, so the cluster's garbage
        collector deletes ``child`` after the owner has been deleted. Raise ``NotOurs`` if an object
        of this name exists that another owner controls, or that no owner controls while ``adopt``
        is false. When that object is deleted, the reconciled object is reconciled again.
        """
        self._check_own(type(child), "own", APPLY)
        # Before the apply: an object that temporarily cannot be applied must not be pruned.
        self._own.append((type(child), child.namespace, child.name))
        try:
            applied = await self._sent(
                self._writer.apply_owned(child, self._obj, adopt=adopt, report=self._report)
            )
        except NotOurs as refusal:
            # Before the author handles the error: meanwhile, the other object may be deleted.
            self._refused(refusal)
            raise
        self._applies += 1
        return applied

    @tracked("ctx")
    async def apply_status(self, obj: Obj, status: Part | dict[str, Any]) -> Obj:
        """Apply ``status`` to ``obj``: the reconciled object, or another object of the same kind.

        Set ``observedGeneration`` if the status has that field. Change the ``lastTransitionTime``
        of a condition only when the condition's ``status`` changes. An apply that would change
        nothing is not sent.
        """
        self._check_write_status(type(obj), "apply the status of", obj.name)
        applied = await self._sent(self._writer.apply_status(obj, status, report=self._report))
        self._applies += 1
        return applied

    @tracked("ctx")
    async def patch(
        self, obj: Obj, patch: Patch, *, subresource: Literal["status"] | None = None
    ) -> Obj:
        """Patch ``obj``, with its uid as a precondition."""
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
        """Delete ``obj``, with its uid as a precondition.

        Do nothing if the object does not exist. ``grace_seconds`` is for Pods; if it is ``None``,
        the grace period of the Pod's spec applies.
        """
        self._check_write(type(obj), "delete", ("delete",), obj.name)
        await self._sent(
            self._writer.delete(
                obj, propagation=propagation, grace_seconds=grace_seconds, report=self._report
            )
        )

    @tracked("ctx")
    async def prune(self, *kinds: Kind) -> None:
        """Delete the owned objects that this reconcile has not applied.

        Delete only objects that the reconciled object controls, and only objects of ``kinds``, or
        of all owned kinds if none is given. Use this method for children that each reconcile
        applies, not for children that are created once.
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
        """Record a Kubernetes event about the reconciled object, or about ``about``.

        The event is written in the background. Repeated events are written as one event with a
        count, and excess events are dropped.
        """
        self._check()
        self._recorder.record(
            about or self._obj, reason, note, type=type, action=action, related=related
        )

    # For the control loop

    async def add_finalizer(self, obj: Obj) -> Obj:
        """Add the controller's finalizer to ``obj``; later calls use the returned object."""
        held = await self._writer.add_finalizer(obj, report=self._report)
        self._obj = held
        return held

    async def remove_finalizer(self, obj: Resource | Unstructured) -> None:
        """Remove the controller's finalizer from ``obj``."""
        await self._writer.remove_finalizer(obj, report=self._report)

    async def set_condition(self, obj: Resource | Unstructured, condition: Condition) -> None:
        """Set ``condition`` in the status of ``obj``. This method also works after ``end``."""
        await self._sent(self._writer.apply_condition(obj, condition, report=self._report))
        self._applies += 1

    async def report_status(
        self, obj: Resource | Unstructured, status: Status, *, can_wait: bool
    ) -> bool:
        """Apply an outcome's ``status``, unless ``can_wait`` is true and it only shows progress.

        Return whether the object's status is up to date afterwards. This method also works after
        ``end``.
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
        """End the context: each later read or write through the context raises ``ContextEnded``.

        Unfinished writes in tasks that the reconcile function did not await are cancelled, because
        the next reconcile of the object may follow immediately. Such tasks exist, for example,
        after one task of an ``asyncio.gather`` has failed.
        """
        self._is_ended = True
        for task in self._writing:
            if task is not None:
                task.cancel()

    def ended(self) -> ContextEnded:
        """Return the error to raise if a method is called after ``end``."""
        return ContextEnded(controller=self._controller.name, ref=str(self._obj.ref))

    def _report(self, write: Write, body: bytes | None) -> None:
        self.writes.append(write)
        if write.is_change:
            self.wrote.append(EffectiveWrite(write.ref, write.version, body))

    @property
    def skipped_writes(self) -> int:
        """The number of applies that were not sent because they would have changed nothing."""
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
        """Return the cached objects of ``kind`` that match ``labels``.

        The objects are in ``namespace``, which is by default the namespace of the reconciled
        object, or in all namespaces if ``all_namespaces`` is true.
        """
        self._check()
        within = None if all_namespaces else self._namespace_of(kind, namespace)
        return self._cached.list(kind, namespace=within, labels=labels)


class LiveReader:
    """A reader of objects from the API server, for reads that the cache cannot serve."""

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
        """Return an object from the API server; raise ``NotFound`` if the object does not exist."""
        self._check_get(kind, name)
        return await self._client.get(kind, name, namespace=self._namespace_of(kind, namespace))

    @tracked("ctx.live")
    async def scale(
        self, kind: Kind, name: str, *, namespace: str | None = None
    ) -> "autoscaling_v1.Scale":
        """Return the ``scale`` subresource of an object of any kind.

        The controller must declare ``autoscaling_v1.Scale`` in its ``reads``.
        """
        from steersman.kinds import autoscaling_v1

        self._check_list(autoscaling_v1.Scale)
        within = self._namespace_of(kind, namespace)
        return await self._client.scale(kind, name, namespace=within).get()

    @tracked("ctx.live")
    async def served(self, api_version: str, kind: str) -> "ServedResource | None":
        """Return the resource of ``api_version`` and ``kind``; ``None`` if it is not served.

        The controller need not declare this kind.
        """
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
        """Return all objects of ``kind`` that match the selectors, from the API server."""
        self._check_list(kind)
        within = self._namespace_of(kind, namespace)
        found = await self._client.list(kind, namespace=within, labels=labels, fields=fields)
        return found.items
