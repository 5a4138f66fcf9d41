"""A controller's writer, for tests with other clients that write to the same objects."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from steersman.cache import Caches, InformerSettings, Scope, by_controller
from steersman.client import Client, Labels
from steersman.clock import SystemClock
from steersman.controller.cache_reader import CONTROLLER_INDEX, CacheReader
from steersman.controller.writer.writer import Writer
from steersman.errors import NotFound
from steersman.kinds import Resource, Unstructured, core_v1
from steersman.observe import Observer, Write
from tests.real.objects import config_map

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# Longer than a watch takes to deliver a change.
WITHIN_SECONDS = 20.0


class ControllerWriter:
    """A writer, its cache reader, and the writes that it has sent."""

    def __init__(
        self,
        client: Client,
        caches: Caches,
        cached: CacheReader,
        *,
        manager: str,
        observe: Observer,
    ) -> None:
        self.client = client
        self.cached = cached
        self.sent: list[Write] = []
        self.bodies: list[bytes | None] = []
        self.changed = asyncio.Event()
        self.writer = Writer(
            client,
            caches,
            cached,
            controller=manager,
            field_manager=manager,
            finalizer=f"example.com/{manager}",
            clock=client.clock,
            observe=observe,
        )

    def report(self, write: Write, body: bytes | None) -> None:
        self.sent.append(write)
        self.bodies.append(body)

    @property
    def verbs(self) -> list[str]:
        """The verbs of the writes since the last read of this property."""
        verbs = [write.verb for write in self.sent]
        self.sent.clear()
        return verbs

    async def apply(self, obj: Obj, **options: Any) -> Obj:
        return await self.writer.apply(obj, report=self.report, **options)

    async def apply_owned(self, child: Obj, owner: Any, **options: Any) -> Obj:
        return await self.writer.apply_owned(child, owner, report=self.report, **options)

    async def apply_status(self, obj: Obj, status: Any) -> Obj:
        return await self.writer.apply_status(obj, status, report=self.report)

    def seen(self, obj: Obj) -> Obj | None:
        """The object in the cache."""
        return self.cached.get(type(obj), obj.name, namespace=obj.namespace)

    async def catch_up(self, obj: Obj) -> Obj | None:
        """Wait until the cache has the latest version; no other client may write meanwhile."""
        try:
            latest = await self.client.get(type(obj), obj.name, namespace=obj.namespace)
        except NotFound:
            latest = None
        wanted = None if latest is None else (latest.uid, latest.resource_version)
        async with SystemClock().timeout(WITHIN_SECONDS):
            while self._version_of(obj) != wanted:
                self.changed.clear()
                await self.changed.wait()
        return self.seen(obj)

    def _version_of(self, obj: Resource | Unstructured) -> tuple[str, str] | None:
        seen = self.seen(obj)
        return None if seen is None else (seen.uid, seen.resource_version)


@asynccontextmanager
async def running_writer(
    client: Client,
    *kinds: type[Any],
    namespace: str,
    observe: Observer,
    manager: str = "us",
    labels: Labels = Labels(),
    **rest: Any,
) -> AsyncIterator[ControllerWriter]:
    """A writer that reads these kinds from a cache, during the block."""
    settings = InformerSettings(kept_managers=frozenset((manager,)), detect_mutations=True)
    caches = Caches(client, observe=observe, settings=settings, **rest)
    async with caches.running(), AsyncExitStack() as stack:
        listers = {}
        informers = []
        for kind in kinds:
            informer = await stack.enter_async_context(
                caches.informer(
                    kind,
                    scope=Scope(namespaces=(namespace,), labels=labels),
                    indexes={CONTROLLER_INDEX: by_controller},
                )
            )
            listers[kind] = informer.lister
            informers.append(informer)
        controller = ControllerWriter(
            client, caches, CacheReader(manager, listers), manager=manager, observe=observe
        )
        for informer in informers:
            informer.add_handler(lambda delta: controller.changed.set())
        yield controller


async def an_owner(client: Client, namespace: str, name: str = "owner") -> core_v1.ConfigMap:
    """An object that can own others."""
    return await client.create(config_map(namespace, name))
