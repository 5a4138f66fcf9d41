"""``Manager``: an operator's controllers and other parts, with a method that runs them."""

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
from steersman.client import ClientSettings, Trust, find_config, open_transport
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

# For the steps after the grace period, which have their own limits: releasing the lease, and
# writing the last events.
LAST_SECONDS: Final = 5.0


class Manager:
    """The controllers and runnables of an operator, which share a client and caches.

    An operator may have several replicas, of which only the leader reconciles. Creating a manager
    has no side effect. A program calls ``run``. A caller that already has an event loop, a clock
    and a connection to a cluster calls ``operate``. ``informers`` are the settings with which the
    caches list and watch.

    - ``lifespan`` opens the resources outside the cluster that reconcilers need. It is a function
      that receives the manager's ``Services`` and returns an async context manager. The manager
      enters it before the controllers start, and leaves it after the last controller has ended.
      ``ctx.lifespan(Class)`` returns the value that it provides.
    - ``metrics`` are metrics of prometheus_client, created with ``registry=None``. They are served
      together with the operator's own metrics.
    - ``healthz`` and ``readyz`` are further checks for ``/healthz`` and ``/readyz``.
    - ``caches`` limits which objects of a kind are cached, and transforms them.
    - ``client`` contains the limits and retries of the client for controllers, runnables and
      caches. It does not change the limits and retries of the manager's own requests.
    - ``trust`` defines what a kubeconfig can cause this process to do, such as start a plugin.
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
        """The settings that were passed to the manager; if ``None``, ``run`` reads them."""
        return self._settings

    def with_options(
        self,
        *,
        settings: ManagerSettings | None = None,
        informers: InformerSettings | None = None,
        healthz: Sequence[HealthCheck] | None = None,
        readyz: Sequence[HealthCheck] | None = None,
    ) -> Self:
        """Return a copy of the manager, in which the given values replace those of the original."""
        other = copy(self)
        other._settings = settings or self._settings
        other.informers = informers or self.informers
        if healthz is not None:
            other.options = replace(other.options, healthz=tuple(healthz))
        if readyz is not None:
            other.options = replace(other.options, readyz=tuple(readyz))
        return other

    def run(self, *, new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None) -> None:
        """Run the operator until SIGTERM or SIGINT; a second signal ends the process at once.

        If no settings were passed to the manager, they are read from the command line, the
        environment and a file. ``new_loop`` creates the event loop; it may be
        ``uvloop.new_event_loop``.
        """
        try:
            settings = self._settings or ManagerSettings.read(
                sys.argv[1:], os.environ, prog=Path(sys.argv[0]).name
            )
            # All loaded objects stay until the end, so the garbage collector can skip them.
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
        """Run the operator in ``environment`` until ``stop`` returns the reason to end."""
        # Imported here: describing a manager, as generators do, does not need it.
        from steersman.manager.manager_run import ManagerRun

        operation = ManagerRun(
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
            _with_metrics(log, clock=clock) if settings.metrics else (None, fan_out(log))
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
            connect=partial(open_transport, config, clock=clock, observe=observe),
            namespace=config.namespace,
            hostname=socket.gethostname(),
            server=config.server,
            clock=clock,
            # The operating system's randomness, because ``ctx.token`` creates secrets with it.
            rng=SystemRandom(),
            observe=observe,
            registry=registry,
        )
        await self.operate(environment, settings=settings, stop=stop)


def _with_metrics(log: Observer, *, clock: Clock) -> "tuple[CollectorRegistry, Observer]":
    """Return a metrics registry, and an observer that updates the registry and calls ``log``."""
    # Imported here: importing prometheus_client takes long, and not every operator has metrics.
    from steersman.observe import MetricsObserver, new_registry

    registry = new_registry()
    return registry, fan_out(log, MetricsObserver(registry, clock=clock))


class _Signals:
    """Waits for the first signal, and returns the signal's name.

    A second signal ends the process immediately. The process ends within ``within_seconds`` of the
    first signal, even if a task in the process does not end.
    """

    # The event loop's own handlers would not run while the loop is blocked.

    def __init__(self, *, within_seconds: float) -> None:
        self._overdue = threading.Timer(within_seconds, _end_by_force, (within_seconds,))
        self._overdue.daemon = True
        self._before: dict[signal.Signals, Any] = {}
        self._first = ""
        self._wake: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        self._before = {each: signal.signal(each, self._on_signal) for each in _ENDS}
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
        if not self._first:  # a signal may have arrived during the start
            await received.wait()
        return self._first

    def _on_signal(self, number: int, _frame: object) -> None:
        for each in _ENDS:
            signal.signal(each, _end_at_once)
        start_thread(self._overdue)
        self._first = signal.Signals(number).name
        with suppress(RuntimeError):  # the loop is closed: the operator has already ended
            self._wake()


def _end_at_once(number: int, _frame: object) -> None:
    # The kernel's default action does not apply to the first process of a container.
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
    """Reject two controllers with the same name, because each would undo the other's writes."""
    seen: dict[str, Controller[Any]] = {}
    for controller in controllers:
        other = seen.setdefault(controller.name, controller)
        if other is not controller or controllers.count(controller) > 1:
            raise BadController(
                controller=controller.name,
                problem=f"the controllers of {other.gvk} and of {controller.gvk} have the same"
                f" name, and would share a queue, a finalizer and a field manager",
                what_now='Give one of them another name: Controller(…, name="…").',
            )
