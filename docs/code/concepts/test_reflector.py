"""Tests of the code in the page about the reflector."""

import asyncio

import pytest

from docs.code.concepts.reflector import RecordingStore, reflect
from steersman import recipes
from steersman.kinds import core_v1
from steersman.observe import ignore
from steersman_cluster.simulation import Cluster


def note(name: str) -> core_v1.ConfigMap:
    return recipes.config_map(name, {}, labels={"sort": "note"})


async def test_a_list_is_followed_by_its_changes(cluster: Cluster) -> None:
    store = RecordingStore()
    await cluster.create(note("before"))

    async with asyncio.TaskGroup() as tasks:
        reflecting = tasks.create_task(
            reflect(cluster.client, store, namespace=cluster.namespace, observe=ignore)
        )
        await cluster.clock.sleep(1)
        await cluster.create(note("after"))
        await cluster.delete(core_v1.ConfigMap, "before")
        await cluster.clock.sleep(1)
        reflecting.cancel()

    assert store.lines == [
        "there are ['before']",
        "after was written",
        "before is gone",
    ]


@pytest.mark.embedded_only
async def test_closed_watches_leave_no_gap(cluster: Cluster) -> None:
    store = RecordingStore()

    async with asyncio.TaskGroup() as tasks:
        reflecting = tasks.create_task(
            reflect(cluster.client, store, namespace=cluster.namespace, observe=ignore)
        )
        await cluster.clock.sleep(1)
        for number in range(3):
            await cluster.clock.sleep(3600)
            await cluster.create(note(f"hour-{number}"))
        await cluster.clock.sleep(1)
        reflecting.cancel()

    watches = [each for each in cluster.history.requests if "watch=true" in each.target]
    assert len([each for each in watches if each.actor == "user"]) > 10
    assert store.lines[1:] == [f"hour-{number} was written" for number in range(3)]
