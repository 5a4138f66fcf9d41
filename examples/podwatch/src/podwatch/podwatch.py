"""The classic work queue example: an informer, handlers, a rate-limited queue, and one worker.

Prints what happens to the Pods of the default namespace. With nothing but the low-level pieces,
each of which can be used without the others.

    python -m podwatch --kubeconfig FILE
"""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from steersman.cache import Informer, Lister, Scope, key_of, on
from steersman.client import Client, ClusterConfig, connect, find_config
from steersman.clock import SystemClock
from steersman.errors import QueueClosed
from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.observe import Observer, log_to
from steersman.workqueue import WorkQueue, default_limiter

RETRIES = 5


def sync_to_stdout(key: ObjectKey, pods: Lister[core_v1.Pod]) -> None:
    """The business logic. Retrying is not part of it: what goes wrong is raised."""
    pod = pods.get(key.name, namespace=key.namespace)
    if pod is None:
        print(f"Pod {key} does not exist anymore")
    else:
        print(f"Sync/Add/Update for Pod {pod.name}")


async def work(queue: WorkQueue[ObjectKey], sync: Callable[[ObjectKey], None]) -> None:
    """Take one key after the other; what fails is tried again five times, then dropped."""
    while True:
        try:
            async with queue.take() as key:
                try:
                    sync(key)
                except Exception as error:  # noqa: BLE001  whatever it is, the others go on
                    if queue.num_requeues(key) < RETRIES:
                        print(f"Error syncing Pod {key}: {error}")
                        queue.add_rate_limited(key)
                        continue
                    print(f"Dropping Pod {key} out of the queue: {error}")
                queue.forget(key)
        except QueueClosed:
            return


async def watch_pods(client: Client, *, observe: Observer) -> None:
    """Follow the Pods until cancelled."""
    limiter = default_limiter(clock=client.clock, rng=client.rng)
    queue = WorkQueue[ObjectKey]("pods", limiter=limiter, clock=client.clock, observe=observe)
    informer = Informer(client, core_v1.Pod, scope=Scope(namespaces=("default",)), observe=observe)
    informer.add_handler(
        on(
            added=lambda pod: queue.add(key_of(pod)),
            updated=lambda _old, pod: queue.add(key_of(pod)),
            deleted=lambda pod: queue.add(key_of(pod)),
        )
    )
    # Suppose that the last run knew of this Pod. If it is gone by now, the handlers are told.
    mypod = meta_v1.ObjectMeta(name="mypod", namespace="default")
    informer.warm([core_v1.Pod(metadata=mypod)])

    # No worker starts before the cache is whole.
    async with informer.running():
        await work(queue, lambda key: sync_to_stdout(key, informer.lister))


async def main(kubeconfig: Path | None, master: str | None = None) -> None:
    """Connect as kubectl would, and watch.

    ``master`` replaces the kubeconfig's server. Alone, it is all that is known of the cluster:
    there are no credentials then.
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
