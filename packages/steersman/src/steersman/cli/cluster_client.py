"""A client for a command that sends a few requests to a cluster."""

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

# Above every level of ``logging``, because a command prints its error itself.
SILENT: Final = 60

# For one request: a running cluster responds immediately.
ANSWER_SECONDS: Final = 10.0


@asynccontextmanager
async def cluster_client(
    *,
    kubeconfig: Path | None,
    context: str | None,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    trust: Trust = Trust(),
) -> AsyncIterator[Client]:
    """Provide a client for the cluster that ``kubeconfig``, ``context`` or ``environ`` names.

    If the cluster does not respond, raise ``ManagerFailed``, which names the cluster.
    """
    observe = log_to(sys.stderr, clock=clock, level=SILENT)
    config = find_config(
        environ=environ,
        home=Path.home(),
        observe=observe,
        kubeconfig=kubeconfig,
        context=context,
        trust=trust,
    )
    # A single attempt: a quick error is better than a late success.
    how = ClientSettings(retry=RetryPolicy(attempts=1), deadline_seconds=ANSWER_SECONDS)
    async with connect(config, clock=clock, rng=rng, observe=observe, settings=how) as client:
        try:
            yield client
        except Unreachable as error:
            raise ManagerFailed(
                problem=f"{config.server}, the API server of {config.source}, does not respond:"
                f" {_why(error)}",
                what_now="Check that the cluster runs, or name another with --kubeconfig or"
                " --context; `steersman cluster up` starts one.",
            ) from error


def _why(error: BaseException) -> str:
    """Return the text of the network error, which is at the end of the chain of causes."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error).rstrip(".") or type(error).__name__
