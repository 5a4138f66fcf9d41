"""Installs operators from their manifests, and runs them as their service account."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from steersman.client import Client, find_config, open_transport, wait_for
from steersman.client.access.cluster_config import Token
from steersman.clock import SystemClock
from steersman.errors import NotFound
from steersman.kinds import Unstructured, apiextensions_v1, coordination_v1, is_ready
from steersman.manager import Manager, ManagerEnvironment
from steersman.manifests import Document, Installation
from steersman_cluster.testing import ControlPlane
from tests.real.recording_observer import RecordingObserver

CRD = "CustomResourceDefinition"


def as_object(document: Document) -> Unstructured:
    """The document as an unstructured object."""
    kind = Unstructured.of(
        document["apiVersion"],
        document["kind"],
        namespaced="namespace" in document["metadata"],
    )
    return kind(document)


async def apply(client: Client, documents: Iterable[Document]) -> None:
    """Apply the documents in order, with strict field validation, and wait for new kinds."""
    for document in documents:
        applied = await client.apply(as_object(document), field_manager="installer", force=True)
        if document["kind"] == CRD:
            kind = apiextensions_v1.CustomResourceDefinition
            await wait_for(client, kind, applied.name, is_ready, within_seconds=30)


async def remove(client: Client, documents: Iterable[Document]) -> None:
    """Delete the documents in reverse order, except CRDs, which other tests may need."""
    for document in reversed(tuple(documents)):
        if document["kind"] != CRD:
            each = as_object(document)
            with suppress(NotFound):
                await client.delete(type(each), each.name, namespace=each.namespace)


@asynccontextmanager
async def installed(
    client: Client, installation: Installation, documents: Iterable[Document]
) -> AsyncIterator[None]:
    """Install these documents during the block."""
    documents = tuple(documents)
    try:
        await apply(client, documents)
        yield
    finally:
        await client.delete_all(coordination_v1.Lease, namespace=installation.namespace)
        await remove(client, documents)


@asynccontextmanager
async def running_operator(
    cluster: ControlPlane, installation: Installation, token: str, seen: RecordingObserver
) -> AsyncIterator[None]:
    """Run the operator as in its Pods, without probes and metrics, during the block."""
    clock = SystemClock()
    config = find_config(
        environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=seen
    )
    config = replace(config, login=Token(token=token))
    environment = ManagerEnvironment(
        connect=partial(open_transport, config, clock=clock, observe=seen),
        namespace=installation.namespace,
        hostname="localhost",
        clock=clock,
        rng=Random(0),
        observe=seen,
    )
    # Without a registry, the manager serves no metrics, but preflight still checks for the
    # permissions that serving them needs.
    settings = replace(installation.settings, health_address="")
    stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    manager = Manager(controllers=installation.controllers)
    async with asyncio.TaskGroup() as group:
        group.create_task(manager.operate(environment, settings=settings, stop=stop))
        try:
            yield
        finally:
            if not stop.done():
                stop.set_result("the test is over")


async def until(condition: Any) -> None:
    """Wait until the condition is true."""
    clock = SystemClock()
    async with clock.timeout(20.0):
        while not await condition():
            await clock.sleep(0.02)
