"""Tests of the code in the page about reconcile: a kind that is owned and watched."""

import base64

from docs.code.concepts.referenced import Login, Spec, controller
from steersman.client import MergePatch
from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import Cluster


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def test_a_referenced_and_a_generated_secret_both_trigger_a_reconcile(
    cluster: Cluster,
) -> None:
    await cluster.install(Login)
    await cluster.run_operator(controller)
    await cluster.apply(
        Login(metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(credentials="vault"))
    )
    await cluster.settle()

    metadata = meta_v1.ObjectMeta(name="vault")
    await cluster.create(core_v1.Secret(metadata=metadata, string_data={"password": "first"}))
    await cluster.settle()
    made = await cluster.get(core_v1.Secret, "web-login")

    changed = MergePatch({"data": {"password": encoded("second")}})
    await cluster.patch(core_v1.Secret, "vault", changed)
    await cluster.settle()
    updated = await cluster.get(core_v1.Secret, "web-login")

    await cluster.delete(core_v1.Secret, "web-login")
    await cluster.settle()
    restored = await cluster.get(core_v1.Secret, "web-login")

    assert made.data is not None
    assert updated.data is not None
    assert made.data != updated.data
    assert restored.data == updated.data
