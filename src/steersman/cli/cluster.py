"""``steersman cluster up``: the embedded cluster in the foreground."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Mapping
from random import Random

from steersman.apiserver import ClusterSettings, RunningCluster, running_cluster
from steersman.clock import Clock
from steersman.observe import log_to


async def run_cluster(
    settings: ClusterSettings, *, clock: Clock, rng: Random, environ: Mapping[str, str]
) -> None:
    """Run a cluster until somebody asks for its end."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, ended.set)
    observe = log_to(sys.stderr, clock=clock)
    async with running_cluster(
        settings, clock=clock, rng=rng, observe=observe, environ=environ
    ) as cluster:
        sys.stderr.write(ready_line(cluster, settings))
        sys.stderr.flush()
        await ended.wait()
    sys.stderr.write("\nThe cluster is gone.\n" if settings.data is None else "\nStopped.\n")


def ready_line(cluster: RunningCluster, settings: ClusterSettings) -> str:
    """What to do now, in a form that can be pasted."""
    kept = f"kept in {settings.data}" if settings.data else "in memory"
    return (
        f"Kubernetes 1.36 API at {cluster.url}, {kept}. Stop it with Ctrl-C.\n"
        f"\n  export KUBECONFIG={shlex.quote(str(cluster.kubeconfig.absolute()))}\n"
        f"  kubectl get namespaces\n\n"
    )
