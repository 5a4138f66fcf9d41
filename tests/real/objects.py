"""Minimal objects for tests."""

from collections.abc import Mapping

from steersman.client import Client
from steersman.kinds import Unstructured, apps_v1, core_v1, meta_v1

AnyConfigMap = Unstructured.of("v1", "ConfigMap")


def config_map(
    namespace: str, name: str, *, labels: Mapping[str, str] | None = None, **data: str
) -> core_v1.ConfigMap:
    """A ConfigMap with this data."""
    return core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(name=name, namespace=namespace, labels=labels),
        data=data or None,
    )


async def create_config_maps(client: Client, namespace: str, *names: str) -> None:
    """Create empty ConfigMaps, one after another."""
    for name in names:
        await client.create(config_map(namespace, name))


def pod(
    namespace: str,
    name: str,
    *,
    node: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> core_v1.Pod:
    """A Pod with one container, called ``main``."""
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(name=name, namespace=namespace, labels=labels),
        spec=core_v1.PodSpec(containers=(container(),), node_name=node),
    )


def container(name: str = "main", image: str = "example.com/main:1") -> core_v1.Container:
    """A container with a name and an image."""
    return core_v1.Container(name=name, image=image)


def deployment(
    namespace: str,
    name: str,
    *containers: core_v1.Container,
    replicas: int | None = None,
) -> apps_v1.Deployment:
    """A Deployment of these containers, or of one called ``main``."""
    labels = {"app": name}
    return apps_v1.Deployment(
        metadata=meta_v1.ObjectMeta(name=name, namespace=namespace),
        spec=apps_v1.DeploymentSpec(
            replicas=replicas,
            selector=meta_v1.LabelSelector(match_labels=labels),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(containers=containers or (container(),)),
            ),
        ),
    )
