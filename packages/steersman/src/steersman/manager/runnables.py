"""The runnables of a manager, and the services that they get."""

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
    """The argument of a runnable: the client and the caches that the controllers have, too.

    While this replica does not lead, writes of the client raise ``NotLeading``.
    """

    client: Client
    caches: Caches
    clock: Clock
    rng: Random
    observe: Observer
    leads: IsLeader | None = None
    lifespan_value: object = NO_LIFESPAN

    def lifespan(self, kind: type[T]) -> T:
        """The value of the manager's ``lifespan``; ``NoLifespanValue`` if it has another class."""
        return lifespan_value(self.lifespan_value, kind)

    def check_leadership(self) -> None:
        """Raise ``NotLeading`` unless this replica leads at this moment.

        A runnable that needs leadership calls it immediately before an effect outside the cluster.
        """
        if self.leads is not None and not self.leads():
            raise NotLeading(wanted="an effect outside", was_stopped=True)


class Runnable(msgspec.Struct, frozen=True):
    """A function that runs as long as the manager does, or as long as this replica leads.

    It is cancelled at the end, and may return earlier. If it raises, the manager ends with that
    error.

    ``watches``, ``reads`` and ``writes`` declare the kinds that it lists and watches, that it gets
    and lists, and that it writes. The preflight checks these permissions, and ``steersman
    generate`` grants them. They do not limit its client.
    """

    run: Callable[[Services], Awaitable[None]]
    needs_leadership: bool = True
    name: str = ""
    watches: tuple[Kind, ...] = ()
    reads: tuple[Kind, ...] = ()
    writes: tuple[Kind | Writes, ...] = ()

    def __post_init__(self) -> None:
        if not callable(self.run):
            raise TypeError(f"a runnable is a function of Services, not {type(self.run).__name__}")
        if not self.name:
            name = getattr(self.run, "__qualname__", type(self.run).__qualname__)
            msgspec.structs.force_setattr(self, "name", name)
        for what in ("watches", "reads", "writes"):
            declared: object = getattr(self, what)
            if not isinstance(declared, tuple):
                raise BadValue(
                    wanted=f"the {what} of the runnable {self.name}",
                    value=declared,
                    rule=f"they are a tuple: {what}=(kind,)",
                )
            for each in declared:
                if what != "writes" or not isinstance(each, Writes):
                    check_is_kind(each, wanted=f"one of the {what} of the runnable {self.name}")

    @property
    def written(self) -> tuple[Writes, ...]:
        """The kinds that it writes, each as a ``Writes``."""
        return as_writes(self.writes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerEnvironment:
    """The environment of a manager: what the program that runs it provides, beside its settings.

    - ``connect`` opens a connection to the API server, a new one at each call.
    - ``namespace`` is the one that the operator runs in, and ``hostname`` its machine or Pod.
    - ``clock``, ``rng`` and ``observe`` are the time, the randomness and the observer of all its
      parts.
    - ``registry`` has the metrics that it serves; without one it serves none.
    - ``server`` is the address of the API server, for messages and checks.
    - ``thread_policy`` says whether the event loop runs while a plain function does.
    - ``loop_check_seconds`` is the interval at which it checks its event loop, its readiness and
      its liveness.
    - ``stall_seconds`` is how late such a check is before a thread records what blocks the event
      loop. With ``inf`` there is no such thread.
    - ``server_probe`` says whether it probes a silent API server. Without it, only the
      ``silence_seconds`` of each watch end a connection on which nothing arrives.
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
