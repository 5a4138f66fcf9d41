"""``steersman cluster up``: the embedded cluster in the foreground."""

import asyncio
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from random import Random
from typing import Final

from steersman.apiserver import (
    ClusterSettings,
    InProcessTransport,
    RunningCluster,
    running_cluster,
)
from steersman.cli.signals import on_end_signals
from steersman.clock import Clock
from steersman.observe import Observer, log_to
from steersman.workloads import WorkloadSettings

# Whoever has just started a cluster asks it for something at once, and has the answer in this time.
# To load what makes it live, which holds up everybody, takes a third as long as all before.
HEAD_START_SECONDS: Final = 0.1

# As ``logging`` has it: what is said is that something is wrong with the cluster itself.
ERROR: Final = 40


async def run_cluster(
    settings: ClusterSettings,
    lively: WorkloadSettings | None,
    *,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    tell: Callable[[str], object] | None = None,
) -> None:
    """Run a cluster until somebody asks for its end; a bare API server, if it is not ``lively``.

    ``tell`` is told where it is, as JSON, once it is there.
    """
    ended = asyncio.Event()
    on_end_signals(ended.set)
    observe = log_to(sys.stderr, clock=clock)
    async with running_cluster(
        settings, clock=clock, rng=rng, observe=observe, environ=environ
    ) as cluster:
        sys.stderr.write(ready_line(cluster, settings, lively))
        sys.stderr.flush()
        if tell is not None:
            where = {"url": cluster.url, "kubeconfig": str(cluster.kubeconfig.absolute())}
            tell(json.dumps(where))
        # Whoever looks at a cluster looks at its events; what is said here is that something is
        # wrong with the cluster itself.
        loud = log_to(sys.stderr, clock=clock, level=ERROR)
        with suppress(TimeoutError):
            async with clock.timeout(HEAD_START_SECONDS):
                await ended.wait()
        async with workloads_of(cluster, lively, clock=clock, rng=rng, observe=loud):
            await ended.wait()
    sys.stderr.write("\nThe cluster is gone.\n" if settings.data is None else "\nStopped.\n")


def workloads_of(
    cluster: RunningCluster,
    lively: WorkloadSettings | None,
    *,
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> AbstractAsyncContextManager[None]:
    """What makes it a cluster, and not an API server only, while the block runs."""
    if lively is None:
        return nullcontext()
    from steersman.workloads import running_workloads

    return running_workloads(
        replace(lively, root_ca=cluster.ca, on_first_write=cluster.server.on_first_write),
        connect=lambda: nullcontext(InProcessTransport(cluster.measured)),
        clock=clock,
        rng=rng,
        observe=observe,
    )


def ready_line(
    cluster: RunningCluster, settings: ClusterSettings, lively: WorkloadSettings | None
) -> str:
    """What to do now, in a form that can be pasted."""
    kept = f"kept in {settings.data}" if settings.data else "in memory"
    nodes = "" if lively is None else f" with {_counted(lively.nodes)}"
    what = "API" if lively is None else "cluster"
    return (
        f"Kubernetes 1.36 {what}{nodes} at {cluster.url}, {kept}. Stop it with Ctrl-C.\n"
        f"\n  export KUBECONFIG={shlex.quote(str(cluster.kubeconfig.absolute()))}\n"
        f"  kubectl get namespaces\n\n"
    )


def _counted(nodes: int) -> str:
    return f"{nodes or 'no'} node{'' if nodes == 1 else 's'}"
