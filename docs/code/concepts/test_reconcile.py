"""Tests of the code in the page about reconcile."""

import pytest

from docs.code.concepts.reconcile import Greeting, Spec, controller
from steersman.client import MergePatch
from steersman.kinds import core_v1, events_v1, meta_v1
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes


def greeting(name: str) -> Greeting:
    return Greeting(metadata=meta_v1.ObjectMeta(name="first"), spec=Spec(name=name))


async def message(cluster: Cluster) -> str:
    return dict((await cluster.get(core_v1.ConfigMap, "first")).data or {})["message"]


async def life_of_a_greeting(cluster: Cluster) -> None:
    await cluster.apply(greeting("Ada"))
    await cluster.settle()
    await cluster.apply(greeting("Grace"))
    await cluster.delete(core_v1.ConfigMap, "first")
    await cluster.settle()


async def test_a_manual_change_is_reverted(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    await cluster.run_operator(controller)
    await cluster.apply(greeting("Ada"))
    await cluster.settle()

    await cluster.patch(core_v1.ConfigMap, "first", MergePatch({"data": {"message": "Go away."}}))
    await cluster.settle()

    assert await message(cluster) == "Hello, Ada!"


async def test_changes_without_a_running_operator_are_reconciled(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    operator = await cluster.run_operator(controller)
    await cluster.apply(greeting("Ada"))
    await cluster.settle()
    await operator.stop()

    await cluster.apply(greeting("Grace"))
    await cluster.apply(greeting("Barbara"))
    await cluster.delete(core_v1.ConfigMap, "first")
    await cluster.run_operator(controller)
    await cluster.settle()

    assert await message(cluster) == "Hello, Barbara!"


async def test_a_second_reconcile_writes_nothing(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    await cluster.run_operator(controller)
    await cluster.apply(greeting("Ada"))

    await cluster.assert_second_pass_writes_nothing()


@pytest.mark.embedded_only
async def test_a_permanent_error_is_reported_and_not_retried(cluster: Cluster) -> None:
    await cluster.install(Greeting)
    await cluster.run_operator(controller)

    await cluster.apply(greeting(""))
    await cluster.advance(seconds=1800)
    await cluster.settle()
    (event,) = await cluster.list(events_v1.Event)
    await cluster.apply(greeting("Ada"))
    await cluster.settle()

    assert (event.reason, event.note) == ("Permanent", "spec.name is empty: set it")
    assert event.series is None
    assert await message(cluster) == "Hello, Ada!"


async def test_the_result_is_the_same_wherever_the_operator_crashes() -> None:
    await survives_crashes(
        Scenario(operator=lambda: [controller], kinds=[Greeting], steps=life_of_a_greeting)
    )
