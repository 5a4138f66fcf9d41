"""The main program of the operator's process under ``steersman dev``.

    python -m steersman_cluster.commands.session.child TARGET DIRECTORY KUBECONFIG REPORTS LEVEL

The program sends reports to the process that started it, its starter: lines of JSON, on the file
descriptor REPORTS. Its output consists of the log lines of LEVEL and above, and of the operator's
own output. The program ends when its standard input is closed, so it ends even if its starter is
killed.
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
from steersman.cli import install_crds, load_manager, watched_kinds
from steersman.client import connect, find_config, open_transport
from steersman.clock import Clock, SystemClock
from steersman.errors import SteersmanError
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings
from steersman.manifests import crds_of, own_kinds
from steersman.observe import (
    Observation,
    ReconcileFinished,
    StageReached,
    fan_out,
    log_to,
)
from steersman.view import reconciled
from steersman_cluster.commands.session.reports import Kinds, Loaded, Report, Running, as_line

# Short: the developer waits for the restart.
GRACE_SECONDS: Final = 2.0

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def main() -> None:
    """Load the operator that the command line names, and run it."""
    target, directory, kubeconfig, reports, level = sys.argv[1:]
    send = partial(_send, int(reports))
    threading.Thread(target=_end_with_the_starter, daemon=True, name="starter").start()
    try:
        try:
            manager = load_manager(target, directory=Path(directory))
        finally:
            send(Loaded(files=tuple(_own_files())))
        asyncio.run(
            _operate(
                manager, Path(kubeconfig), send=send, level=_LEVELS[level], clock=SystemClock()
            )
        )
    except SteersmanError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


async def _operate(
    manager: Manager,
    kubeconfig: Path,
    *,
    send: Callable[[Report], None],
    level: int,
    clock: Clock,
) -> None:
    stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _stop, stop)
    observe = fan_out(log_to(sys.stderr, clock=clock, level=level), partial(_report, send, clock))
    rng = SystemRandom()
    config = find_config(
        environ=os.environ, home=Path.home(), observe=observe, kubeconfig=kubeconfig
    )
    controllers = manager.controllers
    async with connect(config, clock=clock, rng=rng, observe=observe) as client:
        await install_crds(client, crds_of(own_kinds(controllers)))
    send(
        Kinds(
            reconciled=tuple(each.kind.resource_type for each in controllers),
            followed=watched_kinds(controllers),
        )
    )
    environment = ManagerEnvironment(
        connect=partial(open_transport, config, clock=clock, observe=observe),
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


def _report(send: Callable[[Report], None], clock: Clock, observation: Observation) -> None:
    match observation:
        case ReconcileFinished():
            send(reconciled(observation, time=clock.now()))
        case StageReached(stage="running", took_seconds=took):
            send(Running(took_seconds=took))
        case _:
            pass


def _send(reports: int, report: Report) -> None:
    with suppress(BrokenPipeError):  # the starter has ended, and this process ends with it
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
    """Return the files of the operator's own modules: not of Python, steersman or installed
    packages.
    """
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
