"""What a client would refuse is refused before it runs."""

from steersman.client import Client, Fields, Labels
from steersman.kinds import apps_v1, core_v1


async def misuse(client: Client, deployment: apps_v1.Deployment) -> None:
    await client.update(deployment)  # refused
    await client.get("Deployment", "web")  # refused
    await client.get(core_v1.PodSpec, "web")  # refused
    await client.apply(deployment)  # refused
    await client.list(apps_v1.Deployment, labels="app=web")  # refused
    await client.list(apps_v1.Deployment, labels=Fields.equal({"a": "b"}))  # refused
    await client.patch(apps_v1.Deployment, "web", {"spec": {}})  # refused
    pod: core_v1.Pod = await client.get(apps_v1.Deployment, "web")  # refused
    Labels.greater_than("size", "three")  # refused
    client.with_settings(patience=3)  # refused
    client.with_settings(dry_run="yes")  # refused
    del pod
