"""Informers with limited scopes or permissions, or of a kind that is not always served."""

import asyncio
from typing import Any

from steersman.cache import Scope
from steersman.client import Client, Fields, Labels, MergePatch, wait_until_gone
from steersman.errors import Forbidden, NotFound
from steersman.kinds import Unstructured, core_v1, metadata_only
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman.observe import KindMissing, Listed, StreamingRefused, WatchFailed
from steersman.watch import ReflectorSettings
from steersman_cluster.testing import ControlPlane, fresh_namespace
from tests.real.clients import connected
from tests.real.definitions import ANYTHING, GROUP, Widget, definition, install, version, widget
from tests.real.objects import config_map, create_config_maps
from tests.real.recording_observer import RecordingObserver
from tests.real.relay import relay_to
from tests.real.rights import grant_reads, new_account, revoke_reads
from tests.real.running_informers import (
    FastClock,
    running_informer,
    running_writer,
    synced_informer,
)

Gizmo = Unstructured.of(f"{GROUP}/v1", "Gizmo")
GIZMOS = definition("Gizmo", "gizmos", version(spec=ANYTHING))


def gizmo(namespace: str, name: str, **spec: Any) -> Unstructured:
    return Gizmo(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Gizmo",
            "metadata": {"name": name, "namespace": namespace},
            "spec": spec,
        }
    )


async def uninstall(client: Client, wanted: CustomResourceDefinition) -> None:
    """Delete the kind's definition and all its objects, and wait until it is gone."""
    await client.delete(CustomResourceDefinition, wanted.name)
    await wait_until_gone(client, CustomResourceDefinition, wanted.name, within_seconds=20.0)


async def test_an_informer_continues_after_its_definition_is_deleted_and_recreated(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=seen, server=relay.url, clock=FastClock()) as relayed,
        running_informer(
            relayed, Gizmo, seen=seen, scope=Scope(namespaces=(namespace,))
        ) as running,
    ):
        missing = await seen.first(WatchFailed)
        assert isinstance(missing.error, NotFound)
        assert not running.informer.has_synced

        await install(client, GIZMOS)
        await client.create(gizmo(namespace, "ghost"))
        await client.create(gizmo(namespace, "other"))
        await running.informer.synced()
        await running.wait_until_current(client)

        with relay.refusing():
            await uninstall(client, GIZMOS)
        while running.handler.present:
            await running.handler.more()

        await install(client, GIZMOS)
        await client.create(gizmo(namespace, "ghost"))
        await running.wait_until_current(client)

        # The watch is connected during this deletion.
        await uninstall(client, GIZMOS)
        while running.handler.present:
            await running.handler.more()

    assert running.handler.of("ghost") == ["Added", "Deleted", "Added", "Deleted"]
    assert running.handler.of("other") == ["Added", "Deleted"]
    assert {"ghost", "other"} <= running.handler.missed
    assert seen.of(KindMissing)


async def test_a_forbidden_list_is_retried_until_permission_is_granted(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    token = await new_account(client, namespace, "robot")
    await create_config_maps(client, namespace, "doomed", "kept")
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        connected(
            control_plane, observe=seen, server=relay.url, token=token, clock=FastClock()
        ) as relayed,
        running_informer(
            relayed, core_v1.ConfigMap, seen=seen, scope=Scope(namespaces=(namespace,))
        ) as running,
    ):
        failed = await seen.first(WatchFailed)
        assert isinstance(failed.error, Forbidden)
        await grant_reads(client, namespace, "robot", core_v1.ConfigMap)
        await running.wait_until_current(client)

        # The cache keeps its objects while it cannot list.
        await revoke_reads(client, namespace, "robot")
        count = len(seen.of(WatchFailed))
        relay.cut()
        while not any(isinstance(each.error, Forbidden) for each in seen.of(WatchFailed)[count:]):
            await seen.more()
        assert {obj.name for obj in running.informer.lister.list()} == {"doomed", "kept"}

        await client.delete(core_v1.ConfigMap, "doomed", namespace=namespace)
        await grant_reads(client, namespace, "robot", core_v1.ConfigMap)
        await running.wait_until_current(client)

    assert running.handler.of("doomed") == ["Added", "Deleted"]


