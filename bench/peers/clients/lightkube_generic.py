"""lightkube, with a generic resource: each object is a dictionary."""

from typing import Any

from lightkube import AsyncClient
from lightkube.generic_resource import create_namespaced_resource

from bench.harness.task import GROUP, KIND, NAMESPACE, PAGE_SIZE, PLURAL, VERSION
from bench.peers.clients.lightkube_typed import connected

__all__ = ["connected", "list_apps"]

AppService = create_namespaced_resource(GROUP, VERSION, KIND, PLURAL)


async def list_apps(client: AsyncClient) -> list[Any]:
    listing = client.list(AppService, namespace=NAMESPACE, chunk_size=PAGE_SIZE)
    return [app async for app in listing]
