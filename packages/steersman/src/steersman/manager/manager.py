"""``Manager``: what an operator is made of, and the one call that runs it."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec.structs import replace

from steersman.cache import CacheOptions, InformerSettings
from steersman.client import ClientSettings, Trust, find_config, reaching
from steersman.clock import Clock, SystemClock
from steersman.controller import Controller, start_thread
from steersman.errors import BadController, BadSettings, SteersmanError
from steersman.manager.options import Collector, HealthCheck, Lifespan, ManagerOptions
from steersman.manager.runnables import ManagerEnvironment, Runnable
from steersman.manager.settings.manager_settings import ManagerSettings, trust_of
from steersman.observe import ClusterFound, Observer, fan_out, log_to

if TYPE_CHECKING:
    from steersman.observe import CollectorRegistry

_ENDS: Final = (signal.SIGTERM, signal.SIGINT)

# For what comes after the grace, all of which has limits of its own: the lease is given back, and
# the last events are written.
LAST_SECONDS: Final = 5.0


class Manager:
    """Controllers and runnables that share a client and caches, of which one replica acts.

    Making one has no effect. ``run`` is for a program of its own; a caller that has a loop, a clock
    and a way to a cluster uses ``operate``. ``informers`` says how the caches list and watch.

    - ``lifespan`` opens what reconcilers need from outside the cluster: a function of ``Services``
      that returns an async context manager. It is entered before the controllers start and left
      after the last has ended; ``ctx.lifespan(Class)`` gives what it yields.
    - ``metrics`` of prometheus_client, made with ``registry=None``, are on the same page as those
      of the operator.
    - ``healthz`` and ``readyz`` are checks that ``/healthz`` and ``/readyz`` ask beside their own.
    - ``caches`` limits what is cached of some kinds, and transforms it.
    - ``client`` has the limits and retries of the client that controllers, runnables and caches
      have; what the manager asks for itself has those that it always has.
    - ``trust`` is what a kubeconfig may make this process do.
    """

    def __init__(
        self,
        *,
        controllers: Sequence[Controller[Any]] = (),
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
        informers: InformerSettings | None = None,
        client: ClientSettings | None = None,
        trust: Trust = Trust(),
        lifespan: Lifespan | None = None,
        metrics: Sequence[Collector] = (),
        healthz: Sequence[HealthCheck] = (),
        readyz: Sequence[HealthCheck] = (),
        caches: Sequence[CacheOptions[Any]] = (),
    ) -> None:
        self.controllers = tuple(controllers)
        self.runnables = tuple(runnables)
        self._settings = settings
        self.informers = informers or InformerSettings()
        self.trust = trust
        self.options = ManagerOptions(
            lifespan=lifespan,
            metrics=tuple(metrics),
            healthz=tuple(healthz),
            readyz=tuple(readyz),
            caches=tuple(caches),
            client=client,
        )
        self.options.check_kinds(self.controllers, self.runnables)
        _check_names(self.controllers)

    def __repr__(self) -> str:
        names = [each.name for each in self.controllers]
        names += [each.name for each in self.runnables]
        return f"<Manager of {', '.join(names) or 'nothing'}>"

    @property
    def settings(self) -> ManagerSettings | None:
        """Those that it was given; without any, they are read when it is run."""
        return self._settings

    def adjusted(
        self,
        *,
        settings: ManagerSettings | None = None,
        informers: InformerSettings | None = None,
        healthz: Sequence[HealthCheck] | None = None,
        readyz: Sequence[HealthCheck] | None = None,
    ) -> Self:
        """The same manager with these in the place of its own."""
        other = copy(self)
        other._settings = settings or self._settings
        other.informers = informers or self.informers
        if healthz is not None:
            other.options = replace(other.options, healthz=tuple(healthz))
        if readyz is not None:
            other.options = replace(other.options, readyz=tuple(readyz))
        return other

    def run(self, *, new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None) -> None:
        """Operate until SIGTERM or SIGINT; a second one ends it at once.

        Settings are read from the command line, the environment and a file, unless the manager was
        given some. ``new_loop`` may be ``uvloop.new_event_loop``.
        """
        try:
            settings = self._settings or ManagerSettings.read(
                sys.argv[1:], os.environ, prog=Path(sys.argv[0]).name
            )
            # What is loaded by now stays to the end: the collector need not look at it each time.
            gc.freeze()
            with (
                _Signals(within_seconds=settings.grace_seconds + LAST_SECONDS) as stop,
                asyncio.Runner(loop_factory=new_loop) as runner,
            ):
                runner.run(self._main(settings, stop))
        except BadSettings as error:
            sys.stderr.write(f"error: {error}\n")
            raise SystemExit(2) from error
        except SteersmanError as error:
            raise SystemExit(f"error: {error}") from error

    async def operate(
        self, environment: ManagerEnvironment, *, settings: ManagerSettings, stop: Awaitable[str]
    ) -> None:
        """Operate in this environment until ``stop`` returns the reason to end."""
        # Here, because what describes a manager, as generators do, need not run one.
        from steersman.manager.operation import Operation

        operation = Operation(
            self.controllers,
            self.runnables,
            settings=settings,
            informers=self.informers,
            options=self.options,
            environment=environment,
        )
        await operation.run(stop)

    async def _main(self, settings: ManagerSettings, stop: Awaitable[str]) -> None:
        clock = SystemClock()
        log = log_to(
            sys.stderr, clock=clock, style=settings.log_style, level=settings.log_level_number
        )
        registry, observe = (
            _counting(log, clock=clock) if settings.metrics else (None, fan_out(log))
        )
        config = find_config(
            environ=os.environ,
            home=Path.home(),
            observe=observe,
            kubeconfig=settings.kubeconfig,
            context=settings.context,
            trust=trust_of(self.trust, settings),
        )
        observe(ClusterFound(server=config.server, source=config.source))
        environment = ManagerEnvironment(
            connect=partial(reaching, config, clock=clock, observe=observe),
            namespace=config.namespace,
            hostname=socket.gethostname(),
            server=config.server,
            clock=clock,
            # Of the operating system: ``ctx.token`` makes secrets of it.
            rng=SystemRandom(),
            observe=observe,
            registry=registry,
        )
        await self.operate(environment, settings=settings, stop=stop)


def _counting(log: Observer, *, clock: Clock) -> "tuple[CollectorRegistry, Observer]":
    """Metrics, and an observer that keeps them beside the log."""
    # Imported here: prometheus_client takes long to import, and not every operator has metrics.
    from steersman.observe import MetricsObserver, new_registry

    registry = new_registry()
    return registry, fan_out(log, MetricsObserver(registry, clock=clock))


class _Signals:
    """Wait for the first signal to end, and have its name; the second one ends the process at once.

    The process ends within ``within_seconds`` of the first, even if something in it does not.
    """

    # Not with the loop's own handlers: those wait for a loop that stands still.

    def __init__(self, *, within_seconds: float) -> None:
        self._overdue = threading.Timer(within_seconds, _end_by_force, (within_seconds,))
        self._overdue.daemon = True
        self._before: dict[signal.Signals, Any] = {}
        self._first = ""
        self._wake: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        self._before = {each: signal.signal(each, self._hear) for each in _ENDS}
        return self

    def __exit__(self, *_: object) -> None:
        self._overdue.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def __await__(self) -> Generator[Any, None, str]:
        return self._received().__await__()

    async def _received(self) -> str:
        received = asyncio.Event()
        self._wake = partial(asyncio.get_running_loop().call_soon_threadsafe, received.set)
        if not self._first:  # it may have come while we were starting
            await received.wait()
        return self._first

    def _hear(self, number: int, _frame: object) -> None:
        for each in _ENDS:
            signal.signal(each, _end_at_once)
        start_thread(self._overdue)
        self._first = signal.Signals(number).name
        with suppress(RuntimeError):  # the loop is closed: the end has come by itself
            self._wake()


def _end_at_once(number: int, _frame: object) -> None:
    # Not by the kernel's own answer to a signal: a container's first process is spared that.
    os._exit(128 + number)


def _end_by_force(after_seconds: float) -> None:
    sys.stderr.write(
        f"error: {after_seconds:g} s after the request to stop, a task still runs. The process ends"
        " now, and a lease that it holds expires. Look for a function that waits without await, or"
        " that catches CancelledError and continues.\n"
    )
    sys.stderr.flush()
    os._exit(1)


def _check_names(controllers: Sequence[Controller[Any]]) -> None:
    """Refuse two controllers with the same name: they would undo each other's work."""
    seen: dict[str, Controller[Any]] = {}
    for controller in controllers:
        other = seen.setdefault(controller.name, controller)
        if other is not controller or controllers.count(controller) > 1:
            raise BadController(
                controller=controller.name,
                problem=f"there are two of this name, of {other.gvk} and of {controller.gvk}, and"
                f" they would share a queue, a finalizer and a field manager",
                what_now='Give one of them another: Controller(…, name="…").',
            )