async def test_several_namespaces_are_watched_with_permissions_in_only_those(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    with fresh_namespace(control_plane) as second, fresh_namespace(control_plane) as third:
        token = await new_account(client, namespace, "robot")
        for each in (namespace, second):
            await grant_reads(client, each, "robot", core_v1.ConfigMap, account_namespace=namespace)
        for each in (namespace, second, third):
            await create_config_maps(client, each, "doomed", "kept")
        seen = RecordingObserver()

        async with (
            relay_to(control_plane.url) as relay,
            connected(
                control_plane, observe=seen, server=relay.url, token=token, clock=FastClock()
            ) as relayed,
            synced_informer(
                relayed, core_v1.ConfigMap, seen=seen, scope=Scope(namespaces=(namespace, second))
            ) as running,
        ):
            async with running_writer(client, namespace), running_writer(client, second):
                with relay.refusing():
                    for each in (namespace, second, third):
                        await client.delete(core_v1.ConfigMap, "doomed", namespace=each)
            await running.wait_until_current(client)

    assert {key.namespace for key in running.handler.present} == {namespace, second}
    assert running.handler.of("doomed") == ["Added", "Added", "Deleted", "Deleted"]
    assert len(seen.of(Listed)) == 2


async def test_selector_changes_during_a_disconnection_are_delivered(
    control_plane: ControlPlane, client: Client, namespace: str, widgets: None
) -> None:
    for name, color in (("doomed", "red"), ("leaving", "red"), ("entering", "blue")):
        await client.create(widget(namespace, name, color=color))
        labels = {"color": color}
        await client.create(config_map(namespace, name, labels=labels))
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=seen, server=relay.url, clock=FastClock()) as relayed,
        synced_informer(
            relayed,
            core_v1.ConfigMap,
            seen=seen,
            scope=Scope(namespaces=(namespace,), labels=Labels.equal({"color": "red"})),
        ) as by_label,
        synced_informer(
            relayed,
            Widget,
            seen=seen,
            scope=Scope(namespaces=(namespace,), fields=Fields.equal({"spec.color": "red"})),
        ) as by_field,
    ):
        with relay.refusing():
            for name, color in (("leaving", "blue"), ("entering", "red")):
                label = MergePatch({"metadata": {"labels": {"color": color}}})
                paint = MergePatch({"spec": {"color": color}})
                await client.patch(core_v1.ConfigMap, name, label, namespace=namespace)
                await client.patch(Widget, name, paint, namespace=namespace)
            for kind in (core_v1.ConfigMap, Widget):
                await client.delete(kind, "doomed", namespace=namespace)
        await by_label.wait_until_current(client)
        await by_field.wait_until_current(client)

    for handler in (by_label.handler, by_field.handler):
        assert {key.name for key in handler.present} == {"entering"}
        assert handler.of("doomed") == ["Added", "Deleted"]
        assert handler.of("leaving") == ["Added", "Deleted"]
        assert handler.of("entering") == ["Added"]


async def test_a_metadata_informer_receives_the_same_changes_as_one_of_whole_objects(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    kind = metadata_only(core_v1.ConfigMap)
    await client.create(config_map(namespace, "doomed", secret="much"))
    await client.create(config_map(namespace, "kept", secret="much"))
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=seen, server=relay.url, clock=FastClock()) as relayed,
        synced_informer(relayed, kind, seen=seen, scope=Scope(namespaces=(namespace,))) as running,
    ):
        with relay.refusing():
            label = MergePatch({"metadata": {"labels": {"color": "red"}}})
            await client.patch(core_v1.ConfigMap, "kept", label, namespace=namespace)
            await client.delete(core_v1.ConfigMap, "doomed", namespace=namespace)
        await running.wait_until_current(client)
        kept = running.informer.lister.get("kept", namespace=namespace)

    assert running.handler.of("doomed") == ["Added", "Deleted"]
    assert running.handler.of("kept") == ["Added", "Updated"]
    assert isinstance(kept, kind)
    assert kept.labels == {"color": "red"}
    assert len(seen.of(Listed)) == 1


# Enough that the server sends them in many chunks.
MANY = 200


async def test_interrupted_initial_events_restart_from_the_beginning(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(MANY):
            group.create_task(
                client.create(config_map(namespace, f"many-{number:03}", filling="x" * 1000))
            )
    seen = RecordingObserver()

    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=seen, server=relay.url, clock=FastClock()) as relayed,
    ):
        relay.cut_after(100_000)
        async with running_informer(
            relayed,
            core_v1.ConfigMap,
            seen=seen,
            scope=Scope(namespaces=(namespace,)),
            settings=ReflectorSettings(initial="streamed"),
        ) as running:
            await seen.first(WatchFailed)
            assert running.handler.deltas == []
            await client.delete(core_v1.ConfigMap, "many-000", namespace=namespace)
            await running.wait_until_current(client)

            with relay.refusing():
                await client.delete(core_v1.ConfigMap, "many-001", namespace=namespace)
                await create_config_maps(client, namespace, "new")
            await running.wait_until_current(client)

    assert len(running.handler.present) == MANY - 1
    assert running.handler.of("many-001") == ["Added", "Deleted"]
    assert seen.of(StreamingRefused) == []
    assert len(seen.of(Listed)) == 1
