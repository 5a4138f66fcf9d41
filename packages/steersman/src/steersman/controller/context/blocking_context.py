"""``BlockingContext``: the context of a reconcile function that is not async and runs in a thread.

Each call runs in the event loop while the thread waits for the result. Reads are therefore as
consistent as the reads of an ``async`` function.
"""

from collections.abc import Callable
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from steersman.client import Fields, Labels, Patch
from steersman.controller.context.context import Context
from steersman.controller.declaration.writes import Kind
from steersman.controller.threads import LoopCaller
from steersman.kinds import Part, Resource, Unstructured
from steersman.observe import ReconcileReason

if TYPE_CHECKING:
    from steersman.client import ServedResource
    from steersman.kinds import autoscaling_v1

Obj = TypeVar("Obj", bound=Resource | Unstructured)
T = TypeVar("T")


class BlockingContext:
    """The second argument of a reconcile function that is not async.

    It is a ``Context`` whose methods are called without ``await``.
    """

    __slots__ = ("_caller", "_context", "live")

    def __init__(self, context: Context, caller: LoopCaller) -> None:
        self._context = context
        self._caller = caller
        #: Reads from the API server.
        self.live = BlockingLiveReader(context, caller)

    def __repr__(self) -> str:
        return f"<Blocking{repr(self._context)[1:]}"

    @property
    def reasons(self) -> tuple[ReconcileReason, ...]:
        """The reasons for this reconcile: what has happened since the object's last reconcile."""
        return self._context.reasons

    @property
    def failures(self) -> int:
        """The number of consecutive failed reconciles of the object before this reconcile."""
        return self._context.failures

    @property
    def rng(self) -> Random:
        """The operator's source of randomness."""
        return self._context.rng

    def token(self, size: int = 32) -> str:
        """Return a new secret text that encodes ``size`` random bytes.

        The text contains letters, digits, ``-`` and ``_``.
        """
        return self._in_loop(lambda: self._context.token(size))

    @property
    def now(self) -> datetime:
        """Return the current time, in UTC."""
        return self._context.now

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica is the leader at this moment.

        Call this immediately before an effect outside the cluster. The check runs in the calling
        thread, and does not wait for the event loop.
        """
        self._context.check_leadership()

    def lifespan(self, kind: type[T]) -> T:
        """Return the value of the manager's ``lifespan``, such as a client of another system.

        ``kind`` is the class of the value.
        """
        return self._context.lifespan(kind)

    # Reads from the cache

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """Return the cached object; ``None`` if the cache does not contain it."""
        return self._in_loop(lambda: self._context.get(kind, name, namespace=namespace))

    def owned(self, kind: type[Obj]) -> "list[Obj]":
        """Return all cached objects of ``kind`` that the reconciled object controls."""
        return self._in_loop(lambda: self._context.owned(kind))

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """Return the cached objects of ``kind`` that the index ``index`` lists under ``value``."""
        return self._in_loop(lambda: self._context.by_index(kind, index, value))

    # Writes

    def create(self, obj: Obj) -> Obj:
        """Create ``obj``; raise ``AlreadyExists`` if an object with this name exists."""
        return self._caller.call(lambda: self._context.create(obj))

    def create_owned(self, child: Obj) -> Obj:
        """Create ``child``, with the reconciled object as its controlling owner."""
        return self._caller.call(lambda: self._context.create_owned(child))

    def apply(self, obj: Obj, *, force: bool = False) -> Obj:
        """Apply ``obj``: the controller then owns exactly the fields in ``obj``."""
        return self._caller.call(lambda: self._context.apply(obj, force=force))

    def apply_owned(self, child: Obj, *, adopt: bool = False) -> Obj:
        """Apply ``child``, with the reconciled object as its controlling owner."""
        return self._caller.call(lambda: self._context.apply_owned(child, adopt=adopt))

    def apply_status(self, obj: Obj, status: Part | dict[str, Any]) -> Obj:
        """Apply ``status`` to ``obj``: the reconciled object or another object of its kind."""
        return self._caller.call(lambda: self._context.apply_status(obj, status))

    def patch(self, obj: Obj, patch: Patch, *, subresource: Literal["status"] | None = None) -> Obj:
        """Patch ``obj``, with its uid as a precondition."""
        return self._caller.call(lambda: self._context.patch(obj, patch, subresource=subresource))

    def delete(
        self,
        obj: Resource | Unstructured,
        *,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Delete ``obj``, with its uid as a precondition.

        Do nothing if the object does not exist.
        """
        self._caller.call(
            lambda: self._context.delete(obj, propagation=propagation, grace_seconds=grace_seconds)
        )

    def prune(self, *kinds: Kind) -> None:
        """Delete the owned objects that this reconcile has not applied.

        Delete only objects that the reconciled object controls, and only objects of ``kinds``, or
        of all owned kinds if none is given.
        """
        self._caller.call(lambda: self._context.prune(*kinds))

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
        """Record a Kubernetes event about the reconciled object, or about ``about``."""
        self._in_loop(
            lambda: self._context.record(
                reason, note, type=type, action=action, about=about, related=related
            )
        )

    def _in_loop(self, read: Callable[[], T]) -> T:
        async def done() -> T:
            return read()

        return self._caller.call(done)

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
        return self._in_loop(
            lambda: self._context.list(
                kind, namespace=namespace, all_namespaces=all_namespaces, labels=labels
            )
        )


class BlockingLiveReader:
    """A reader of objects from the API server, for reads that the cache cannot serve."""

    __slots__ = ("_caller", "_live")

    def __init__(self, context: Context, caller: LoopCaller) -> None:
        self._live = context.live
        self._caller = caller

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj:
        """Return an object from the API server; raise ``NotFound`` if the object does not exist."""
        return self._caller.call(lambda: self._live.get(kind, name, namespace=namespace))

    def scale(
        self, kind: Kind, name: str, *, namespace: str | None = None
    ) -> "autoscaling_v1.Scale":
        """Return the ``scale`` subresource of an object of any kind.

        The controller must declare ``autoscaling_v1.Scale`` in its ``reads``.
        """
        return self._caller.call(lambda: self._live.scale(kind, name, namespace=namespace))

    def served(self, api_version: str, kind: str) -> "ServedResource | None":
        """Return the resource of ``api_version`` and ``kind``; ``None`` if it is not served.

        The controller need not declare this kind.
        """
        return self._caller.call(lambda: self._live.served(api_version, kind))

    def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> tuple[Obj, ...]:
        """Return all objects of ``kind`` that match the selectors, from the API server."""
        return self._caller.call(
            lambda: self._live.list(kind, namespace=namespace, labels=labels, fields=fields)
        )
