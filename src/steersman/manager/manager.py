"""``Manager``: what an operator is made of, and the one call that runs it."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from steersman.client import find_config, reaching
from steersman.clock import SystemClock
from steersman.controller import Controller
from steersman.errors import BadController, SteersmanError
from steersman.manager.operating import Operation
from steersman.manager.runnables import Runnable, Surroundings
from steersman.manager.settings import ManagerSettings
from steersman.observe import MetricsObserver, fan_out, log_to, new_registry


class Manager:
    """Controllers and runnables that share a client and caches, of which one replica acts.

    Making one has no effect. ``run`` is for a program of one's own; whoever has a loop, a clock and
    a way to a cluster uses ``operate``.
    """

    def __init__(
        self,
        *,
        controllers: Sequence[Controller[Any]] = (),
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
    ) -> None:
        self.controllers = tuple(controllers)
        self.runnables = tuple(runnables)
        self._settings = settings
        _check_names(self.controllers)

    def __repr__(self) -> str:
        names = [each.name for each in self.controllers]
        names += [each.name for each in self.runnables]
        return f"<Manager of {', '.join(names) or 'nothing'}>"

    def run(self, *, new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None) -> None:
        """Operate until SIGTERM or SIGINT; a second one ends it at once.

        Settings are read from the command line, the environment and a file, unless the manager was
        given some. ``new_loop`` may be ``uvloop.new_event_loop``.
        """
        try:
            settings = self._settings or ManagerSettings.read(
                sys.argv[1:], os.environ, prog=Path(sys.argv[0]).name
            )
            with asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(self._main(settings))
        except SteersmanError as error:
            raise SystemExit(f"error: {error}") from error
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    async def operate(
        self, around: Surroundings, *, settings: ManagerSettings, stop: Awaitable[str]
    ) -> None:
        """Operate in these surroundings until ``stop`` comes, with a word on why."""
        operation = Operation(self.controllers, self.runnables, settings=settings, around=around)
        await operation.run(stop)

    async def _main(self, settings: ManagerSettings) -> None:
        clock = SystemClock()
        registry = new_registry()
        observe = fan_out(
            log_to(
                sys.stderr, clock=clock, style=settings.log_style, level=settings.log_level_number
            ),
            MetricsObserver(registry, clock=clock),
        )
        config = find_config(
            environ=os.environ,
            home=Path.home(),
            observe=observe,
            kubeconfig=settings.kubeconfig,
            context=settings.context,
        )
        around = Surroundings(
            reach=partial(reaching, config, clock=clock, observe=observe),
            namespace=config.namespace,
            hostname=socket.gethostname(),
            clock=clock,
            rng=Random(),
            observe=observe,
            registry=registry,
        )
        await self.operate(around, settings=settings, stop=_signalled())


def _signalled() -> "asyncio.Future[str]":
    """The name of the first signal to end; the second one does so by itself."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[str] = loop.create_future()
    ends = (signal.SIGTERM, signal.SIGINT)

    def hear(number: signal.Signals) -> None:
        for each in ends:
            loop.remove_signal_handler(each)
        if not heard.done():
            heard.set_result(number.name)

    for number in ends:
        loop.add_signal_handler(number, hear, number)
    return heard


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
