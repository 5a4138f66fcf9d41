"""The runnables of a manager, and the services that are passed to them."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeVar

import msgspec

from steersman.cache import Caches
from steersman.client import Client
from steersman.clock import Clock
from steersman.controller import (
    NO_LIFESPAN,
    IsLeader,
    Kind,
    ThreadPolicy,
    Writes,
    as_writes,
    check_is_kind,
    lifespan_value,
)
from steersman.errors import BadValue, NotLeading
from steersman.observe import Observer
from steersman.wire import Transport

if TYPE_CHECKING:
    from steersman.observe import CollectorRegistry


T = TypeVar("T")


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """The argument of a runnable: the client, the caches and other services of the manager.

    Controllers use the same services. While this replica does not lead, writes of the client raise
    ``NotLeading``.
    """

    client: Client
    caches: Caches
    clock: Clock
    rng: Random
    observe: Observer
    leads: IsLeader | None = None
    lifespan_value: object = NO_LIFESPAN

    def lifespan(self, kind: type[T]) -> T:
        """Return the value of the manager's ``lifespan``, such as a client of another system.

        Raise ``NoLifespanValue`` unless the value is an instance of ``kind``.
        """
        return lifespan_value(self.lifespan_value, kind)

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica leads now.

        A runnable that needs leadership calls this immediately before each effect outside the
        cluster.
        """
        if self.leads is not None and not self.leads():
            raise NotLeading(wanted="an effect outside the cluster", was_stopped=True)


class Runnable(msgspec.Struct, frozen=True):
    """A function ``run`` that the manager runs beside its controllers.

    With ``needs_leadership``, ``run`` is called when this replica becomes the leader, and cancelled
    when the replica loses leadership. Without ``needs_leadership``, ``run`` is called on every
    replica. It is cancelled when the manager stops, and can return earlier. If ``run`` raises an
    exception, the manager stops with that error.

    ``watches`` are the kinds that the function lists and watches, ``reads`` the kinds that it gets
    and lists, and ``writes`` the kinds that it writes. The preflight checks the permissions for
    these kinds, and ``steersman generate`` grants them. These declarations do not limit the
    function's client.
    """

    run: Callable[[Services], Awaitable[None]]
    needs_leadership: bool = True
    name: str = ""
    watches: tuple[Kind, ...] = ()
    reads: tuple[Kind, ...] = ()
    writes: tuple[Kind | Writes, ...] = ()

    def __post_init__(self) -> None:
        if not callable(self.run):
            raise TypeError(
                f"a runnable must be a function of Services, not {type(self.run).__name__}"
            )
        if not self.name:
            name = getattr(self.run, "__qualname__", type(self.run).__qualname__)
            msgspec.structs.force_setattr(self, "name", name)
        for what in ("watches", "reads", "writes"):
            declared: object = getattr(self, what)
            if not isinstance(declared, tuple):
                raise BadValue(
                    wanted=f"the {what} of the runnable {self.name}",
                    value=declared,
                    rule=f"they must be a tuple: {what}=(kind,)",
                )
            for each in declared:
                if what != "writes" or not isinstance(each, Writes):
                    check_is_kind(each, wanted=f"one of the {what} of the runnable {self.name}")

    @property
    def written(self) -> tuple[Writes, ...]:
        """The kinds in ``writes``, each as a ``Writes``."""
        return as_writes(self.writes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerEnvironment:
    """The environment of a manager, which the calling program provides.

    - ``connect`` opens a new connection to the API server at each call.
    - ``namespace`` is the namespace in which the operator runs, and ``hostname`` the name of its
      machine or Pod.
    - ``clock``, ``rng`` and ``observe`` are the time, the randomness and the observer of all parts
      of the manager.
    - ``registry`` contains the metrics to serve; without a registry, no metrics are served.
    - ``server`` is the address of the API server, for messages and checks.
    - ``thread_policy`` defines whether the event loop runs while a function that is not async runs
      in a thread.
    - ``loop_check_seconds`` is the interval of the checks of the event loop, of readiness and of
      liveness.
    - ``stall_seconds``: if the event loop runs a check this much later than planned, a separate
      thread records the code that blocks the loop. With ``inf``, there is no such thread.
    - ``server_probe`` defines whether a silent API server is probed. Without the probe, a silent
      connection is closed only after ``ReflectorSettings.silence_seconds``.
    """

    connect: Callable[[], AbstractAsyncContextManager[Transport]]
    namespace: str
    hostname: str
    clock: Clock
    rng: Random
    observe: Observer
    registry: "CollectorRegistry | None" = None
    server: str = "the API server"
    thread_policy: ThreadPolicy = ThreadPolicy.CONCURRENT
    loop_check_seconds: float = 1.0
    stall_seconds: float = 0.25
    server_probe: bool = True
