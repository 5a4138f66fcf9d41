"""The results of a client have the class that was passed to it."""

from typing import assert_type

from steersman.client import Client, Deletion, Labels, MergePatch, WatchEvent
from steersman.kinds import Unstructured, apps_v1, autoscaling_v1

Widget = Unstructured.of("example.com/v1", "Widget")


async def use(client: Client, widget: Unstructured) -> None:
    deployment = await client.get(apps_v1.Deployment, "web", namespace="default")
    assert_type(deployment, apps_v1.Deployment)
    assert_type(await client.create(deployment), apps_v1.Deployment)
    assert_type(await client.apply(deployment, field_manager="me"), apps_v1.Deployment)
    assert_type(
        await client.patch(apps_v1.Deployment, "web", MergePatch({}), namespace="default"),
        apps_v1.Deployment,
    )
    deletion = await client.delete(apps_v1.Deployment, "web")
    assert_type(deletion, Deletion[apps_v1.Deployment])
    assert_type(deletion.obj, apps_v1.Deployment | None)
    assert_type(await client.get(Widget, "web", namespace="default"), Unstructured)
    assert_type(await client.update(widget), Unstructured)

    listing = await client.list(apps_v1.Deployment, labels=Labels.has("app"))
    assert_type(listing.items, tuple[apps_v1.Deployment, ...])
    async for each in client.iterate(apps_v1.Deployment):
        assert_type(each, apps_v1.Deployment)
    async with client.watch(apps_v1.Deployment) as events:
        async for event in events:
            assert_type(event, WatchEvent[apps_v1.Deployment])

    scale = await client.scale(apps_v1.Deployment, "web", namespace="default").get()
    assert_type(scale, autoscaling_v1.Scale)
    status = await client.status(apps_v1.Deployment, "web", namespace="default").get()
    assert_type(status, apps_v1.Deployment)
