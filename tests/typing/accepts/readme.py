"""The README's code for the client and the caches, as the type checkers see it."""

from random import Random

import steersman as sm
from steersman.cache import Caches
from steersman.client import Client, ClusterConfig, Labels, connect
from steersman.clock import Clock
from steersman.kinds import core_v1
from steersman.observe import Observer


class Spec(sm.Part):
    size: int = 1


class AppService(sm.CustomResource[Spec, Spec], group="app.example.com", version="v1"):
    """An image kept running at a given size."""


async def using_it(config: ClusterConfig, clock: Clock, observe: Observer) -> None:
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        pod = await client.get(core_v1.Pod, "web-0", namespace="default")
        print(pod.ref, pod.labels, pod.status and pod.status.phase)
        async for app in client.iterate(AppService, labels=Labels.equal({"tier": "front"})):
            print(app.ref, app.spec.size)
        async with client.watch(AppService, resource_version="0") as events:
            async for event in events:
                print(event)  # ObjectWritten, ObjectDeleted, Bookmark or DecodeFailure


async def reading_our_own_writes(client: Client, caches: Caches, wanted: AppService) -> None:
    async with caches.running(), caches.informer(AppService) as apps:
        app = await caches.record_write(client.apply(wanted, field_manager="me"))
        apps.lister.get(app.name, namespace=app.namespace)  # this version or a newer one
