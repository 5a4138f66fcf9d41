"""Implements ``steersman cluster up``: runs the embedded cluster in the foreground."""

import asyncio
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from random import Random
from typing import Final

from steersman.clock import Clock
from steersman.observe import Observer, log_to
from steersman_cluster.apiserver import (
    ClusterSettings,
    InProcessTransport,
    RunningCluster,
    running_cluster,
)
from steersman_cluster.commands.signals import on_end_signals
from steersman_cluster.workloads import WorkloadSettings

# The API server responds to its first requests within this time. Loading the workloads delays every
# request, so they are loaded only then.
HEAD_START_SECONDS: Final = 0.1

# The level of ``logging``: only faults of the cluster itself are logged.
ERROR: Final = 40


async def run_cluster(
    settings: ClusterSettings,
    workloads: WorkloadSettings | None,
    *,
    clock: Clock,
    rng: Random,
    environ: Mapping[str, str],
    on_ready: Callable[[str], object] | None = None,
) -> None:
    """Run a cluster until an end signal arrives; without ``workloads``, only its API server.

    ``on_ready`` receives the cluster's URL and kubeconfig, as JSON text, once the API server
    listens.
    """
    ended = asyncio.Event()
    on_end_signals(ended.set)
    observe = log_to(sys.stderr, clock=clock)
    async with running_cluster(
        settings, clock=clock, rng=rng, observe=observe, environ=environ
    ) as cluster:
        sys.stderr.write(ready_line(cluster, settings, workloads))
        sys.stderr.flush()
        if on_ready is not None:
            where = {"url": cluster.url, "kubeconfig": str(cluster.kubeconfig.absolute())}
            on_ready(json.dumps(where))
        # The workloads report their actions as events in the cluster.
        errors = log_to(sys.stderr, clock=clock, level=ERROR)
        with suppress(TimeoutError):
            async with clock.timeout(HEAD_START_SECONDS):
                await ended.wait()
        async with running_workloads_of(cluster, workloads, clock=clock, rng=rng, observe=errors):
            await ended.wait()
    sys.stderr.write("\nThe cluster stopped.\n")


def running_workloads_of(
    cluster: RunningCluster,
    workloads: WorkloadSettings | None,
    *,
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> AbstractAsyncContextManager[None]:
    """Run the nodes and controllers of ``cluster`` while the block runs.

    If ``workloads`` is ``None``, there are none.
    """
    if workloads is None:
        return nullcontext()
    from steersman_cluster.kubelet import simulated_kubelet
    from steersman_cluster.workloads import running_workloads

    return running_workloads(
        replace(workloads, root_ca=cluster.ca, on_first_write=cluster.server.on_first_write),
        kubelet=simulated_kubelet,
        connect=lambda: nullcontext(InProcessTransport(cluster.measured)),
        clock=clock,
        rng=rng,
        observe=observe,
    )


def ready_line(
    cluster: RunningCluster, settings: ClusterSettings, workloads: WorkloadSettings | None
) -> str:
    """Return a message with the cluster's URL, and with commands to paste into another shell."""
    kept = f"kept in {settings.data}" if settings.data else "in memory"
    nodes = "" if workloads is None else f" with {_counted(workloads.nodes)}"
    what = "API" if workloads is None else "cluster"
    return (
        f"Kubernetes 1.36 {what}{nodes} at {cluster.url}, {kept}. Stop it with Ctrl-C.\n"
        f"\n  export KUBECONFIG={shlex.quote(str(cluster.kubeconfig.absolute()))}\n"
        f"  kubectl get namespaces\n\n"
    )


def _counted(nodes: int) -> str:
    return f"{nodes or 'no'} node{'' if nodes == 1 else 's'}"
