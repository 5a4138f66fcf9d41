"""``steersman run``: an operator against a cluster, from wherever somebody sits."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Final

from steersman.cli.installing import check_served, definitions, install
from steersman.client import ClientSettings, RetryPolicy, connect, find_config
from steersman.clock import Clock
from steersman.errors import ManagerFailed, Unreachable
from steersman.manager import Manager, ManagerSettings
from steersman.observe import log_to

# As ``logging`` has it. What goes wrong here is an error, and told as one.
SILENT: Final = 60

# For one request: somebody waits, and a cluster that is there answers at once.
ANSWER_SECONDS: Final = 10.0


async def prepare(
    manager: Manager,
    settings: ManagerSettings,
    *,
    install_crds: bool,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
) -> tuple[str, ...]:
    """See that the cluster is there and knows the operator's kinds; install them, if asked to.

    Gives the names of the definitions that were installed.
    """
    observe = log_to(sys.stderr, clock=clock, level=SILENT)
    config = find_config(
        environ=environ,
        home=Path.home(),
        observe=observe,
        kubeconfig=settings.kubeconfig,
        context=settings.context,
    )
    # Tried once: whoever is told at once what is wrong tries again by themselves.
    how = ClientSettings(retry=RetryPolicy(attempts=1), deadline_seconds=ANSWER_SECONDS)
    async with connect(config, clock=clock, rng=rng, observe=observe, settings=how) as client:
        wanted = definitions(manager.controllers) if install_crds else ()
        try:
            await install(client, wanted)
            await check_served(client, manager.controllers)
        except Unreachable as error:
            raise ManagerFailed(
                problem=f"there is no answer from {config.server}, the cluster of"
                f" {config.source}: {_why(error)}",
                what_now="See that it runs, or name another with --kubeconfig or --context;"
                " `steersman cluster up` starts one.",
            ) from error
    return tuple(each.name for each in wanted)


def _why(error: BaseException) -> str:
    """What the network said, at the bottom of what was made of it."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error).rstrip(".") or type(error).__name__
