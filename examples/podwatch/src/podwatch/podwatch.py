"""The classic work queue example: an informer, handlers, a rate-limited queue, and one worker.

Prints the changes of the Pods in the default namespace. It uses only low-level packages, each of
which also works without the others.

    python -m podwatch --kubeconfig FILE
"""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from steersman.cache import Informer, Lister, Scope, handler_funcs
from steersman.client import Client, ClusterConfig, connect, find_config
from steersman.clock import SystemClock
from steersman.errors import QueueClosed
from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.observe import Observer, log_to
from steersman.watch import key_of
from steersman.workqueue import WorkQueue, default_limiter

RETRIES = 5


def sync_to_stdout(key: ObjectKey, pods: Lister[core_v1.Pod]) -> None:
    """The business logic. It raises errors, and the worker retries."""
    pod = pods.get(key.name, namespace=key.namespace)
    if pod is None:
        print(f"Pod {key} does not exist anymore")
    else:
        print(f"Sync/Add/Update for Pod {pod.name}")


async def work(queue: WorkQueue[ObjectKey], sync: Callable[[ObjectKey], None]) -> None:
    """Process one key after the other. After five retries, drop a key that fails."""
    while True:
        try:
            async with queue.take() as key:
                try:
                    sync(key)
                except Exception as error:  # noqa: BLE001  other keys continue after any error
                    if queue.num_requeues(key) < RETRIES:
                        print(f"Error syncing Pod {key}: {error}")
                        queue.add_rate_limited(key)
                        continue
                    print(f"Dropping Pod {key} out of the queue: {error}")
                queue.forget(key)
        except QueueClosed:
            return


async def watch_pods(client: Client, *, observe: Observer) -> None:
    """Watch the Pods until cancelled."""
    limiter = default_limiter(clock=client.clock, rng=client.rng)
    queue = WorkQueue[ObjectKey]("pods", limiter=limiter, clock=client.clock, observe=observe)
    informer = Informer(client, core_v1.Pod, scope=Scope(namespaces=("default",)), observe=observe)
    informer.add_handler(
        handler_funcs(
            added=lambda pod: queue.add(key_of(pod)),
            updated=lambda _old, pod: queue.add(key_of(pod)),
            deleted=lambda pod: queue.add(key_of(pod)),
        )
    )
    # A Pod that the cache had when the program last ran. If it no longer exists, the informer calls
    # the delete handler.
    mypod = meta_v1.ObjectMeta(name="mypod", namespace="default")
    informer.warm_up([core_v1.Pod(metadata=mypod)])

    # The block starts once the cache has synced.
    async with informer.running():
        await work(queue, lambda key: sync_to_stdout(key, informer.lister))


async def main(kubeconfig: Path | None, master: str | None = None) -> None:
    """Connect as kubectl would, and watch.

    ``master`` replaces the server of the kubeconfig. Without a kubeconfig, the client connects to
    it without credentials.
    """
    clock = SystemClock()
    observe = log_to(sys.stderr, clock=clock)
    if master and kubeconfig is None:
        config = ClusterConfig(server=master, source="-master")
    else:
        config = find_config(
            environ=os.environ, home=Path.home(), kubeconfig=kubeconfig, observe=observe
        )
        config = replace(config, server=master or config.server)
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await watch_pods(client, observe=observe)
