"""``steersman dev``'s other process: the operator itself, until it is told to stop.

    python -m steersman.cli.child TARGET DIRECTORY KUBECONFIG REPORTS LEVEL

What happens is told to the process that started it, as lines of JSON on the file descriptor
REPORTS; log lines of LEVEL and above, and whatever else the operator writes, are on its output.
It ends when its standard input does, so that it is not left behind by whoever is killed.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Final

from steersman._own_code import is_own_code
from steersman.cli.installing import definitions, install, touched_kinds
from steersman.cli.reports import AtWork, Kinds, Loaded, Report, as_line
from steersman.cli.targets import load_manager
from steersman.client import connect, find_config, reaching
from steersman.clock import Clock, SystemClock
from steersman.dashboard import reconciled
from steersman.errors import SteersmanError
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings
from steersman.observe import (
    Observation,
    ReconcileFinished,
    StageReached,
    fan_out,
    log_to,
)

# One of it, which may do everything, and which somebody is waiting to see restarted.
GRACE_SECONDS: Final = 2.0

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def main() -> None:
    """Load the operator, and run it."""
    target, directory, kubeconfig, reports, level = sys.argv[1:]
    tell = partial(_tell, int(reports))
    threading.Thread(target=_end_with_the_starter, daemon=True, name="starter").start()
    try:
        try:
            manager = load_manager(target, directory=Path(directory))
        finally:
            tell(Loaded(files=tuple(_own_files())))
        asyncio.run(
            _operate(
                manager, Path(kubeconfig), tell=tell, level=_LEVELS[level], clock=SystemClock()
            )
        )
    except SteersmanError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


async def _operate(
    manager: Manager,
    kubeconfig: Path,
    *,
    tell: Callable[[Report], None],
    level: int,
    clock: Clock,
) -> None:
    stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _stop, stop)
    observe = fan_out(log_to(sys.stderr, clock=clock, level=level), partial(_report, tell, clock))
    rng = SystemRandom()
    config = find_config(
        environ=os.environ, home=Path.home(), observe=observe, kubeconfig=kubeconfig
    )
    controllers = manager.controllers
    async with connect(config, clock=clock, rng=rng, observe=observe) as client:
        await install(client, definitions(controllers))
    tell(
        Kinds(
            reconciled=tuple(each.kind.resource_type for each in controllers),
            followed=touched_kinds(controllers),
        )
    )
    environment = ManagerEnvironment(
        connect=partial(reaching, config, clock=clock, observe=observe),
        namespace=config.namespace,
        hostname=socket.gethostname(),
        server=config.server,
        clock=clock,
        rng=rng,
        observe=observe,
    )
    await manager.operate(environment, settings=_settings(manager), stop=stop)


def _settings(manager: Manager) -> ManagerSettings:
    own = manager.settings or ManagerSettings()
    return replace(
        own,
        leader_election=False,
        health_address="",
        metrics_address="",
        preflight="off",
        grace_seconds=GRACE_SECONDS,
    )


def _report(tell: Callable[[Report], None], clock: Clock, observation: Observation) -> None:
    match observation:
        case ReconcileFinished():
            tell(reconciled(observation, time=clock.now()))
        case StageReached(stage="at work", took_seconds=took):
            tell(AtWork(took_seconds=took))
        case _:
            pass


def _tell(reports: int, report: Report) -> None:
    with suppress(BrokenPipeError):  # nobody listens any more, and the end is near
        line = memoryview(as_line(report))
        while line:
            line = line[os.write(reports, line) :]


def _stop(stop: "asyncio.Future[str]") -> None:
    if not stop.done():
        stop.set_result("a restart")


def _end_with_the_starter() -> None:
    # Not through sys.stdin: its lock would be held when the program ends.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


def _own_files() -> list[str]:
    """The files of all modules that are neither Python's, nor ours, nor installed."""
    installed = [Path(each).resolve() for each in {sys.prefix, sys.base_prefix}]
    found: list[str] = []
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if not isinstance(name, str) or is_own_code(name):
            continue
        path = Path(name).resolve()
        if not any(path.is_relative_to(each) for each in installed):
            found.append(str(path))
    return found


if __name__ == "__main__":
    main()
