"""``BlockingContext``: the context of a plain function, which runs in a thread.

Each call is carried out in the loop while the thread waits for it, so that what it reads is as
consistent as for everybody else.
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
from steersman.observe import Why

if TYPE_CHECKING:
    from steersman.client import ServedResource
    from steersman.kinds import autoscaling_v1

Obj = TypeVar("Obj", bound=Resource | Unstructured)
T = TypeVar("T")


class BlockingContext:
    """What a plain reconcile function gets beside its object: ``Context``, call by call."""

    __slots__ = ("_caller", "_context", "live")

    def __init__(self, context: Context, caller: LoopCaller) -> None:
        self._context = context
        self._caller = caller
        #: Reads that ask the server.
        self.live = BlockingLiveReader(context, caller)

    def __repr__(self) -> str:
        return f"<Blocking{repr(self._context)[1:]}"

    @property
    def whys(self) -> tuple[Why, ...]:
        """Why it runs: what happened since the object was last looked at."""
        return self._context.whys

    @property
    def failures(self) -> int:
        """How often in a row it has failed before."""
        return self._context.failures

    @property
    def rng(self) -> Random:
        """The operator's source of randomness."""
        return self._context.rng

    def token(self, size: int = 32) -> str:
        """A new secret: so many random bytes, as text of letters, digits, ``-`` and ``_``."""
        return self._plainly(lambda: self._context.token(size))

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return self._context.now

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica leads at this moment.

        For the line before an effect outside the cluster. It is asked here, in the thread, and
        waits for nobody.
        """
        self._context.check_leadership()

    def lifespan(self, kind: type[T]) -> T:
        """What the manager's ``lifespan`` yielded, such as a client of another system."""
        return self._context.lifespan(kind)

    # Reading from memory

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj | None:
        """One object, or ``None``."""
        return self._plainly(lambda: self._context.get(kind, name, namespace=namespace))

    def owned(self, kind: type[Obj]) -> "list[Obj]":
        """All objects of a kind that the controller owns and that this object controls."""
        return self._plainly(lambda: self._context.owned(kind))

    def by_index(self, kind: type[Obj], index: str, value: str) -> "list[Obj]":
        """All objects for which the function of this index gave this value."""
        return self._plainly(lambda: self._context.by_index(kind, index, value))

    # Writing

    def create(self, obj: Obj) -> Obj:
        """A new object; ``AlreadyExists`` if there is one of its name."""
        return self._caller.call(lambda: self._context.create(obj))

    def create_owned(self, child: Obj) -> Obj:
        """The same for an object that belongs to this one, and goes when it goes."""
        return self._caller.call(lambda: self._context.create_owned(child))

    def apply(self, obj: Obj, *, force: bool = False) -> Obj:
        """Exactly these fields of it are ours, with these values; its answer."""
        return self._caller.call(lambda: self._context.apply(obj, force=force))

    def apply_owned(self, child: Obj, *, adopt: bool = False) -> Obj:
        """The same for an object that belongs to this one, and goes when it goes."""
        return self._caller.call(lambda: self._context.apply_owned(child, adopt=adopt))

    def apply_status(self, obj: Obj, status: Part | dict[str, Any]) -> Obj:
        """Say how things stand with this object, or another one of its kind."""
        return self._caller.call(lambda: self._context.apply_status(obj, status))

    def patch(self, obj: Obj, patch: Patch, *, subresource: Literal["status"] | None = None) -> Obj:
        """Some fields changed, if it is still the same object."""
        return self._caller.call(lambda: self._context.patch(obj, patch, subresource=subresource))

    def delete(
        self,
        obj: Resource | Unstructured,
        *,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Ask for its end, if it is still the same object; it is fine if it is gone already."""
        self._caller.call(
            lambda: self._context.delete(obj, propagation=propagation, grace_seconds=grace_seconds)
        )

    def prune(self, *kinds: Kind) -> None:
        """Delete what this object owns and was neither applied nor created in this run."""
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
        """An Event for people to read, about this object unless told otherwise."""
        self._plainly(
            lambda: self._context.record(
                reason, note, type=type, action=action, about=about, related=related
            )
        )

    def _plainly(self, read: Callable[[], T]) -> T:
        async def done() -> T:
            return read()

        return self._caller.call(done)

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
        return self._plainly(
            lambda: self._context.list(
                kind, namespace=namespace, all_namespaces=all_namespaces, labels=labels
            )
        )


class BlockingLiveReader:
    """Reads that ask the server, for what a cache will not do."""

    __slots__ = ("_caller", "_live")

    def __init__(self, context: Context, caller: LoopCaller) -> None:
        self._live = context.live
        self._caller = caller

    def get(self, kind: type[Obj], name: str, *, namespace: str | None = None) -> Obj:
        """One object, as it is now; ``NotFound`` if it is not there."""
        return self._caller.call(lambda: self._live.get(kind, name, namespace=namespace))

    def scale(
        self, kind: Kind, name: str, *, namespace: str | None = None
    ) -> "autoscaling_v1.Scale":
        """How many replicas an object of any kind has and should have.

        Whoever has ``autoscaling_v1.Scale`` among its ``reads`` may ask that of all objects.
        """
        return self._caller.call(lambda: self._live.scale(kind, name, namespace=namespace))

    def served(self, api_version: str, kind: str) -> "ServedResource | None":
        """Where objects of this kind live, if the server serves it; everybody may ask that."""
        return self._caller.call(lambda: self._live.served(api_version, kind))

    def list(
        self,
        kind: type[Obj],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> tuple[Obj, ...]:
        """All objects in the namespace that match the selectors, as they are now."""
        return self._caller.call(
            lambda: self._live.list(kind, namespace=namespace, labels=labels, fields=fields)
        )
