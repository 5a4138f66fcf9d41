"""What a failure of the crash sweep looks like: docs/how-to-test.md shows the words kept here."""

from pathlib import Path

import pytest

import steersman as sm
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.errors import CrashSweepFailed
from steersman_cluster.simulation import Cluster, Scenario, survives_crashes

KEPT = Path(__file__).with_name("losing.txt")


class Spec(sm.Part):
    image: str


class Status(sm.Part):
    pod: str = ""


class Errand(sm.CustomResource[Spec, Status], group="shop.example.com", version="v1"):
    """Something to be done once, by a Pod."""


async def reconcile(errand: Errand, ctx: sm.Context) -> sm.Outcome:
    if errand.status is None:
        metadata = meta_v1.ObjectMeta(generate_name=f"{errand.name}-")
        container = core_v1.Container(name="main", image=errand.spec.image)
        spec = core_v1.PodSpec(containers=(container,))
        pod = await ctx.create_owned(core_v1.Pod(metadata=metadata, spec=spec))
        await ctx.apply_status(errand, Status(pod=pod.name))
    return sm.Done()


controller = sm.Controller(Errand, reconcile=reconcile, owns=(core_v1.Pod,))


async def an_errand(cluster: Cluster) -> None:
    metadata = meta_v1.ObjectMeta(name="shop")
    await cluster.apply(Errand(metadata=metadata, spec=Spec(image="busybox")))
    await cluster.settle()


async def test_a_pod_whose_name_was_not_stored_is_created_again() -> None:
    scenario = Scenario(operator=lambda: [controller], kinds=[Errand], steps=an_errand)

    with pytest.raises(CrashSweepFailed) as caught:
        await survives_crashes(scenario)

    assert f"{caught.value}\n" == KEPT.read_text(encoding="utf-8")
