"""A cluster that a command asks a few things, while somebody waits for the answer."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

from steersman.client import Client, ClientSettings, RetryPolicy, Trust, connect, find_config
from steersman.clock import Clock
from steersman.errors import ManagerFailed, Unreachable
from steersman.observe import log_to

# As ``logging`` has it. What goes wrong here is an error, and told as one.
SILENT: Final = 60

# For one request: somebody waits, and a cluster that is there answers at once.
ANSWER_SECONDS: Final = 10.0


@asynccontextmanager
async def cluster_at_hand(
    *,
    kubeconfig: Path | None,
    context: str | None,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    trust: Trust = Trust(),
) -> AsyncIterator[Client]:
    """The cluster that a kubeconfig or the surroundings name; no answer is said with its name."""
    observe = log_to(sys.stderr, clock=clock, level=SILENT)
    config = find_config(
        environ=environ,
        home=Path.home(),
        observe=observe,
        kubeconfig=kubeconfig,
        context=context,
        trust=trust,
    )
    # Tried once: whoever is told at once what is wrong tries again by themselves.
    how = ClientSettings(retry=RetryPolicy(attempts=1), deadline_seconds=ANSWER_SECONDS)
    async with connect(config, clock=clock, rng=rng, observe=observe, settings=how) as client:
        try:
            yield client
        except Unreachable as error:
            raise ManagerFailed(
                problem=f"there is no answer from {config.server}, the cluster of"
                f" {config.source}: {_why(error)}",
                what_now="See that it runs, or name another with --kubeconfig or --context;"
                " `steersman cluster up` starts one.",
            ) from error


def _why(error: BaseException) -> str:
    """What the network said, at the bottom of what was made of it."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error).rstrip(".") or type(error).__name__
