"""Calls that a client rejects at run time are type errors."""

from steersman.client import Client, Fields, Labels
from steersman.kinds import apps_v1, core_v1


async def misuse(client: Client, deployment: apps_v1.Deployment) -> None:
    await client.update(deployment)  # rejected
    await client.get("Deployment", "web")  # rejected
    await client.get(core_v1.PodSpec, "web")  # rejected
    await client.apply(deployment)  # rejected
    await client.list(apps_v1.Deployment, labels="app=web")  # rejected
    await client.list(apps_v1.Deployment, labels=Fields.equal({"a": "b"}))  # rejected
    await client.patch(apps_v1.Deployment, "web", {"spec": {}})  # rejected
    pod: core_v1.Pod = await client.get(apps_v1.Deployment, "web")  # rejected
    Labels.greater_than("size", "three")  # rejected
    client.with_settings(patience=3)  # rejected
    client.with_settings(dry_run="yes")  # rejected
    del pod
