"""lightkube, with classes for the custom resource."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lightkube import AsyncClient, KubeConfig
from lightkube.core import resource
from lightkube.core.schema import DictMixin, dataclass
from lightkube.models import apps_v1, core_v1, meta_v1
from lightkube.resources.core_v1 import ConfigMap

from bench.harness.task import (
    CONFIG_MAP,
    CONFIG_MAP_KEY,
    GROUP,
    KIND,
    NAMESPACE,
    PAGE_SIZE,
    PLURAL,
    VERSION,
)


@dataclass
class Spec(DictMixin):
    image: str
    ports: list[core_v1.ServicePort]
    size: int = 1
    envs: list[core_v1.EnvVar] | None = None
    resources: core_v1.ResourceRequirements | None = None


@dataclass
class Model(DictMixin):
    apiVersion: str | None = None  # noqa: N815 (lightkube's names are those on the wire)
    kind: str | None = None
    metadata: meta_v1.ObjectMeta | None = None
    spec: Spec | None = None
    status: apps_v1.DeploymentStatus | None = None


class AppService(resource.NamespacedResourceG, Model):
    _api_info = resource.ApiInfo(
        resource=resource.ResourceDef(GROUP, VERSION, KIND),
        plural=PLURAL,
        verbs=["get", "global_list", "list", "patch", "post", "put", "watch"],
    )


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[AsyncClient]:
    client = AsyncClient(config=KubeConfig.from_file(kubeconfig))
    try:
        yield client
    finally:
        await client.close()


async def list_apps(client: AsyncClient) -> list[Any]:
    listing = client.list(AppService, namespace=NAMESPACE, chunk_size=PAGE_SIZE)
    return [app async for app in listing]


async def get_motto(client: AsyncClient) -> Any:
    config_map = await client.get(ConfigMap, CONFIG_MAP, namespace=NAMESPACE)
    return (config_map.data or {})[CONFIG_MAP_KEY]
