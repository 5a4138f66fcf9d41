"""``Controller``: what an author declares, as a frozen value of plain functions.

Importing a module with a controller has no effect. What it will watch, write and need the right to
can be read off it without running it.
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
from steersman.controller.status.conditions import status_fields
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

# Up to five minutes, where Go's controllers go up to a quarter of an hour: people wait for this.
BACKOFF: Final = BackoffPolicy(longest_seconds=300.0)

# All objects of a controller together are tried again no more often than this. Go's ten a second
# take half an hour for the 20,000 objects that an outage of the server has made fail; a hundred are
# still few for a server, and more than a person reads.
RETRIES: Final = BucketPolicy(per_second=100.0, burst=1000)

# A lane holds so many times the number of workers, unless the controller says otherwise: a hundred
# objects that hang for the first time, with ten workers. To wait costs next to nothing.
SLOW_FOR_EACH_WORKER: Final = 10


@dataclass(frozen=True, slots=True, repr=False)
class Controller(Generic[Obj]):
    """A kind, the function that brings the world in line with it, and what that function touches.

    - ``reconcile`` is awaited, or run in a thread if it is a plain function. It may be called at
      any time, and says what should be, not what has changed.
    - ``finalize`` is called instead once the object's deletion is asked for, and the object stays
      until it has returned ``Done()``.
    - ``owns``, ``watches``: see there. ``reads`` are kinds to be read from the server only, and
      ``writes`` kinds to be applied without being owned, or a ``Writes`` each that names verbs and
      objects. Nothing else can be read or written.
    - ``when`` says which changes to an object of ``kind`` deserve a look; all, if it is ``None``.
    - ``while_deleting``: without a ``finalize``, whether ``reconcile`` is also called for an object
      that is being deleted and that others hold; for whoever carries out deletions.
    - ``condition`` names a condition that ``reconcile`` sets in the status. While it fails, it is
      false and says why, in the words of the event that says so; the rest of the status stays.
    - ``progress_seconds`` is how long a status that tells of progress only may wait for more of it:
      one that comes with ``Later``, without a time, and flips no condition.
    - ``workers`` is how many objects are reconciled at once. A reconcile that takes longer than
      ``slow_seconds``, and four times as long as others do, gives its place to another and runs on
      beside them; up to ``slow_workers`` do, ten times ``workers`` unless told otherwise. With
      ``slow_workers=0``, never more than ``workers`` run at once.
    - ``backoff`` is how long an object waits after each failure in a row, and ``bucket`` how many
      retries there are of all objects together.
    - ``debounce_seconds`` gathers changes: an object is looked at so long after the first of them,
      once for all that have come until then.
    - ``priority`` is a function of an object: the higher, the sooner it is looked at. It is added
      to that of the change, which is 0, and -100 for what was there at the start and for resyncs.
      One object in ten is the one that has waited longest, whatever its priority.
    - ``sources`` wake objects for reasons that are not in the cluster.
    - ``name`` is in the names of the finalizer and the field manager, which are stored in the
      cluster: whoever changes it loses both. A second controller of a kind must have one.
    - ``event_source`` is the reporting component of its events; by default ``GROUP/NAME``. It is
      for controllers of Kubernetes itself: events of a controller that has one are written to the
      core API (``v1``), as those of Kubernetes are.
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
    # Waiting costs nothing, and one object that hangs should not hold up the others.
    workers: int = field(default=10, kw_only=True)
    # Long enough for what reads from memory and sends a request or two; a reconcile that is slow by
    # mistake only has company.
    slow_seconds: float = field(default=0.05, kw_only=True)
    slow_workers: int | None = field(default=None, kw_only=True)
    # Longer than a few requests to a slow server; short enough that a hang is noticed.
    timeout_seconds: float = field(default=120.0, kw_only=True)
    backoff: BackoffPolicy = field(default=BACKOFF, kw_only=True)
    bucket: BucketPolicy = field(default=RETRIES, kw_only=True)
    debounce_seconds: float = field(default=0.0, kw_only=True)
    priority: "Callable[[Obj], int] | None" = field(default=None, kw_only=True)
    resync_seconds: float | None = field(default=None, kw_only=True)
    # Nobody sees a difference, and a rollout of ten Pods is one or two writes instead of twenty.
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
        """The kind that it reconciles."""
        return self.kind.resource_type.gvk

    @property
    def field_manager(self) -> str:
        """Under which name it holds the fields that it applies."""
        return f"{self.name}.{self.gvk.group or 'core'}"

    @property
    def finalizer(self) -> str:
        """What it puts on an object that it has to clean up after."""
        return f"{self.gvk.group or 'core'}/{self.name}"

    @property
    def owned(self) -> tuple[Owns, ...]:
        """What it owns, each as an ``Owns``."""
        return self.owns  # type: ignore[return-value]  # made so from the start

    @property
    def slow_capacity(self) -> int:
        """How many reconciles that are slow may run beside its workers."""
        return (
            SLOW_FOR_EACH_WORKER * self.workers if self.slow_workers is None else self.slow_workers
        )

    @property
    def written(self) -> tuple[Writes, ...]:
        """What it writes without owning it, each as a ``Writes``."""
        return self.writes  # type: ignore[return-value]  # made so from the start

    @property
    def is_blocking(self) -> bool:
        """Whether its reconcile is a plain function, to be run in a thread."""
        return not is_async(self.reconcile)

    @property
    def cached_kinds(self) -> tuple[type[Any], ...]:
        """The kinds that it reads from memory, each once."""
        return tuple(each.kind for each in cached_kinds(self))

    def __repr__(self) -> str:
        return f"<Controller {self.name} of {self.gvk}>"

    def _check_declared(self) -> None:
        for what in ("owns", "watches", "reads", "writes", "sources"):
            declared: object = getattr(self, what)
            if not isinstance(declared, tuple):
                raise self._bad(
                    f"its {what} are no tuple",
                    f"Write {what}=(…,): a single one has a comma after it.",
                )
            if what == "sources":
                continue
            for each in declared:
                if what == "watches" and not isinstance(each, Watch):
                    raise self._bad(
                        f"{each!r} is in its watches", "Write watches=(sm.Watch(kind, to=…),)."
                    )
                kind = each.kind if isinstance(each, Owns | Watch | Writes) else each
                if not _is_kind(kind):
                    raise self._bad(
                        f"{kind!r} is in its {what}, and not a kind",
                        f"Write {what} with the classes of kinds; Unstructured.of makes one.",
                    )

    def _check_labels(self) -> None:
        selecting: tuple[Controller[Any] | Owns | Watch[Any], ...]
        selecting = (self, *self.owned, *self.watches)
        for each in selecting:
            labels: object = each.labels
            if not isinstance(labels, Labels):
                raise self._bad(
                    f"the labels of {each.kind.resource_type} are an object of"
                    f" {type(labels).__name__}",
                    'Write labels=Labels.equal({"key": "value"}), with Labels of steersman.client.',
                )

    def _check_functions(self) -> None:
        for what in ("reconcile", "finalize"):
            function = getattr(self, what)
            if function is None and what == "finalize":
                continue
            if not callable(function):
                raise self._bad(
                    f"its {what} is an object of {type(function).__name__}",
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
                "it has a finalize function and wants reconcile to be called while deleting",
                "Leave out while_deleting: finalize is what is called then.",
            )
        priority: Any = self.priority
        if priority is not None and not (callable(priority) and takes_arguments(priority, 1)):
            raise self._bad(
                "its priority cannot be called with an object",
                "Pass a function of the object that returns an int: the higher, the sooner.",
            )
        for watch in self.watches:
            if watch.to is not None and not takes_arguments(watch.to, 2):
                raise self._bad(
                    f"{name_of(watch.to)} cannot be called with an object and what is cached",
                    "Write `def to(obj, cached)`, and return keys or objects.",
                )

    def _check_numbers(self) -> None:
        if self.workers < 1:
            raise self._bad(f"it has {self.workers} workers", "Give it at least one.")
        if self.slow_capacity < 0:
            raise self._bad(
                f"slow_workers is {self.slow_workers}", "Give it a number, or 0 to have none."
            )
        for what in ("timeout_seconds", "slow_seconds", "resync_seconds"):
            seconds = getattr(self, what)
            if seconds is not None and not 0 < seconds < float("inf"):
                raise self._bad(f"{what} is {seconds}", "Give it a positive number of seconds.")
        if not 0 <= self.debounce_seconds < float("inf"):
            raise self._bad(
                f"debounce_seconds is {self.debounce_seconds}",
                "Give it a number of seconds, or 0 to have each change looked at as it comes.",
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
                "Give it a number of seconds, or 0 to have every status applied at once.",
            )

    def _check_kinds(self) -> None:
        check_repeated(self.name, self.kind, self.owned, self.watches)
        cached_kinds(self)

    def _check_condition(self) -> None:
        if not self.condition or issubclass(self.kind, Unstructured):
            return
        if "conditions" not in status_fields(self.kind):
            raise self._bad(
                f"its condition is {self.condition}, and {self.gvk.kind} has none",
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
