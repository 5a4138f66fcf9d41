"""``Controller``: a frozen value with a kind, its reconcile function and the kinds that it uses.

Importing a module with a controller has no effect. The kinds that the controller watches and
writes, and the permissions that it needs, can be determined without running the controller.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from steersman.cache import IndexFunction
from steersman.client import Labels
from steersman.controller.changed import Predicate
from steersman.controller.declaration.cached_kinds import cached_kinds, check_repeated
from steersman.controller.declaration.functions import is_async, name_of, takes_arguments
from steersman.controller.declaration.outcomes import Outcome
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.declaration.writes import (
    Kind,
    Writes,
    as_writes,
)
from steersman.controller.status import status_fields
from steersman.errors import BadController, BadName, NotAKind
from steersman.kinds import Resource, Unstructured
from steersman.names import GroupVersionKind, check_label
from steersman.workqueue import BackoffPolicy, BucketPolicy

if TYPE_CHECKING:
    from steersman.controller.context.blocking_context import BlockingContext
    from steersman.controller.context.context import Context
    from steersman.controller.declaration.sources import Source

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Other = TypeVar("Other", bound=Resource | Unstructured)

Reconcile: TypeAlias = (
    "Callable[[Obj, Context], Awaitable[Outcome]] | Callable[[Obj, BlockingContext], Outcome]"
)

# Up to five minutes; client-go's limit of a quarter of an hour is too long for users who wait.
BACKOFF: Final = BackoffPolicy(max_seconds=300.0)

# The limit for the retries of a controller. With client-go's ten a second, 20,000 objects that
# failed in an outage take half an hour; a hundred a second are a small load for a server.
RETRIES: Final = BucketPolicy(per_second=100.0, burst=1000)

# The default size of the slow lane, per worker: with ten workers, a hundred objects that hang for
# the first time. A waiting reconcile costs next to nothing.
SLOW_PER_WORKER: Final = 10


@dataclass(frozen=True, slots=True, repr=False)
class Controller(Generic[Obj]):
    """A kind, the function that reconciles its objects, and the other kinds that the function uses.

    - ``reconcile`` is awaited if it is async; otherwise it runs in a thread. The function may be
      called at any time, and must reach the desired state whatever has changed.
    - ``finalize`` is called instead of ``reconcile`` while the object is being deleted; the
      controller's finalizer keeps the object until ``finalize`` has returned ``Done()``.
    - ``owns``, ``watches``: see ``Owns`` and ``Watch``. ``reads`` are kinds to read only from the
      server, without a cache. ``writes`` are kinds to apply without owning them; use ``Writes`` for
      other verbs, or to limit the names. Other kinds can be neither read nor written.
    - ``when`` is the predicate for changes of the objects of ``kind``; with ``None``, every change
      enqueues its object.
    - ``while_deleting``: whether ``reconcile`` is also called for an object that is being deleted
      and has finalizers of other controllers. It applies only without ``finalize``.
    - ``condition`` is the type of a condition that ``reconcile`` sets in the status. While the
      reconcile fails, the condition is ``False`` with the reason and the message of the event
      about the failure; the rest of the status stays.
    - ``progress_seconds`` is the longest delay of a status that only shows progress, so that
      several of these statuses become one write. Such a status is returned in a ``Later`` without
      ``after_seconds``, and changes no condition's ``status``.
    - ``workers`` is the number of concurrent reconciles. A reconcile that takes longer than
      ``slow_seconds``, and longer than four times the median, moves to the slow lane, so that its
      worker is free for another object. The slow lane holds up to ``slow_workers`` reconciles, by
      default ten times ``workers``. With ``slow_workers=0``, never more than ``workers`` reconciles
      run concurrently.
    - ``backoff`` is the delay after each consecutive failure of an object, and ``bucket`` limits
      the retries of all objects together.
    - ``debounce_seconds`` delays the reconcile after the first change of an object. The reconcile
      then covers all changes during the delay.
    - ``priority`` is a function of an object; higher values are reconciled first. The value is
      added to the priority of the change: 0, or -100 for the initial list and for resyncs. Every
      tenth reconciled object is the object that has waited longest, whatever its priority.
    - ``sources`` enqueue objects for reasons outside the cluster.
    - ``name`` is part of the names of the finalizer and the field manager, which are stored in the
      cluster: after a change of ``name``, the controller does not recognize the finalizers and
      fields that it has written before. A second controller of a kind needs a name.
    - ``event_source`` is the reporting component of the controller's events; by default
      ``GROUP/NAME``. Set it only for controllers of Kubernetes itself: the events of such a
      controller are written to the core API (``v1``), like the events of Kubernetes' own
      controllers.
    """

    kind: type[Obj]
    reconcile: "Reconcile[Obj]" = field(kw_only=True)
    finalize: "Reconcile[Obj] | None" = field(default=None, kw_only=True)
    owns: tuple[Kind | Owns, ...] = field(default=(), kw_only=True)
    watches: tuple[Watch[Any], ...] = field(default=(), kw_only=True)
    reads: tuple[Kind, ...] = field(default=(), kw_only=True)
    writes: tuple[Kind | Writes, ...] = field(default=(), kw_only=True)
    when: Predicate[Obj] | None = field(default=None, kw_only=True)
    labels: Labels = field(default=Labels(), kw_only=True)
    indexes: Mapping[str, IndexFunction[Obj]] = field(
        default_factory=dict, kw_only=True, hash=False
    )
    sources: "tuple[Source, ...]" = field(default=(), kw_only=True)
    # A waiting reconcile costs nothing, and one that hangs should not delay the others.
    workers: int = field(default=10, kw_only=True)
    # Long enough for a reconcile that reads from the cache and sends a request or two. Counting a
    # reconcile as slow by mistake only adds workers.
    slow_seconds: float = field(default=0.05, kw_only=True)
    slow_workers: int | None = field(default=None, kw_only=True)
    # Longer than a few requests to a slow server; short enough that a hang is detected.
    timeout_seconds: float = field(default=120.0, kw_only=True)
    backoff: BackoffPolicy = field(default=BACKOFF, kw_only=True)
    bucket: BucketPolicy = field(default=RETRIES, kw_only=True)
    debounce_seconds: float = field(default=0.0, kw_only=True)
    priority: "Callable[[Obj], int] | None" = field(default=None, kw_only=True)
    resync_seconds: float | None = field(default=None, kw_only=True)
    # Too short for people to notice, but a rollout of ten Pods needs one or two writes instead of
    # twenty.
    progress_seconds: float = field(default=1.0, kw_only=True)
    while_deleting: bool = field(default=False, kw_only=True)
    condition: str = field(default="", kw_only=True)
    name: str = field(default="", kw_only=True)
    event_source: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not _is_kind(self.kind):
            raise self._bad(
                f"{self.kind!r} is not a kind", "Pass the class of the kind that it reconciles."
            )
        if not self.name:
            object.__setattr__(self, "name", self.gvk.kind.lower())
        try:
            check_label(self.name, wanted="a controller's name")
        except BadName as error:
            raise self._bad(f"its name is {self.name!r}", str(error)) from error
        self._check_declared()
        object.__setattr__(self, "owns", tuple(map(_owns, self.owns)))
        object.__setattr__(self, "writes", as_writes(self.writes))
        self._check_labels()
        self._check_functions()
        self._check_numbers()
        self._check_kinds()
        self._check_condition()

    @property
    def gvk(self) -> GroupVersionKind:
        """The API group, API version and kind that the controller reconciles."""
        return self.kind.resource_type.gvk

    @property
    def field_manager(self) -> str:
        """The field manager with which the controller applies objects."""
        return f"{self.name}.{self.gvk.group or 'core'}"

    @property
    def finalizer(self) -> str:
        """The finalizer that the controller adds to its objects if ``finalize`` is given."""
        return f"{self.gvk.group or 'core'}/{self.name}"

    @property
    def owned(self) -> tuple[Owns, ...]:
        """The owned kinds, each as an ``Owns``."""
        return self.owns  # type: ignore[return-value]  # __post_init__ has converted them

    @property
    def slow_capacity(self) -> int:
        """The maximum number of slow reconciles that run in addition to the workers."""
        return SLOW_PER_WORKER * self.workers if self.slow_workers is None else self.slow_workers

    @property
    def written(self) -> tuple[Writes, ...]:
        """The kinds that the controller writes without owning them, each as a ``Writes``."""
        return self.writes  # type: ignore[return-value]  # __post_init__ has converted them

    @property
    def is_blocking(self) -> bool:
        """Whether ``reconcile`` is not async and therefore runs in a thread."""
        return not is_async(self.reconcile)

    @property
    def cached_kinds(self) -> tuple[type[Any], ...]:
        """The kinds that the controller caches, without duplicates."""
        return tuple(each.kind for each in cached_kinds(self))

    def __repr__(self) -> str:
        return f"<Controller {self.name} of {self.gvk}>"

    def _check_declared(self) -> None:
        for what in ("owns", "watches", "reads", "writes", "sources"):
            declared: object = getattr(self, what)
            if not isinstance(declared, tuple):
                raise self._bad(
                    f"its {what} are not a tuple",
                    f"Write {what}=(…,): a tuple of one item needs the comma.",
                )
            if what == "sources":
                continue
            for each in declared:
                if what == "watches" and not isinstance(each, Watch):
                    raise self._bad(
                        f"{each!r} in its watches is not a Watch",
                        "Write watches=(sm.Watch(kind, to=…),).",
                    )
                kind = each.kind if isinstance(each, Owns | Watch | Writes) else each
                if not _is_kind(kind):
                    raise self._bad(
                        f"{kind!r} in its {what} is not a kind",
                        f"Write {what} with the classes of kinds; Unstructured.of creates one.",
                    )

    def _check_labels(self) -> None:
        selecting: tuple[Controller[Any] | Owns | Watch[Any], ...]
        selecting = (self, *self.owned, *self.watches)
        for each in selecting:
            labels: object = each.labels
            if not isinstance(labels, Labels):
                raise self._bad(
                    f"the labels of {each.kind.resource_type} are an object of"
                    f" {type(labels).__name__}, not Labels",
                    'Write labels=Labels.equal({"key": "value"}), with Labels of steersman.client.',
                )

    def _check_functions(self) -> None:
        for what in ("reconcile", "finalize"):
            function = getattr(self, what)
            if function is None and what == "finalize":
                continue
            if not callable(function):
                raise self._bad(
                    f"its {what} is an object of {type(function).__name__}, not a function",
                    "Pass a function of the object and the context.",
                )
            if not takes_arguments(function, 2):
                raise self._bad(
                    f"{name_of(function)} cannot be called with an object and a context",
                    f"Write `async def {what}(obj, ctx)`.",
                )
        if self.finalize is not None and is_async(self.finalize) != is_async(self.reconcile):
            raise self._bad(
                "one of reconcile and finalize is a plain function and the other is not",
                "Make both `async def`, or neither: they get the same kind of context.",
            )
        if self.finalize is not None and self.while_deleting:
            raise self._bad(
                "it has both a finalize function and while_deleting",
                "Remove while_deleting: finalize is called during deletion.",
            )
        priority: Any = self.priority
        if priority is not None and not (callable(priority) and takes_arguments(priority, 1)):
            raise self._bad(
                "its priority cannot be called with an object",
                "Pass a function of the object that returns an int; higher ones come first.",
            )
        for watch in self.watches:
            if watch.to is not None and not takes_arguments(watch.to, 2):
                raise self._bad(
                    f"{name_of(watch.to)} cannot be called with an object and a cache reader",
                    "Write `def to(obj, cached)`, and return keys or objects.",
                )

    def _check_numbers(self) -> None:
        if self.workers < 1:
            raise self._bad(f"it has {self.workers} workers", "Set at least 1.")
        if self.slow_capacity < 0:
            raise self._bad(
                f"slow_workers is {self.slow_workers}",
                "Set a positive number, or 0 to disable them.",
            )
        for what in ("timeout_seconds", "slow_seconds", "resync_seconds"):
            seconds = getattr(self, what)
            if seconds is not None and not 0 < seconds < float("inf"):
                raise self._bad(f"{what} is {seconds}", "Set a positive number of seconds.")
        if not 0 <= self.debounce_seconds < float("inf"):
            raise self._bad(
                f"debounce_seconds is {self.debounce_seconds}",
                "Set a number of seconds, or 0 to reconcile at each change.",
            )
        for what, policy in (("backoff", BackoffPolicy), ("bucket", BucketPolicy)):
            if not isinstance(getattr(self, what), policy):
                raise self._bad(
                    f"its {what} is an object of {type(getattr(self, what)).__name__}",
                    f"Write {what}=sm.{policy.__name__}(…).",
                )
        if not 0 <= self.progress_seconds < float("inf"):
            raise self._bad(
                f"progress_seconds is {self.progress_seconds}",
                "Set a number of seconds, or 0 to apply each status immediately.",
            )

    def _check_kinds(self) -> None:
        check_repeated(self.name, self.kind, self.owned, self.watches)
        cached_kinds(self)

    def _check_condition(self) -> None:
        if not self.condition or issubclass(self.kind, Unstructured):
            return
        if "conditions" not in status_fields(self.kind):
            raise self._bad(
                f"its condition is {self.condition}, but {self.gvk.kind} has no conditions",
                "Add `conditions: tuple[sm.Condition, ...] = ()` to its status.",
            )

    def _bad(self, problem: str, what_now: str) -> BadController:
        name = self.name or getattr(self.kind, "__name__", repr(self.kind))
        return BadController(controller=name, problem=problem, what_now=what_now)


def _is_kind(kind: Any) -> bool:
    try:
        return bool(kind.resource_type.gvk)
    except (AttributeError, NotAKind):
        return False


def _owns(each: Kind | Owns) -> Owns:
    return each if isinstance(each, Owns) else Owns(each)
