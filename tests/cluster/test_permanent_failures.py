"""Permanent failures, and the changes after which they are retried."""

from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.errors import Permanent
from steersman.kinds import Unstructured, core_v1, meta_v1, metadata_only
from steersman.observe import ReconcileFinished, ReconcileSkipped
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, operating

SECRET = core_v1.Secret(
    metadata=meta_v1.ObjectMeta(name="login", namespace=HERE), data={"password": b"short"}
)


async def give_up(obj: Any, ctx: sm.Context) -> sm.Outcome:
    raise Permanent(f"{obj.name} is of no use")


def tries(operator: Operator, name: str) -> int:
    return len([each for each in operator.seen(ReconcileFinished) if each.ref.name == name])


@pytest.mark.parametrize(
    "kind",
    [
        core_v1.Secret,
        Unstructured.of("v1", "Secret"),
        metadata_only(core_v1.Secret),
    ],
    ids=["typed", "unstructured", "metadata only"],
)
async def test_a_data_change_retries_a_permanent_failure_of_an_object_without_generation(
    scene: Scene, kind: type[Any]
) -> None:
    await scene.server.create(SECRET)
    every = (sm.Every(60.0),)
    controller: Any = sm.Controller(kind, reconcile=give_up, sources=every, name="giving-up")
    async with operating(scene, controller) as operator:
        await scene.until(lambda: tries(operator, "login") == 1)
        await scene.until(lambda: operator.seen(ReconcileSkipped), seconds=60.0)
        assert tries(operator, "login") == 1

        patch = MergePatch({"data": {"password": "bG9uZ2Vy"}})
        await scene.server.patch(core_v1.Secret, "login", patch, namespace=HERE)
        await scene.until(lambda: tries(operator, "login") == 2)

    assert operator.seen(ReconcileFinished)[-1].outcome == "permanent"


async def test_an_object_that_becomes_invalid_again_is_reconciled_again(scene: Scene) -> None:
    async def reconcile(obj: core_v1.Secret, ctx: sm.Context) -> sm.Outcome:
        return await give_up(obj, ctx) if obj.data == SECRET.data else sm.Done()

    await scene.server.create(SECRET)
    controller = sm.Controller(core_v1.Secret, reconcile=reconcile)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: tries(operator, "login") == 1)
        for number, password in enumerate(("bG9uZ2Vy", "c2hvcnQ="), start=2):
            patch = MergePatch({"data": {"password": password}})
            await scene.server.patch(core_v1.Secret, "login", patch, namespace=HERE)
            await scene.until(lambda: tries(operator, "login") == number)  # noqa: B023

    first, success, last = operator.seen(ReconcileFinished)
    assert (first.outcome, last.outcome) == ("permanent", "permanent")
    assert success.failures == 0


async def test_a_status_change_retries_no_permanent_failure(scene: Scene) -> None:
    controller = sm.Controller(core_v1.Namespace, reconcile=give_up)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: tries(operator, HERE) == 1)
        known = {"type": "Known", "status": "True"}
        patch = MergePatch({"status": {"conditions": [known]}})
        await scene.server.status(core_v1.Namespace, HERE).patch(patch)
        await scene.until(lambda: operator.seen(ReconcileSkipped))

        assert tries(operator, HERE) == 1
